#include "core/trainer/pilot.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

namespace residuum {
namespace {

/// Keeps the `capacity` largest magnitudes of a stream, in bounded memory.
class LargestMagnitudes {
 public:
  explicit LargestMagnitudes(std::size_t capacity) : capacity_(capacity) {}

  void offer(double magnitude) {
    if (magnitude <= floor_) {
      return;
    }
    kept_.push_back(magnitude);
    if (kept_.size() >= capacity_ + capacity_ / 4 + kSlack) {
      shrink();
    }
  }

  /// Returns the magnitudes in decreasing order.
  std::vector<double> take() {
    std::sort(kept_.begin(), kept_.end(), std::greater<>());
    kept_.resize(std::min(kept_.size(), capacity_));
    return std::move(kept_);
  }

 private:
  /// The slack keeps small capacities from being sorted at every offer.
  static constexpr std::size_t kSlack = 1024;

  void shrink() {
    const auto last = kept_.begin() + static_cast<std::ptrdiff_t>(capacity_) - 1;
    std::nth_element(kept_.begin(), last, kept_.end(), std::greater<>());
    kept_.resize(capacity_);
    floor_ = kept_.back();
  }

  std::size_t capacity_;
  double floor_ = 0;
  std::vector<double> kept_;
};

/// The counts of a pilot run over this process's workers.
struct Tally {
  std::vector<double> sent;          // entries sent, per worker
  std::vector<double> smallest_sum;  // sum of the smallest magnitude in each message, per worker
  std::vector<double> messages;      // messages that were not empty, per worker
  LargestMagnitudes* largest = nullptr;
};

/// Selects as the wrapped sparsifier does and keeps the tally.
class Watched final : public SparsifierFor<Watched> {
 public:
  Watched(const Sparsifier& inner, const Cluster& cluster, bool eta_scaled, Tally& tally)
      : inner_(inner), cluster_(cluster), eta_scaled_(eta_scaled), tally_(tally) {}

  template <class Real>
  void select(std::span<const Real> accumulator,
              const SelectionContext& context,
              SelectWorkspace& workspace,
              Message<Real>& message) const {
    inner_.select(accumulator, context, workspace, message);
    const std::size_t slot = cluster_.slot(context.worker);
    const auto& values = message.entries.values;
    tally_.sent[slot] += static_cast<double>(values.size());
    if (!values.empty()) {
      const auto smallest = *std::min_element(
          values.begin(), values.end(), [](Real a, Real b) { return std::abs(a) < std::abs(b); });
      const double scale = eta_scaled_ ? context.step_size : 1.0;
      tally_.smallest_sum[slot] += static_cast<double>(std::abs(smallest)) / scale;
      ++tally_.messages[slot];
    }
    if (tally_.largest != nullptr) {
      for (const Real value : accumulator) {
        tally_.largest->offer(static_cast<double>(std::abs(value)));
      }
    }
  }

  std::optional<std::size_t> k(std::size_t dimension) const override { return inner_.k(dimension); }
  SparsifierLaw law(std::size_t dimension, double step_size) const override {
    return inner_.law(dimension, step_size);
  }
  std::span<const Segment> segments() const override { return inner_.segments(); }

 private:
  const Sparsifier& inner_;
  const Cluster& cluster_;
  bool eta_scaled_;
  Tally& tally_;
};

/// Returns K = k P T.
double budget_of(const Pilot& pilot, int workers, std::uint64_t iterations) {
  return static_cast<double>(pilot.k) * workers * static_cast<double>(iterations);
}

/// Returns the training without measurements, checkpoints and observers.
Training unwatched(const Training& training) {
  Training bare = training;
  bare.plan = {};
  bare.plan.measure = false;
  bare.plan.full_gradient = false;
  bare.loss_bound.reset();
  bare.checkpoints = nullptr;
  return bare;
}

/// Measures nothing and says how far a pilot run is.
class PilotObserver final : public StepObserver {
 public:
  PilotObserver(int run, const PilotProgress& progress) : run_(run), progress_(progress) {}

  void observe(const StepView& /*view*/) override {}
  void progress(std::uint64_t done, std::uint64_t /*total*/) override {
    if (progress_) {
      progress_(run_, done);
    }
  }

 private:
  int run_;
  const PilotProgress& progress_;
};

class PilotRuns {
 public:
  PilotRuns(const Training& training, const Pilot& pilot, const PilotProgress& progress)
      : given_(training),
        progress_(progress),
        pilot_(pilot),
        cluster_(*training.cluster),
        bare_(unwatched(training)),
        top_k_(make_sparsifier(
            Section("sparsifier", nlohmann::json{{"kind", "top-k"}, {"k", pilot.k}}))),
        budget_(budget_of(pilot, cluster_.workers(), training.iterations)) {}

  FoundThreshold order_statistic() {
    LargestMagnitudes largest(static_cast<std::size_t>(budget_));
    run(*top_k_, &largest);
    return {.threshold = budget_th(largest.take()), .pilot_runs = runs_};
  }

