#include "core/protocols/protocol.h"

namespace residuum {

std::unique_ptr<Protocol> make_bsp(const Section& section);
std::unique_ptr<Protocol> make_local(const Section& section);
std::unique_ptr<Protocol> make_ssp(const Section& section);
std::unique_ptr<Protocol> make_asp(const Section& section);
std::unique_ptr<Protocol> make_inhad_protocol(const Section& section);
std::unique_ptr<Protocol> make_gossip(const Section& section);

namespace {

constexpr auto kProtocols = std::to_array<Entry<Protocol>>(
    {{"bsp", "all workers exchange at every iteration", "bulk-synchronous", "{}", make_bsp},
     {"local",
      "workers step H times on models of their own, then exchange how far they came",
      "Stich, ICLR 2019; Basu et al., NeurIPS 2019",
      R"({"period": 4})",
      make_local},
     {"ssp",
      "a server applies each gradient at once; nobody is more than s gradients ahead",
      "Ho et al., NIPS 2013",
      R"({"staleness": 2})",
      make_ssp},
     {"asp",
      "a server applies each gradient at once; nobody waits",
      "Recht et al., NIPS 2011; Dean et al., NIPS 2012",
      "{}",
      make_asp},
     {"inhad",
      "nodes add up, a server pulls their sums once enough is there and none is too old",
      "Hierarchical asynchronous SGD (InHAD)",
      R"({"nodes": 2, "quota": 4, "staleness": 2})",
      make_inhad_protocol},
     {"gossip",
      "each worker has a model and mixes it with those of its neighbours in a graph",
      "Lian et al., NIPS 2017; Koloskova et al., ICML 2019",
      R"({"graph": "ring"})",
      make_gossip}});

}  // namespace

std::span<const Entry<Protocol>> protocols() { return registry_of<Protocol>(kProtocols); }

std::unique_ptr<Protocol> make_protocol(const Section& section) {
  return make_from(protocols(), section);
}

}  // namespace residuum
