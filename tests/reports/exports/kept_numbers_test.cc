// Numbers of runs that pages keep, against tables that are made by hand.

#include "reports/exports/kept_numbers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "core/error.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using ::testing::HasSubstr;
using testing::TemporaryFolder;

std::string refusal_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "nothing is refused";
}

class KeptNumbers : public ::testing::Test {
 protected:
  KeptNumbers() {
    put("runs.csv",
        "run_id,status,seed,p_kind,p_k,final_loss\n"
        "b,finished,2,top,5,1.50\na,finished,1,dense,,\nc,diverged,1,top,5,9\n");
    put("iterations.csv",
        "run_id,iteration,loss,delta,loss_gap,sent\n"
        "b,0,4,0.5,2,\nb,10,3,,0.25,10\nb,20,7.0,1,0.125,20\nb,30,nan,2,0.25,\n"
        "a,0,-1,inf,,0\na,10,-2,,,5\nc,0,1,1,1,1\n");
  }
  void put(const std::string& name, const std::string& text) const {
    const auto file = folder_.path() / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }
  /// Returns the table that these numbers make.
  std::string numbers(const std::vector<std::string>& words) const {
    std::vector<RunNumber> numbers;
    for (const auto& word : words) {
      numbers.push_back(run_number(word));
    }
    return csv_text(numbers_of_runs(folder_.path(), numbers));
  }
  std::string refusal(const std::string& word) const {
    return refusal_of([&] { numbers({word}); });
  }
  TemporaryFolder folder_;
};

// 4, 3 and 7 of the run b have the mean 14/3; its nan counts nowhere.
TEST_F(KeptNumbers, PassOverRowsWithoutAFiniteNumber) {
  EXPECT_EQ(numbers({"final_loss", "loss", "loss:mean", "loss:max", "delta", "delta:max"}),
            "run_id,seed,p_kind,p_k,final_loss,loss,loss:mean,loss:max,delta,delta:max\n"
            "b,2,top,5,1.50,7.0,4.666666666666667,7.0,2,2\n"
            "a,1,dense,,,-2,-1.5,-1,,\n");
}

// Means keep the 17 digits that make any double whole.
TEST_F(KeptNumbers, WriteMeansThatReadBackTheSame) {
  put("iterations.csv", "run_id,iteration,loss\nb,0,0.1\nb,1,0.1\nb,2,0.4\n");
  EXPECT_THAT(numbers({"loss:mean"}), HasSubstr("\nb,2,top,5,0.20000000000000004\n"));
}

TEST_F(KeptNumbers, AreOfOneIterationOrOfRowsWithinALimit) {
  EXPECT_EQ(numbers({"loss:at:10", "loss:at:7", "loss:until:loss_gap=0.25"}),
            "run_id,seed,p_kind,p_k,loss:at:10,loss:at:7,loss:until:loss_gap=0.25\n"
            "b,2,top,5,3,,3\na,1,dense,,-2,,\n");
  // The last row within the limit has no loss, so it is the one before.
  EXPECT_EQ(numbers({"loss:within:loss_gap=0.25", "loss:within:sent=12"}),
            "run_id,seed,p_kind,p_k,loss:within:loss_gap=0.25,loss:within:sent=12\n"
            "b,2,top,5,7.0,3\na,1,dense,,,-2\n");
}

TEST_F(KeptNumbers, RefuseWordsAndColumnsThatAreUnknown) {
  EXPECT_EQ(refusal("loss:men"), "--numbers: unknown 'men' in 'loss:men'; did you mean 'mean'?");
  EXPECT_EQ(refusal("loss:"),
            "--numbers: unknown '' in 'loss:'; known: max, mean, at, until, within");
  EXPECT_EQ(refusal(":mean"), "--numbers: ':mean' names no column");
  EXPECT_EQ(refusal("loss:mean:3"),
            "--numbers: 'loss:mean:3' says more than COLUMN:max or COLUMN:mean");
  for (const char* word : {"loss:at", "loss:at:", "loss:at:-1", "loss:at:1.5"}) {
    EXPECT_THAT(refusal(word), HasSubstr("must be COLUMN:at:ITERATION, such as")) << word;
  }
  for (const char* word : {"loss:until", "loss:until:sent", "loss:within:=3", "loss:within:a=x"}) {
    EXPECT_THAT(refusal(word), HasSubstr("must end with COLUMN=LIMIT, such as")) << word;
  }
  EXPECT_EQ(refusal("los_gap"),
            "runs.csv and iterations.csv have no column 'los_gap'; did you mean 'loss_gap'?");
  EXPECT_EQ(refusal("final_loss:max"),
            "iterations.csv has no column 'final_loss'; residuum list columns names them");
  EXPECT_EQ(refusal("loss:until:snt=1"),
            "iterations.csv has no column 'snt'; did you mean 'sent'?");
  put("iterations.csv", "run_id,iteration,loss\nb,0,x\n");
  EXPECT_THAT(refusal("loss"), HasSubstr("iterations.csv:2: "));
}

TEST_F(KeptNumbers, HaveTheLastIterationOfATableOfDetails) {
  put("networks.csv",
      "run_id,iteration,network,compute_s,iteration_s\n"
      "c,9,1gbe,0,9\nb,0,1gbe,0,1\nb,0,\"a, b\",0,2\nb,5,1gbe,0,3.0\nb,5,\"a, b\",0,\n"
      "a,7,1gbe,0,4\n");
  const TextTable table = further_table(folder_.path(), "networks.iteration_s");
  EXPECT_EQ(table.file, "networks.csv");
  EXPECT_EQ(csv_text(table),
            "run_id,iteration,network,iteration_s\nb,5,1gbe,3.0\nb,5,\"a, b\",\na,7,1gbe,4\n");
  const auto refused = [&](const std::string& word) {
    return refusal_of([&] { further_table(folder_.path(), word); });
  };
  EXPECT_EQ(refused("network.iteration_s"),
            "--tables: unknown 'network' in 'network.iteration_s'; did you mean 'networks'?");
  EXPECT_EQ(refused("networks.iteration"),
            "networks.csv has no column 'iteration'; did you mean 'iteration_s'?");
  EXPECT_EQ(refused("networks"),
            "--tables: 'networks' must be TABLE.COLUMN, such as networks.iteration_s, or late");
  EXPECT_THAT(refused("overlap.exchanges"), HasSubstr("overlap.csv"));
}

// Of the run a, one gradient was 0 and three were 2 versions late: 6/4 in the mean.
TEST_F(KeptNumbers, SayHowLateGradientsWere) {
  const std::string a = "a-000000000001";
  const std::string b = "b-000000000002";
  put("runs.csv", "run_id,seed\n" + b + ",1\n" + a + ",1\n");
  EXPECT_EQ(refusal_of([&] { further_table(folder_.path(), "late"); }),
            "no finished run of " + folder_.path().string() +
                " has a staleness.csv; probes.staleness = true writes it");
  put("runs/" + a + "/staleness.csv",
      "run_id,iteration,staleness,gradients\n" + a + ",0,5,1\n" + a + ",9,0,1\n" + a + ",9,2,3\n" +
          a + ",9,4,0\n");
  put("runs/" + b + "/staleness.csv", "run_id,iteration,staleness,gradients\n" + b + ",9,7,2\n");
  EXPECT_EQ(csv_text(further_table(folder_.path(), "late")),
            "run_id,mean,largest\n" + a + ",1.5,2\n" + b + ",7,7\n");
}

}  // namespace
}  // namespace residuum::reports
