#include "assumptions/verdicts/judges.h"

#include <array>

namespace residuum {

namespace judges {

Ratios selection(const Evidence& evidence);
SinglesOfSeeds single_selection(const Evidence& evidence);
Ratios contraction(const Evidence& evidence);
SinglesOfSeeds single_contraction(const Evidence& evidence);
Ratios worker_contraction(const Evidence& evidence);
SinglesOfSeeds single_worker_contraction(const Evidence& evidence);
Ratios bounded_residual(const Evidence& evidence);
SinglesOfSeeds single_residual(const Evidence& evidence);
Ratios tail(const Evidence& evidence);
SinglesOfSeeds single_tail(const Evidence& evidence);
Ratios smoothness(const Evidence& evidence);
SinglesOfSeeds single_smoothness(const Evidence& evidence);
Ratios independence(const Evidence& evidence);
Ratios unbiased_gradients(const Evidence& evidence);
Ratios bounded_moment(const Evidence& evidence);
Ratios bounded_noise(const Evidence& evidence);

}  // namespace judges

namespace {

constexpr auto kJudges = std::to_array<Judge>({
    {"gtopk",
     "delta <= 1: the selection loses no more than a random one; sum of |mean a - g/P|^2 over "
     "sum of (1 - rho) |mean a|^2",
     "Shi et al., IJCAI 2019",
     "probes.every",
     Limit::at_most_one,
     judges::selection,
     judges::single_selection},
    {"contraction",
     "q < 1: the gap shrinks; sum of |e_{t+1}|^2 over sum of |e_t + z_t - z_{t+1}|^2, e = w - z; "
     "z moves by eta_t mean G_t, with momentum by a velocity",
     "Stich et al., NeurIPS 2018",
     "probes.every",
     Limit::below_one,
     judges::contraction,
     judges::single_contraction},
    {"worker-contraction",
     "every worker keeps back no more than with a random selection; sum of |e^p|^2 over sum of "
     "(1 - k/d) |a^p|^2",
     "Stich et al., NeurIPS 2018",
     "probes.every",
     Limit::at_most_one,
     judges::worker_contraction,
     judges::single_worker_contraction},
    {"bounded-residual",
     "E|e_t|^2 <= Q(q) eta^2 M^2, e = w - z being what all workers together hold back, with q and "
     "M^2 as measured; largest window mean over all seeds, over the bound",
     "Shi et al., IJCAI 2019, with the best constant",
     "probes.every",
     Limit::at_most_one,
     judges::bounded_residual,
     judges::single_residual},
    {"smoothness",
     "gradients are L-Lipschitz along the run; largest measured ratio over the known L",
     "all of them",
     "probes.every",
     Limit::single_quotients,
     judges::smoothness,
     judges::single_smoothness},
    {"independence",
     "the workers' draws are independent; |mean G^1 - mean G^2|^2 of half batches over its "
     "expectation, which a bias that all of them share leaves as it is",
     "all of them",
     "probes.noise_every",
     Limit::around_one,
     judges::independence},
    {"unbiased-gradients",
     "E G = grad f; mean of <mean G - grad f, grad f> / |grad f|^2, which is then 0",
     "all of them",
     "probes.evaluate",
     Limit::around_zero,
     judges::unbiased_gradients},
    {"bounded-moment",
     "E|mean G|^2 <= M^2 along the run; tested is that it did not grow: its mean over the last "
     "quarter of the run over its mean before",
     "Shi et al., IJCAI 2019",
     "probes.every",
     Limit::no_growth,
     judges::bounded_moment},
    {"bounded-noise",
     "sigma^2 is bounded along the run; tested is that it did not grow: its mean over the last "
     "quarter of the run over its mean before",
     "Stich and Karimireddy, JMLR 2020",
     "probes.noise_every",
     Limit::no_growth,
     judges::bounded_noise},
    {"tail",
     "|a - Top_k a|^2 <= (1 - k/d)^2 |a|^2 for the mean accumulator; mean ratio over (1 - k/d)^2",
     "Shi, Chu, Cheung, See, 2019",
     "probes.tail_every",
     Limit::at_most_one,
     judges::tail,
     judges::single_tail},
});

}  // namespace

std::span<const Judge> assumption_judges() { return kJudges; }

}  // namespace residuum
