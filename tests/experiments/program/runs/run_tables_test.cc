// The tables that a thread writes are those of its writers one row after the other.

#include "experiments/program/runs/run_tables.h"

#include <gtest/gtest.h>

#include <csignal>
#include <sys/resource.h>

#include "core/error.h"
#include "tests/experiments/support.h"

namespace residuum {
namespace {

/// More than three batches, of which the last is not full.
constexpr std::uint64_t kRows = 1000;

Row row_of(std::uint64_t t) {
  Row row(t);
  row.set(Column::step_size, 0.1 * static_cast<double>(t));
  return row;
}

std::vector<Check> checks_of(std::uint64_t t) {
  const Check check{.iteration = t,
                    .name = "conservation",
                    .worker = std::nullopt,
                    .lhs = static_cast<double>(t),
                    .rhs = 2,
                    .holds = t <= 2};
  return std::vector<Check>(t % 3, check);
}

TEST(RunTables, HaveTheBytesOfRowsThatAreWrittenOneByOne) {
  const TemporaryFolder folder;
  {
    reports::IterationsWriter iterations(folder.path() / "iterations.csv", "run");
    reports::ChecksWriter checks(folder.path() / "checks.csv", "run");
    for (std::uint64_t t = 0; t < kRows; ++t) {
      iterations.write(row_of(t));
      for (const Check& check : checks_of(t)) {
        checks.write(check);
      }
    }
    iterations.close();
    checks.close();
  }
  // Half way the tables go on from what a checkpoint has counted; later rows are cut off.
  TablesBytes kept;
  {
    RunTables tables(folder.path(), "run", {});
    for (std::uint64_t t = 0; t < kRows; ++t) {
      if (t == kRows / 2) {
        kept = tables.synchronise();
      }
      tables.write(row_of(t), checks_of(t));
    }
  }
  RunTables tables(folder.path(), "run", {}, &kept);
  for (std::uint64_t t = kRows / 2; t < kRows; ++t) {
    tables.write(row_of(t), checks_of(t));
  }
  tables.close();

  EXPECT_EQ(read_text(folder.path() / RunTables::kIterationsPart),
            read_text(folder.path() / "iterations.csv"));
  EXPECT_EQ(read_text(folder.path() / RunTables::kChecksPart),
            read_text(folder.path() / "checks.csv"));
}

TEST(RunTables, WriteWhatIsLeftWithoutBeingClosed) {
  const TemporaryFolder folder;
  { RunTables(folder.path(), "run", {}).write(row_of(7), {}); }

  EXPECT_NE(read_text(folder.path() / RunTables::kIterationsPart).find("\nrun,7,"),
            std::string::npos);
}

/// Files of this process take no more bytes than these.
class SmallFiles {
 public:
  explicit SmallFiles(rlim_t bytes) : before_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &limit_);
    const rlimit small{.rlim_cur = bytes, .rlim_max = limit_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
  }
  SmallFiles(const SmallFiles&) = delete;
  SmallFiles& operator=(const SmallFiles&) = delete;
  SmallFiles(SmallFiles&&) = delete;
  SmallFiles& operator=(SmallFiles&&) = delete;
  ~SmallFiles() {
    setrlimit(RLIMIT_FSIZE, &limit_);
    std::signal(SIGXFSZ, before_);
  }

 private:
  void (*before_)(int);
  rlimit limit_{};
};

TEST(RunTables, SayWhatTheThreadCouldNotWrite) {
  const TemporaryFolder folder;
  const SmallFiles small(1 << 17);
  RunTables tables(folder.path(), "run", {});
  const auto write_many = [&] {
    for (std::uint64_t t = 0; t < 100 * kRows; ++t) {
      tables.write(row_of(t), {});
    }
    tables.close();
  };

  EXPECT_THROW(write_many(), Error);
  EXPECT_THROW(tables.close(), Error) << "an error is not forgotten";
}

}  // namespace
}  // namespace residuum
