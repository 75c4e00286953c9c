// All processes of a job do the same work: one that has other arguments or other data is named
// before anything begins, and no process waits for it.

#include "experiments/program/runs/job_digest.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include "experiments/program/runs/provenance.h"
#include "tests/core/thread_world.h"
#include "tests/experiments/real_study.h"

namespace residuum {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

JobDigest digest(std::vector<JobDigest::Part> parts) { return {.parts = std::move(parts)}; }

// --- The comparison
// -------------------------------------------------------------------------------

TEST(JobDigestDifference, IsNothingBetweenEqualOnes) {
  EXPECT_FALSE(difference(digest({}), digest({})));
  EXPECT_FALSE(difference(digest({{"a", "1"}, {"b", ""}}), digest({{"a", "1"}, {"b", ""}})));
}

TEST(JobDigestDifference, IsTheFirstPartThatDiffers) {
  const auto differs =
      difference(digest({{"a", "1"}, {"b", "2"}, {"c", "3"}}), digest({{"a", "1"}, {"b", "4"}}));

  ASSERT_TRUE(differs);
  EXPECT_EQ(differs->name, "b");
  EXPECT_EQ(differs->mine, "2");
  EXPECT_EQ(differs->first, "4");
}

TEST(JobDigestDifference, IsAPartThatOnlyOneOfThemHas) {
  const auto more = difference(digest({{"a", "1"}, {"b", "2"}}), digest({{"a", "1"}}));
  ASSERT_TRUE(more);
  EXPECT_EQ(more->name, "b");
  EXPECT_EQ(more->mine, "2");
  EXPECT_EQ(more->first, "");

  const auto fewer = difference(digest({{"a", "1"}}), digest({{"a", "1"}, {"b", "2"}}));
  ASSERT_TRUE(fewer);
  EXPECT_EQ(fewer->name, "b");
  EXPECT_EQ(fewer->mine, "");
  EXPECT_EQ(fewer->first, "2");

  const auto other = difference(digest({{"x", "1"}}), digest({{"a", "1"}}));
  ASSERT_TRUE(other);
  EXPECT_EQ(other->name, "x");
}

TEST(JobDigestDifference, OfLongTextsIsShownWhereItIs) {
  const std::string same(1000, 's');
  const auto differs =
      difference(digest({{"a", same + "one" + same}}), digest({{"a", same + "two" + same}}));

  ASSERT_TRUE(differs);
  EXPECT_THAT(differs->mine, AllOf(StartsWith("...sss"), HasSubstr("sone"), HasSubstr("sss...")));
  EXPECT_THAT(differs->first, HasSubstr("stwo"));
  EXPECT_LE(differs->mine.size(), 66U);
}

/// Returns the error that all ranks of `digests` throw; they must all throw the same, or nothing.
std::string thrown_by_all(const std::vector<JobDigest>& digests) {
  const int ranks = static_cast<int>(digests.size());
  std::vector<std::string> thrown(digests.size());
  test::on_processes(ranks, [&](World& world) {
    const auto rank = static_cast<std::size_t>(world.rank());
    try {
      agree(world, digests[rank]);
    } catch (const SharedError& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      thrown[rank] = error.what();
    }
  });
  EXPECT_EQ(std::count(thrown.begin(), thrown.end(), thrown.front()), ranks);
  return thrown.front();
}

TEST(JobDigests, OfOneProcessAgree) {
  const auto world = make_single_process();
  EXPECT_NO_THROW(agree(*world, digest({{"a", "1"}})));
}

TEST(JobDigests, ThatAreEqualAgree) {
  for (const std::size_t ranks : {1U, 2U, 5U}) {
    EXPECT_EQ(thrown_by_all(std::vector(ranks, digest({{"a", "1"}, {"b", "2"}}))), "");
  }
}

// A program of another version may have other parts.
TEST(JobDigests, NameTheRankTheHostAndWhatDiffers) {
  const auto same = digest({{"the program", "0.1 (abc)"}, {"option --set", ""}});
  EXPECT_EQ(thrown_by_all({same, same, digest({{"the program", "0.2 (def)"}, {"more", "1"}})}),
            fmt::format("rank 2 on {0} and rank 0 on {0} differ in the program: '0.2 (def)' and "
                        "'0.1 (abc)'; all processes of a job need the same program, options and "
                        "data",
                        host_name()));
  EXPECT_THAT(
      thrown_by_all({same, digest({{"the program", "0.1 (abc)"}, {"option --set", "a=1"}})}),
      HasSubstr("differ in option --set: 'a=1' and nothing;"));
}

TEST(JobDigests, TellTextsApartWhoseEndsAreElsewhere) {
  EXPECT_NE(thrown_by_all({digest({{"ab", "c"}}), digest({{"a", "bc"}})}), "");
  EXPECT_NE(thrown_by_all({digest({{"a", "\xff"}}), digest({{"a", "\xfe"}})}), "");
}

/// Returns the error that all ranks throw together if each meets its own of `errors`; empty for
/// none.
std::string met_by_all(const std::vector<std::string>& errors, ExitCode code = ExitCode::usage) {
  std::vector<std::string> thrown(errors.size());
  test::on_processes(static_cast<int>(errors.size()), [&](World& world) {
    const auto rank = static_cast<std::size_t>(world.rank());
    try {
      each_together(world, [&] {
        if (errors[rank] == "memory") {
          throw std::bad_alloc();
        }
        if (!errors[rank].empty()) {
          throw Error(code, errors[rank]);
        }
      });
    } catch (const SharedError& error) {
      thrown[rank] = error.what();
    }
  });
  EXPECT_EQ(std::count(thrown.begin(), thrown.end(), thrown.front()),
            static_cast<std::ptrdiff_t>(thrown.size()));
  return thrown.front();
}

TEST(EachTogether, NamesTheLowestRankThatFailsAloneOrOtherwise) {
  EXPECT_EQ(met_by_all({"", "", ""}), "");
  EXPECT_EQ(met_by_all({"no file", "no file"}), "no file");
  EXPECT_EQ(met_by_all({"", "no file"}), fmt::format("rank 1 on {}: no file", host_name()));
  EXPECT_EQ(met_by_all({"one", "two"}), fmt::format("rank 0 on {}: one", host_name()));
  EXPECT_EQ(met_by_all({"", "memory"}), fmt::format("rank 1 on {}: out of memory", host_name()));
  EXPECT_EQ(met_by_all({"", "stopped"}, ExitCode::stopped), "stopped");
}

// --- Whole jobs of two processes with different arguments or folders -----------------------------

const std::string kDataStudy = R"(schema = 1
name = "tiny"
seeds = 2
[objective]
kind = "logistic"
data = "./d.svm"
[workers]
count = 2
batch = 2
[sparsifier]
kind = "top-k"
k = 1
[step]
value = 0.1
[budget]
iterations = 8
)";

