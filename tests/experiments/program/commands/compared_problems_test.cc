// Two studies are compared if they are of the same problem.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "reports/results/table_prints.h"
#include "tests/experiments/hostile.h"

namespace residuum {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using ComparedProblems = Hostile;

TEST_F(ComparedProblems, StudiesOfOtherProblemsAreNotCompared) {
  const auto make = [&](const char* out, const char* set) {
    ASSERT_EQ(run(kStudy, {"--set", set, "--out", out}).code, 0);
  };
  make("a", "seeds=2");
  make("features", "objective.features=21");
  make("seed", "objective.data_seed=5");
  for (const auto& [other, message] :
       {std::pair("features", "objective.features is 20 in the first and 21 in the second"),
        std::pair("seed", "objective.data_seed is 1 in the first and 5 in the second")}) {
    const Finished refused = residuum_program({"compare", "a", other}, folder_.path());
    EXPECT_EQ(refused.code, 2) << refused.out;
    EXPECT_THAT(refused.err, AllOf(HasSubstr(message), HasSubstr("--anyway")));
    const Finished noted = residuum_program({"compare", "a", other, "--anyway"}, folder_.path());
    EXPECT_EQ(noted.code, 0) << noted.err;
    EXPECT_THAT(noted.out, HasSubstr(message));
  }
}

/// A study of a data file, and where its results lie.
class ComparedData : public Hostile {
 protected:
  void make(const std::string& out, const std::string& file, const std::string& content) const {
    folder_.write(file, content);
    std::string study = kStudy;
    study.replace(study.find("rows = 200\nfeatures = 20\n"), 25, "data = \"./" + file + "\"\n");
    study.replace(study.find("batch = 8"), 9, "batch = 1");
    study.replace(study.find("k = 2"), 5, "k = 1");
    const Finished finished = run(study, {"--out", out});
    ASSERT_EQ(finished.code, 0) << finished.err;
  }
  Finished compare(std::vector<std::string> words) const {
    words.insert(words.begin(), "compare");
    return residuum_program(words, folder_.path());
  }
  const std::string kRows = "1 1:1\n-1 2:1\n1 1:2\n-1 2:2\n";
};

TEST_F(ComparedData, IsToldByItsFingerprintAlone) {
  make("a", "d.svm", kRows);
  make("b", "d.svm", "1 1:3\n-1 2:1\n1 1:2\n-1 2:2\n");
  const Finished refused = compare({"a", "b"});
  EXPECT_EQ(refused.code, 2) << refused.out;
  EXPECT_THAT(refused.err, HasSubstr("the data's fingerprint is "));

  const Finished anyway = compare({"a", "b", "--anyway", "--json"});
  EXPECT_EQ(anyway.code, 0) << anyway.err;
  EXPECT_THAT(nlohmann::json::parse(anyway.out).dump(), HasSubstr("the data's fingerprint is "));
}

TEST_F(ComparedData, MayLieElsewhere) {
  make("a", "d.svm", kRows);
  make("b", "e.svm", kRows);
  const Finished compared = compare({"a", "b"});
  EXPECT_EQ(compared.code, 0) << compared.err;
}

TEST_F(ComparedData, IsToldByItsDimensionAlone) {
  make("a", "d.svm", kRows);
  make("b", "d.svm", kRows);
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path() / "b" / "runs")) {
    auto status = nlohmann::ordered_json::parse(read_text(entry.path() / "status.json"));
    status["dimension"] = 3;
    std::ofstream(entry.path() / "status.json") << reports::with_print(status).dump();
  }
  const Finished refused = compare({"a", "b"});
  EXPECT_EQ(refused.code, 2) << refused.out;
  EXPECT_THAT(refused.err, HasSubstr("the dimension is 2 in the first and 3 in the second"));
}

}  // namespace
}  // namespace residuum
