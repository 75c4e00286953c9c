#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "assumptions/theorems/evidence.h"
#include "assumptions/theorems/theorem.h"

namespace residuum {

Bound certificate(const Evidence& evidence);
Bound certificate_any_rule(const Evidence& evidence);
Bound bounded_moment(const Evidence& evidence);
Bound ijcai(const Evidence& evidence);
Bound karimireddy(const Evidence& evidence);
Bound alistarh(const Evidence& evidence);
Bound mean_contraction(const Evidence& evidence);
Bound worker_contraction(const Evidence& evidence);
Bound convex_certificate(const Evidence& evidence);
Bound mem_sgd(const Evidence& evidence);
Bound hard_threshold(const Evidence& evidence);
Bound hard_threshold_convex(const Evidence& evidence);
Bound top_k(const Evidence& evidence);
Bound top_k_convex(const Evidence& evidence);
Bound ef21(const Evidence& evidence);
Bound ef21_arithmetic_mean(const Evidence& evidence);
Bound ef21_pl(const Evidence& evidence);
Bound ef21_p(const Evidence& evidence);
Bound three_point(const Evidence& evidence);
Bound tight_ef14(const Evidence& evidence);
Bound tight_ef21(const Evidence& evidence);
std::optional<ContractionRate> ef21_pl_rate(const CompressedProblem& problem,
                                            std::optional<double> step);
std::optional<ContractionRate> tight_linear_rate(const CompressedProblem& problem,
                                                 std::optional<double> step);
Bound ef21_sgdm(const Evidence& evidence);
Bound econtrol(const Evidence& evidence);
Bound bsp(const Evidence& evidence);
Bound delayed(const Evidence& evidence);
Bound concurrency(const Evidence& evidence);
Bound delayed_convex(const Evidence& evidence);
Bound ssp_regret(const Evidence& evidence);
Bound local_sgd(const Evidence& evidence);
Bound qsparse_local_sgd(const Evidence& evidence);
Bound gossip(const Evidence& evidence);
Bound gossip_certificate(const Evidence& evidence);

namespace {

constexpr auto kTheorems = std::to_array<Theorem>({
    {"certificate",
     "X_T ≤ [2(f(z_0) − f(z_T)) + L Ση²‖ḡ‖² + L² Ση‖w − z‖²] / Ση",
     "this project; every term is measured",
     certificate},
    {"certificate-any-rule",
     "X_T ≤ [2(f(u_0) − f(u_T)) + L Ση′²‖ḡ‖² + L² Ση′‖w − u‖²] / Ση′,  u ← u − η′ḡ,  "
     "η′ = η/(1 − momentum); with decay λ of f + (λ/2)‖w‖²",
     "this project; every term is measured",
     certificate_any_rule},
    {"bounded-moment",
     "X_T ≤ [2Δ + L M² Ση² + L² Q(q) M² Ση³] / Ση,  Q(q) = q/(1 − √q)²",
     "Shi et al., IJCAI 2019, with the best constants",
     bounded_moment},
    {"ijcai", "X_T ≤ 4Δ/(ηT) + 2LηM² + 4L²η²M²(c³ − c),  c = d/k", "Shi et al., IJCAI 2019", ijcai},
    {"karimireddy",
     "X_T ≤ 2Δ/(ηT) + LηM² + 4L²η²M²q/(1 − q)²",
     "Karimireddy et al., ICML 2019",
     karimireddy},
    {"alistarh",
     "X_T ≤ [2Δ + L M² Ση² + L² ((γ + ξ)/(1 − γ))² M² Ση³] / Ση,  γ = √(1 − k/d)",
     "Alistarh et al., NeurIPS 2018",
     alistarh},
    {"mean-contraction",
     "X_T ≤ (8/3)Δ/(ηT) + 2Lησ²/P,  η ≤ (1 − q)/(4L)",
     "Stich, Karimireddy, JMLR 2020, with better constants",
     mean_contraction},
    {"worker-contraction",
     "X_T ≤ (8/3)Δ/(ηT) + (4/3)Lησ²/P + (16/3)L²qη²ζ²/(1 − q)² + (8/3)L²qη²σ²/(1 − q),  "
     "η ≤ (1 − q)/(4L√(1 + C))",
     "Stich, Karimireddy, JMLR 2020, for heterogeneous workers, with better constants",
     worker_contraction},
    {"convex-certificate",
     "mean (f − f*) ≤ 2‖w_0 − x*‖²/(ηT) + 2ηB + 4L mean ‖w − z‖²,  η ≤ 1/(4LA)",
     "this project; the gap is measured",
     convex_certificate},
    {"mem-sgd",
     "f(x̄) − f* ≤ 4T(T + 2a)G²/(μS) + μa³‖w_0 − x*‖²/(8S) + "
     "64T(1 + 2L/μ)(4α/(α − 4))(d/k)²G²/(μS),  η_t = 8/(μ(a + t))",
     "Stich, Cordonnier, Jaggi, NeurIPS 2018",
     mem_sgd},
    {"hard-threshold",
     "X_T ≤ 4Δ/(ηT) + 2LηB + 2L²dτ²,  η ≤ 1/(2LA)",
     "Sahu et al., NeurIPS 2021",
     hard_threshold},
    {"hard-threshold-convex",
     "mean (f − f*) ≤ 2‖w_0 − x*‖²/(ηT) + 2ηB + 4Ldτ²,  η ≤ 1/(4LA)",
     "Sahu et al., NeurIPS 2021",
     hard_threshold_convex},
    {"top-k",
     "X_T ≤ 8Δ/(ηT) + 4LηB + 4L²Qη²((1 + M)ζ² + σ²),  η ≤ 1/(2LA), 1/(2L√(Q(1 + M)(1 + C)))",
     "Sahu et al., NeurIPS 2021",
     top_k},
    {"top-k-convex",
     "mean (f − f*) ≤ 4‖w_0 − x*‖²/(ηT) + 4ηB + 8LQη²((1 + M)ζ² + σ²),  η ≤ 1/(4LA), "
     "1/(4L√(Q(1 + M)(1 + C)))",
     "Sahu et al., NeurIPS 2021",
     top_k_convex},
    {"ef21",
     "X_T ≤ 2Δ/(ηT) + G⁰/(θT),  θ = 1 − √(1 − k/d),  η ≤ 1/(L + L̃√(1 − k/d)/θ)",
     "Richtárik, Sokolov, Fatkhullin, NeurIPS 2021",
     ef21},
    {"ef21-arithmetic-mean",
     "X_T ≤ 2Δ/(ηT) + G_w/(θT),  η ≤ 1/(L + L_AM√(1 − k/d)/θ),  L_AM = mean L_p",
     "Richtárik, Gasanov, Burlachenko, ICLR 2024",
     ef21_arithmetic_mean},
    {"ef21-pl",
     "f(w_T) − f* ≤ (1 − ημ)^T (Δ + ηG⁰/θ),  η ≤ 1/(L + L̃√(2 − 2k/d)/θ), θ/(2μ)",
     "Richtárik, Sokolov, Fatkhullin, NeurIPS 2021, for μ-PL f",
     ef21_pl,
     ef21_pl_rate},
    {"ef21-p",
     "X_T ≤ 2Δ/(ηT) + Lησ²/P + (β/θ)L²η²σ²/P,  √(β/θ) = √(1 − α)/θ, θ = 1 − √(1 − α), "
     "α = k/d of changes of the model,  η ≤ 1/(L(1 + √(β/θ)))",
     "Gruntkowska, Tyurin, Richtárik, ICML 2023, with other constants, proved here",
     ef21_p},
    {"tight-ef14",
     "V_{t+1} ≤ ρ*V_t,  V = ‖Σe_p‖²/(Ps) + Σ‖w − x* − e_p‖²,  s = √(1 − k/d),  η = η*(L, μ, s)",
     "Berg Thomsen, Taylor, Dieuleveut, arXiv:2506.05271, and arXiv:2605.31594 for P workers",
     tight_ef14,
     tight_linear_rate},
    {"tight-ef21",
     "V_{t+1} ≤ ρ*V_t,  V = (s/P)‖Σ∇f_p(w)‖² + Σ‖∇f_p(w) − g_p‖²,  s = √(1 − k/d),  η = η*(L, μ, "
     "s)",
     "Berg Thomsen, Taylor, Dieuleveut, arXiv:2506.05271, and arXiv:2605.31594 for P workers",
     tight_ef21,
     tight_linear_rate},
    {"3pc",
     "X_T ≤ 2Δ/(ηT) + G⁰/(AT),  η ≤ 1/(L + L̃√(B/A)),  (A, B) measured",
     "Richtárik et al., ICML 2022",
     three_point},
    {"ef21-sgdm",
     "X_T ≤ 2Δ/(ηT) + 4G⁰/(αT) + 2σ²(1/(aT) + a)/P + 16aσ²/(α²T) + 4a²σ²/α + 16a³σ²/α²,  "
     "η ≤ 1/(L + √(2L²/a² + 16(1 + a²)L̃²/α²))",
     "Fatkhullin, Tyurin, Richtárik, NeurIPS 2023, with other constants",
     ef21_sgdm},
    {"econtrol",
     "X_T ≤ 4Δ/(ηT) + 2Lησ²/P + (L²η²/w²)(16R⁰/((1 − ν)T) + 8B′σ² + 16BL̃²η²σ²/P),  "
     "ν = (1 − α)(1 + w)², B = 6(1 − α)(1 + ν)/(1 − ν)², B′ = B + 2(1 − α)/(1 − ν),  "
     "η ≤ 1/(4L), 1/(L̃√(32B)), √(w/(LL̃√(32B)))",
     "Gao, Islamov, Stich, ICLR 2024, with other constants, proved here",
     econtrol},
    {"bsp", "X_T ≤ 2Δ/(ηT) + Lησ²/P,  η ≤ 1/L", "Ghadimi, Lan, SIAM J. Optim. 2013", bsp},
    {"delayed",
     "X_T ≤ 2Δ/(ηT) + Lησ²/b + 2L²η²τσ²/b,  η ≤ 2/(L(1 + √(1 + 8τ²)))",
     "Stich, Karimireddy, JMLR 2020, with better constants; T counts updates of b gradients",
     delayed},
    {"concurrency",
     "X_T ≤ 2Δ/(ηT) + Lησ² + 2L²η²(τ_C − 1)σ²,  η ≤ 2/(L(1 + √(1 + 8(τ_C − 1)τ)))",
     "Koloskova, Stich, Jaggi, NeurIPS 2022, with better constants; T counts updates of one "
     "gradient",
     concurrency},
    {"delayed-convex",
     "mean (f − f*) ≤ ‖w_0 − x*‖²/(2ηT) + (η/2)(1 + Lητ²) mean ‖ḡ‖²",
     "this project; T counts updates, ‖ḡ‖² is measured",
     delayed_convex},
    {"ssp-regret",
     "mean (f − f*) ≤ ‖w_0 − x*‖²/(2ηT) + ηG²(1/2 + 2τ);  at the best η at most "
     "2‖w_0 − x*‖G√(2(s + 1)P/T)",
     "Ho et al., NIPS 2013, for the server's models, a constant step and any domain",
     ssp_regret},
    {"local-sgd",
     "X_T ≤ 2Δ/(ηT) + H(Lησ²/P + L_max²η²(H − 1)²G²),  η ≤ 1/L",
     "Stich, ICLR 2019; Yu, Yang, Zhu, AAAI 2019, with other constants; T counts exchanges, H "
     "gradients of each worker before one",
     local_sgd},
    {"qsparse-local-sgd",
     "X_T ≤ 2Δ/(ηHT) + 2Lησ²/P + L_max²η²H(H − 1)G²/2 + 2L²Q(q)η²H²G²,  η ≤ 1/(4LH),  "
     "Q(q) = q/(1 − √q)²",
     "Basu, Data, Karakus, Diggavi, NeurIPS 2019, with other constants; T counts exchanges, H "
     "gradients of each worker before one",
     qsparse_local_sgd},
    {"gossip",
     "X_T ≤ 2Δ/(ηT) + Lησ²/P + L_max²η²V²/p²,  η ≤ 1/L,  p = 1 − |λ_2|, V² spread of the gradients",
     "Lian et al., NIPS 2017, with better constants; of the mean of the workers' models",
     gossip},
    {"gossip-certificate",
     "X_T ≤ [2(f(x_0) − f(x_T)) + L Ση²‖ḡ‖² + L_max² Ση mean ‖w^p − x‖²] / Ση,  x = mean w^p",
     "this project; every term is measured",
     gossip_certificate},
});

}  // namespace

std::span<const Theorem> theorems() { return kTheorems; }

const Theorem* find_theorem(std::string_view name) {
  for (const auto& theorem : kTheorems) {
    if (theorem.name == name) {
      return &theorem;
    }
  }
  return nullptr;
}

std::vector<Precondition> unmet_of(const Bound& bound) {
  std::vector<Precondition> unmet;
  std::copy_if(bound.preconditions.begin(),
               bound.preconditions.end(),
               std::back_inserter(unmet),
               [](const Precondition& one) { return one.state == PreconditionState::not_met; });
  return unmet;
}

std::vector<Precondition> unmet_preconditions(const Theorem& theorem, const RunFacts& facts) {
  RunFacts at_one_step = facts;
  at_one_step.step.constant = true;
  at_one_step.step.may_grow = false;
  return unmet_of(theorem.evaluate(Evidence(at_one_step)));
}

/// The demands are those that an examination notes of runs of which nothing is known.
Demands demands_of(const Theorem& theorem) {
  const Bound bound = theorem.evaluate(Evidence(RunFacts()));
  Demands demands{.preconditions = bound.asks, .constants = {}};
  for (const auto& constant : bound.constants) {
    auto& symbols = demands.constants;
    if (std::find(symbols.begin(), symbols.end(), constant.symbol) == symbols.end()) {
      symbols.push_back(constant.symbol);
    }
  }
  return demands;
}

namespace {

/// Returns how many times the iterations at the rate b are those at the rate a.
std::optional<double> iterations_over(double a, double b) {
  const bool are_rates = a > 0 && a < 1 && b > 0 && b < 1;
  return are_rates ? std::optional(std::log(a) / std::log(b)) : std::nullopt;
}

}  // namespace

std::optional<double> RateSlack::of_proof() const {
  return tight ? iterations_over(*tight, bound) : std::nullopt;
}

std::optional<double> RateSlack::of_problem() const {
  return tight && measured ? iterations_over(*measured, *tight) : std::nullopt;
}

std::string_view precondition_text(PreconditionState state) {
  switch (state) {
    case PreconditionState::met:
      return "met";
    case PreconditionState::no_violation_seen:
      return "no violation seen";
    case PreconditionState::not_met:
      break;
  }
  return "not met";
}

std::string_view attribution_text(Attribution attribution) {
  switch (attribution) {
    case Attribution::optimisation:
      return "optimisation";
    case Attribution::noise:
      return "noise";
    case Attribution::residual:
      return "residual";
    case Attribution::leak:
      return "leak";
    case Attribution::heterogeneity:
      return "heterogeneity";
    case Attribution::compression:
      break;
  }
  return "compression";
}

std::string_view verdict_text(BoundVerdict verdict) {
  switch (verdict) {
    case BoundVerdict::holds:
      return "holds";
    case BoundVerdict::marginal:
      return "marginal";
    case BoundVerdict::fails:
      return "fails";
    case BoundVerdict::undecided:
      return "undecided";
    case BoundVerdict::not_applicable:
      return "not applicable";
    case BoundVerdict::not_measured:
      break;
  }
  return "not measured";
}

}  // namespace residuum
