// In SSP(s) workers push to a server as in ASP, but one that has finished s + 1 gradients more than
// the slowest waits for it (Ho et al., NIPS 2013; actors/parameter_server.h). No gradient is then
// older than (2s + 1)(P - 1) versions.

#include "core/protocols/actors/parameter_server.h"
#include "core/protocols/late_protocol.h"

namespace residuum {
namespace {

class Ssp final : public LateProtocol {
 public:
  explicit Ssp(const Section& section)
      : LateProtocol(section), staleness_(read_limit(section, "staleness", 0, nullptr)) {}

 private:
  ProtocolLaw late_law(int workers) const override {
    const std::uint64_t most = largest_staleness(options(workers, 1));
    return {.synchrony = Synchrony::late,
            .local_steps = 1,
            .staleness = most == kUnlimited ? std::nullopt : std::optional(most),
            .contributions = 1};
  }

  ParameterServerOptions options(int workers, std::uint64_t versions) const {
    return {.workers = workers, .staleness = staleness_, .versions = versions};
  }
  Cast cast(int workers, std::uint64_t versions) const override {
    return make_parameter_server(options(workers, versions));
  }

  std::uint64_t staleness_;  // s
};

}  // namespace

std::unique_ptr<Protocol> make_ssp(const Section& section) {
  return std::make_unique<Ssp>(section);
}

}  // namespace residuum