  FoundThreshold matched_budget() {
    constexpr double kAccuracy = 0.01;
    constexpr double kClosed = 1 + 1e-4;
    constexpr int kMostRuns = 50;
    double at = typical_top_k_threshold();
    double low = 0;                                         // a threshold that sends too much
    double high = std::numeric_limits<double>::infinity();  // a threshold that sends too little
    double step = 2;
    Nearest nearest;
    while (at > 0 && std::isfinite(at) && runs_ < kMostRuns && high > kClosed * low && !stopped_) {
      const double sent = run(*given_.method->sparsifier->with_threshold(at), nullptr);
      nearest.offer(at, std::abs(sent - budget_));
      if (nearest.distance <= kAccuracy * budget_) {
        break;
      }
      (sent > budget_ ? low : high) = at;
      if (low > 0 && std::isfinite(high)) {
        at = std::sqrt(low * high);
      } else {
        at = sent > budget_ ? at * step : at / step;
        step *= step;
      }
    }
    return {.threshold = nearest.threshold, .pilot_runs = runs_};
  }

 private:
  struct Nearest {
    double threshold = 0;
    double distance = std::numeric_limits<double>::infinity();

    void offer(double at, double its_distance) {
      if (its_distance < distance) {
        *this = {at, its_distance};
      }
    }
  };

  /// Trains with this sparsifier; returns how many entries all workers sent.
  double run(const Sparsifier& sparsifier, LargestMagnitudes* largest) {
    const auto slots = static_cast<std::size_t>(cluster_.count());
    tally_ = {std::vector<double>(slots),
              std::vector<double>(slots),
              std::vector<double>(slots),
              largest};
    Method method = *given_.method;
    method.sparsifier = std::make_shared<Watched>(sparsifier, cluster_, pilot_.eta_scaled, tally_);
    bare_.method = &method;
    PilotObserver observer(++runs_, progress_);
    const Outcome outcome = train(bare_, observer);
    stopped_ = outcome.state == Outcome::State::stopped;
    const auto left = static_cast<double>(bare_.iterations - outcome.iterations);
    const double missing = outcome.state == Outcome::State::diverged
                               ? left * static_cast<double>(bare_.objective->dimension())
                               : 0.0;
    return sum(tally_.sent) + missing * cluster_.workers();
  }

  /// Returns the magnitude that Top-k needs to send an entry, on average over messages; 0 if it
  /// never sent one.
  double typical_top_k_threshold() {
    run(*top_k_, nullptr);
    const double messages = sum(tally_.messages);
    return messages > 0 ? sum(tally_.smallest_sum) / messages : 0.0;
  }

  /// Sums over all workers in their order, which gives the same bits at any number of processes.
  double sum(const std::vector<double>& per_worker) const {
    const auto all = cluster_.all_gather(per_worker);
    return std::accumulate(all.begin(), all.end(), 0.0);
  }

  /// Returns the largest number that at least `budget_` of all processes' numbers reach, 0 if there
  /// are fewer. It is found bit by bit, since positive numbers are ordered as their bits are.
  double budget_th(const std::vector<double>& decreasing) const {
    std::uint64_t found = 0;
    for (std::uint64_t bit = std::uint64_t{1} << 62; bit > 0; bit >>= 1) {
      const auto candidate = std::bit_cast<double>(found | bit);
      const auto reaching =
          std::upper_bound(decreasing.begin(), decreasing.end(), candidate, std::greater<>());
      std::vector<double> mine(static_cast<std::size_t>(cluster_.count()));
      mine.front() = static_cast<double>(reaching - decreasing.begin());
      if (sum(mine) >= budget_) {
        found |= bit;
      }
    }
    return std::bit_cast<double>(found);
  }

  const Training& given_;
  const PilotProgress& progress_;
  Pilot pilot_;
  const Cluster& cluster_;
  Training bare_;
  std::unique_ptr<Sparsifier> top_k_;
  double budget_;  // K
  Tally tally_;
  int runs_ = 0;
  bool stopped_ = false;
};

}  // namespace

void check_pilot(const Pilot& pilot, int workers, std::uint64_t iterations) {
  constexpr double kMostKept = 1 << 25;
  const double budget = budget_of(pilot, workers, iterations);
  require(pilot.rule != Pilot::Rule::order_statistic || budget <= kMostKept,
          "threshold \"pilot\" would keep k P T = {:.0f} magnitudes, at most {:.0f} are possible; "
          "use threshold \"matched\"",
          budget,
          kMostKept);
}

std::optional<FoundThreshold> find_threshold(const Training& training,
                                             const PilotProgress& progress) {
  const auto pilot = training.method->sparsifier->pilot(training.objective->dimension());
  if (!pilot) {
    return std::nullopt;
  }
  PilotRuns runs(training, *pilot, progress);
  return pilot->rule == Pilot::Rule::matched_budget ? runs.matched_budget()
                                                    : runs.order_statistic();
}

}  // namespace residuum
