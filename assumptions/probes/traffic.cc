// This probe records entries, bytes and rounds as counted in the exchange. Its hard invariant is
// that the counted bytes equal those of the aggregator's cost model, or are at most those where
// merged lists may be shorter than k.

#include "assumptions/probes/probe.h"

namespace residuum {
namespace {

class TrafficProbe final : public Probe {
 public:
  std::vector<Column> columns() const override {
    return {Column::nnz_sent,
            Column::nnz_applied,
            Column::sent_bytes,
            Column::uplink_bytes,
            Column::downlink_bytes,
            Column::rounds,
            Column::total_sent_bytes,
            Column::total_uplink_bytes,
            Column::total_nnz_sent};
  }

  void observe(const StepView& view, Row& row, std::vector<Check>& checks) override {
    double sent = 0;
    double total_sent = 0;
    double total_bytes = 0;
    double total_down = 0;
    for (const auto& scalars : view.contributions()) {
      sent += scalars.nnz_sent;
    }
    for (const auto& scalars : view.worker_scalars) {
      total_sent += scalars.total_nnz;
      total_bytes += scalars.total_bytes;
      total_down += scalars.total_down_bytes;
    }
    const auto bytes = static_cast<double>(view.exchange.traffic.bytes);
    row.set(Column::nnz_sent, sent);
    if (view.exchanges_gradients()) {
      row.set(Column::nnz_applied, static_cast<double>(applied(view)));
    }
    const auto down = static_cast<double>(view.exchange.traffic.down);
    row.set(Column::sent_bytes, bytes);
    row.set(Column::uplink_bytes, bytes - down);
    row.set(Column::downlink_bytes, down);
    if (view.gradients_are_current()) {  // else messages arrive in any order
      row.set(Column::rounds, static_cast<double>(view.exchange.traffic.rounds));
    }
    row.set(Column::total_sent_bytes, total_bytes);
    row.set(Column::total_uplink_bytes, total_bytes - total_down);
    row.set(Column::total_nnz_sent, total_sent);
    if (!view.exchange.traffic_model) {
      return;
    }
    const TrafficModel& model = *view.exchange.traffic_model;
    checks.push_back({.iteration = view.iteration,
                      .name = "bytes",
                      .worker = std::nullopt,
                      .lhs = bytes,
                      .rhs = model.bytes,
                      .holds = model.exact ? bytes == model.bytes : bytes <= model.bytes,
                      .hard = true,
                      .expected = true});
  }

 private:
  static std::size_t applied(const StepView& view) {
    if (!view.exchange.is_dense) {
      return view.exchange.update->size();
    }
    std::size_t entries = 0;
    for (const double value : view.exchange.dense_update) {
      entries += value != 0 ? 1 : 0;
    }
    return entries;
  }
};

}  // namespace

std::unique_ptr<Probe> make_traffic_probe(const Section& /*section*/) {
  return std::make_unique<TrafficProbe>();
}

}  // namespace residuum
