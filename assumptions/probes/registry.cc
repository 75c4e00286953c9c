#include "assumptions/probes/probe.h"

namespace residuum {

std::unique_ptr<Probe> make_delta_probe(const Section& section);
std::unique_ptr<Probe> make_contraction_probe(const Section& section);
std::unique_ptr<Probe> make_residual_probe(const Section& section);
std::unique_ptr<Probe> make_conservation_probe(const Section& section);
std::unique_ptr<Probe> make_xi_probe(const Section& section);
std::unique_ptr<Probe> make_traffic_probe(const Section& section);
std::unique_ptr<Probe> make_noise_probe(const Section& section);
std::unique_ptr<Probe> make_smoothness_probe(const Section& section);
std::unique_ptr<Probe> make_certificate_probe(const Section& section);
std::unique_ptr<Probe> make_average_probe(const Section& section);
std::unique_ptr<Probe> make_compressor_probe(const Section& section);
std::unique_ptr<Probe> make_tail_probe(const Section& section);
std::unique_ptr<Probe> make_ef21_probe(const Section& section);
std::unique_ptr<Probe> make_overlap_probe(const Section& section);
std::unique_ptr<Probe> make_lyapunov_probe(const Section& section);

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
    {"noise",
     "sigma^2 by half batches, heterogeneity, |grad f|^2 without bias",
     "Stich and Karimireddy, JMLR 2020",
     "{}",
     make_noise_probe},
    {"smoothness",
     "L between w and z, between models, of the descent inequality, by power iteration",
     "this project",
     "{}",
     make_smoothness_probe},
    {"certificate",
     "what the certificate is evaluated from: f(z_t) and sums over all iterations",
     "this project",
     "{}",
     make_certificate_probe},
    {"average",
     "f at the weighted average of the iterates",
     "Stich et al., NeurIPS 2018",
     "{}",
     make_average_probe},
    {"compressor",
     "alpha, beta, gamma and delta of the compressor on the accumulators it meets",
     "Beznosikov et al., 2020",
     "{}",
     make_compressor_probe},
    {"tail",
     "the tail of the sorted accumulator against (1 - k/d)^2 and its corrected bound",
     "Shi, Chu, Cheung, See, 2019",
     "{}",
     make_tail_probe},
    {"ef21",
     "the distortion of EF21's estimates and its recursion",
     "Richtarik et al., NeurIPS 2021",
     "{}",
     make_ef21_probe},
    {"overlap",
     "how many of the selected entries the workers have in common",
     "this project",
     "{}",
     make_overlap_probe},
    {"lyapunov",
     "V of the tight theory of EF14 and EF21, and by what factor it falls in one iteration",
     "Berg Thomsen, Taylor, Dieuleveut, 2025",
     "{}",
     make_lyapunov_probe},
});

}  // namespace

std::span<const Entry<Probe>> probes() { return registry_of<Probe>(kEntries); }

}  // namespace residuum
