#pragma once
// A Training is the complete description of a run.

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/cluster/link_model.h"
#include "core/cluster/run_state.h"
#include "core/messages/traffic.h"
#include "core/objective.h"
#include "core/schedules/cadence.h"
#include "core/schedules/tight_rate.h"
#include "core/training/batches.h"
#include "core/training/budget.h"
#include "core/training/method.h"
#include "core/training/overlap.h"
#include "core/vectors/device.h"

namespace residuum {

/// Saves the state of a run, so that it can be continued.
class Checkpoints {
 public:
  using SaveOrLoad = std::function<void(RunState& state)>;

  Checkpoints() = default;
  Checkpoints(const Checkpoints&) = delete;
  Checkpoints& operator=(const Checkpoints&) = delete;
  Checkpoints(Checkpoints&&) = delete;
  Checkpoints& operator=(Checkpoints&&) = delete;
  virtual ~Checkpoints() = default;

  /// Loads the checkpoint, if there is one, and returns its iterations done, else 0. The call is
  /// collective.
  virtual std::uint64_t load(const SaveOrLoad& state) = 0;
  /// True if it is time to save; called on the root.
  virtual bool due() = 0;
  /// Saves the state after `iterations` iterations. The call is collective.
  virtual void save(std::uint64_t iterations, const SaveOrLoad& state) = 0;
};

/// A sleeper is asked how long a real run waits for a gradient that a study makes last. It may let
/// a real run wait for less than the study says; tests put in one that only records.
class Sleeper {
 public:
  Sleeper() = default;
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  Sleeper(Sleeper&&) = delete;
  Sleeper& operator=(Sleeper&&) = delete;
  virtual ~Sleeper() = default;

  /// Returns for how many seconds, from its beginning, the gradient of this number of a worker is
  /// to last at least, where the study says `seconds`.
  virtual double asked(int worker, std::uint64_t number, double seconds) = 0;
};

/// The precision of accumulators, messages and the model that gradients are computed from.
enum class Precision { float32, float64 };

class MessageQueue;
class Protocol;

struct Training {
  const Protocol* protocol = nullptr;  // null: bulk-synchronous
  const Objective* objective = nullptr;
  const Method* method = nullptr;
  const Cluster* cluster = nullptr;
  MessageQueue* queue = nullptr;  // between the processes, for a protocol that is real (laws.h)
  std::vector<std::vector<std::uint32_t>> shards;  // one per worker; empty without a data set
  std::uint64_t seed = 1;
  std::uint64_t iterations = 0;  // at most
  OpenBudget budget = {};        // that may end the run before
  std::size_t batch = 1;         // samples per worker and iteration; 0: the whole shard
  std::size_t accumulation = 1;  // parts of a batch whose gradients are taken one after the other
  Sampling sampling = Sampling::replacement;
  std::optional<int> participants;  // workers that take part in a version; absent: all
  Precision precision = Precision::float32;
  /// The device that has the workers' memories; null: they are on the host. `device_obstacle`
  /// (device_placement.h) must be empty.
  const Device* device = nullptr;
  std::vector<NetworkModel> networks;  // of virtual time; one where it decides what is trained
  bool times_work = false;             // virtual time has what selections and merges take here
  Overlap overlap = {};                // of messages and gradients in virtual time
  Sleeper* sleeper = nullptr;          // of a real run; null: it waits as the study says
  MeasurementPlan plan;
  std::optional<double> loss_bound;         // an evaluated f above it ends the run as diverged
  std::optional<double> minimum;            // f*, if known
  std::vector<double> minimizer;            // x*, empty if not known
  std::vector<double> worker_smoothness;    // L_p, if wanted and known
  std::optional<LyapunovFacts> lyapunov;    // if wanted and known
  const std::atomic<bool>* stop = nullptr;  // set by a signal: stop after this iteration
  Checkpoints* checkpoints = nullptr;       // null: the run is not kept

  /// True if u is followed: the plan wants it, f is evaluated at it, and it is not z. Between two
  /// exchanges every worker takes `local_steps` gradients.
  bool follows_unperturbed(std::uint64_t local_steps) const;

  /// Returns how many workers take part in a version.
  int taking_part() const { return participants.value_or(cluster->workers()); }

  /// Returns the samples of a worker; empty without a data set.
  std::span<const std::uint32_t> shard_of(int worker) const;
};

/// Throws a usage error for a model of 2^32 parameters or more: indices on the wire have 32 bits,
/// and each vector of such a model would take 16 GiB.
void check_dimension(const Objective& objective);

/// Returns the layers as matrices with a row for each output, as low-rank methods take them.
std::vector<MatrixPlace> matrices_of(const Objective& objective);

}  // namespace residuum
