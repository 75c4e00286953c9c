#pragma once
// A participant exchange is the exchange of the workers that take part in a version. They are
// numbered anew, 0 .. m - 1 in their order, so that any aggregator exchanges among them as among
// the workers of a run of m, and no other worker sends, receives or forwards anything.
//
// A process whose workers are all absent has no part in it. It gets the result afterwards, and what
// the aggregator keeps for the next exchange.

#include <memory>
#include <optional>
#include <vector>

#include "core/aggregators/aggregator.h"
#include "core/cluster/part_world.h"
#include "core/training/worker.h"

namespace residuum {

template <class Real>
class ParticipantExchange {
 public:
  /// The aggregator, the cluster and the participants must outlive it.
  ParticipantExchange(const Aggregator& aggregator,
                      const Cluster& cluster,
                      const Participants& participants);

  /// Makes `exchanged` of the contributions, which are those of the workers here that take part.
  /// The call is collective over the cluster's processes.
  void combine(const Contributions<Real>& contributions, ExchangeResult<Real>& exchanged);

  /// Saves or loads what the next exchange needs of those before it.
  void save_or_load(const Contributions<Real>& contributions, RunState& state);

 private:
  void find_hosts();
  void share(const Contributions<Real>& contributions, ExchangeResult<Real>& exchanged);
  void share_sum(int from, ExchangeResult<Real>& exchanged) const;
  void share_memory(int from, const Contributions<Real>& contributions);
  bool is_host() const;

  const Cluster& cluster_;
  const Participants& participants_;
  std::unique_ptr<Exchange<Real>> exchange_;
  std::unique_ptr<World> alone_ = make_single_process();

  // Set by every version.
  std::vector<int> hosts_;          // the processes with workers that take part
  std::vector<int> begins_;         // of their workers, and m
  std::optional<PartWorld> world_;  // theirs, where they are not all
};

}  // namespace residuum
