// The JSON Schema of studies, by which editors complete and check keys: it must take every study
// that the program takes, and refuse keys that the program does not have.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "experiments/program/study/study_keys.h"
#include "tests/experiments/python.h"
#include "tests/experiments/tiny_study.h"

namespace residuum {
namespace {

using testing::HasSubstr;

/// Prints a line for each study that is not as the schema says.
constexpr const char* kValidate = R"(
import json, sys, tomllib, jsonschema
schema = json.load(open(sys.argv[1]))
jsonschema.Draft7Validator.check_schema(schema)
validator = jsonschema.Draft7Validator(schema)
for path in sys.argv[2:]:
    study = tomllib.load(open(path, "rb"))
    for error in validator.iter_errors(study):
        print(path, list(error.absolute_path), error.message[:200])
print(len(sys.argv) - 2, "studies")
)";

class StudySchema : public TinyStudy {
 protected:
  void SetUp() override {
    python_ = python_with("jsonschema, tomllib");
    if (python_.empty()) {
      GTEST_SKIP() << "no python3 with jsonschema (python3-jsonschema) and tomllib is there";
    }
    const Finished listed =
        residuum_program({"list", "keys", "--format", "json-schema"}, folder_.path());
    ASSERT_EQ(listed.code, 0) << listed.err;
    folder_.write("schema.json", listed.out);
    folder_.write("validate.py", kValidate);
  }
  /// Returns the faults of the studies, and their number.
  std::string verdict(const std::vector<std::string>& files) const {
    std::vector<std::string> words{python_, "validate.py", "schema.json"};
    words.insert(words.end(), files.begin(), files.end());
    const Finished finished = run_program(words, folder_.path());
    EXPECT_EQ(finished.code, 0) << finished.err;
    return finished.out;
  }
  std::string verdict_on(const std::string& study) const {
    folder_.write("s.toml", study);
    return verdict({"s.toml"});
  }
  std::string python_;
};

TEST_F(StudySchema, TakesAllStudies) {
  std::vector<std::string> files;
  for (const char* const folder :
       {RESIDUUM_STUDIES "/studies", RESIDUUM_STUDIES "/studies/papers"}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() == ".toml") {
        files.push_back(entry.path().string());
      }
    }
  }
  ASSERT_GT(files.size(), 40U);
  EXPECT_EQ(verdict(files), std::to_string(files.size()) + " studies\n");
  EXPECT_EQ(verdict_on(kStudy + "[[point]]\nlabel = \"dense\"\naggregator.kind = \"dense\"\n"
                                "[labels.\"feedback.putback\"]\ncaptured = \"ours\"\n"),
            "1 studies\n");
}

TEST_F(StudySchema, RefusesWhatTheProgramRefuses) {
  for (const auto& [before, after, place] :
       {std::array{"k = 2", "kk = 2", "'kk'"},
        std::array{"[step]", "[stepp]", "'stepp'"},
        std::array{"\"top-k\"", "\"top-l\"", "'top-l'"},
        std::array{"schema = 1", "schema = 2", "['schema']"},
        std::array{"name = \"tiny\"", "name = \"a/b\"", "['name']"},
        std::array{"seeds = 2", "seeds = \"two\"", "['seeds']"},
        std::array{"feedback.putback", "feedback.putbakc", "'feedback.putbakc'"},
        std::array{"[\"captured\", \"published\"]", "\"captured\"", "['sweep'"},
        std::array{"every = 1", "times = 1", "['probes', 'times']"}}) {
    std::string study = kStudy;
    study.replace(study.find(before), std::string(before).size(), after);
    EXPECT_THAT(verdict_on(study), HasSubstr(place)) << after;
    EXPECT_EQ(residuum_program({"plan", "s.toml"}, folder_.path()).code, 2) << after;
  }
}

