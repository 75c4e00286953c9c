// How much memory a report of many methods needs.

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <sys/resource.h>

#include "reports/page/report.h"
#include "reports/results/files.h"
#include "reports/summaries/collect.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports {
namespace {

using testing::SyntheticStudy;
using testing::TemporaryFolder;

/// Returns the most memory that this process has had so far.
std::size_t peak_bytes() {
  rusage usage{};
  EXPECT_EQ(::getrusage(RUSAGE_SELF, &usage), 0);
  return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

TEST(LargeStudy, NeedsLessThanHalfAMegabyteForEachMethod) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "AddressSanitizer keeps what was freed";
#endif
  constexpr std::size_t kMethods = 250;
  const TemporaryFolder folder;
  SyntheticStudy study;
  study.seeds = 1;
  study.iterations = 4;
  study.methods.assign(kMethods, {});
  for (std::size_t i = 0; i < kMethods; ++i) {
    study.methods[i].density = 0.001 * static_cast<double>(i + 1);
  }
  study.write(folder.path());
  const std::size_t before = peak_bytes();

  (void)write_report(collect(folder.path()));

  EXPECT_LT(peak_bytes() - before, kMethods * 500'000);
  const Json summary = read_json(folder.path() / "summary.json");
  ASSERT_EQ(summary["groups"].size(), kMethods);
  EXPECT_EQ(summary["groups"][1]["varying"]["sparsifier.density"], 0.002);
  EXPECT_EQ(read_file(folder.path() / "summary.json"), indented_text(summary) + "\n")
      << "what is written method by method is what the whole would be";
}

}  // namespace
}  // namespace residuum::reports
