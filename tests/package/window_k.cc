// Keeps k neighbours from a random place on, around the end; on average drops as much as Rand_k.
#include "core/config/amount.h"
#include "core/random/random.h"
#include "core/sparsifiers/sparsifier.h"
using namespace residuum;

struct WindowK final : SparsifierFor<WindowK> {
  explicit WindowK(const Section& section) : amount(Amount::from(section)) {}
  template <class Real>
  void select(std::span<const Real> a, const SelectionContext& at, auto&, auto& message) const {
    const auto d = static_cast<unsigned>(a.size());
    RandomStream random(at.seed, Purpose::sparsifier, unsigned(at.worker), unsigned(at.iteration));
    const unsigned start = random.below(d);
    message = {};
    for (unsigned i = 0; i < d; ++i) {
      if ((i + d - start) % d < amount.resolve(d) && a[i] != 0) {
        message.entries.push_back(i, a[i]);
      }
    }
  }
  std::optional<std::size_t> k(std::size_t d) const override { return amount.resolve(d); }
  SparsifierLaw law(std::size_t d, double) const override {
    return {.contraction = double(*k(d)) / double(d), .pathwise = false, .threshold = {}};
  }
  const Amount amount;
};

const Registered<Sparsifier> kWindowK(
    {"window-k", "neighbours", "mine", R"({"k": 3})", make_component<Sparsifier, WindowK>});
