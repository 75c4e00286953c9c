// residuum rate as a user calls it: known rates, iterations and bytes, and one line for bad input.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/experiments/support.h"

namespace residuum {
namespace {

using testing::HasSubstr;

/// kappa = 10, density 1/10.
std::vector<std::string> usual(const std::vector<std::string>& further = {},
                               const std::string& workers = "4") {
  std::vector<std::string> arguments{"rate",
                                     "--smoothness",
                                     "1",
                                     "--strong-convexity",
                                     "0.1",
                                     "--density",
                                     "0.1",
                                     "--workers",
                                     workers};
  arguments.insert(arguments.end(), further.begin(), further.end());
  return arguments;
}

class Rate : public testing::Test {
 protected:
  nlohmann::json json_of(std::vector<std::string> arguments) const {
    arguments.emplace_back("--json");
    const Finished finished = residuum_program(arguments, folder_.path());
    EXPECT_EQ(finished.code, 0) << finished.err;
    return nlohmann::json::parse(finished.out);
  }
  static nlohmann::json row(const nlohmann::json& found, const std::string& name) {
    for (const auto& one : found["rates"]) {
      if (one["name"] == name) {
        return one;
      }
    }
    ADD_FAILURE() << name;
    return {};
  }
  TemporaryFolder folder_;
};

TEST_F(Rate, HasThePapersValuesWithIterationsAndBytes) {
  const auto found = json_of(usual());

  for (const char* name : {"tight-ef14", "tight-ef21"}) {
    const auto tight = row(found, name);
    EXPECT_NEAR(tight["factor"].get<double>(), 0.990469128, 6e-10);
    EXPECT_NEAR(tight["step"].get<double>(), 0.04788, 5e-6);
    EXPECT_EQ(tight["iterations"], 1443);  // ln 1e-6 / ln 0.990469128 = 1442.6
    // 100000 entries of 8 bytes to three others.
    EXPECT_EQ(tight["bytes_per_worker"], 1443 * 2.4e6);
  }
  EXPECT_NEAR(row(found, "ef21-pl")["factor"].get<double>(), 0.996315989, 6e-10);
  EXPECT_EQ(row(found, "ef21-pl")["iterations"], 3744);
  EXPECT_EQ(row(found, "memoryless")["factor"], nullptr);  // of one worker only
  EXPECT_NEAR(row(found, "dense")["factor"].get<double>(), 81.0 / 121, 1e-12);
  // 35 iterations of 2 (P - 1)/P vectors of 4 million bytes.
  EXPECT_EQ(row(found, "dense")["bytes_per_worker"], 35 * 6e6);
}

TEST_F(Rate, SetsDescentWithoutMemoryBesideOneWorker) {
  const auto found = json_of(usual({}, "1"));
  EXPECT_NEAR(row(found, "memoryless")["factor"].get<double>(), 0.9895216445537524, 1e-12);
  EXPECT_EQ(row(found, "memoryless")["iterations"], 1312);
  EXPECT_LT(row(found, "memoryless")["factor"], row(found, "tight-ef14")["factor"]);
}

TEST_F(Rate, TheWorstCaseWantsAllEntries) {
  // At kappa = 10 no density below 1 makes up for the iterations that it costs.
  const auto found = json_of(usual());
  EXPECT_EQ(found["fewest_bytes"]["density"], 1);
  double last = found["fewest_bytes"]["bytes_per_worker"];
  for (const auto& one : found["densities"]) {
    EXPECT_GE(one["bytes_per_worker"].get<double>(), last * (1 - 1e-12)) << one;
  }
}

TEST_F(Rate, DrawsBytesOverDensities) {
  const Finished drawn = residuum_program(usual({"--figure", "bytes.tex"}), folder_.path());
  ASSERT_EQ(drawn.code, 0) << drawn.err;
  const std::string figure = read_text(folder_.path() / "bytes.tex");
  EXPECT_THAT(
      figure,
      HasSubstr("{fewest: 2.\\allowbreak{}1e+\\allowbreak{}08 bytes at density 1}"));  // 35 x 6e6
  EXPECT_THAT(figure, HasSubstr("ef21-pl"));
  EXPECT_THAT(figure, HasSubstr("all entries, all-reduce"));

  for (const auto& [further, says] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"--figure", "b.tex", "--dim", "1"}, "needs --dim above 1"},
           {{"--figure", "b.bmp"}, "--figure b.bmp must end in .svg, .pdf or .tex"}}) {
    const Finished refused = residuum_program(usual(further), folder_.path());
    EXPECT_EQ(refused.code, 2) << says;
    EXPECT_THAT(refused.err, HasSubstr(says));
    EXPECT_EQ(refused.out, "");
  }
  EXPECT_THAT(residuum_program(usual({"--figure", "b.tex"}, "1"), folder_.path()).err,
              HasSubstr("a single one sends none"));
}

