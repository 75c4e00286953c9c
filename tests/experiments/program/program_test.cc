// The program as a user meets it: from a study file to a report, a second time, and with bad input.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/experiments/tiny_study.h"

namespace residuum {
namespace {

using testing::HasSubstr;
using testing::Not;

class Program : public TinyStudy {};

// The budget is k P T = 2 * 4 * 40 entries.
TEST_F(Program, FindsTheThresholdThatSpendsTheBudgetOfTopK) {
  std::string study = kStudy.substr(0, kStudy.find("[sweep]"));
  const std::string top_k = "kind = \"top-k\"";
  study.replace(study.find(top_k), top_k.size(), R"(kind = "hard-threshold"
threshold = "matched")");
  const Finished finished = run(study, {"--set", "aggregator.kind=\"allgather\""});

  ASSERT_EQ(finished.code, 0) << finished.err;
  int runs = 0;
  for (const auto& folder : std::filesystem::directory_iterator(results() / "runs")) {
    const auto status = nlohmann::json::parse(read_text(folder.path() / "status.json"));
    EXPECT_GT(status["threshold"].get<double>(), 0);
    EXPECT_GE(status["pilot_runs"].get<int>(), 2);
    EXPECT_NEAR(status["totals"]["nnz_sent"].get<double>(), 320, 3.2);
    const auto config = nlohmann::json::parse(read_text(folder.path() / "config.json"));
    EXPECT_EQ(config["config"]["sparsifier"]["threshold"], "matched");
    ++runs;
  }
  EXPECT_EQ(runs, 2);
}

TEST_F(Program, LeavesTheTablesOfTheContract) {
  const Finished finished = run(kStudy);

  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("published"));
  for (const char* file : {"study.toml",
                           "study.resolved.json",
                           "runs.csv",
                           "iterations.csv",
                           "checks.csv",
                           "datapackage.json",
                           "summary.json"}) {
    EXPECT_TRUE(std::filesystem::exists(results() / file)) << file;
  }
  EXPECT_EQ(read_text(results() / "study.toml"), kStudy) << "the bytes the user wrote";
  const std::string table = read_text(results() / "iterations.csv");
  EXPECT_EQ(table.rfind("run_id,iteration,epoch,loss,loss_gap,step_size,grad_norm_sq,"
                        "mean_grad_norm_sq,accumulator_norm_sq,residual_norm_sq,"
                        "mean_residual_norm_sq,gap_norm_sq,contraction,delta,delta_in,delta_out,"
                        "captured_energy,xi,lost_mass_norm_sq,conservation_defect,total_error,"
                        "nnz_sent,nnz_applied,sent_bytes,uplink_bytes,downlink_bytes,rounds,"
                        "compute_s,select_s,aggregate_s,measure_s,model_time_s",
                        0),
            0);
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 1 + 4 * 40);
}

TEST_F(Program, PlansItsRunsInTheFileOfTheStudySoThatThoseNotBegunHaveNames) {
  ASSERT_EQ(run(kStudy).code, 0);

  const auto study = nlohmann::json::parse(read_text(results() / "study.resolved.json"));
  ASSERT_EQ(study["plan"].size(), 4U);
  ASSERT_EQ(study["runs"].size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    const auto folder = results() / "runs" / study["runs"][i].get<std::string>();
    const auto config = nlohmann::json::parse(read_text(folder / "config.json"));
    EXPECT_EQ(study["plan"][i]["seed"], config["seed"]);
    EXPECT_EQ(study["plan"][i]["varying"], config["varying"]);
  }
}

TEST_F(Program, SkipsFinishedRunsTheSecondTime) {
  ASSERT_EQ(run(kStudy).code, 0);
  const auto table = results() / "iterations.csv";
  const std::string first = read_text(table);

  const Finished again = run(kStudy);

  EXPECT_EQ(again.code, 0);
  EXPECT_THAT(again.err, HasSubstr("4 of 4 runs were done before"));
  EXPECT_EQ(read_text(table), first) << "wall times included: nothing was run again";
}