const std::string kRows = "+1 1:0.5 2:0.25\n-1 1:1 3:2\n+1 2:3\n-1 1:0.125 2:0.5 3:1\n";

class UnlikeProcesses : public TinyStudy {
 protected:
  void SetUp() override {
    for (const char* name : {"a", "b"}) {
      std::filesystem::create_directory(folder_.path() / name);
      write(name, kDataStudy, kRows);
    }
  }
  void write(const std::string& name, const std::string& study, const std::string& rows) const {
    folder_.write(name + "/s.toml", study);
    folder_.write(name + "/d.svm", rows);
  }
  /// Starts rank 0 in the folder a and rank 1 in the folder b, each with words of its own.
  Finished run_both(const std::vector<std::string>& first,
                    const std::vector<std::string>& second) const {
    std::vector<std::string> words{"timeout", "60", RESIDUUM_MPIRUN};
    const auto add = [&](const char* name, const std::vector<std::string>& own) {
      words.insert(words.end(),
                   {"-n", "1", "-wdir", (folder_.path() / name).string(), RESIDUUM_PROGRAM});
      words.insert(words.end(), own.begin(), own.end());
    };
    add("a", first);
    words.emplace_back(":");
    add("b", second);
    return run_program(words, folder_.path());
  }
  /// The job must end with one line and this code, and leave no folder of results.
  std::string refusal(const std::vector<std::string>& first,
                      const std::vector<std::string>& second) const {
    const Finished finished = run_both(first, second);
    EXPECT_EQ(finished.code, 2) << finished.err;
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "a" / "results")) << finished.err;
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "b" / "results")) << finished.err;
    std::istringstream lines(finished.err);
    std::vector<std::string> errors;
    for (std::string line; std::getline(lines, line);) {
      if (line.find("rror: ") != std::string::npos) {
        errors.push_back(line);
      }
    }
    EXPECT_EQ(errors.size(), 1U) << finished.err;
    return errors.empty() ? finished.err : errors.front();
  }
  static std::string both() {
    return fmt::format("error: rank 1 on {0} and rank 0 on {0} differ in ", host_name());
  }
};

TEST_F(UnlikeProcesses, ThatAreAlikeDoTheStudy) {
  const Finished finished = run_both({"run", "s.toml"}, {"run", "s.toml"});

  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "a" / "results" / "tiny" / "runs.csv"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "b" / "results"));
}

TEST_F(UnlikeProcesses, WithOtherDataUnderTheSameNameAreNamed) {
  write("b", kDataStudy, "+1 1:0.75 2:0.25\n-1 1:1 3:2\n+1 2:3\n-1 1:0.125 2:0.5 3:1\n");

  EXPECT_THAT(refusal({"run", "s.toml"}, {"run", "s.toml"}),
              AllOf(StartsWith(both() + "the fingerprint of the data of run seed=1: '"),
                    ContainsRegex("'[0-9a-f]{16}' and '[0-9a-f]{16}'; all processes of a job need "
                                  "the same program, options and data$")));
}