TEST_F(Rate, KnowsNothingOfBytesWhereOnlyTheShareIsGiven) {
  const auto found =
      json_of({"rate", "--smoothness", "2", "--strong-convexity", "1", "--contraction", "0.5"});
  EXPECT_NEAR(row(found, "tight-ef14")["factor"].get<double>(), 0.794108532, 6e-10);
  EXPECT_EQ(row(found, "tight-ef14")["bytes_per_worker"], nullptr);
}

TEST_F(Rate, SaysWhatIsKnownAtAStep) {
  const auto found = json_of(usual({"--step", "0.01"}));
  EXPECT_EQ(row(found, "tight-ef14")["factor"], nullptr);
  EXPECT_EQ(row(found, "tight-ef14")["note"], "says nothing of this step");
  EXPECT_DOUBLE_EQ(row(found, "ef21-pl")["factor"].get<double>(), 1 - 0.01 * 0.1);
}

TEST_F(Rate, HasTheWorstCaseAtAStep) {
  const auto found = json_of(usual({"--step", "0.0478800708904"}));  // eta* to a few digits
  for (const char* name : {"worst-ef14", "worst-ef21"}) {
    const auto worst = row(found, name);
    EXPECT_NEAR(worst["factor"].get<double>(), 0.990469128, 1e-9);
    EXPECT_EQ(worst["falls"], "V of this step");
    EXPECT_THAT(worst["note"].get<std::string>(), HasSubstr("V: form in x − x*, ∇f, "));
    EXPECT_EQ(worst["iterations"], 1443);
    EXPECT_GT(worst["proof"]["least_pivot"].get<double>(), 0);
    EXPECT_NEAR(worst["reached"].get<double>(), 0.990469128, 1e-9);
  }
  EXPECT_EQ(row(found, "worst-memoryless")["note"], "for one worker only");
  const auto far = json_of(usual({"--step", "1"}));
  EXPECT_EQ(row(far, "worst-ef21")["factor"], nullptr);
  EXPECT_EQ(row(far, "worst-ef21")["note"], "diverges on a quadratic with a linear compressor");
  EXPECT_GT(row(far, "worst-ef21")["reached"].get<double>(), 1);
  const auto one = json_of(usual({"--method", "worst-memoryless"}, "1"))["rates"];
  ASSERT_EQ(one.size(), 1U);
  EXPECT_NEAR(one[0]["factor"].get<double>(), 0.9895216445537524, 1e-9);
}

TEST_F(Rate, HasTheWorstCaseOfMomentumLocalStepsAndEControl) {
  // Gradient descent: H steps are H iterations; the rate with a little momentum is that on
  // quadratics, the squared root of z^2 - (1 + beta - h mu) z + beta, here with beta = 0.1, h =
  // 0.02, mu = 0.1.
  const auto local = json_of(usual({"--local-steps", "3", "--step", "0.1"}, "1"));
  EXPECT_NEAR(row(local, "worst-dense")["factor"].get<double>(), std::pow(0.99, 6), 1e-8);
  EXPECT_EQ(row(local, "worst-ef21")["note"], "estimates exclude local steps");
  EXPECT_EQ(row(local, "ef21-pl")["note"], "says nothing of momentum and local steps");
  EXPECT_EQ(row(local, "dense")["factor"], nullptr);
  const auto ball = json_of(usual({"--momentum", "0.1", "--step", "0.02"}, "1"));
  const double root = (1.098 + std::sqrt(1.098 * 1.098 - 0.4)) / 2;
  EXPECT_NEAR(row(ball, "worst-dense")["factor"].get<double>(), root * root, 1e-8);
  EXPECT_EQ(row(ball, "worst-ef14")["note"], "V: form in x − x*, ∇f, e, v, ∇f(x⁻), plus f − f*");

  const auto plain = json_of(usual({"--method", "worst-ef14", "--local-steps", "1"}))["rates"][0];
  EXPECT_NEAR(plain["factor"].get<double>(), 0.990469128, 1e-9);
  EXPECT_EQ(plain["note"], "V: form in x − x*, ∇f, e, plus f − f*; if x* minimises every f_p");
  const auto control = json_of(usual({"--method", "worst-econtrol"}))["rates"][0];
  EXPECT_GT(control["factor"].get<double>(), 0.999 * 0.999);  // (1 - error weight)^2
  const auto weighty = json_of(usual({"--method", "worst-econtrol", "--error-weight", "0.9"}));
  EXPECT_EQ(weighty["rates"][0]["factor"], nullptr);
}