// As the mpirun of another MPI library starts it: told that there are two, and alone.
TEST_F(Program, ThatIsAloneAmongSeveralNamesTheLauncher) {
  const Finished alone = run_program(
      {"env", "OMPI_COMM_WORLD_SIZE=2", RESIDUUM_PROGRAM, "list", "columns"}, folder_.path());

  EXPECT_EQ(alone.code, 2);
  EXPECT_THAT(
      alone.err,
      HasSubstr("error: 2 processes were started, and each is alone: the launcher belongs to "
                "another MPI than the program; start it by "));
}

TEST_F(Program, RunsAgainWhatWasNotFinished) {
  ASSERT_EQ(run(kStudy).code, 0);
  const auto runs = results() / "runs";
  const auto one = std::filesystem::directory_iterator(runs)->path();
  std::ofstream(one / "status.json") << R"({"state": "running"})";

  const Finished again = run(kStudy);

  EXPECT_EQ(again.code, 0);
  EXPECT_THAT(again.err, HasSubstr("3 of 4 runs were done before"));
  EXPECT_THAT(read_text(one / "status.json"), HasSubstr("finished"));
}

TEST_F(Program, RunsAgainWhatWasDamagedSinceItFinished) {
  ASSERT_EQ(run(kStudy).code, 0);
  const auto one = std::filesystem::directory_iterator(results() / "runs")->path();
  const std::string whole = read_text(one / "iterations.csv");
  const std::string cut = whole.substr(0, whole.find('\n', whole.size() / 2) + 1);
  const std::vector<std::pair<const char*, std::string>> damages{
      {"iterations.csv", cut}, {"checks.csv", ""}, {"status.json", "{"}};
  for (const auto& [file, content] : damages) {
    std::ofstream(one / file) << content;

    const Finished again = run(kStudy);

    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_THAT(again.err, HasSubstr("was damaged since it finished")) << file;
    EXPECT_THAT(again.err, HasSubstr("3 of 4 runs were done before")) << file;
    EXPECT_EQ(read_text(one / "iterations.csv").size() > cut.size(), true);
  }
}

TEST_F(Program, LeavesATableOfWorkersOnlyWhereItIsAskedTo) {
  ASSERT_EQ(run(kStudy).code, 0);
  EXPECT_FALSE(std::filesystem::exists(results() / "workers.csv"));

  ASSERT_EQ(run(kStudy, {"--set", "probes.workers=true"}).code, 0);
  const std::string table = read_text(results() / "workers.csv");
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 1 + 4 * 40 * 4);

  std::filesystem::path one;
  for (const auto& folder : std::filesystem::directory_iterator(results() / "runs")) {
    one = std::filesystem::exists(folder.path() / "workers.csv") ? folder.path() : one;
  }
  std::ofstream(one / "workers.csv") << "damaged";
  const Finished again = run(kStudy, {"--set", "probes.workers=true"});
  EXPECT_THAT(again.err, HasSubstr("was damaged since it finished"));
  EXPECT_EQ(read_text(results() / "workers.csv").size(), table.size());
}

TEST_F(Program, SeesThePublishedRuleLeakAndTheCapturedNot) {
  ASSERT_EQ(run(kStudy).code, 0) << "a negative control is no failure";

  const auto summary = nlohmann::json::parse(read_text(results() / "summary.json"));
  int captured = 0;
  int published = 0;
  for (const auto& entry : std::filesystem::directory_iterator(results() / "runs")) {
    const auto config = nlohmann::json::parse(read_text(entry.path() / "config.json"));
    const auto status = nlohmann::json::parse(read_text(entry.path() / "status.json"));
    const auto& conservation = status["checks"]["conservation"];
    if (config["config"]["feedback"]["putback"] == "published") {
      ++published;
      EXPECT_FALSE(conservation["holds"].get<bool>());
      EXPECT_FALSE(conservation["expected"].get<bool>());
      EXPECT_EQ(status["known_losses"].size(), 1U);
    } else {
      ++captured;
      EXPECT_TRUE(conservation["holds"].get<bool>());
      EXPECT_TRUE(status["checks"]["lost-mass"]["holds"].get<bool>());
      EXPECT_EQ(status["known_losses"], nlohmann::json::array());
    }
    EXPECT_TRUE(status["checks"]["pathwise-residual"]["holds"].get<bool>());
    EXPECT_TRUE(status["checks"]["bytes"]["holds"].get<bool>());
  }
  EXPECT_EQ(captured, 2);
  EXPECT_EQ(published, 2);
}

