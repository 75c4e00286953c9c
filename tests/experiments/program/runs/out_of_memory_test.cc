// Runs for which the memory does not suffice fail; the others of the study are made.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/experiments/hostile.h"

namespace residuum {
namespace {

using testing::HasSubstr;

/// Models of 2 and of 4294967295 parameters, and too little address space for the second.
class OutOfMemory : public Hostile {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "AddressSanitizer needs more address space than these tests leave";
#endif
    folder_.write("small.svm", "1 1:1\n-1 2:1\n1 1:2\n-1 2:2\n");
    folder_.write("vast.svm", "1 1:1\n-1 4294967295:1\n1 1:2\n-1 2:2\n");
    folder_.write("s.toml", R"(schema = 1
name = "tiny"
seeds = 1
[objective]
kind = "logistic"
[workers]
count = 2
batch = 1
[sparsifier]
kind = "top-k"
k = 1
[step]
value = 0.2
[budget]
iterations = 5
[sweep]
"objective.data" = ["./small.svm", "./vast.svm"]
)");
  }
  Finished with_little_memory(const std::string& words, int kilobytes = 8'000'000) const {
    return run_program({"bash",
                        "-c",
                        "ulimit -v " + std::to_string(kilobytes) + "; exec " +
                            std::string(RESIDUUM_PROGRAM) + " " + words},
                       folder_.path());
  }
};

TEST_F(OutOfMemory, ARunFailsAlone) {
  const Finished finished = with_little_memory("run s.toml");
  EXPECT_EQ(finished.code, 3) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("failed: out of memory"));
  EXPECT_EQ(summary()["counts"]["finished"], 1) << summary()["counts"];
  const Finished report = residuum_program({"report", results().string()}, folder_.path());
  EXPECT_EQ(report.code, 0) << report.err;
  EXPECT_THAT(read_text(results() / "runs.csv"), HasSubstr("failed,out of memory,1,./vast.svm"));
}

TEST_F(OutOfMemory, NothingIsVerifiedByRunsThatFail) {
  const Finished verify =
      with_little_memory("verify s.toml --ranks 1 --set objective.data=./vast.svm");
  EXPECT_EQ(verify.code, 2) << verify.out;
  EXPECT_THAT(verify.err, HasSubstr("no run of the study came to its end on 1 process:"));
  const Finished partly = with_little_memory("verify s.toml --ranks 1");
  EXPECT_EQ(partly.code, 3) << partly.out;
  EXPECT_THAT(partly.out, HasSubstr("Some runs failed or diverged"));
}

TEST_F(OutOfMemory, AnArchiveThatUnpacksToTooMuchIsNamed) {
  const char* zeros = "head -c 1200000000 /dev/zero | gzip -1 > bomb.svm.gz";
  ASSERT_EQ(run_program({"bash", "-c", zeros}, folder_.path()).code, 0);
  const Finished plan =
      with_little_memory("plan s.toml --set 'objective.data=\"./bomb.svm.gz\"'", 1'500'000);
  EXPECT_EQ(plan.code, 6) << plan.err;
  EXPECT_THAT(plan.err, HasSubstr("bomb.svm.gz: there is not enough memory for what it holds"));
}

TEST_F(OutOfMemory, ARunThatCannotBePreparedFailsAlone) {
  folder_.write("s.toml", R"(schema = 1
name = "tiny"
[objective]
kind = "quadratic"
[workers]
count = 2
[step]
value = 0.1
[budget]
iterations = 5
[sweep]
"objective.dimension" = [20, 4294967294]
)");
  for (const char* words : {"run s.toml", "run s.toml"}) {  // the second finds what the first left
    const Finished finished = with_little_memory(words);
    EXPECT_EQ(finished.code, 3) << finished.err;
    EXPECT_THAT(finished.err, HasSubstr("failed: out of memory"));
    EXPECT_EQ(summary()["counts"]["finished"], 1) << summary()["counts"];
    EXPECT_EQ(summary()["counts"]["failed"], 1) << summary()["counts"];
  }
  EXPECT_THAT(read_text(results() / "runs.csv"), HasSubstr("failed,out of memory,"));
  const Finished plan = with_little_memory("plan s.toml");
  EXPECT_EQ(plan.code, 6) << plan.err;
  EXPECT_THAT(plan.err, HasSubstr("dimension=4294967294 seed=1 cannot be prepared: out of memory"));
}

}  // namespace
}  // namespace residuum