TEST_F(Rate, DrawsTheWorstCaseOverSteps) {
  const auto curve = json_of(usual({"--curve"}, "1"))["curve"];
  for (const char* name : {"worst-ef14", "worst-ef21", "worst-memoryless", "worst-dense"}) {
    double best = 0;  // as a multiple of the step that theory has for the best
    double least = 1;
    for (const auto& at : curve) {
      const auto& factor = at["methods"][name]["factor"];
      if (!factor.is_null() && factor.get<double>() < least) {
        least = factor.get<double>();
        best = at["of_best_step"].get<double>();
      }
    }
    EXPECT_EQ(best, 1) << name;
  }
  const Finished text = residuum_program(usual({"--curve"}), folder_.path());
  EXPECT_THAT(text.out, HasSubstr("of the best step"));
}

TEST_F(Rate, SetsBoundsAndWhatIsReachedBesideTheCurve) {
  const auto curve = json_of(usual({"--curve"}))["curve"];
  std::size_t bounded = 0;
  for (const auto& at : curve) {
    const auto& estimates = at["methods"]["worst-ef21"];
    const double step = estimates["step"];
    const bool is_best = at["of_best_step"] == 1.0;
    EXPECT_EQ(estimates["bounds"]["tight-ef21"].is_null(), !is_best) << at;
    EXPECT_FALSE(estimates["bounds"].contains("tight-ef14")) << at;
    if (!estimates["bounds"]["ef21-pl"].is_null()) {
      EXPECT_NEAR(estimates["bounds"]["ef21-pl"].get<double>(), 1 - 0.1 * step, 1e-12);
      EXPECT_LT(estimates["factor"], estimates["bounds"]["ef21-pl"]);
      ++bounded;
    }
    for (const auto& [name, method] : at["methods"].items()) {
      if (!method["factor"].is_null()) {
        EXPECT_LE(method["reached"], method["factor"]) << name << at;
      }
    }
    EXPECT_EQ(at["methods"]["worst-memoryless"]["note"], "for one worker only");
  }
  EXPECT_GT(bounded, 0U);
  EXPECT_LT(bounded, curve.size());  // its largest step is below the tight one
}

TEST_F(Rate, DrawsTheCurve) {
  const Finished drawn = residuum_program(
      usual({"--curve", "--method", "worst-ef21", "--figure", "steps.tex"}), folder_.path());
  ASSERT_EQ(drawn.code, 0) << drawn.err;
  const std::string figure = read_text(folder_.path() / "steps.tex");
  for (const char* label : {"worst-ef21", "reached", "ef21-pl", "tight-ef21"}) {
    EXPECT_THAT(figure, HasSubstr(label));
  }
  // At the tight step V loses 1 - 0.990469128 of itself.
  EXPECT_THAT(read_text(folder_.path() / "steps.csv"), HasSubstr("0.0095308"));

  const Finished none = residuum_program(
      usual({"--curve", "--method", "worst-memoryless", "--figure", "s.tex"}), folder_.path());
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("--figure has no curve to draw: for one worker only"));
}

TEST_F(Rate, CountsBytesOfWholeIterationsEverywhere) {
  const auto found = json_of(usual());
  for (const auto& one : found["densities"]) {
    if (one["density"] == 1.0) {
      EXPECT_EQ(one["bytes_per_worker"], row(found, "dense")["bytes_per_worker"]);
    }
    if (one["density"] == 0.1) {
      EXPECT_EQ(one["bytes_per_worker"], row(found, "tight-ef14")["bytes_per_worker"]);
    }
  }
  EXPECT_EQ(found["fewest_bytes"]["bytes_per_worker"], 35 * 6e6);
}

