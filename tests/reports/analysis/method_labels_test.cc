// A method is named by what matters of it.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "reports/analysis/groups.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using testing::SyntheticMethod;
using testing::SyntheticStudy;
using testing::TemporaryFolder;

/// Writes a study of one seed whose methods have these protocols, and these keys vary.
void write_protocols(const std::filesystem::path& folder,
                     const std::vector<std::pair<Json, Json>>& varying_and_config) {
  SyntheticStudy study;
  study.seeds = 1;
  study.methods.assign(varying_and_config.size(), SyntheticMethod{});
  study.write(folder);
  for (std::size_t i = 0; i < varying_and_config.size(); ++i) {
    const auto file = folder / "runs" / SyntheticStudy::run_id(i, 1) / "config.json";
    Json config = read_json(file);
    config["varying"] = varying_and_config[i].first;
    config["config"]["protocol"] = varying_and_config[i].second;
    write_json_atomically(file, with_print(config));
  }
}

TEST(MethodLabels, LeaveOutKeysThatTheMethodsKindDoesNotHave) {
  const TemporaryFolder folder;
  write_protocols(folder.path(),
                  {{Json{{"protocol.kind", "asp"}, {"protocol.cap", 1}}, Json{{"kind", "asp"}}},
                   {Json{{"protocol.kind", "inhad"}, {"protocol.cap", 1}},
                    Json{{"kind", "inhad"}, {"cap", 1}}}});

  EXPECT_EQ(method_labels(read_result_folder(folder.path())),
            (std::vector<std::string>{"asp", "inhad, protocol.cap=1"}));
}

TEST(MethodLabels, NameAValueThatIsTheStandardForOthersOfTheKind) {
  const TemporaryFolder folder;
  write_protocols(
      folder.path(),
      {{Json{{"protocol.kind", "ssp"}, {"protocol.staleness", 0}}, Json{{"kind", "ssp"}}},
       {Json{{"protocol.kind", "ssp"}, {"protocol.staleness", 2}},
        Json{{"kind", "ssp"}, {"staleness", 2}}}});

  EXPECT_EQ(method_labels(read_result_folder(folder.path())),
            (std::vector<std::string>{"ssp, protocol.staleness=0", "ssp, protocol.staleness=2"}));
}

TEST(MethodLabels, AreKnownOfRunsThatHaveNotBegunFromAnotherSeed) {
  const TemporaryFolder folder;
  SyntheticStudy study;
  study.seeds = 2;
  study.write(folder.path());
  const auto config = folder.path() / "runs" / SyntheticStudy::run_id(0, 1) / "config.json";
  Json first = read_json(config);
  first["varying"] = Json::object();
  write_json_atomically(config, with_print(first));
  std::filesystem::remove_all(folder.path() / "runs" / SyntheticStudy::run_id(0, 2));
  Json plan = read_json(folder.path() / "study.resolved.json");
  plan["plan"] = Json::array({Json{{"seed", 1}, {"varying", Json::object()}},
                              Json{{"seed", 2}, {"varying", Json::object()}}});
  write_json_atomically(folder.path() / "study.resolved.json", plan);

  EXPECT_EQ(method_labels(read_result_folder(folder.path())),
            (std::vector<std::string>{"gtopk-tree", "gtopk-tree"}));
}

}  // namespace
}  // namespace residuum::reports
