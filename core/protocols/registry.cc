#include "core/protocols/protocol.h"

namespace residuum {

std::unique_ptr<Protocol> make_bsp(const Section& section);
std::unique_ptr<Protocol> make_local(const Section& section);

namespace {

constexpr auto kProtocols = std::to_array<Entry<Protocol>>(
    {{"bsp", "all workers exchange at every iteration", "bulk-synchronous", "{}", make_bsp},
     {"local",
      "workers step H times on models of their own, then exchange how far they came",
      "Stich, ICLR 2019; Basu et al., NeurIPS 2019",
      R"({"period": 4})",
      make_local}});

}  // namespace

std::span<const Entry<Protocol>> protocols() { return registry_of<Protocol>(kProtocols); }

std::unique_ptr<Protocol> make_protocol(const Section& section) {
  return make_from(protocols(), section);
}

}  // namespace residuum