TEST_F(Rate, AsksForWholeNumbersOfEntries) {
  // Of 3 entries a tenth is none, and a message has at least one: k = 1, density 1/3.
  const auto found = json_of(usual({"--dim", "3"}));
  EXPECT_EQ(found["k"], 1);
  EXPECT_DOUBLE_EQ(found["density"].get<double>(), 1.0 / 3);
  EXPECT_DOUBLE_EQ(found["contraction"].get<double>(), 1.0 / 3);
  std::vector<double> entries;
  for (const auto& one : found["densities"]) {
    entries.push_back(one["k"].get<double>());
    EXPECT_DOUBLE_EQ(one["density"].get<double>(), entries.back() / 3);
    if (entries.back() == 1) {
      EXPECT_EQ(one["bytes_per_worker"], row(found, "tight-ef14")["bytes_per_worker"]);
      EXPECT_EQ(one["iterations"], row(found, "tight-ef14")["iterations"]);
    }
  }
  EXPECT_EQ(entries, (std::vector<double>{3, 2, 1}));

  const Finished drawn =
      residuum_program(usual({"--dim", "3", "--figure", "bytes.tex"}), folder_.path());
  ASSERT_EQ(drawn.code, 0) << drawn.err;
  const std::string data = read_text(folder_.path() / "bytes.csv");
  EXPECT_THAT(data, HasSubstr("0.333"));
  EXPECT_THAT(data, HasSubstr("0.666"));
  EXPECT_EQ(data.find("0.5"), std::string::npos) << data;

  const Finished text = residuum_program(usual({"--dim", "3"}), folder_.path());
  EXPECT_THAT(text.out, HasSubstr("share kept 0.333333 (k = 1)"));
}

TEST_F(Rate, PrintsNumbersOfAnyScale) {
  for (const auto& [smoothness, convexity] :
       std::vector<std::pair<std::string, std::string>>{{"1e-300", "1e-301"},
                                                        {"1e308", "1e307"},
                                                        {"1e300", "1e-300"},
                                                        {"1e-310", "1e-320"},
                                                        {"1", "5e-324"}}) {
    for (const char* workers : {"1", "4"}) {
      const std::vector<std::string> arguments{"rate",
                                               "--smoothness",
                                               smoothness,
                                               "--strong-convexity",
                                               convexity,
                                               "--density",
                                               ".1",
                                               "--workers",
                                               workers};
      const Finished finished = residuum_program(arguments, folder_.path());
      EXPECT_EQ(finished.code, 0) << finished.err;
      for (const char* word : {"nan", "inf"}) {
        EXPECT_EQ(finished.out.find(word), std::string::npos) << finished.out;
      }
    }
  }
  const auto scaled = json_of(
      {"rate", "--smoothness", "1e-300", "--strong-convexity", "1e-301", "--density", ".1"});
  EXPECT_NEAR(row(scaled, "tight-ef14")["factor"].get<double>(), 0.990469128, 6e-10);
}

TEST_F(Rate, CountsIterationsWhereTheFactorRoundsToOne) {
  // kappa = 1e17, density 1/2: with q = 4e-17 and c = 1 the gap is (1 - s) 2q/(2 (1 + s)).
  auto arguments = usual({}, "1");
  arguments[4] = "1e-17";
  arguments[6] = "0.5";
  const auto tight = row(json_of(arguments), "tight-ef14");
  const double s = std::sqrt(0.5);
  const double gap = (1 - s) / (1 + s) * 4e-17;
  EXPECT_EQ(tight["factor"], 1);
  EXPECT_NEAR(tight["one_minus_factor"].get<double>(), gap, 1e-9 * gap);
  EXPECT_NEAR(tight["iterations"].get<double>(), std::log(1e6) / gap, 1e-6 * std::log(1e6) / gap);
  EXPECT_EQ(tight["bytes_per_worker"], 0);
  EXPECT_EQ(tight["note"], "the factor rounds to 1 in float64");
  const Finished text = residuum_program(arguments, folder_.path());
  EXPECT_THAT(text.out, HasSubstr("1 − 6.863e-18"));
  EXPECT_THAT(text.out, HasSubstr("the factor rounds to 1 in float64"));
}