TEST_F(UnlikeProcesses, WithOtherDataAreNamedAlsoByGroupsAndShards) {
  write("b", kDataStudy, "+1 1:0.75 2:0.25\n-1 1:1 3:2\n+1 2:3\n-1 1:0.125 2:0.5 3:1\n");

  const std::vector<std::string> words{"run", "s.toml", "--groups", "2", "--shard", "1/2"};
  EXPECT_THAT(refusal(words, words), StartsWith(both() + "the fingerprint of the data of run"));
}

TEST_F(UnlikeProcesses, OfARealRunWithOtherDataAreNamed) {
  const std::string study = kDataStudy + "[aggregator]\nkind = \"allgather\"\n" +
                            "[protocol]\nkind = \"ssp\"\nstaleness = 1\nexecution = \"real\"\n";
  write("a", study, kRows);
  write("b", study, "+1 1:0.75 2:0.25\n-1 1:1 3:2\n+1 2:3\n-1 1:0.125 2:0.5 3:1\n");

  EXPECT_THAT(refusal({"run", "s.toml"}, {"run", "s.toml"}),
              StartsWith(both() + "the fingerprint of the data of run seed=1: '"));
}

TEST_F(UnlikeProcesses, WithAnotherValueAreNamed) {
  EXPECT_THAT(refusal({"run", "s.toml", "--set", "step.value=0.1"},
                      {"run", "s.toml", "--set", "step.value=0.2"}),
              StartsWith(both() + "option --set: 'step.value=0.2' and 'step.value=0.1'; "));
  EXPECT_THAT(refusal({"run", "s.toml"}, {"run", "s.toml", "--set", "seeds=3"}),
              StartsWith(both() + "option --set: 'seeds=3' and nothing; "))
      << "another number of runs";
}

TEST_F(UnlikeProcesses, WithAnotherOptionAreNamed) {
  const std::vector<std::string> plain{"run", "s.toml"};
  for (const auto& [option, value] :
       std::vector<std::pair<std::string, std::string>>{{"--out", "elsewhere"},
                                                        {"--shard", "1/2"},
                                                        {"--groups", "2"},
                                                        {"--data-dir", "elsewhere"},
                                                        {"--time-limit", "1h"},
                                                        {"--checkpoint-every", "1m"}}) {
    EXPECT_THAT(refusal(plain, {"run", "s.toml", option, value}),
                StartsWith(both() + "option " + option + ": '"));
    EXPECT_THAT(refusal({"run", "s.toml", option, value}, plain),
                StartsWith(both() + "option " + option + ": nothing and '"));
  }
  EXPECT_THAT(refusal(plain, {"run", "s.toml", "--fail-fast"}),
              StartsWith(both() + "option --fail-fast: "));
}

TEST_F(UnlikeProcesses, WithAnotherStudyOrCommandAreNamed) {
  EXPECT_THAT(refusal({"run", "s.toml"}, {"run", "t.toml"}),
              StartsWith(both() + "option STUDY: 't.toml' and 's.toml'"));
  EXPECT_THAT(refusal({"run", "s.toml"}, {"plan", "s.toml"}),
              StartsWith(both() + "the command: 'plan' and 'run'"));
  EXPECT_THAT(refusal({"run", "s.toml"}, {"run", "--help"}), StartsWith(both()));
}

TEST_F(UnlikeProcesses, OfWhichOneCannotReadItsArgumentsAreNamed) {
  EXPECT_THAT(refusal({"run", "s.toml"}, {"run", "s.toml", "--frob"}),
              StartsWith(fmt::format("error: rank 1 on {}: ", host_name())));
  EXPECT_THAT(refusal({"run", "s.toml", "--frob"}, {"run", "s.toml"}),
              StartsWith(fmt::format("error: rank 0 on {}: ", host_name())));
  EXPECT_THAT(refusal({"run", "s.toml", "--frob"}, {"run", "s.toml", "--frob"}),
              AllOf(HasSubstr("--frob"), Not(HasSubstr("rank"))));
}

TEST_F(UnlikeProcesses, OfWhichOneHasNoDataOrBadDataAreNamed) {
  for (const char* odd : {"a", "b"}) {
    const auto file = folder_.path() / odd / "d.svm";
    const auto named =
        StartsWith(fmt::format("error: rank {} on {}: ", *odd == 'a' ? 0 : 1, host_name()));
    std::filesystem::remove(file);
    EXPECT_THAT(refusal({"run", "s.toml"}, {"run", "s.toml"}), AllOf(named, HasSubstr("d.svm")));
    write(odd, kDataStudy, "+1 1:0.5\n-1 1:x\n");
    EXPECT_THAT(refusal({"run", "s.toml"}, {"run", "s.toml"}), AllOf(named, HasSubstr("d.svm")));
    write(odd, kDataStudy, kRows);
  }
}

// Only the first process reads the study.
TEST_F(UnlikeProcesses, OfWhichOneHasNoStudyDoIt) {
  std::filesystem::remove(folder_.path() / "b" / "s.toml");
  EXPECT_EQ(run_both({"run", "s.toml"}, {"run", "s.toml"}).code, 0);
}

}  // namespace
}  // namespace residuum
