#include "reports/summaries/collect.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "reports/results/csv.h"
#include "reports/results/run_list.h"
#include "reports/terminal/table.h"
#include "reports/verdicts/verdict.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using testing::change_status;
using ::testing::HasSubstr;
using testing::SyntheticMethod;
using testing::SyntheticStudy;
using testing::TemporaryFolder;

class Collect : public ::testing::Test {
 protected:
  /// The message of the usage error that collecting ends with.
  std::string complaint() const {
    try {
      (void)collect(path());
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      return error.what();
    }
    return "no complaint";
  }
  static void replace(const std::filesystem::path& file,
                      std::string_view from,
                      std::string_view to) {
    std::string text = read_file(file);
    const auto at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    write_file_atomically(file, text.replace(at, from.size(), to));
  }
  std::filesystem::path run_path(std::size_t method, int seed) const {
    return path() / "runs" / SyntheticStudy::run_id(method, seed);
  }
  const std::filesystem::path& path() const { return folder_.path(); }

  SyntheticStudy study;  // NOLINT(misc-non-private-member-variables-in-classes): each test fills it

 private:
  TemporaryFolder folder_;
};

TEST_F(Collect, ConcatenatesTheRunsInStudyOrder) {
  study.methods = {SyntheticMethod{}, SyntheticMethod{.putback = "published", .leaks = true}};
  study.seeds = 2;
  study.write(path());

  (void)collect(path());

  std::string expected = iterations_header();
  for (std::size_t method = 0; method < 2; ++method) {
    for (int seed = 1; seed <= 2; ++seed) {
      const std::string all = read_file(run_path(method, seed) / "iterations.csv");
      expected += all.substr(iterations_header().size());
    }
  }
  EXPECT_EQ(read_file(path() / "iterations.csv"), expected);
  CsvReader checks(path() / "checks.csv");
  std::size_t rows = 0;
  while (checks.next()) {
    ++rows;
  }
  EXPECT_EQ(rows, 4 * study.iterations);
}

TEST_F(Collect, RunsHaveAColumnForEachKeyThatVaries) {
  study.methods = {SyntheticMethod{.density = 0.1}};
  study.seeds = 1;
  study.title = "with, comma";
  study.write(path());
  change_status(path(), SyntheticStudy::run_id(0, 1), [](Json& status) {
    status["state"] = "diverged";
    status["message"] = "loss is inf, worker 2";
    status["final"]["loss"] = "inf";
    status["final"].erase("loss_gap");
  });

  (void)collect(path());

  CsvReader runs(path() / "runs.csv");
  ASSERT_TRUE(runs.next());
  EXPECT_EQ(runs.text(runs.column("run_id")), SyntheticStudy::run_id(0, 1));
  EXPECT_EQ(runs.text(runs.column("status")), "diverged");
  EXPECT_EQ(runs.text(runs.column("stop_reason")), "loss is inf, worker 2");
  EXPECT_EQ(runs.text(runs.column("p_sparsifier_density")), "0.1");
  EXPECT_EQ(runs.text(runs.column("p_feedback_putback")), "captured");
  EXPECT_EQ(runs.text(runs.column("final_loss")), "inf");
  EXPECT_EQ(runs.text(runs.column("final_loss_gap")), "");
  EXPECT_EQ(runs.integer(runs.column("k")), 2U);
  EXPECT_FALSE(runs.next());
}

// The first run has the default of a key that the second gives; the third has no such key.
TEST_F(Collect, ColumnsOfKeysThatVaryHaveTheDefaultThatARunUsed) {
  study.methods = {SyntheticMethod{}, SyntheticMethod{.putback = "published"}, SyntheticMethod{}};
  study.seeds = 1;
  study.write(path());
  const auto change_config = [&](std::size_t method, const auto& change) {
    const auto file = run_path(method, 1) / "config.json";
    Json config = read_json(file);
    change(config);
    write_json_atomically(file, with_print(config));
  };
  change_config(0, [](Json& config) { config["varying"].erase("feedback.putback"); });
  change_config(2, [](Json& config) {
    config["varying"].erase("feedback.putback");
    config["config"]["feedback"].erase("putback");
  });

  (void)collect(path());

  CsvReader runs(path() / "runs.csv");
  for (const char* expected : {"captured", "published", ""}) {
    ASSERT_TRUE(runs.next());
    EXPECT_EQ(runs.text(runs.column("p_feedback_putback")), expected);
  }
}