TEST_F(Program, MakesAReportThatStandsAlone) {
  ASSERT_EQ(run(kStudy).code, 0);

  const Finished report = residuum_program({"report", "results/tiny"}, folder_.path());

  ASSERT_EQ(report.code, 0) << report.err;
  const std::string html = read_text(results() / "report.html");
  EXPECT_THAT(html, HasSubstr("published"));
  EXPECT_THAT(html, Not(HasSubstr("<script src")));
  EXPECT_THAT(html, HasSubstr("residuum run"));
}

TEST_F(Program, HoldsPublishedValuesAgainstTheRunsInATable) {
  const std::string expected =
      "[[expected]]\nquantity = \"loss\"\nat = 0\nvalue = 0.6931471805599453\n"
      "source = \"ln 2\"\nwhere = { \"feedback.putback\" = \"captured\" }\n";
  ASSERT_EQ(run(kStudy + expected).code, 0);
  const auto folders = std::distance(std::filesystem::directory_iterator(results() / "runs"), {});
  ASSERT_EQ(run(kStudy).code, 0) << "the same runs, without what was expected of them";
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(results() / "runs"), {}), folders);
  ASSERT_EQ(run(kStudy + expected).code, 0);

  const Finished report =
      residuum_program({"report", "results/tiny", "--interval", "student"}, folder_.path());

  ASSERT_EQ(report.code, 0) << report.err;
  EXPECT_THAT(read_text(results() / "tables" / "expected.csv"),
              HasSubstr("\"loss, t = 0\",captured,0.6931471805599453,"));
  EXPECT_THAT(read_text(results() / "tables" / "results.tex"),
              HasSubstr("Mean, in brackets the 95 \\% interval (Student), $n = 2$."));
  const Finished wrong =
      residuum_program({"report", "results/tiny", "--interval", "studnt"}, folder_.path());
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("did you mean 'student'?"));
}

TEST_F(Program, GivesTheSameBitsOnThreeProcesses) {
  folder_.write("s.toml", kStudy);

  const Finished verify = residuum_program({"verify", "s.toml", "--ranks", "1,3"}, folder_.path());

  EXPECT_EQ(verify.code, 0) << verify.out << verify.err;
  EXPECT_THAT(verify.out, HasSubstr("PASS"));
}

TEST_F(Program, PlansWithoutRunning) {
  folder_.write("s.toml", kStudy);

  const Finished plan = residuum_program({"plan", "s.toml", "--format", "json"}, folder_.path());

  ASSERT_EQ(plan.code, 0) << plan.err;
  const auto json = nlohmann::json::parse(plan.out);
  ASSERT_EQ(json.size(), 4);
  EXPECT_EQ(json[0]["state"], "planned");
  EXPECT_EQ(json[0]["worker_iterations"], 4 * 40);
  EXPECT_FALSE(std::filesystem::exists(results()));
}

TEST_F(Program, ListsAndInforms) {
  for (const char* room : {"objectives",
                           "datasets",
                           "sparsifiers",
                           "aggregators",
                           "feedback",
                           "protocols",
                           "probes",
                           "theorems",
                           "columns",
                           "facts"}) {
    EXPECT_EQ(residuum_program({"list", room}, folder_.path()).code, 0) << room;
  }
  EXPECT_EQ(residuum_program({"list", "probe"}, folder_.path()).code, 2);
  EXPECT_THAT(residuum_program({"info"}, folder_.path()).out, HasSubstr("libtorch"));
}

TEST_F(Program, RefusesAnotherStudysFolder) {
  ASSERT_EQ(run(kStudy, {"--out", "shared"}).code, 0);
  std::string other = kStudy;
  other.replace(other.find("tiny"), 4, "else");

  const Finished finished = run(other, {"--out", "shared"});

  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, HasSubstr("holds the results of study 'tiny'"));
}

TEST_F(Program, RefusesAFolderThatHoldsSomethingElse) {
  std::filesystem::create_directory(folder_.path() / "home");
  folder_.write("home/letter.txt", "dear");

  const Finished finished = run(kStudy, {"--out", "home"});

  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, HasSubstr("holds no study"));
}

TEST_F(Program, RefusesAFileAsResultFolder) {
  folder_.write("taken", "");

  const Finished finished = run(kStudy, {"--out", "taken"});

  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, HasSubstr("taken is a file"));
}

