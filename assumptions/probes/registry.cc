#include "assumptions/probes/probe.h"

namespace residuum {

std::unique_ptr<Probe> make_delta_probe(const Section& section);
std::unique_ptr<Probe> make_contraction_probe(const Section& section);
std::unique_ptr<Probe> make_residual_probe(const Section& section);
std::unique_ptr<Probe> make_conservation_probe(const Section& section);
std::unique_ptr<Probe> make_xi_probe(const Section& section);
std::unique_ptr<Probe> make_traffic_probe(const Section& section);

namespace {

constexpr auto kEntries = std::to_array<Entry<Probe>>({
    {"delta",
     "the gTop-k assumption ratio, its split and the captured energy",
     "Shi et al., IJCAI 2019",
     "{}",
     make_delta_probe},
    {"contraction",
     "gap, contraction q_t and the pathwise residual recursion",
     "Stich et al., NeurIPS 2018",
     "{}",
     make_contraction_probe},
    {"residual",
     "residual norms, total error, the threshold's sup-norm bound",
     "Sahu et al., NeurIPS 2021",
     "{}",
     make_residual_probe},
    {"conservation",
     "lost mass, and whether the gap is the mean residual",
     "this project",
     "{}",
     make_conservation_probe},
    {"xi",
     "distance of the global from the local selections",
     "Alistarh et al., NeurIPS 2018",
     "{}",
     make_xi_probe},
    {"traffic",
     "entries, bytes and rounds, and whether the bytes are those of the cost model",
     "Shi et al., ICDCS 2019",
     "{}",
     make_traffic_probe},
});

}  // namespace

std::span<const Entry<Probe>> probes() { return registry_of<Probe>(kEntries); }

}  // namespace residuum
