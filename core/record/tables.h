#pragma once
// Detail tables are written on request (probes.workers, probes.layers, probes.staleness,
// probes.magnitudes_every) or for the networks of a study: they have one row per measured iteration
// and worker, layer, staleness or network. Their headers, their schemas in datapackage.json and the
// output of `residuum list columns` are generated from these lists. New columns are appended, never
// inserted; norms are as in columns.h.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/record/columns.h"

namespace residuum {

#define RESIDUUM_WORKER_COLUMNS(X)                                                          \
  X(nnz_sent, integer, "", "entries that the sparsifier kept")                              \
  X(worker_grad_norm_sq,                                                                    \
    number,                                                                                 \
    "",                                                                                     \
    "|G^p_t|^2 of the stochastic gradient, mean over local steps")                          \
  X(worker_accumulator_norm_sq, number, "", "|a^p_t|^2")                                    \
  X(residual_norm_sq, number, "", "|e^p_{t+1}|^2")                                          \
  X(residual_norm_inf, number, "", "largest |entry| of e^p_{t+1}")                          \
  X(sent_norm_sq, number, "", "|s^p_t|^2 of the message")                                   \
  X(noise_variance, number, "", "sigma^2 of the batch gradient, by half batches; unbiased") \
  X(total_error, number, "", "sum over iterations up to t of |e^p_{t+1}|^2")                \
  X(total_nnz_sent, integer, "", "entries kept in the iterations up to and with this one")

enum class WorkerColumn : std::size_t {
#define RESIDUUM_ENUMERATOR(identifier, type, unit, meaning) identifier,
  RESIDUUM_WORKER_COLUMNS(RESIDUUM_ENUMERATOR)
#undef RESIDUUM_ENUMERATOR
};

inline constexpr auto kWorkerColumns = std::to_array<ColumnInfo>({
#define RESIDUUM_INFO(identifier, type, unit, meaning) \
  {#identifier, ColumnType::type, unit, meaning},
    RESIDUUM_WORKER_COLUMNS(RESIDUUM_INFO)
#undef RESIDUUM_INFO
});

// rho_l is the fraction of layer l that a random selection keeps: k_l/d_l if every layer is
// selected from separately (scope = "layer"), else k/d, since entries of all layers are drawn
// alike.
#define RESIDUUM_LAYER_COLUMNS(X)                                                              \
  X(size, integer, "", "d_l, parameters of the layer")                                         \
  X(k, number, "", "rho_l d_l, entries of the layer that a random selection keeps on average") \
  X(nnz_sent, integer, "", "entries kept by the sparsifier over all workers")                  \
  X(nnz_applied, integer, "", "entries of the applied update")                                 \
  X(mean_grad_norm_sq, number, "", "|mean over workers of G^p_t|^2")                           \
  X(accumulator_norm_sq, number, "", "|mean over workers of a^p_t|^2")                         \
  X(mean_residual_norm_sq, number, "", "|mean over workers of e^p_{t+1}|^2")                   \
  X(gap_norm_sq, number, "", "|w_{t+1} - z_{t+1}|^2")                                          \
  X(delta, number, "", "gTop-k assumption ratio |mean a - g/P|^2 / ((1-rho_l) |mean a|^2)")    \
  X(delta_in, number, "", "part of delta on selected indices")                                 \
  X(delta_out, number, "", "part of delta on the other indices")                               \
  X(captured_energy, number, "", "1 - delta (1-rho_l)")

enum class LayerColumn : std::size_t {
#define RESIDUUM_ENUMERATOR(identifier, type, unit, meaning) identifier,
  RESIDUUM_LAYER_COLUMNS(RESIDUUM_ENUMERATOR)
#undef RESIDUUM_ENUMERATOR
};

inline constexpr auto kLayerColumns = std::to_array<ColumnInfo>({
#define RESIDUUM_INFO(identifier, type, unit, meaning) \
  {#identifier, ColumnType::type, unit, meaning},
    RESIDUUM_LAYER_COLUMNS(RESIDUUM_INFO)
#undef RESIDUUM_INFO
});

/// The row of this staleness in staleness.csv is also of the gradients that were staler.
inline constexpr std::uint64_t kLastStalenessRow = 4095;

#define RESIDUUM_STALENESS_COLUMNS(X) \
  X(gradients, integer, "", "gradients of this staleness in all versions up to and with this one")

enum class StalenessColumn : std::size_t {
#define RESIDUUM_ENUMERATOR(identifier, type, unit, meaning) identifier,
  RESIDUUM_STALENESS_COLUMNS(RESIDUUM_ENUMERATOR)
#undef RESIDUUM_ENUMERATOR
};

inline constexpr auto kStalenessColumns = std::to_array<ColumnInfo>({
#define RESIDUUM_INFO(identifier, type, unit, meaning) \
  {#identifier, ColumnType::type, unit, meaning},
    RESIDUUM_STALENESS_COLUMNS(RESIDUUM_INFO)
#undef RESIDUUM_INFO
});

/// The rows of these exponents in magnitudes.csv are also of what is smaller, or larger.
inline constexpr int kLeastMagnitudeRow = -149;
inline constexpr int kLastMagnitudeRow = 127;

#define RESIDUUM_MAGNITUDE_COLUMNS(X) \
  X(share,                            \
    number,                           \
    "",                               \
    "of the entries of a^p_t with 2^exponent <= |entry| < 2^(exponent + 1), mean over workers")

enum class MagnitudeColumn : std::size_t {
#define RESIDUUM_ENUMERATOR(identifier, type, unit, meaning) identifier,
  RESIDUUM_MAGNITUDE_COLUMNS(RESIDUUM_ENUMERATOR)
#undef RESIDUUM_ENUMERATOR
};

inline constexpr auto kMagnitudeColumns = std::to_array<ColumnInfo>({
#define RESIDUUM_INFO(identifier, type, unit, meaning) \
  {#identifier, ColumnType::type, unit, meaning},
    RESIDUUM_MAGNITUDE_COLUMNS(RESIDUUM_INFO)
#undef RESIDUUM_INFO
});

// Times are those from the start up to and with this iteration; virtual time, by a network model.
#define RESIDUUM_NETWORK_COLUMNS(X)                                                           \
  X(compute_s, number, "s", "gradients, and waits for the slowest worker")                    \
  X(select_s, number, "s", "what accumulation and selection add; 0 where they are not timed") \
  X(merge_s, number, "s", "what work on received messages adds; 0 where it is not timed")     \
  X(wire_s, number, "s", "what the messages add, by the network's alpha and beta")            \
  X(virtual_s, number, "s", "all of it")                                                      \
  X(iteration_s, number, "s", "the part of it that this iteration took")

enum class NetworkColumn : std::size_t {
#define RESIDUUM_ENUMERATOR(identifier, type, unit, meaning) identifier,
  RESIDUUM_NETWORK_COLUMNS(RESIDUUM_ENUMERATOR)
#undef RESIDUUM_ENUMERATOR
};

inline constexpr auto kNetworkColumns = std::to_array<ColumnInfo>({
#define RESIDUUM_INFO(identifier, type, unit, meaning) \
  {#identifier, ColumnType::type, unit, meaning},
    RESIDUUM_NETWORK_COLUMNS(RESIDUUM_INFO)
#undef RESIDUUM_INFO
});

#define RESIDUUM_OVERLAP_COLUMNS(X) \
  X(exchanges, integer, "", "exchanges of this iteration: of each layer, or of layers merged")

enum class OverlapColumn : std::size_t {
#define RESIDUUM_ENUMERATOR(identifier, type, unit, meaning) identifier,
  RESIDUUM_OVERLAP_COLUMNS(RESIDUUM_ENUMERATOR)
#undef RESIDUUM_ENUMERATOR
};

inline constexpr auto kOverlapColumns = std::to_array<ColumnInfo>({
#define RESIDUUM_INFO(identifier, type, unit, meaning) \
  {#identifier, ColumnType::type, unit, meaning},
    RESIDUUM_OVERLAP_COLUMNS(RESIDUUM_INFO)
#undef RESIDUUM_INFO
});

#define RESIDUUM_LAYER_TIMES_COLUMNS(X) \
  X(ready,                              \
    number,                             \
    "",                                 \
    "part of a gradient's time after which the layer's is ready, given or measured")

enum class LayerTimesColumn : std::size_t {
#define RESIDUUM_ENUMERATOR(identifier, type, unit, meaning) identifier,
  RESIDUUM_LAYER_TIMES_COLUMNS(RESIDUUM_ENUMERATOR)
#undef RESIDUUM_ENUMERATOR
};

inline constexpr auto kLayerTimesColumns = std::to_array<ColumnInfo>({
#define RESIDUUM_INFO(identifier, type, unit, meaning) \
  {#identifier, ColumnType::type, unit, meaning},
    RESIDUUM_LAYER_TIMES_COLUMNS(RESIDUUM_INFO)
#undef RESIDUUM_INFO
});

struct TableInfo {
  std::string_view name;      // e.g. "workers", for the file workers.csv
  std::string_view key;       // the column that names the part, after run_id and iteration
  std::string_view key_type;  // of Frictionless: string, integer
  std::string_view key_meaning;
  std::span<const ColumnInfo> columns;
};

inline constexpr TableInfo kWorkersTable{.name = "workers",
                                         .key = "worker",
                                         .key_type = "integer",
                                         .key_meaning = "p, from 0",
                                         .columns = kWorkerColumns};

inline constexpr TableInfo kLayersTable{.name = "layers",
                                        .key = "layer",
                                        .key_type = "string",
                                        .key_meaning = "its name in the model",
                                        .columns = kLayerColumns};

inline constexpr TableInfo kStalenessTable{
    .name = "staleness",
    .key = "staleness",
    .key_type = "integer",
    .key_meaning =
        "t - u, versions made between the one a gradient was taken at and the one it "
        "entered; 4095 stands for more, too",
    .columns = kStalenessColumns};

inline constexpr TableInfo kMagnitudesTable{
    .name = "magnitudes",
    .key = "exponent",
    .key_type = "integer",
    .key_meaning =
        "of the power of two below the magnitudes; -149 and 127 stand for less and more, too",
    .columns = kMagnitudeColumns};

inline constexpr TableInfo kNetworksTable{.name = "networks",
                                          .key = "network",
                                          .key_type = "string",
                                          .key_meaning = "its name in network.model",
                                          .columns = kNetworkColumns};

inline constexpr TableInfo kOverlapTable{.name = "overlap",
                                         .key = "network",
                                         .key_type = "string",
                                         .key_meaning = "its name in network.model",
                                         .columns = kOverlapColumns};

inline constexpr TableInfo kLayerTimesTable{.name = "layer_times",
                                            .key = "layer",
                                            .key_type = "string",
                                            .key_meaning = "its name in the model",
                                            .columns = kLayerTimesColumns};

inline constexpr std::array kDetailTables{&kWorkersTable,
                                          &kLayersTable,
                                          &kStalenessTable,
                                          &kMagnitudesTable,
                                          &kNetworksTable,
                                          &kOverlapTable,
                                          &kLayerTimesTable};

}  // namespace residuum