TEST_F(Collect, FailedAndMissingRunsAreCountedAndNamedButNotInTheTables) {
  study.seeds = 3;
  study.write(path());
  change_status(path(), SyntheticStudy::run_id(0, 2), [](Json& status) {
    status["state"] = "failed";
    status["message"] = "no memory";
  });
  std::filesystem::remove_all(run_path(0, 3));

  const Summary summary = collect(path());

  const Json json = read_json(path() / "summary.json");
  EXPECT_EQ(json["counts"]["runs"], 3);
  EXPECT_EQ(json["counts"]["finished"], 1);
  EXPECT_EQ(json["counts"]["failed"], 1);
  EXPECT_EQ(json["counts"]["missing"], 1);
  ASSERT_EQ(json["failures"].size(), 2U);
  EXPECT_EQ(json["failures"][0]["message"], "no memory");
  EXPECT_EQ(json["failures"][1]["run_id"], SyntheticStudy::run_id(0, 3));
  EXPECT_THAT(read_file(path() / "iterations.csv"), Not(HasSubstr(SyntheticStudy::run_id(0, 2))));
  EXPECT_EQ(summary.states.at("missing"), 1U);
}

TEST_F(Collect, SummaryHasMedianAndIntervalOverTheSeeds) {
  // final_loss = 0.3209 + 0.0001 seed, seeds 1..3: mean 0.3211, s / sqrt(3) = 1e-4 / sqrt(3);
  // t(0.975, 2) = 4.302653.
  study.write(path());

  (void)collect(path());

  const Json group = read_json(path() / "summary.json")["groups"][0];
  EXPECT_EQ(group["label"], "gtopk-tree, captured, rho=0.01");
  EXPECT_EQ(group["seeds"], 3);
  const Json loss = group["metrics"]["final_loss"];
  EXPECT_EQ(loss["n"], 3);
  EXPECT_NEAR(loss["median"].get<double>(), 0.3211, 1e-12);
  EXPECT_NEAR(loss["interval"][0].get<double>(), 0.3211 - 4.302653e-4 / std::sqrt(3.0), 1e-9);
  EXPECT_NEAR(group["assumptions"]["delta_at_most_1"]["worst"].get<double>(), 0.98, 1e-12);
  EXPECT_EQ(group["assumptions"]["delta_at_most_1"]["where"]["iteration"], 10);
  EXPECT_EQ(group["assumptions"]["delta_at_most_1"]["fraction"], 1);
}

TEST_F(Collect, OneSeedHasNoInterval) {
  study.seeds = 1;
  study.write(path());

  (void)collect(path());

  const Json json = read_json(path() / "summary.json");
  EXPECT_TRUE(json["groups"][0]["metrics"]["final_loss"]["interval"].is_null());
}

TEST_F(Collect, AKnownViolationIsNeitherAPassNorAFailure) {
  study.methods = {SyntheticMethod{}, SyntheticMethod{.putback = "published", .leaks = true}};
  study.write(path());

  const Summary summary = collect(path());

  EXPECT_TRUE(summary.invariants_hold());
  EXPECT_EQ(verdict_of(summary.groups[0].check("conservation")), Verdict::pass);
  EXPECT_EQ(verdict_of(summary.groups[1].check("conservation")), Verdict::known);
  EXPECT_EQ(verdict_of(nullptr), Verdict::not_looked);
  const Json check = read_json(path() / "summary.json")["groups"][1]["checks"]["conservation"];
  EXPECT_EQ(check["holds"], false);
  EXPECT_EQ(check["expected"], false);
  EXPECT_EQ(check["worst_ratio"], 10000);
  EXPECT_EQ(check["where"]["iteration"], study.iterations - 1);
}

TEST_F(Collect, AViolationThatIsNotExpectedFails) {
  study.write(path());
  change_status(path(), SyntheticStudy::run_id(0, 2), [](Json& status) {
    status["checks"]["conservation"]["holds"] = false;
    status["checks"]["conservation"]["failures"] = 1;
    status["checks"]["conservation"]["worst_ratio"] = "nan";
    status["checks"]["conservation"]["worst_iteration"] = 4;
  });

  const Summary summary = collect(path());

  EXPECT_FALSE(summary.invariants_hold());
  EXPECT_EQ(verdict_of(summary.groups[0].check("conservation")), Verdict::fail);
  EXPECT_EQ(summary.checks[0].worst.run_id, SyntheticStudy::run_id(0, 2));
  EXPECT_THAT(findings(summary).front(), HasSubstr("FAILED: conservation (1 of 60"));
}

TEST_F(Collect, AnAssumptionAmongTheChecksIsNoInvariant) {
  study.write(path());
  change_status(path(), SyntheticStudy::run_id(0, 1), [](Json& status) {
    status["checks"]["delta"] = status["checks"]["conservation"];
    status["checks"]["delta"]["hard"] = false;
    status["checks"]["delta"]["holds"] = false;
  });

  const Summary summary = collect(path());

  EXPECT_TRUE(summary.invariants_hold());
  EXPECT_EQ(summary.groups[0].check("delta"), nullptr);
}