TEST_F(Rate, SaysWhichErrorWeightTheCurveHas) {
  const Finished text = residuum_program(
      usual({"--curve", "--method", "worst-econtrol", "--error-weight", "0.25"}), folder_.path());
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("worst-econtrol, w = 0.25"));
}

TEST_F(Rate, RefusesBadInputInOneLine) {
  struct Case {
    std::vector<std::string> further;
    std::string says;
  };
  for (const auto& [further, says] : std::vector<Case>{
           {{"--strong-convexity", "2"}, "--strong-convexity 2 is above --smoothness 1"},
           {{"--strong-convexity", "0"}, "What remains is theorem ef21"},
           {{"--strong-convexity", "-1"}, "must be above 0"},
           {{"--strong-convexity", "nan"}, "--strong-convexity is nan, but must be finite"},
           {{"--smoothness", "inf"}, "--smoothness is inf, but must be finite"},
           {{"--smoothness", "0"}, "--smoothness is 0, but must be above 0"},
           {{"--density", "0"}, "--density is 0, but must lie in (0, 1]"},
           {{"--density", "1.5"}, "--density is 1.5, but must lie in (0, 1]"},
           {{"--density", "nan"}, "must lie in (0, 1]"},
           {{"--contraction", "0.5"}, "one of them"},
           {{"--method", "tight-ef41"}, "did you mean 'tight-ef14'"},
           {{"--workers", "0"}, "--workers is 0"},
           {{"--accuracy", "2"}, "--accuracy is 2"},
           {{"--step", "0"}, "--step is 0"},
           {{"--momentum", "1"}, "--momentum is 1, but must lie in [0, 1)"},
           {{"--local-steps", "9"}, "--local-steps is 9, but must be from 1 to 8"},
           {{"--error-weight", "0"}, "--error-weight is 0, but must lie in (0, 1]"},
           {{"--from", "nowhere"}, "--from has the constants"}}) {
    auto arguments = usual();
    for (std::size_t i = 0; i < further.size(); i += 2) {
      const auto at = std::find(arguments.begin(), arguments.end(), further[i]);
      if (at == arguments.end()) {
        arguments.insert(arguments.end(), {further[i], further[i + 1]});
      } else {
        *(at + 1) = further[i + 1];
      }
    }
    const Finished finished = residuum_program(arguments, folder_.path());
    EXPECT_EQ(finished.code, 2) << says;
    EXPECT_THAT(finished.err, HasSubstr(says));
    EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
    EXPECT_EQ(finished.out, "");
  }
  const Finished equal = residuum_program(
      {"rate", "--smoothness", "1", "--strong-convexity", "1", "--density", "0.5", "--curve"},
      folder_.path());
  EXPECT_EQ(equal.code, 2);
  EXPECT_EQ(equal.err,
            "error: --curve needs L above mu and a share below 1: L = 1, mu = 1, share 0.5\n");
  EXPECT_THAT(residuum_program({"rate", "--density", "1"}, folder_.path()).err,
              HasSubstr("--smoothness is missing"));
  EXPECT_THAT(residuum_program({"rate", "--from", "r", "--workers", "2"}, folder_.path()).err,
              HasSubstr("--from has the constants; leave "));
  EXPECT_THAT(residuum_program(usual({"--curve", "--method", "dense"}), folder_.path()).err,
              HasSubstr("--curve is of worst cases; --method dense is none of them: worst-ef14, "));
  EXPECT_THAT(residuum_program(usual({"--curve", "--step", "0.1"}), folder_.path()).err,
              HasSubstr("leave --step out"));
}

