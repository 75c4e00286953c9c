#pragma once
// This is the one table of all quantities that are measured per iteration. The CSV header, the
// schema in datapackage.json and `residuum list columns` are all generated from it. New columns are
// appended, never inserted.
//
// Norms are squared and float64. w: model, z: virtual dense iterate (z_0 = w_0, z_{t+1} = z_t -
// eta_t g_t), e = w - z: gap, e^p: residual of worker p, a^p: accumulator, P: workers, rho = k/d.
// u: SGD on the mean gradients, u_0 = w_0, u_{t+1} = u_t - eta'_t (mean G_t + lambda w_t), eta'_t =
// eta_t/(1 - momentum), followed where momentum, weight decay or clipping make z another sequence.
// Row t describes the step from w_t to w_{t+1}.

#include <array>
#include <cstddef>
#include <string_view>

namespace residuum {

// X(identifier, type, unit, meaning); type: integer, number or text, as in Frictionless schemas.
#define RESIDUUM_COLUMNS(X)                                                                        \
  X(epoch, number, "", "passes over the training set before this iteration, t P B / n")            \
  X(loss, number, "", "f(w_t) on the training set, where evaluated")                               \
  X(loss_gap, number, "", "f(w_t) - f*, where f* is known")                                        \
  X(step_size, number, "", "eta_t")                                                                \
  X(grad_norm_sq, number, "", "|grad f(w_t)|^2 of the full objective, where evaluated")            \
  X(mean_grad_norm_sq, number, "", "|mean over workers of G^p_t|^2")                               \
  X(accumulator_norm_sq, number, "", "|mean over workers of a^p_t|^2")                             \
  X(residual_norm_sq, number, "", "mean over workers of |e^p_{t+1}|^2")                            \
  X(mean_residual_norm_sq, number, "", "|mean over workers of e^p_{t+1}|^2")                       \
  X(gap_norm_sq, number, "", "|w_{t+1} - z_{t+1}|^2")                                              \
  X(contraction, number, "", "q_t = |e_{t+1}|^2 / |e_t + eta_t mean G_t|^2, e = w - z")            \
  X(delta, number, "", "gTop-k assumption ratio |mean a - g/P|^2 / ((1-rho) |mean a|^2)")          \
  X(delta_in, number, "", "part of delta on selected indices")                                     \
  X(delta_out, number, "", "part of delta on the other indices")                                   \
  X(captured_energy, number, "", "1 - delta (1-rho)")                                              \
  X(xi, number, "", "|Top_k(mean a) - mean Top_k(a^p)| / |eta_t mean G_t| (Alistarh et al. 2018)") \
  X(lost_mass_norm_sq, number, "", "|sum_p a^p - sum_p e^p_{t+1} - g|^2 beyond rounding")          \
  X(conservation_defect, number, "", "|(w-z) - mean residual| relative to their scale")            \
  X(total_error, number, "", "sum over iterations up to t and workers of |e^p_{t+1}|^2")           \
  X(nnz_sent, integer, "", "entries kept by the sparsifier over all workers")                      \
  X(nnz_applied, integer, "", "entries of the applied update")                                     \
  X(sent_bytes,                                                                                    \
    integer,                                                                                       \
    "bytes",                                                                                       \
    "bytes from workers or servers to each other in this iteration, indices too")                  \
  X(uplink_bytes, integer, "bytes", "those of sent_bytes that workers send")                       \
  X(downlink_bytes, integer, "bytes", "those of sent_bytes that servers send to workers")          \
  X(rounds, integer, "", "messages on the critical path of this iteration")                        \
  X(compute_s, number, "s", "wall time of the stochastic gradients")                               \
  X(select_s, number, "s", "wall time of accumulation and selection")                              \
  X(aggregate_s, number, "s", "wall time of aggregation, update and put-back")                     \
  X(measure_s, number, "s", "wall time of the measurements")                                       \
  X(model_time_s,                                                                                  \
    number,                                                                                        \
    "s",                                                                                           \
    "virtual time of this iteration, on the first network of the study, or since the last update") \
  X(test_loss, number, "", "mean loss on held-out data, where evaluated")                          \
  X(test_accuracy, number, "", "fraction of held-out samples classified right, where evaluated")   \
  X(distance_sq, number, "", "|w_t - x*|^2, where x* is known")                                    \
  X(averaged_loss_gap, number, "", "f(average of w_0..w_t weighted by the step rule) - f*")        \
  X(virtual_loss, number, "", "f(z_t), where evaluated")                                           \
  X(step_sum, number, "", "sum of eta_s over s < t")                                               \
  X(noise_sum, number, "", "sum of eta_s^2 |mean over workers of G^p_s|^2 over s < t")             \
  X(gap_sum, number, "", "sum of eta_s |w_s - z_s|^2 over s < t")                                  \
  X(worker_grad_norm_sq, number, "", "mean over workers, and local steps, of |G^p_t|^2")           \
  X(worker_accumulator_norm_sq, number, "", "mean over workers of |a^p_t|^2")                      \
  X(noise_variance, number, "", "sigma^2 of a worker's batch gradient, by half batches; unbiased") \
  X(heterogeneity, number, "", "zeta^2, mean |grad f_p - grad f|^2; unbiased, may be negative")    \
  X(grad_norm_sq_split,                                                                            \
    number,                                                                                        \
    "",                                                                                            \
    "|grad f(w_t)|^2 by the product of half-batch means; unbiased")                                \
  X(half_batch_bias, number, "", "|mean G^{p,1} - mean G^{p,2}|^2 over its expectation")           \
  X(smoothness_gap,                                                                                \
    number,                                                                                        \
    "",                                                                                            \
    "|grad f(w_t) - grad f(z_t)| / |w_t - z_t|, the L of the certificate")                         \
  X(smoothness_secant,                                                                             \
    number,                                                                                        \
    "",                                                                                            \
    "largest |grad f(w) - grad f(w')| / |w - w'| so far; L or less")                               \
  X(smoothness_descent, number, "", "2 (f(z+) - f(z) + eta grad f(z).g) / (eta^2 |g|^2)")          \
  X(smoothness_power,                                                                              \
    number,                                                                                        \
    "",                                                                                            \
    "largest curvature |eigenvalue| of f at w_t, by power iteration")                              \
  X(memory_factor, number, "", "D_t = R_{t+1}/eta_t, R_{t+1} = sqrt(q_t) (R_t + eta_t)")           \
  X(tail_ratio, number, "", "|a - Top_k a|^2 / |a|^2 of the mean accumulator")                     \
  X(tail_bound, number, "", "what tail_ratio may be if the sorted squares are convex")             \
  X(tail_convexity, number, "", "fraction of the sorted squares where they are convex")            \
  X(compressor_alpha, number, "", "least |C(a^p)|^2 / |a^p|^2 over workers (Beznosikov et al.)")   \
  X(compressor_beta, number, "", "largest |C(a^p)|^2 / <C(a^p), a^p> over workers")                \
  X(compressor_gamma, number, "", "least <C(a^p), a^p> / |a^p|^2 over workers")                    \
  X(compressor_delta, number, "", "largest 1 / (1 - |C(a^p) - a^p|^2 / |a^p|^2) over workers")     \
  X(ef21_distortion,                                                                               \
    number,                                                                                        \
    "",                                                                                            \
    "mean of |g^p - G^p_t|^2, EF21's G_t; ef21-sgdm: |g^p - v^p_t|^2")                             \
  X(total_sent_bytes, integer, "bytes", "sum of sent_bytes up to and with this iteration")         \
  X(total_uplink_bytes, integer, "bytes", "sum of uplink_bytes up to and with this iteration")     \
  X(total_nnz_sent, integer, "", "entries kept over all workers up to and with this iteration")    \
  X(test_perplexity, number, "", "exp(test_loss) of a language model")                             \
  X(density, number, "", "rho_t, the share of entries that a random selection would keep")         \
  X(gradient_bias, number, "", "<mean G_t - grad f(w_t), grad f(w_t)> / |grad f(w_t)|^2")          \
  X(unperturbed_loss, number, "", "f(u_t) + (lambda/2)|u_t|^2, where evaluated and u is not z")    \
  X(unperturbed_step_sum, number, "", "sum of eta'_s over s < t")                                  \
  X(unperturbed_noise_sum, number, "", "sum of eta'_s^2 |mean G_s + lambda w_s|^2 over s < t")     \
  X(unperturbed_gap_sum, number, "", "sum of eta'_s |w_s - u_s|^2 over s < t")                     \
  X(decayed_grad_norm_sq, number, "", "|grad f(w_t) + lambda w_t|^2, with weight decay")           \
  X(decayed_grad_norm_sq_split, number, "", "the same from half batches; unbiased")                \
  X(ef21_change, number, "", "mean over workers of |G^p_t - G^p_{t-1}|^2, of v^p for ef21-sgdm")   \
  X(ef21_weighted_distortion, number, "", "mean L_p times mean of |g^p - G^p_t|^2 / L_p")          \
  X(version, integer, "", "updates of the model up to and with this iteration, t + 1")             \
  X(staleness_mean,                                                                                \
    number,                                                                                        \
    "",                                                                                            \
    "mean over contributions of t - u, u the version each was taken at")                           \
  X(staleness_max, integer, "", "largest such t - u in this update")                               \
  X(contributions, integer, "", "gradients in this update")                                        \
  X(total_contributions, integer, "", "gradients in all updates up to and with this one")          \
  X(control_bytes,                                                                                 \
    integer,                                                                                       \
    "bytes",                                                                                       \
    "bytes of messages between nodes since the last update, without payloads")                     \
  X(virtual_s, number, "s", "virtual time from the start to this update")                          \
  X(quota_wait_s,                                                                                  \
    number,                                                                                        \
    "s",                                                                                           \
    "server's waits for contributions that ended since the last update")                           \
  X(staleness_wait_s,                                                                              \
    number,                                                                                        \
    "s",                                                                                           \
    "waits for slow workers because of the staleness limit, since the last update")                \
  X(pull_wait_s, number, "s", "server's waits for the sums of nodes, since the last update")       \
  X(idle_s, number, "s", "waits of all workers for a model, since the last update")                \
  X(weight_skew, number, "", "largest over mean of the workers' weights in all updates so far")    \
  X(consensus_sq,                                                                                  \
    number,                                                                                        \
    "",                                                                                            \
    "mean over workers of |w^p_{t+1} - mean w_{t+1}|^2, each with its own model")                  \
  X(support_overlap,                                                                               \
    number,                                                                                        \
    "",                                                                                            \
    "entries that two workers' messages share over those of one, mean over the pairs")             \
  X(support_union, number, "", "indices that any worker sent over the entries of all messages")    \
  X(lyapunov, number, "", "V/P of the tight theory after this step; EF21: of w_t and its g^p")     \
  X(lyapunov_ratio, number, "", "V over that of the iteration before, less what rounding may add") \
  X(wall_s, number, "s", "wall time from the start to this update, of a run with real execution")  \
  X(shift_gap_sq,                                                                                  \
    number,                                                                                        \
    "",                                                                                            \
    "|w_{t+1} - W_{t+1}|^2, W the shift of w that a server has sent to its workers")

enum class Column : std::size_t {
#define RESIDUUM_ENUMERATOR(identifier, type, unit, meaning) identifier,
  RESIDUUM_COLUMNS(RESIDUUM_ENUMERATOR)
#undef RESIDUUM_ENUMERATOR
};

enum class ColumnType { integer, number };

struct ColumnInfo {
  std::string_view name;
  ColumnType type;
  std::string_view unit;
  std::string_view meaning;
};

inline constexpr auto kColumns = std::to_array<ColumnInfo>({
#define RESIDUUM_INFO(identifier, type, unit, meaning) \
  {#identifier, ColumnType::type, unit, meaning},
    RESIDUUM_COLUMNS(RESIDUUM_INFO)
#undef RESIDUUM_INFO
});

}  // namespace residuum