TEST_F(Program, TakesSeedsFromTheCommandLine) {
  ASSERT_EQ(run(kStudy, {"--set", "seeds=1"}).code, 0);
  EXPECT_EQ(run(kStudy, {"--set", "name=other"}).code, 2);

  const std::string runs = read_text(results() / "runs.csv");
  EXPECT_EQ(std::count(runs.begin(), runs.end(), '\n'), 1 + 2);
}

TEST_F(Program, NamesTheNearestCommand) {
  const Finished finished = residuum_program({"rnu"}, folder_.path());

  EXPECT_EQ(finished.code, 2);
  EXPECT_EQ(finished.err, "error: unknown command 'rnu'; did you mean 'run'?\n");
}

TEST_F(Program, VerifiesOnAsManyProcessesAsThereAreWorkersIfNotTold) {
  std::string few = kStudy;
  few.replace(few.find("count = 4"), 9, "count = 2");
  folder_.write("s.toml", few);

  const Finished verify = residuum_program({"verify", "s.toml"}, folder_.path());

  EXPECT_EQ(verify.code, 0) << verify.err;
  EXPECT_THAT(verify.out, HasSubstr("  2 processes"));
  EXPECT_THAT(verify.out, Not(HasSubstr("  3 processes")));
}

TEST_F(Program, VerifiesOnNoMoreProcessesThanWorkers) {
  folder_.write("s.toml", kStudy);

  const Finished finished = residuum_program({"verify", "s.toml", "--ranks", "5"}, folder_.path());

  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, HasSubstr("5 processes for 4 workers"));
}

TEST_F(Program, DoesNotVerifyBitsThatAreNotPromised) {
  folder_.write("s.toml", kStudy);

  const Finished finished = residuum_program(
      {"verify", "s.toml", "--set", "aggregator.kind=dense", "--set", "aggregator.reduction=fast"},
      folder_.path());

  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, HasSubstr("the bits depend on the number of processes"));
  EXPECT_THAT(finished.err, HasSubstr("use --set aggregator.reduction=ordered"));
}

TEST_F(Program, ComparesTwoResultsOfAStudy) {
  ASSERT_EQ(run(kStudy, {"--set", "seeds=4", "--out", "a"}).code, 0);
  ASSERT_EQ(run(kStudy, {"--set", "seeds=4", "--out", "b"}).code, 0);
  ASSERT_EQ(run(kStudy, {"--set", "seeds=4", "--set", "step.value=1e-5", "--out", "c"}).code, 0);
  const auto compare = [&](const char* other) {
    return residuum_program({"compare", "a", other, "--fail-on-regression"}, folder_.path());
  };

  EXPECT_EQ(compare("b").code, 0) << compare("b").out;
  const Finished worse = compare("c");
  EXPECT_EQ(worse.code, 5) << worse.out;
  EXPECT_THAT(worse.out, HasSubstr("final_loss"));
  EXPECT_THAT(worse.out, HasSubstr("note: step.value differs in all 8 runs: 0.2, now 1e-05\n"));
  EXPECT_THAT(worse.out, Not(HasSubstr("the configurations differ at")));
  EXPECT_EQ(compare("nowhere").code, 2);
}