TEST_F(Rate, TakesTheConstantsOfAStudyAndOfItsResults) {
  // L = 1, mu = 1/10, one of two entries.
  folder_.write("s.toml", R"(
schema = 1
name = "s"
seeds = 1
[objective]
kind = "matrix-quadratic"
matrix = [[1.0, 0.0], [0.0, 0.1]]
precision = "float64"
[workers]
count = 2
[sparsifier]
kind = "top-k"
k = 1
[aggregator]
kind = "allgather"
[step]
value = "tight"
[budget]
iterations = 5
)");
  ASSERT_EQ(residuum_program({"run", "s.toml", "--out", "r"}, folder_.path()).code, 0);

  for (const auto& [option, place] : {std::pair{"--from", "r"}, std::pair{"--study", "s.toml"}}) {
    const auto found = json_of({"rate", option, place}).at(0);
    EXPECT_NEAR(found["smoothness"].get<double>(), 1, 1e-12) << option;
    EXPECT_NEAR(found["strong_convexity"].get<double>(), 0.1, 1e-12);
    EXPECT_EQ(found["contraction"], 0.5);
    EXPECT_EQ(found["workers"], 2);
    EXPECT_EQ(found["dimension"], 2);
    EXPECT_NEAR(row(found, "tight-ef14")["factor"].get<double>(), 0.93937, 1e-5);
    const auto tight = row(found, "tight-ef14");
    EXPECT_EQ(tight["note"], "");
    // An entry of 4 + 8 bytes to the other worker.
    EXPECT_EQ(tight["bytes_per_worker"].get<double>(), 12 * tight["iterations"].get<double>())
        << option;
    EXPECT_THAT(row(found, "tight-ef21")["note"].get<std::string>(),
                HasSubstr("of another method; not met here: workers exchange changes"));
  }
}

TEST_F(Rate, CountsTheBytesThatTheMethodsMessagesHave) {
  // One of two entries, four workers. A float64 list has 4 + 8 bytes. With signs it has an index, a
  // scale of 8 bytes and a byte of signs. Each worker sends it to three others.
  folder_.write("s.toml", R"(
schema = 1
name = "s"
seeds = 1
[objective]
kind = "matrix-quadratic"
matrix = [[1.0, 0.0], [0.0, 0.1]]
precision = "float64"
[workers]
count = 4
[sparsifier]
kind = "top-k"
k = 1
[aggregator]
kind = "allgather"
[step]
value = 0.1
[budget]
iterations = 5
[sweep]
"quantiser.kind" = ["none", "sign"]
)");
  ASSERT_EQ(residuum_program({"run", "s.toml", "--out", "r"}, folder_.path()).code, 0);

  for (const auto& [option, place] : {std::pair{"--from", "r"}, std::pair{"--study", "s.toml"}}) {
    const auto methods = json_of({"rate", option, place});
    ASSERT_EQ(methods.size(), 2U);
    for (const auto& found : methods) {
      const bool has_signs = found["method"].get<std::string>().find("sign") != std::string::npos;
      const auto tight = row(found, "tight-ef14");
      EXPECT_EQ(tight["bytes_per_worker"].get<double>(),
                3 * (has_signs ? 13 : 12) * tight["iterations"].get<double>())
          << option << tight;
    }
  }
}

/// L = 1, mu = 1/10, Top-1 of two entries, a probe of V.
constexpr const char* kSweptStudy = R"(
schema = 1
name = "s"
seeds = 1
[objective]
kind = "matrix-quadratic"
matrix = [[1.0, 0.0], [0.0, 0.1]]
start = [0.3, 1.0]
precision = "float64"
[workers]
count = 2
[sparsifier]
kind = "top-k"
k = 1
[aggregator]
kind = "allgather"
[step]
value = 0.2
[budget]
iterations = 200
[probes]
names = ["lyapunov"]
)";

TEST_F(Rate, SaysWhyATheoremDoesNotApplyToAMethod) {
  folder_.write("s.toml",
                std::string(kSweptStudy) +
                    "[sweep]\n\"aggregator.kind\" = [\"gtopk-exact\", \"gtopk-tree\"]\n");
  ASSERT_EQ(residuum_program({"run", "s.toml", "--out", "r"}, folder_.path()).code, 0);
  for (const auto& [option, place] : {std::pair{"--from", "r"}, std::pair{"--study", "s.toml"}}) {
    const auto methods = json_of({"rate", option, place, "--step", "0.2"});
    ASSERT_EQ(methods.size(), 2U);
    for (const auto& found : methods) {
      for (const char* name :
           {"tight-ef14", "tight-ef21", "ef21-pl", "worst-ef14", "worst-ef21", "worst-econtrol"}) {
        EXPECT_EQ(row(found, name)["factor"], nullptr) << name;
        EXPECT_THAT(row(found, name)["note"].get<std::string>(),
                    HasSubstr("does not apply; not met: every message is applied as it was sent "
                              "(aggregator " +
                              found["method"].get<std::string>() + " cuts what was sent)"));
      }
      EXPECT_NEAR(row(found, "worst-dense")["factor"].get<double>(), 0.98 * 0.98, 1e-6);
      EXPECT_EQ(found["fewest_bytes"], nullptr);
    }
  }
  const Finished text = residuum_program({"rate", "--from", "r", "--curve"}, folder_.path());
  EXPECT_THAT(text.out, HasSubstr("worst-ef21: does not apply; not met: every message"));
}

