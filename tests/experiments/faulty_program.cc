// The program with a sparsifier that fails where a study says: when it is built for a run, or while
// it selects.

#include <cstdlib>
#include <string>

#include "core/sparsifiers/sparsifier.h"
#include "experiments/program.h"

namespace {

using namespace residuum;

bool is_on_rank(std::int64_t rank) {
  const char* own = std::getenv("OMPI_COMM_WORLD_RANK");
  return own != nullptr && std::to_string(rank) == own;
}

/// Sends the first entry. fails_at = "build": when a study is read for the second time, so that a
/// run is at it, on rank `fails_on`. fails_at = "select": at iteration 2 on that rank.
class Faulty final : public SparsifierFor<Faulty> {
 public:
  explicit Faulty(const Section& section)
      : fails_at_(section.choice("fails_at", {"build", "select"})),
        fails_on_(section.integer("fails_on")) {
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
    message = {};
    if (accumulator[0] != 0) {
      message.entries.push_back(0, accumulator[0]);
    }
  }
  std::optional<std::size_t> k(std::size_t /*dimension*/) const override { return 1; }
  SparsifierLaw law(std::size_t /*dimension*/, double /*step_size*/) const override { return {}; }

 private:
  std::string fails_at_;
  std::int64_t fails_on_;
};

const Registered<Sparsifier> kFaulty({"faulty",
                                      "fails",
                                      "the tests",
                                      R"({"fails_at": "build", "fails_on": 0})",
                                      make_component<Sparsifier, Faulty>});

}  // namespace

int main(int argc, char** argv) { return residuum::residuum_main(argc, argv); }