TEST_F(Program, AnswersBadInputInOneLineAndLeavesNothing) {
  folder_.write("nan.svm", "1 1:nan\n-1 1:2\n");
  folder_.write("three.svm", "1 1:1\n2 1:2\n3 1:3\n");
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"--set", "sparsifier.kk=3"}, "unknown key 'sparsifier.kk'"},
      {{"--set", "workers.count=\"four\""}, "'workers.count'"},
      {{"--set", "objective.data=./nan.svm"}, "nan.svm:1:"},
      {{"--set", "objective.data=./three.svm"}, "three.svm:"},
      {{"--set", "objective.data=./nowhere.svm"}, "nowhere.svm"},
      {{"--set", "objective.data=a9b"}, "a9a"},
      {{"--set", "sparsifier.k=100"}, "parameters"},
      {{"--strict=1"}, "--strict: takes no value"},
      {{"--shard", "3/2"}, "--shard"},
      {{"--shard", "0/2"}, "--shard"},
      {{"--shard", "1"}, "--shard"},
      {{"--time-limit", "-1"}, "--time-limit"},
      {{"--time-limit", "1w"}, "--time-limit: w is no unit of time; units are {"},
      {{"--progres", "none"},
       "'run' has no option --progres; did you mean '--progress'? See residuum run --help"},
      {{"more.toml"}, "'more.toml' is more than 'run' takes; see residuum run --help"},
      {{"--groups", "many"}, "see residuum run --help"},
      {{"--set", "sparsifier.kind=threshold"}, "did you mean 'hard-threshold'?"},
      {{"--set", "sparsifier.memory=3"},
       "'sparsifier.memory' at --set is not read here, with kind \"top-k\"; keys that are:"},
      {{"--set", "workers.partition=dirichlet:0"},
       "'workers.partition' at --set must be \"dirichlet:ALPHA\""},
      {{"--json=false"}, "--json: takes no value"}};
  for (const auto& [options, message] : cases) {
    const Finished finished = run(kStudy, options);
    EXPECT_EQ(finished.code, 2) << message;
    EXPECT_THAT(finished.err, HasSubstr(message));
    EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
    EXPECT_FALSE(std::filesystem::exists(results())) << message;
  }
  EXPECT_EQ(residuum_program({"run", "nowhere.toml"}, folder_.path()).code, 2);
  EXPECT_EQ(residuum_program({"report", "nowhere"}, folder_.path()).code, 2);
  EXPECT_EQ(residuum_program({"runn"}, folder_.path()).code, 2);
  EXPECT_EQ(residuum_program({}, folder_.path()).code, 2);
  EXPECT_EQ(residuum_program({"--help"}, folder_.path()).code, 0);
  const auto version = residuum_program({"--version"}, folder_.path());
  EXPECT_EQ(version.code, 0) << version.err;
  EXPECT_THAT(version.out, testing::StartsWith("residuum 0.2.0"));
}

TEST_F(Program, TakesPathsOfAStudyFromTheFolderOfItsFile) {
  const std::filesystem::path studies = folder_.path() / "studies";
  std::filesystem::create_directories(studies);
  folder_.write("studies/mine.svm", "1 1:1\n-1 1:2\n1 2:1\n-1 2:3\n");
  folder_.write("elsewhere.svm", "1 1:1\n-1 1:2\n");
  std::string text = kStudy;
  text.replace(text.find("rows = 200\nfeatures = 20"), 24, "data = \"mine.svm\"");
  text.replace(text.find("k = 2"), 5, "k = 1");
  folder_.write("studies/s.toml", text);
  const auto plan = [&](std::vector<std::string> more, const std::filesystem::path& from) {
    more.insert(more.begin(), {"plan", folder_.path() / "studies" / "s.toml"});
    return residuum_program(more, from);
  };

  // The same study file means the same file, and has the same ids, from any folder.
  const Finished here = plan({}, folder_.path());
  EXPECT_EQ(here.code, 0) << here.err;
  EXPECT_EQ(plan({}, studies).out, here.out);
  EXPECT_EQ(residuum_program({"plan", "studies/s.toml"}, folder_.path()).out, here.out);
  EXPECT_EQ(residuum_program({"plan", "s.toml"}, studies).out, here.out);

  const Finished absent = plan({"--set", "objective.data=elsewhere.svm"}, folder_.path());
  EXPECT_EQ(absent.code, 2);
  EXPECT_THAT(absent.err, HasSubstr("studies/elsewhere.svm: no such file"));
  EXPECT_THAT(absent.err, HasSubstr("begins at the folder of the study file"));
  const Finished unknown =
      plan({"--set", "objective.data=mine", "--data-dir", "data"}, folder_.path());
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("looked for 'data/mine/mine' and 'data/mine'"));
  EXPECT_THAT(unknown.err, HasSubstr("such as './mine'"));
}

TEST_F(Program, WantsNoMoreProcessesThanWorkers) {
  const std::string file = folder_.write("s.toml", kStudy).string();

  const Finished finished =
      run_program({"mpirun", "-n", "5", RESIDUUM_PROGRAM, "run", file}, folder_.path());

  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, HasSubstr("5 processes for 4 workers"));
  EXPECT_FALSE(std::filesystem::exists(results()));
}

}  // namespace
}  // namespace residuum
