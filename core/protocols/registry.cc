#include "core/protocols/protocol.h"

namespace residuum {

std::unique_ptr<Protocol> make_bsp(const Section& section);

namespace {

constexpr auto kProtocols = std::to_array<Entry<Protocol>>(
    {{"bsp", "all workers exchange at every iteration", "bulk-synchronous", "{}", make_bsp}});

}  // namespace

std::span<const Entry<Protocol>> protocols() { return registry_of<Protocol>(kProtocols); }

std::unique_ptr<Protocol> make_protocol(const Section& section) {
  return make_from(protocols(), section);
}

}  // namespace residuum