TEST_F(Rate, HasNoRateWithoutMemoryOfSeveralWorkers) {
  folder_.write("s.toml", std::string(kSweptStudy) + "[feedback]\nkind = \"none\"\n");
  const Finished text = residuum_program({"rate", "--study", "s.toml"}, folder_.path());
  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("no rate: with several workers a method without memory"));
  EXPECT_EQ(std::count(text.out.begin(), text.out.end(), '\n'), 2) << text.out;
  EXPECT_EQ(text.out.find("0.9"), std::string::npos) << text.out;
  const auto found = json_of({"rate", "--study", "s.toml"}).at(0);
  EXPECT_EQ(found["rates"].size(), 0U);
  EXPECT_EQ(found["densities"].size(), 0U);
  EXPECT_THAT(found["obstacle"].get<std::string>(), HasSubstr("no rate"));
}

TEST_F(Rate, SaysThatWorkersHaveMinimisersOfTheirOwn) {
  const std::string key = "start = [0.3, 1.0]";
  std::string study = kSweptStudy;
  study.replace(study.find(key), key.size(), "minimizers = [[1.0, 0.0], [0.0, 1.0]]");
  folder_.write("s.toml", study);
  const auto found = json_of({"rate", "--study", "s.toml", "--step", "0.2"}).at(0);
  for (const char* name : {"tight-ef14", "worst-ef14"}) {
    EXPECT_EQ(row(found, name)["factor"], nullptr) << name;
    EXPECT_THAT(row(found, name)["note"].get<std::string>(),
                HasSubstr("workers may have minimisers of their own"));
  }
  EXPECT_FALSE(row(found, "worst-ef21")["factor"].is_null());
  EXPECT_THAT(row(found, "worst-ef21")["note"].get<std::string>(),
              HasSubstr("of another method; not met here: workers exchange changes"));
}

TEST_F(Rate, SetsTheMeasuredRateBesideTheCurve) {
  folder_.write("s.toml", kSweptStudy);
  ASSERT_EQ(residuum_program({"run", "s.toml", "--out", "r"}, folder_.path()).code, 0);
  const auto found = json_of({"rate", "--from", "r", "--curve"}).at(0);
  const auto measured = row(found, "measured");
  EXPECT_EQ(measured["falls"], "V");
  EXPECT_EQ(measured["step"], 0.2);
  std::size_t there = 0;
  for (const auto& at : found["curve"]) {
    const auto& own = at["methods"]["worst-ef14"];
    EXPECT_EQ(at["methods"]["worst-ef21"]["measured"], nullptr);
    if (!own["measured"].is_null()) {
      EXPECT_NEAR(own["step"].get<double>(), 0.2, 1e-12);
      EXPECT_EQ(own["measured"], measured["factor"]);
      EXPECT_LE(own["measured"], own["factor"]);
      ++there;
    }
  }
  EXPECT_EQ(there, 1U);
  EXPECT_THAT(residuum_program({"rate", "--from", "r", "--curve"}, folder_.path()).out,
              HasSubstr("measured"));

  // Without V the gap f - f* is taken.
  ASSERT_EQ(residuum_program({"run",
                              "s.toml",
                              "--set",
                              "probes.names=[\"smoothness\"]",
                              "--set",
                              "probes.evaluate=1",
                              "--out",
                              "q"},
                             folder_.path())
                .code,
            0);
  const auto of_gap = row(json_of({"rate", "--from", "q"}).at(0), "measured");
  EXPECT_EQ(of_gap["falls"], "f − f*");
  EXPECT_NEAR(of_gap["factor"].get<double>(), measured["factor"].get<double>(), 0.01);
}

}  // namespace
}  // namespace residuum