// One value of each kind that editors underline; the program refuses them, too.
TEST_F(StudySchema, RefusesValuesOfAnotherType) {
  for (const auto& [before, after, place] :
       {std::array{"k = 2", "k = \"two\"", "['sparsifier', 'k']"},
        std::array{"k = 2", "k = 2.5", "['sparsifier', 'k']"},
        std::array{"k = 2", "k = 0", "['sparsifier', 'k']"},
        std::array{"k = 2", "k = [2]", "['sparsifier', 'k']"},
        std::array{"k = 2", "density = 1.5", "['sparsifier', 'density']"},
        std::array{"seeds = 2", "seeds = 0", "['seeds']"},
        std::array{"value = 0.2", "value = true", "['step', 'value']"},
        std::array{"value = 0.2", "value = -1", "['step', 'value']"},
        std::array{"value = 0.2", "value = 0.2\nrule = \"constent\"", "['step', 'rule']"},
        std::array{"batch = 8", "batch = \"all\"", "['workers', 'batch']"},
        std::array{"batch = 8", "batch = 8\nsampling = 1", "['workers', 'sampling']"},
        std::array{"rows = 200", "rows = \"200\"", "['objective', 'rows']"},
        std::array{"rows = 200", "rows = 200\nintercept = 1", "['objective', 'intercept']"},
        std::array{"iterations = 40", "iterations = -4", "['budget', 'iterations']"},
        std::array{"every = 1", "every = \"often\"", "['probes', 'every']"},
        std::array{"every = 1", "every = 1\nnames = \"delta\"", "['probes', 'names']"},
        std::array{"every = 1", "every = 1\nnames = [\"dleta\"]", "['probes', 'names', 0]"},
        std::array{"[\"captured\", \"published\"]", "[\"captured\", \"public\"]", "['sweep'"},
        std::array{"[\"captured\", \"published\"]", "[1, 2]", "['sweep'"}}) {
    std::string study = kStudy;
    study.replace(study.find(before), std::string(before).size(), after);
    EXPECT_THAT(verdict_on(study), HasSubstr(place)) << after;
    EXPECT_EQ(residuum_program({"plan", "s.toml"}, folder_.path()).code, 2) << after;
  }
  EXPECT_THAT(verdict_on(kStudy + "[[point]]\nstep.value = []\n"),
              HasSubstr("['point', 0, 'step'"));
  EXPECT_THAT(verdict_on(kStudy + "[[point]]\nlabel = \"" + std::string(41, 'a') + "\"\n"),
              HasSubstr("['point', 0, 'label']"));
  EXPECT_THAT(verdict_on("search.key = 3\nsearch.order = \"any\"\n" + kStudy),
              testing::AllOf(HasSubstr("['search', 'key']"), HasSubstr("['search', 'order']")));
}

TEST(ListedSchema, KnowsTheValuesOfEveryKeyAndOfNoOther) {
  std::vector<std::string> keys;
  for (const auto& key : study_keys()) {
    if (!key.section.empty()) {
      keys.push_back(std::string(key.section) + '.' + std::string(key.name));
    }
  }
  std::vector<std::string> with_values;
  for (const auto& one : study_values()) {
    with_values.emplace_back(one.key);
  }
  EXPECT_EQ(with_values, keys);
}

TEST(ListedSchema, WritesAlternativesAsSchemas) {
  EXPECT_EQ(schema_of_values("integer>=1", nullptr).dump(), R"({"minimum":1,"type":"integer"})");
  EXPECT_EQ(schema_of_values("\"a\" | \"b\"", nullptr).dump(), R"({"enum":["a","b"]})");
  EXPECT_EQ(schema_of_values("number>0 | list of name", {"x"}).dump(),
            R"({"anyOf":[{"exclusiveMinimum":0,"type":"number"},)"
            R"({"items":{"enum":["x"]},"type":"array"}]})");
}

TEST(ListedSchema, IsOfKeysAlone) {
  const TemporaryFolder folder;
  const Finished other =
      residuum_program({"list", "probes", "--format", "json-schema"}, folder.path());
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, HasSubstr("list keys --format json-schema"));
}

TEST(ListedSchema, DescribesEveryKeyAsTheListDoes) {
  const auto schema = study_schema();
  const auto& density = schema["properties"]["sparsifier"]["properties"]["density"];
  EXPECT_EQ(density["description"], "k/d, in (0, 1]");
  EXPECT_EQ(schema["properties"]["seeds"]["description"].get<std::string>().substr(0, 14),
            "how many seeds");
}

}  // namespace
}  // namespace residuum
