#pragma once
// An aggregator makes one update g (a SUM over workers) of the P messages and says what became of
// each. It is a rule without state; its use in one run is an Exchange, which keeps what it needs
// from iteration to iteration. A family of aggregators has a file, and each a line in registry.cc.

#include <cstdint>
#include <memory>
#include <span>
#include <tuple>

#include "core/cluster/cluster.h"
#include "core/cluster/run_state.h"
#include "core/config/registry.h"
#include "core/messages/exchange_result.h"
#include "core/messages/laws.h"
#include "core/messages/traffic.h"

namespace residuum {

/// A contribution is the message that one worker brings to an exchange, with its accumulator.
template <class Real>
struct Contribution {
  const Message<Real>* message = nullptr;  // s^p
  std::span<const Real> accumulator;       // a^p
};

/// Contributions are those of this process's workers, in worker order.
template <class Real>
struct Contributions {
  std::size_t dimension = 0;
  /// The number of entries of a k-sparse result. If there are several processes, no message that is
  /// a list has more.
  std::size_t k = 0;
  std::span<const Contribution<Real>> of_workers;
  /// The layers of the model, which fill the dimension; empty where it has no parts.
  std::span<const MatrixPlace> layers = {};
  std::uint64_t seed = 0;  // of the run
};

template <class Real>
class Exchange {
 public:
  Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  Exchange(Exchange&&) = delete;
  Exchange& operator=(Exchange&&) = delete;
  virtual ~Exchange() = default;

  /// Makes `exchanged` of the contributions. The call is collective over the cluster's processes.
  virtual void combine(const Cluster& cluster,
                       const Contributions<Real>& contributions,
                       ExchangeResult<Real>& exchanged) = 0;

  /// Saves or loads what the next exchange needs of those before it. `contributions` are those of
  /// any exchange of the run.
  virtual void save_or_load(const Cluster& /*cluster*/,
                            const Contributions<Real>& /*contributions*/,
                            RunState& /*state*/) {}
};

class Aggregator {
 public:
  Aggregator() = default;
  Aggregator(const Aggregator&) = delete;
  Aggregator& operator=(const Aggregator&) = delete;
  Aggregator(Aggregator&&) = delete;
  Aggregator& operator=(Aggregator&&) = delete;
  virtual ~Aggregator() = default;

  /// Makes the exchange of one run, which must not outlive the aggregator.
  virtual void start(std::unique_ptr<Exchange<float>>& exchange) const = 0;
  virtual void start(std::unique_ptr<Exchange<double>>& exchange) const = 0;
  template <class Real>
  std::unique_ptr<Exchange<Real>> exchange() const {
    std::unique_ptr<Exchange<Real>> started;
    start(started);
    return started;
  }

  virtual AggregatorLaw law() const = 0;

  /// True if the aggregator selects k entries itself, so that the sparsifier must have a k.
  virtual bool needs_k() const = 0;
  /// True if it takes accumulators apart as matrices of layers, so that a vector needs a shape.
  virtual bool reads_matrices() const { return false; }

  /// Returns how many entries of the changes of a model of d numbers a server sends to the workers
  /// where the law says that it shifts the model.
  virtual std::size_t shift_entries(std::size_t dimension) const { return dimension; }

  /// Reports a usage error for a number of workers, or for layers of a model, that the aggregator
  /// cannot work with.
  virtual void check(int /*workers*/, std::span<const MatrixPlace> /*layers*/) const {}

  /// Returns the bytes that all workers send in one iteration by the cost model; the counted bytes
  /// are checked against it.
  virtual TrafficModel traffic_model(const TrafficShape& shape) const = 0;
};

/// Implements both overloads of `start` by ExchangeOf<Real>, constructed from `arguments`.
template <template <class> class ExchangeOf, class... Arguments>
class AggregatorFor : public Aggregator {
 public:
  explicit AggregatorFor(Arguments... arguments) : arguments_(arguments...) {}
  void start(std::unique_ptr<Exchange<float>>& exchange) const final { make(exchange); }
  void start(std::unique_ptr<Exchange<double>>& exchange) const final { make(exchange); }

 private:
  template <class Real>
  void make(std::unique_ptr<Exchange<Real>>& exchange) const {
    exchange = std::apply(
        [](const Arguments&... arguments) {
          return std::make_unique<ExchangeOf<Real>>(arguments...);
        },
        arguments_);
  }

  std::tuple<Arguments...> arguments_;
};

/// Dense sums over processes are taken in the order of the workers, which gives the same bits at
/// any number of processes, or by MPI_Allreduce, which is faster.
enum class Reduction { ordered, fast };

/// Reads `reduction`: "ordered" (default) or "fast".
Reduction reduction_from(const Section& section);

/// sum := what all workers add to it by add(worker, begin, block), on every process.
template <class Real, class Add>
void sum_everywhere(const Cluster& cluster,
                    Reduction reduction,
                    std::span<Real> sum,
                    const Add& add) {
  if (reduction == Reduction::fast) {
    cluster.sum_in_any_order(sum, add);
  } else {
    cluster.sum_in_worker_order(sum, /*everywhere=*/true, add);
  }
}

std::span<const Entry<Aggregator>> aggregators();

/// Builds what the section's `kind` names; the caller finishes the section.
std::unique_ptr<Aggregator> make_aggregator(const Section& section);

}  // namespace residuum
