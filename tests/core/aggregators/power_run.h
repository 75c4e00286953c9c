#pragma once
// Exchanges of whole accumulators, which PowerSGD, ARC-Top-K and the quantised ring have, and
// matrices of Eigen.

#include <Eigen/Dense>

#include <mutex>
#include <span>
#include <vector>

#include "tests/core/aggregators/on_processes.h"

namespace residuum::test {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

inline Json powersgd(std::size_t rank, bool warm_start = true) {
  return {{"kind", "powersgd"}, {"rank", rank}, {"warm_start", warm_start}};
}

/// The exchanges of one run whose workers send whole accumulators, all on one process.
template <class Real>
class PowerRun {
 public:
  PowerRun(const Json& keys, std::vector<MatrixPlace> layers, std::uint64_t seed = 1)
      : rule_(aggregator(keys)),
        exchange_(rule_->exchange<Real>()),
        layers_(std::move(layers)),
        seed_(seed) {}

  const ExchangeResult<Real>& exchange(const Rows<Real>& rows) {
    const auto world = make_single_process();
    const Cluster cluster(*world, static_cast<int>(rows.size()));
    messages_.assign(rows.size(), {.everything = true});
    const auto brought = contributions_of(messages_, rows);
    exchange_->combine(
        cluster,
        {.dimension = rows.front().size(), .of_workers = brought, .layers = layers_, .seed = seed_},
        exchanged_);
    return exchanged_;
  }
  MessageOutcome<Real> outcome(std::size_t worker) const {
    return exchanged_.outcome(messages_[worker], worker);
  }
  double bytes_by_the_model(std::size_t workers, std::size_t dimension) const {
    const auto model = rule_->traffic_model({.workers = static_cast<int>(workers),
                                             .whole_messages = true,
                                             .dimension = static_cast<double>(dimension),
                                             .value_bytes = sizeof(Real),
                                             .layers = layers_});
    EXPECT_TRUE(model.exact);
    return model.bytes;
  }

 private:
  std::unique_ptr<Aggregator> rule_;
  std::unique_ptr<Exchange<Real>> exchange_;
  std::vector<MatrixPlace> layers_;
  std::uint64_t seed_;
  std::vector<Message<Real>> messages_;
  ExchangeResult<Real> exchanged_;
};

inline Matrix matrix_from(const std::vector<double>& numbers, Eigen::Index rows) {
  const auto columns = static_cast<Eigen::Index>(numbers.size()) / rows;
  return Eigen::Map<const Matrix>(numbers.data(), rows, columns);
}

inline std::vector<double> numbers_of(const Matrix& matrix) {
  return {matrix.data(), matrix.data() + matrix.size()};
}

inline Matrix normal_matrix(Eigen::Index rows, Eigen::Index columns, std::uint64_t seed) {
  return matrix_from(normal_vector(static_cast<std::size_t>(rows * columns), seed), rows);
}

inline Matrix of_rank(Eigen::Index rank,
                      Eigen::Index rows,
                      Eigen::Index columns,
                      std::uint64_t seed) {
  return normal_matrix(rows, rank, seed) * normal_matrix(rank, columns, seed + 1);
}

/// A matrix among layers that are summed as they are: vectors both ways, a scalar, nothing, and a
/// matrix so small that its factors have as many numbers.
inline const std::vector<MatrixPlace> kMixed{{.begin = 0, .rows = 3, .columns = 1},
                                             {.begin = 3, .rows = 9, .columns = 7},
                                             {.begin = 66, .rows = 0, .columns = 0},
                                             {.begin = 66, .rows = 1, .columns = 1},
                                             {.begin = 67, .rows = 1, .columns = 5},
                                             {.begin = 72, .rows = 4, .columns = 4}};
inline constexpr std::size_t kMixedSize = 88;

/// Returns the sums of three exchanges of five workers' whole accumulators, on `processes`
/// processes; all must have the same.
inline std::vector<std::vector<double>> dense_sums_on(int processes,
                                                      const Json& keys,
                                                      std::size_t dimension,
                                                      const std::vector<MatrixPlace>& layers = {}) {
  constexpr int kWorkers = 5;
  std::vector<std::vector<double>> sums(3);
  std::mutex guard;
  on_processes(processes, [&](World& world) {
    const Cluster cluster(world, kWorkers);
    const auto exchange = aggregator(keys)->exchange<double>();
    ExchangeResult<double> exchanged;
    for (std::size_t time = 0; time < sums.size(); ++time) {
      const auto rows = normal_rows(kWorkers, dimension, time);
      const std::vector<Message<double>> messages(kWorkers, {.everything = true});
      const auto brought = contributions_of(messages, rows);
      exchange->combine(
          cluster,
          {.dimension = dimension,
           .of_workers = std::span(brought).subspan(static_cast<std::size_t>(cluster.first()),
                                                    static_cast<std::size_t>(cluster.count())),
           .layers = layers,
           .seed = 1},
          exchanged);
      const std::lock_guard lock(guard);
      EXPECT_TRUE(sums[time].empty() || sums[time] == exchanged.dense_sum);
      sums[time] = exchanged.dense_sum;
    }
  });
  return sums;
}

}  // namespace residuum::test
