// In gossip every worker has a model of its own and mixes it with those of its neighbours in a
// graph, with the symmetric, doubly stochastic weights W of graphs/mixing.h. At version t, for
// every worker p, with x^p = w^p - eta G^p(w^p):
//   mixing = "plain":  w^p = sum_q W_pq x^q
//     (decentralised SGD: Lian et al., NIPS 2017); whole models travel.
//   mixing = "choco":  c^p = c^p + C(x^p - c^p);  w^p = x^p + gamma sum_q W_pq (c^q - c^p)
//     (CHOCO-SGD: Koloskova, Stich, Jaggi, ICML 2019); only C(x^p - c^p) travels, C is the study's
//     sparsifier, and what it leaves out stays in x^p - c^p: CHOCO's own memory.
// Both leave the mean of the models where SGD with the mean gradient would take it. gossip_loop.h
// says how.

#include <type_traits>
#include <utility>

#include "core/protocols/expected_gradients.h"
#include "core/protocols/gossip_loop.h"

namespace residuum {
namespace {

struct GossipOptions {
  std::string graph;
  std::uint64_t graph_seed = 0;
  bool compresses = false;  // CHOCO
  double step = 1;          // gamma
};

class Gossip final : public ProtocolFor<Gossip> {
 public:
  Gossip(GossipOptions options, const Section& section)
      : options_(std::move(options)),
        machine_(read_lockstep_machine(section)),
        place_(section.where("kind")),
        graph_place_(section.where("graph")),
        mixing_place_(section.where("mixing")) {}

  ProtocolLaw law(int workers) const override {
    return {.synchrony = Synchrony::neighbours,
            .local_steps = 1,
            .staleness = 0,
            .contributions = static_cast<std::uint64_t>(workers),
            .spectral_gap = at_graph([&] { return spectral_gap(mixing(workers), options_.step); }),
            .times_gradients = has_virtual_time(machine_),
            .measures_gradients = machine_.measures,
            .is_on_wall_clock = machine_.is_real};
  }

  void check(const Method& method, std::size_t /*dimension*/, int workers) const override {
    static_cast<void>(law(workers));
    check_speeds(machine_, workers);
    check_exchange(method);
    check_update(method);
    if (options_.compresses) {
      check_compressed(method);
    } else {
      check_plain(method);
    }
  }

  std::optional<double> gradients_within(double seconds,
                                         const Training& training,
                                         int workers) const override {
    return gradients_in_lockstep(seconds, training, machine_, workers, 1);
  }

  template <class Real>
  std::unique_ptr<Loop> start(TrainingState<Real>& state) const {
    return std::make_unique<GossipLoop<Real>>(
        state,
        GossipRule{.mixing = at_graph([&] { return mixing(state.cluster().workers()); }),
                   .differences = options_.compresses,
                   .step = options_.step},
        machine_);
  }

 private:
  Mixing mixing(int workers) const {
    return Mixing(make_graph(options_.graph, workers, options_.graph_seed));
  }

  /// Returns make(); an error in it is one of the graph.
  template <class Make>
  std::invoke_result_t<Make> at_graph(const Make& make) const {
    try {
      return make();
    } catch (const Error& error) {
      usage_error("{}: {}", graph_place_, error.what());
    }
  }

  void check_exchange(const Method& method) const {
    const AggregatorLaw law = method.aggregator->law();
    require(law.applies_whole_messages && !law.is_sparse && !law.shifts_model,
            "{}: under gossip workers mix models with their neighbours, and no aggregator selects "
            "from sums of messages; leave out [aggregator] or use \"dense\"",
            place_);
    require(!method.feedback->has_velocity() && !method.feedback->estimates(),
            "{}: under gossip no gradients are exchanged, so there is nothing that a velocity or "
            "an estimate could follow; use feedback.kind = \"none\"",
            place_);
    require(method.feedback->units() == Units::step,
            "{}: under gossip workers exchange models, which have the units of steps; set "
            "feedback.units = \"step\"",
            place_);
  }

  void check_update(const Method& method) const {
    require(
        method.momentum == 0 && method.outer_step == 1 && method.update_rule == UpdateRule::mean,
        "{}: under gossip workers share no update for momentum, outer steps or signs; set "
        "step.momentum = 0 and leave out [outer]",
        place_);
    require(method.weight_decay == 0,
            "{}: under gossip there is no shared model that could decay; put the decay into the "
            "objective (objective.l2)",
            place_);
    require(method.clip != Clip::update,
            "{}: under gossip there is no shared update to clip; set step.clip_at = \"worker\"",
            place_);
  }

  void check_plain(const Method& method) const {
    // With a dimension as large as this only a rule that keeps everything keeps all of it.
    constexpr std::size_t kLarge = std::size_t{1} << 31;
    require(method.stages.empty() && method.sparsifier->law(kLarge, 1).contraction == 1.0,
            "{}: whole models travel, and a sparsified model is no model; use sparsifier.kind = "
            "\"none\", or protocol.mixing = \"choco\", which compresses differences",
            mixing_place_);
    require(method.quantiser == nullptr,
            "{}: whole models travel as they are; leave out [quantiser], or use protocol.mixing = "
            "\"choco\", which compresses differences",
            mixing_place_);
  }

  void check_compressed(const Method& method) const {
    const bool remembers = method.feedback->conserves({}, /*sends_everything=*/false, 2);
    require(!remembers,
            "{}: \"choco\" remembers what was not sent in its public copies, and a second memory "
            "would add it twice; set feedback.kind = \"none\"",
            mixing_place_);
  }

  GossipOptions options_;
  SimulatedMachine machine_;
  std::string place_, graph_place_, mixing_place_;  // for messages
};

/// Reads gamma, which is 1 where whole models travel.
double read_consensus_step(const Section& section, bool compresses) {
  const double step = section.if_used(compresses).number("consensus_step").value_or(1);
  require(step > 0 && step <= 1,
          "{} must lie in (0, 1], got {}: it is gamma, the part of the way to the neighbours' "
          "copies that a worker goes",
          section.where("consensus_step"),
          step);
  return step;
}

}  // namespace

std::unique_ptr<Protocol> make_gossip(const Section& section) {
  GossipOptions options{.graph = section.text("graph")};
  try {
    static_cast<void>(make_graph(options.graph, 2, 1));  // every word has a graph of two
  } catch (const Error& error) {
    usage_error("{}: {}", section.where("graph"), error.what());
  }
  const auto seed = section.integer("graph_seed", 1);
  require(seed >= 0, "{} must not be negative, got {}", section.where("graph_seed"), seed);
  options.graph_seed = static_cast<std::uint64_t>(seed);
  options.compresses = section.choice("mixing", {"plain", "choco"}, "plain") == "choco";
  options.step = read_consensus_step(section, options.compresses);
  return std::make_unique<Gossip>(std::move(options), section);
}

}  // namespace residuum