TEST_F(Collect, TheAnswerNamesWhereTheAssumptionFailedWorst) {
  study.methods = {SyntheticMethod{}, SyntheticMethod{.density = 0.1, .delta_peak = 1.25}};
  study.seeds = 1;
  study.write(path());

  const Summary summary = collect(path());

  EXPECT_EQ(findings(summary)[1],
            "The gTop-k assumption δ ≤ 1 failed in 20 of 40 measured iterations of all 2 methods; "
            "largest δ = 1.25 (gtopk-tree, captured, rho=0.1, iteration 10).");
}

TEST_F(Collect, DataPackageDescribesTheFilesAsTheyAre) {
  study.write(path());

  (void)collect(path());

  const Json package = read_json(path() / "datapackage.json");
  ASSERT_EQ(package["resources"].size(), 4U);
  for (const auto& resource : package["resources"]) {
    CsvReader reader(path() / resource["path"].get<std::string>());
    std::vector<std::string> names;
    for (const auto& field : resource["schema"]["fields"]) {
      names.push_back(field["name"]);
    }
    EXPECT_EQ(names, reader.header()) << resource["path"];
    EXPECT_EQ(resource["schema"]["missingValues"], Json::array({""}));
  }
  EXPECT_EQ(package["resources"][1]["schema"]["primaryKey"], Json::array({"run_id", "iteration"}));
  EXPECT_EQ(package["resources"][0]["schema"]["primaryKey"], "run_id");
}

/// Writes the rows of workers 0 and 1 in iteration 3 and returns them.
std::string write_workers(const std::filesystem::path& run, const std::string& id) {
  DetailWriter writer(run / "workers.csv", id, kWorkersTable);
  for (const char* worker : {"0", "1"}) {
    DetailRow row(kWorkersTable, 3, worker);
    row.set(WorkerColumn::nnz_sent, 7);
    writer.write(row);
  }
  writer.close();
  return read_file(run / "workers.csv").substr(detail_header(kWorkersTable).size());
}

TEST_F(Collect, GathersTablesOfDetailsFromTheRunsThatHaveThem) {
  study.seeds = 3;
  study.write(path());
  std::string expected = detail_header(kWorkersTable);
  for (const int seed : {1, 3}) {
    expected += write_workers(run_path(0, seed), SyntheticStudy::run_id(0, seed));
  }

  (void)collect(path());

  EXPECT_EQ(read_file(path() / "workers.csv"), expected);
  const Json package = read_json(path() / "datapackage.json");
  ASSERT_EQ(package["resources"].size(), 5U);
  const Json& schema = package["resources"][4]["schema"];
  EXPECT_EQ(schema["primaryKey"], Json::array({"run_id", "iteration", "worker"}));
  EXPECT_EQ(schema["foreignKeys"][0]["reference"]["resource"], "runs");
  std::string header;
  for (const auto& field : schema["fields"]) {
    header += (header.empty() ? "" : ",") + field["name"].get<std::string>();
  }
  EXPECT_EQ(header + '\n', detail_header(kWorkersTable));

  std::filesystem::remove(run_path(0, 1) / "workers.csv");
  std::filesystem::remove(run_path(0, 3) / "workers.csv");
  (void)collect(path());
  EXPECT_FALSE(std::filesystem::exists(path() / "workers.csv")) << "no run has it any more";
}

constexpr const char* kOtherColumns =
    "its columns are not those that this program writes; read it with the version of Residuum that "
    "wrote it, or run the study again";

TEST_F(Collect, RefusesDetailsOfAnotherRunOrOtherColumns) {
  study.seeds = 1;
  study.write(path());
  const auto file = run_path(0, 1) / "workers.csv";
  const std::string id = SyntheticStudy::run_id(0, 1);

  write_workers(run_path(0, 1), SyntheticStudy::run_id(0, 2));
  EXPECT_THAT(complaint(), HasSubstr("of another run"));
  write_file_atomically(file, "run_id,iteration,worker,nnz\n");
  EXPECT_THAT(complaint(), HasSubstr(kOtherColumns));
  write_file_atomically(file, "run_id,iteration,worker,nnz_sent\n" + id + ",0,1,7\n");
  EXPECT_THAT(complaint(), HasSubstr(kOtherColumns));
}

TEST_F(Collect, RefusesATableOfAnotherVersionInOneLine) {
  study.seeds = 1;
  study.iterations = 1;
  study.write(path());
  const std::string id = SyntheticStudy::run_id(0, 1);
  write_file_atomically(run_path(0, 1) / "iterations.csv",
                        "run_id,iteration,epoch,loss\n" + id + ",0,0,0.5\n");
  EXPECT_THAT(complaint(), HasSubstr(kOtherColumns));
}

