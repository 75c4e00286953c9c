// The program with a sparsifier that fails where a study says, when it is built for a run or while
// it selects, or waits for a file; one that cannot be built where FAULTY_UNPREPARED names the rank,
// or "all"; one that stops there where FAULTY_STOPPED names the rank, or in MPI_Finalize where
// FAULTY_STOPPED_AT_END does; with a request to stop that comes while MPI starts; and with a disk
// that is full for the moment in which the FAULTY_RENAME-th file, counted from 1, gets its name.

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <string_view>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

#include "core/sparsifiers/sparsifier.h"
#include "experiments/program/program.h"

namespace {

using namespace residuum;

bool is_on_rank(std::string_view rank) {
  const char* own = std::getenv("OMPI_COMM_WORLD_RANK");
  return own != nullptr && rank == own;
}

bool cannot_prepare() {
  const char* where = std::getenv("FAULTY_UNPREPARED");
  return where != nullptr && (std::string_view(where) == "all" || is_on_rank(where));
}

void stop_if_named_by(const char* variable) {
  const char* where = std::getenv(variable);
  if (where != nullptr && is_on_rank(where)) {
    std::raise(SIGSTOP);
  }
}

/// At most a minute or so.
void wait_for(const std::filesystem::path& file) {
  for (int tries = 0; tries < 1200 && !std::filesystem::exists(file); ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

/// Sends the first entry. fails_at = "build": when it is built once more than there are `runs`, so
/// that a run is at it, on rank `fails_on`. fails_at = "select": at iteration 2 on that rank.
/// waits_for = "FILE": at iteration 20, until there is such a file.
class Faulty final : public SparsifierFor<Faulty> {
 public:
  explicit Faulty(const Section& section)
      : fails_at_(section.choice("fails_at", {"build", "select", "nothing"}, "nothing")),
        fails_on_(std::to_string(section.integer("fails_on", 0))),
        waits_for_(section.text("waits_for", "")) {
    stop_if_named_by("FAULTY_STOPPED");
    if (cannot_prepare()) {
      resource_error("no memory here");
    }
    static int built = 0;
    const auto runs = section.integer("runs", 1);
    if (fails_at_ == "build" && is_on_rank(fails_on_) && built++ == runs) {
      resource_error("no data on this node");
    }
  }
  template <class Real>
  void select(std::span<const Real> accumulator,
              const SelectionContext& at,
              SelectWorkspace& /*workspace*/,
              Message<Real>& message) const {
    if (fails_at_ == "select" && at.iteration == 2 && is_on_rank(fails_on_)) {
      resource_error("no memory for worker {}", at.worker);
    }
    if (!waits_for_.empty() && at.iteration == 20) {
      wait_for(waits_for_);
    }
    message = {};
    if (accumulator[0] != 0) {
      message.entries.push_back(0, accumulator[0]);
    }
  }
  std::optional<std::size_t> k(std::size_t /*dimension*/) const override { return 1; }
  SparsifierLaw law(std::size_t /*dimension*/, double /*step_size*/) const override { return {}; }

 private:
  std::string fails_at_;
  std::string fails_on_;
  std::string waits_for_;
};

const Registered<Sparsifier> kFaulty({"faulty",
                                      "fails",
                                      "the tests",
                                      R"({"fails_at": "build", "fails_on": 0})",
                                      make_component<Sparsifier, Faulty>});

}  // namespace

extern "C" {

int PMPI_Init_thread(int* argc, char*** argv, int required, int* provided);
int PMPI_Finalize();

/// Called in place of MPI's own, as its profiling interface allows.
int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  if (std::getenv("FAULTY_STOPS_AT_START") != nullptr) {
    std::raise(SIGUSR1);
  }
  return PMPI_Init_thread(argc, argv, required, provided);
}

int MPI_Finalize() {
  stop_if_named_by("FAULTY_STOPPED_AT_END");
  return PMPI_Finalize();
}

/// Called in place of the C library's own, by the standard library too.
int rename(const char* from, const char* to) noexcept {
  static std::atomic<int> renamed = 0;
  const char* fails = std::getenv("FAULTY_RENAME");
  if (fails != nullptr && std::to_string(++renamed) == fails) {
    errno = ENOSPC;
    return -1;
  }
  return static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}
}

int main(int argc, char** argv) { return residuum::residuum_main(argc, argv); }
