// InHAD adds the messages of a node's workers in the node, and a server pulls the sums of all nodes
// once enough gradients are announced and none is too old (actors/inhad.h has the rules and what
// they guarantee).

#include "core/protocols/actors/inhad.h"

#include "core/protocols/late_protocol.h"

namespace residuum {
namespace {

class Inhad final : public LateProtocol {
 public:
  explicit Inhad(const Section& section)
      : LateProtocol(section),
        nodes_(read_count(section, "nodes")),
        quota_(static_cast<std::uint64_t>(read_count(section, "quota"))),
        staleness_(read_limit(section, "staleness", 0, "unlimited")),
        cap_(read_cap(section)),
        weights_(section.choice("weights", {"plain", "per-worker"}, "plain") == "plain"
                     ? Weights::plain
                     : Weights::per_worker) {}

 private:
  ProtocolLaw late_law(int workers) const override {
    // With s = 0 a version waits until every worker has done all it may.
    const bool is_fixed = staleness_ == 0 && cap_ != kUnlimited;
    return {.synchrony = Synchrony::late,
            .local_steps = 1,
            .staleness = staleness_ == kUnlimited ? std::nullopt : std::optional(staleness_),
            .contributions =
                is_fixed ? std::optional(cap_ * static_cast<std::uint64_t>(workers)) : std::nullopt,
            .contributions_weigh_alike = weights_ == Weights::plain};
  }

  /// A node keeps the message of each gradient until the server pulls.
  static std::uint64_t read_cap(const Section& section) {
    const std::uint64_t cap = read_limit(section, "cap", 1, 1);
    require(cap <= kMostGradientsAtAVersion || cap == kUnlimited,
            "{} must be at most {} gradients of a worker at one version, or \"unlimited\"; got {}",
            section.where("cap"),
            kMostGradientsAtAVersion,
            cap);
    return cap;
  }

  static int read_count(const Section& section, const char* key) {
    constexpr std::int64_t kMost = 1'000'000'000;
    const auto count = section.integer(key);
    require(count >= 1 && count <= kMost,
            "{} must lie in 1..{}, got {}",
            section.where(key),
            kMost,
            count);
    return static_cast<int>(count);
  }

  Cast cast(int workers, std::uint64_t versions) const override {
    return make_inhad({.nodes = nodes_,
                       .workers = workers,
                       .quota = quota_,
                       .staleness = staleness_,
                       .cap = cap_,
                       .versions = versions});
  }
  Weights weights() const override { return weights_; }

  int nodes_;                // N
  std::uint64_t quota_;      // C
  std::uint64_t staleness_;  // s
  std::uint64_t cap_;        // h
  Weights weights_;
};

}  // namespace

std::unique_ptr<Protocol> make_inhad_protocol(const Section& section) {
  return std::make_unique<Inhad>(section);
}

}  // namespace residuum
