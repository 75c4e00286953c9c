#pragma once
// A GossipLoop is a run of decentralised SGD: every worker has a model w^p of its own and talks to
// its neighbours in a graph alone (gossip.cc has the formulas and their sources). The neighbours of
// worker p know its public copy c^p; all who have one keep the same bits. With the half step x^p =
// w^p - eta G^p(w^p) a version is
//   a^p = x^p,        c^p = a^p             if whole models travel,
//   a^p = x^p - c^p,  c^p = c^p + C(a^p)    if compressed differences do (CHOCO);
//   w^p = x^p + gamma sum_q W_pq (c^q - c^p), over the neighbours q.
// With gamma = 1 and whole models the last line is sum_q W_pq x^q. It is written by differences
// because W is symmetric: what p gains from q, q loses to p, to the bit, and so the mean of the
// models moves by -eta mean G alone, however coarse the copies are.
//
// Models are float64; messages and copies have the precision of the run. The run's model is the
// mean of the workers' models. Sums over neighbours are taken in the order of their numbers and the
// mean in the order of workers: the bits are the same at any number of processes.

#include <cstdint>
#include <vector>

#include "core/cluster/ledger.h"
#include "core/graphs/mixing.h"
#include "core/protocols/iteration.h"
#include "core/protocols/protocol.h"
#include "core/protocols/real_time.h"
#include "core/protocols/virtual_time.h"

namespace residuum {

struct GossipRule {
  Mixing mixing;             // W
  bool differences = false;  // workers send compressed differences to their public copies
  double step = 1;           // gamma
};

template <class Real>
class GossipLoop final : public Loop {
 public:
  GossipLoop(TrainingState<Real>& state, GossipRule rule, const SimulatedMachine& machine);

  StepEnd advance(std::uint64_t t) override;
  SpentSoFar spent() const override { return {.virtual_s = time_ ? time_->seconds() : 0}; }
  void save_or_load(RunState& state) override;

 private:
  template <class Act>
  void each_worker(const Act& act);
  void compute(std::uint64_t t, double eta, bool splits, std::size_t slot, Worker<Real>& worker);
  void compress(std::uint64_t t, double eta, std::size_t slot, Worker<Real>& worker);
  void measure(std::size_t slot, WorkerScalars& scalars, std::span<const Real> accumulator) const;
  void exchange(Ledger& ledger);
  void publish(int worker, std::size_t slot);
  void receive(int worker, bool everything);
  void mix(double eta, std::size_t slot, Worker<Real>& worker);
  void take_mean();
  VersionNotes notes_of(std::uint64_t t) const;

  bool comes_here(int worker) const;
  void pass(int worker, std::size_t most_bytes);
  void share_copies();

  TrainingState<Real>& state_;
  const Training& training_;
  const Cluster& cluster_;
  std::size_t d_;
  GossipRule rule_;
  std::vector<std::vector<int>> receivers_;  // of each worker: the other processes with neighbours

  std::vector<std::vector<double>> models_;  // w^p, and x^p between the half step and the mixing
  std::vector<std::vector<Real>> copies_;    // c^q of each worker here and each neighbour of one
  std::vector<Message<Real>> messages_;
  std::vector<double> mean_;        // of the models
  ExchangeResult<Real> exchanged_;  // has the traffic; no update is exchanged
  LocalSeconds seconds_;
  std::optional<VirtualTime> time_;
  std::optional<RealTime> real_time_;

  // Room that workers use in turn.
  std::vector<Real> point_;  // w^p rounded, as gradients are computed from it
  Bytes bytes_;
  SparseVector<Real> entries_;
};

}  // namespace residuum