TEST_F(Collect, RefusesWhatIsDamagedOrOfAnotherRun) {
  study.seeds = 2;
  study.write(path());
  const auto table = run_path(0, 1) / "iterations.csv";
  const std::string good = read_file(table);

  write_file_atomically(table, good.substr(0, good.size() - 5));
  EXPECT_THAT(complaint(), HasSubstr("iterations.csv:21: "));
  write_file_atomically(table, good);
  replace(table, "delta", "delto");
  EXPECT_THAT(complaint(), HasSubstr(kOtherColumns));
  write_file_atomically(table, read_file(run_path(0, 2) / "iterations.csv"));
  EXPECT_THAT(complaint(), HasSubstr("of another run"));
  write_file_atomically(table, good + good.substr(iterations_header().size()));
  EXPECT_THAT(complaint(), HasSubstr("iteration 0 after 19"));
}

TEST_F(Collect, AFailureLeavesTheEarlierTables) {
  study.seeds = 1;
  study.write(path());
  (void)collect(path());
  const std::string before = read_file(path() / "iterations.csv");
  replace(run_path(0, 1) / "iterations.csv", ",1,", ",x,");

  EXPECT_THAT(complaint(), HasSubstr("iterations.csv:3: 'x' in column 'iteration'"));

  EXPECT_EQ(read_file(path() / "iterations.csv"), before);
}

TEST_F(Collect, RefusesAStudyThatNamesAPathInsteadOfARun) {
  study.seeds = 1;
  study.write(path());
  replace(path() / "study.resolved.json", SyntheticStudy::run_id(0, 1), "../../etc-0123456789ab");

  EXPECT_THAT(complaint(), HasSubstr("names a run that is no run_id"));
}

TEST_F(Collect, RefusesAFolderOfAnotherSchemaInOneLine) {
  study.seeds = 1;
  study.write(path());
  const auto schema_line = [](int schema) { return fmt::format("\"schema\": {}", schema); };
  const std::string other = schema_line(kResultSchema + 1);
  replace(path() / "study.resolved.json", schema_line(kResultSchema), other);

  EXPECT_THAT(complaint(),
              HasSubstr(fmt::format("another version of Residuum: its schema is {}, this program "
                                    "reads {}. Read it with that version, or run the study again",
                                    kResultSchema + 1,
                                    kResultSchema)));
  EXPECT_THROW(require_tables_of_one_data(path()), Error);

  replace(path() / "study.resolved.json", other + ",", "");
  EXPECT_THAT(complaint(), HasSubstr("its schema is an earlier one"));
}

TEST_F(Collect, SaysThatAFolderIsNoResultFolder) {
  EXPECT_THAT(complaint(), HasSubstr("is not a result folder"));
}

TEST_F(Collect, RefusesAStateItDoesNotKnow) {
  study.seeds = 1;
  study.write(path());
  change_status(
      path(), SyntheticStudy::run_id(0, 1), [](Json& status) { status["state"] = "done"; });

  EXPECT_THAT(complaint(), HasSubstr("names no known state: 'done'"));
}

TEST_F(Collect, TheLastTableHasALineForEachMethodAndCountsTheRest) {
  study.seeds = 1;
  study.iterations = 2;
  study.methods.clear();
  for (int i = 1; i <= 14; ++i) {
    study.methods.push_back(SyntheticMethod{.density = i / 64.0});
  }
  study.write(path());

  const Summary summary = collect(path());

  const std::string table = study_table(summary);
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 12);
  EXPECT_THAT(table, HasSubstr("... and 4 more"));
  EXPECT_THAT(table, HasSubstr("gtopk-tree, captured, rho=0.015625"));
  EXPECT_EQ(study_table_json(summary).size(), 14U);
  EXPECT_EQ(study_table_json(summary)[0]["conservation"], "PASS");
}

TEST_F(Collect, TheLastTableHasNothingThatATerminalObeys) {
  study.seeds = 1;
  study.methods = {SyntheticMethod{.aggregator = "\x1b[2Jgone"}};
  study.write(path());

  EXPECT_THAT(study_table(collect(path())), Not(HasSubstr("\x1b")));
}

TEST_F(Collect, MethodsOfOneNameAreToldApart) {
  study.seeds = 1;
  study.methods = {SyntheticMethod{}, SyntheticMethod{}};
  study.write(path());
  const auto file = run_path(1, 1) / "config.json";
  Json config = read_json(file);
  config["config"]["step"] = Json{{"value", 0.1}};  // differs, but `varying` does not say so
  write_json_atomically(file, with_print(config));

  const Summary summary = collect(path());

  ASSERT_EQ(summary.groups.size(), 2U);
  EXPECT_NE(summary.groups[0].group.label, summary.groups[1].group.label);
}

}  // namespace
}  // namespace residuum::reports
