// In ASP every worker pushes each gradient to a server, which makes a version of it at once, and
// goes on at the newest version without waiting for anybody (actors/parameter_server.h). No bound
// on the staleness holds.

#include "core/protocols/actors/parameter_server.h"
#include "core/protocols/late_protocol.h"

namespace residuum {
namespace {

class Asp final : public LateProtocol {
 public:
  explicit Asp(const Section& section) : LateProtocol(section) {}

 private:
  ProtocolLaw late_law(int workers) const override {
    return {.synchrony = Synchrony::late,
            .local_steps = 1,
            .staleness = workers == 1 ? std::optional<std::uint64_t>(0) : std::nullopt,
            .contributions = 1};
  }

  Cast cast(int workers, std::uint64_t versions) const override {
    return make_parameter_server(
        {.workers = workers, .staleness = kUnlimited, .versions = versions});
  }
};

}  // namespace

std::unique_ptr<Protocol> make_asp(const Section& section) {
  return std::make_unique<Asp>(section);
}

}  // namespace residuum
