// Keeps k neighbouring entries from a random place on, around the end to the beginning: one index a
// message would do. Every entry is dropped with probability 1 - k/d, as by Rand_k.

#include "core/config/amount.h"
#include "core/random/random.h"
#include "core/sparsifiers/sparsifier.h"

using namespace residuum;

class WindowK final : public SparsifierFor<WindowK> {
 public:
  explicit WindowK(const Section& section) : amount_(Amount::from(section)) {}

  template <class Real>
  void select(std::span<const Real> a,
              const SelectionContext& at,
              SelectWorkspace&,
              Message<Real>& message) const {
    RandomStream random(at.seed,
                        Purpose::sparsifier,
                        static_cast<std::uint32_t>(at.worker),
                        static_cast<std::uint32_t>(at.iteration));
    const auto d = static_cast<std::uint32_t>(a.size());
    const std::uint32_t start = random.below(d);
    message = {};
    for (std::uint32_t i = 0; i < d; ++i) {
      if ((i + d - start) % d < amount_.resolve(d) && a[i] != 0) {
        message.entries.push_back(i, a[i]);
      }
    }
  }
  std::optional<std::size_t> k(std::size_t d) const override { return amount_.resolve(d); }
  SparsifierLaw law(std::size_t d, double) const override {
    const double rho = static_cast<double>(amount_.resolve(d)) / static_cast<double>(d);
    return {.contraction = rho, .pathwise = false, .threshold = std::nullopt};
  }

 private:
  Amount amount_;
};

static std::unique_ptr<Sparsifier> make_window_k(const Section& section) {
  return std::make_unique<WindowK>(section);
}
static const Registered<Sparsifier> kWindowK(
    {"window-k", "k neighbours from a random place", "this project", R"({"k": 3})", make_window_k});
