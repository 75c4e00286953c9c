// Gossip against what it must be: bsp on the complete graph, steps that are done by hand, the
// contraction that the spectrum of W promises, and one run at any number of processes.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "core/graphs/mixing.h"
#include "core/protocols/protocol.h"
#include "core/trainer/trainer.h"
#include "tests/core/protocols/gossip_support.h"
#include "tests/core/thread_world.h"

namespace residuum {
namespace {

using test::choco_on;
using test::gossip_of;
using test::gossip_recipe;
using test::Json;
using test::plain_on;
using test::Recipe;

constexpr double kGossipRoundoff = 0x1.0p-53;

/// The parts of a version's view that the tests of gossip compare, beside its frame.
struct Sight {
  explicit Sight(const StepView& view)
      : frame(view),
        notes(view.notes.value()),
        late_noise(view.late_noise),
        conserves(view.loses_nothing()),
        gradients_are_current(view.gradients_are_current()),
        exchanges_gradients(view.exchanges_gradients()) {}
  test::Frame frame;
  VersionNotes notes;
  std::optional<double> late_noise;
  bool conserves;
  bool gradients_are_current;
  bool exchanges_gradients;
};

class SightKeeper final : public StepObserver {
 public:
  void observe(const StepView& view) override { sights.emplace_back(view); }
  void progress(std::uint64_t /*done*/, std::uint64_t /*total*/) override {}
  std::vector<Sight> sights;
};

std::vector<Sight> sights_of(const Objective& objective, const Recipe& recipe, int processes = 1) {
  std::vector<Sight> sights;
  test::on_processes(processes, [&](World& world) {
    SightKeeper keeper;
    const Outcome outcome = test::train(world, objective, recipe, keeper);
    EXPECT_EQ(outcome.state, Outcome::State::finished) << outcome.message;
    if (world.is_root()) {
      sights = std::move(keeper.sights);
    }
  });
  return sights;
}

/// The models at which gradients are taken, by worker and version.
using ModelsSeen = std::vector<std::vector<std::vector<double>>>;

/// Worker p's gradient is this at version 0, and 0 afterwards: only the mixing is left to act.
test::TinyObjective one_push(std::vector<std::vector<double>> gradients,
                             ModelsSeen* seen = nullptr) {
  const std::size_t d = gradients.front().size();
  return {std::vector<double>(d, 0.0),
          [gradients = std::move(gradients), seen](
              const Draw& draw, std::span<const double> w, std::span<double> gradient) {
            const auto worker = static_cast<std::size_t>(draw.worker);
            for (std::size_t i = 0; i < gradient.size(); ++i) {
              gradient[i] = draw.iteration == 0 ? gradients[worker][i] : 0.0;
            }
            if (seen != nullptr) {
              (*seen)[worker].emplace_back(w.begin(), w.end());
            }
          }};
}

std::vector<std::vector<double>> random_pushes(std::size_t workers, std::size_t d) {
  RandomStream random(3, Purpose::test, 0, 0);
  std::vector<std::vector<double>> pushes(workers, std::vector<double>(d));
  for (auto& push : pushes) {
    for (double& value : push) {
      value = random.normal();
    }
  }
  return pushes;
}

TEST(Gossip, OnTheCompleteGraphIsBulkSynchronousWithinRounding) {
  const test::TinyObjective objective = test::noisy_quadratic(6, 0.3);
  const auto gossip = plain_on("complete");
  Recipe recipe = gossip_recipe(*gossip, 5, 40);
  const auto mixed = sights_of(objective, recipe);
  recipe.protocol = &bulk_synchronous();
  const auto together = test::train(objective, recipe).frames;
  double longest = 0;
  for (std::size_t t = 0; t < together.size(); ++t) {
    for (std::size_t i = 0; i < 6; ++i) {
      longest = std::max(longest, std::abs(together[t].model[i]));
      // A step with curvature of at most 1 and eta = 1/4 shrinks differences. Each entry is rounded
      // less than 32 times per version in either run; centres and noise keep entries below 4.
      const double bound = 32 * static_cast<double>(t + 1) * 4 * kGossipRoundoff;
      EXPECT_NEAR(mixed[t].frame.model[i], together[t].model[i], bound) << t;
    }
    EXPECT_LE(mixed[t].notes.consensus_sq.value(), std::pow(32 * 4 * kGossipRoundoff, 2) * 6);
  }
  EXPECT_LT(longest, 4);
}

TEST(Gossip, OfThreeWorkersInARowIsAsDoneByHand) {
  // erdos-renyi of three workers may be a path; the middle one then has degree 2, so that all
  // weights are 1/3 and the ends keep 2/3.
  std::unique_ptr<Protocol> path;
  Json keys{{"graph", "erdos-renyi:0.4"}};
  for (int seed = 0; path == nullptr; ++seed) {
    keys["graph_seed"] = seed;
    const Graph graph = make_graph("erdos-renyi:0.4", 3, static_cast<std::uint64_t>(seed));
    if (graph.edges() == std::vector<Link>{{0, 1}, {1, 2}}) {
      path = gossip_of(keys);
    }
  }
  ModelsSeen at(3);
  // Half steps take the workers from 0 to 9, 0, -18 (eta = 1/4).
  const auto objective = one_push({{-36}, {0}, {72}}, &at);
  const auto sights = sights_of(objective, gossip_recipe(*path, 3, 3));
  // 6 = 2/3 9 + 1/3 0;  -3 = (9 + 0 - 18)/3;  -12 = 1/3 0 - 2/3 18; then again.
  const std::vector<std::vector<double>> hand{{0, 0, 0}, {6, -3, -12}, {3, -3, -9}};
  for (std::size_t p = 0; p < 3; ++p) {
    for (std::size_t t = 0; t < 3; ++t) {
      EXPECT_NEAR(at[p][t][0], hand[t][p], 1e-14);
    }
  }
  EXPECT_NEAR(sights[0].frame.model[0], -3, 1e-15);
  EXPECT_NEAR(sights[0].notes.consensus_sq.value(), (81.0 + 0 + 81) / 3, 1e-12);
  EXPECT_NEAR(sights[1].notes.consensus_sq.value(), (36.0 + 0 + 36) / 3, 1e-12);
  EXPECT_NEAR(path->law(3).spectral_gap.value(), 1.0 / 3, 1e-15);  // eigenvalues 1, 2/3, 0
}

TEST(Gossip, WithCompressedDifferencesIsAsDoneByHand) {
  // Two workers, W = 1/2 everywhere, gamma = 1/2, top-1 of two entries, eta = 1/4.
  const auto choco = choco_on("ring", 0.5);
  ModelsSeen at(2);
  const auto objective = one_push({{-32, -16}, {0, 8}}, &at);
  Recipe recipe = gossip_recipe(*choco, 2, 3);
  recipe.sparsifier = {{"kind", "top-k"}, {"k", 1}};
  const auto sights = sights_of(objective, recipe);
  // x = (8, 4), (0, -2); q = (8, 0), (0, -2) make c = (8, 0), (0, -2);
  // w += 1/4 (c of the other - own c): (8, 4) + (-2, -1/2) = (6, 3.5); (0, -2) + (2, 1/2).
  EXPECT_EQ(at[0][1], (std::vector<double>{6, 3.5}));
  EXPECT_EQ(at[1][1], (std::vector<double>{2, -1.5}));
  // x - c = (-2, 3.5), (2, 0.5); q = (0, 3.5), (2, 0); c = (8, 3.5), (2, -2);
  // (6, 3.5) + (-6, -5.5)/4 = (4.5, 2.125); (2, -1.5) + (6, 5.5)/4 = (3.5, -0.125).
  EXPECT_EQ(at[0][2], (std::vector<double>{4.5, 2.125}));
  EXPECT_EQ(at[1][2], (std::vector<double>{3.5, -0.125}));
  EXPECT_EQ(sights[1].frame.model, (std::vector<double>{4, 1}));
  EXPECT_EQ(sights[1].frame.scalars[0].accumulator_norm_sq, 4 + 12.25);
  EXPECT_EQ(sights[1].frame.scalars[0].sent_norm_sq, 12.25);
  EXPECT_EQ(sights[1].frame.scalars[0].sent_dot, 12.25);
  EXPECT_EQ(sights[1].notes.consensus_sq.value(), 0.25 + 1.265625);
}

TEST(Gossip, MovesTheMeanAsTheVirtualIterate) {
  const test::TinyObjective objective = test::noisy_quadratic(12, 0.5);
  const auto plain = plain_on("ring");
  const auto choco = choco_on("torus", 0.3);
  for (const auto precision : {Precision::float32, Precision::float64}) {
    for (const auto* protocol : {plain.get(), choco.get()}) {
      Recipe recipe = gossip_recipe(*protocol, 9, 300);
      recipe.precision = precision;
      if (protocol == choco.get()) {
        recipe.sparsifier = {{"kind", "top-k"}, {"k", 2}};
      }
      for (const Sight& sight : sights_of(objective, recipe)) {
        EXPECT_EQ(sight.frame.expected_gap, std::vector<double>(12, 0.0));
        // Less than 64 roundings of numbers below 4 in each version.
        const double bound =
            64 * static_cast<double>(sight.frame.iteration + 1) * 4 * kGossipRoundoff;
        ASSERT_LT(sight.frame.conservation_defect(), bound) << sight.frame.iteration;
        EXPECT_TRUE(sight.conserves);
        EXPECT_FALSE(sight.gradients_are_current);
        EXPECT_FALSE(sight.exchanges_gradients);
      }
    }
  }
}

// On a ring of four the eigenvalues of W are 1, 1/3, 1/3 and -1/3; those of (1 - gamma) I + gamma W
// are 1, 1 - 2/3 gamma, and 1 - 4/3 gamma. On the complete graph all but the first are 1 - gamma.
TEST(Gossip, HasTheGapOfTheMatrixThatActsUnderChoco) {
  EXPECT_NEAR(choco_on("complete", 0.0005)->law(2).spectral_gap.value(), 0.0005, 1e-15);
  EXPECT_NEAR(choco_on("ring", 0.25)->law(4).spectral_gap.value(), 1.0 / 6, 1e-15);
  EXPECT_NEAR(choco_on("ring", 0.9)->law(4).spectral_gap.value(), 0.6, 1e-15);
  EXPECT_NEAR(choco_on("ring", 1)->law(4).spectral_gap.value(), 2.0 / 3, 1e-15);
}

TEST(Gossip, ContractsByThatGapUnderChocoWithWholeDifferences) {
  const auto gossip = choco_on("ring", 0.3);
  const auto sights = sights_of(one_push(random_pushes(16, 3)), gossip_recipe(*gossip, 16, 60));
  const double rate = 1 - gossip->law(16).spectral_gap.value();
  const double before = std::sqrt(sights[58].notes.consensus_sq.value());
  const double after = std::sqrt(sights[59].notes.consensus_sq.value());
  EXPECT_NEAR(after / before, rate, 0.02 * rate);  // the slowest part remains
}

TEST(Gossip, ContractsByTheSecondEigenvalue) {
  const auto pushes = random_pushes(16, 3);
  for (const char* word : {"ring", "torus", "hypercube", "erdos-renyi:0.3"}) {
    const auto gossip = plain_on(word);
    const auto sights = sights_of(one_push(pushes), gossip_recipe(*gossip, 16, 40));
    const double lambda = 1 - gossip->law(16).spectral_gap.value();
    double before = 0;
    double after = 0;
    for (std::size_t t = 1; t < sights.size(); ++t) {
      before = std::sqrt(sights[t - 1].notes.consensus_sq.value());
      after = std::sqrt(sights[t].notes.consensus_sq.value());
      // The numbers are below 4, and a version rounds each less than 32 times.
      ASSERT_LE(after, lambda * before + 32 * 4 * kGossipRoundoff) << word << " at " << t;
    }
    EXPECT_NEAR(after / before, lambda, 0.05 * lambda) << word;  // the slowest part remains
  }
}

TEST(Gossip, WithWholeDifferencesIsPlainMixingWithinRounding) {
  const test::TinyObjective objective = test::noisy_quadratic(6, 0.3);
  const auto plain = plain_on("ring");
  const auto choco = choco_on("ring", 1);
  const auto a = sights_of(objective, gossip_recipe(*plain, 7, 40));
  const auto b = sights_of(objective, gossip_recipe(*choco, 7, 40));
  for (std::size_t t = 0; t < a.size(); ++t) {
    for (std::size_t i = 0; i < 6; ++i) {
      const double bound = 32 * static_cast<double>(t + 1) * 4 * kGossipRoundoff;
      EXPECT_NEAR(a[t].frame.model[i], b[t].frame.model[i], bound) << t;
    }
  }
  EXPECT_GT(a[39].notes.consensus_sq.value(), 1e-3);  // the noise keeps the models apart
}

/// Consensus of eight workers in a ring that send one of eight entries, after one push apart.
std::vector<Sight> consensus_of_eight(double step, std::uint64_t versions) {
  const auto choco = choco_on("ring", step);
  Recipe recipe = gossip_recipe(*choco, 8, versions);
  recipe.sparsifier = {{"kind", "top-k"}, {"k", 1}};
  return sights_of(one_push(random_pushes(8, 8)), recipe);
}

TEST(Gossip, ReachesConsensusWithOneEntryOfEight) {
  const auto sights = consensus_of_eight(0.15, 1500);
  const double first = sights.front().notes.consensus_sq.value();
  EXPECT_LT(sights.back().notes.consensus_sq.value(), 1e-12 * first);
}

TEST(Gossip, ReachesConsensusAsFastAsProven) {
  // Theorem 2 of Koloskova, Stich and Jaggi for their step: with the contraction delta of C and the
  // spectral gap rho, E_t = sum_p (|w^p - mean|^2 + |x^p - c^p|^2), x^p the next half step and c^p
  // after it, falls by the factor 1 - rho^2 delta/82 at least. Top-1 of 8 has delta = 1/8.
  const MixingConstants constants = mixing_constants(Mixing(make_graph("ring", 8, 1)));
  const double step = choco_step(constants.gap, constants.beta, 1.0 / 8);
  const double factor = 1 - constants.gap * constants.gap / 8 / 82;
  const auto sights = consensus_of_eight(step, 400);
  double before = std::numeric_limits<double>::infinity();
  for (std::size_t t = 0; t + 1 < sights.size(); ++t) {
    double error = 8 * sights[t].notes.consensus_sq.value();
    for (const WorkerScalars& next : sights[t + 1].frame.scalars) {
      error += next.accumulator_norm_sq - next.sent_norm_sq;
    }
    ASSERT_LE(error, factor * before) << t;
    before = error;
  }
}

TEST(Gossip, CountsTheBytesOfEveryNeighbour) {
  const test::TinyObjective objective = test::noisy_quadratic(10, 0.3);
  const auto plain = plain_on("ring");
  for (const int processes : {1, 4}) {
    for (const Sight& sight : sights_of(objective, gossip_recipe(*plain, 6, 2), processes)) {
      EXPECT_EQ(sight.frame.traffic.bytes, 6 * 2 * 10 * 8U);  // 2 neighbours, 10 float64 each
    }
    const auto choco = choco_on("complete", 0.5);
    Recipe recipe = gossip_recipe(*choco, 4, 3);
    recipe.precision = Precision::float32;
    recipe.sparsifier = {{"kind", "top-k"}, {"k", 2}};
    const auto sights = sights_of(objective, recipe, processes);
    EXPECT_EQ(sights[2].frame.traffic.bytes, 4 * 3 * 2 * 8U);  // 3 neighbours, 2 entries of 8 bytes
    double total = 0;
    for (const auto& scalars : sights[2].frame.scalars) {
      total += scalars.total_bytes;
    }
    EXPECT_EQ(total, 3.0 * 4 * 3 * 2 * 8);
    EXPECT_EQ(sights[2].notes.contributions, 4U);
    EXPECT_EQ(sights[2].notes.total_contributions, 12U);
  }
}

TEST(Gossip, OfOneWorkerIsGradientDescent) {
  const auto gossip = plain_on("ring");
  const auto sights =
      sights_of(test::constant_gradient({1.0}, {2.0}), gossip_recipe(*gossip, 1, 3));
  EXPECT_EQ(sights[2].frame.model[0], 1 - 3 * 0.25 * 2);
  EXPECT_EQ(sights[2].notes.consensus_sq, 0);
  EXPECT_EQ(sights[2].frame.traffic.bytes, 0U);
}

TEST(Gossip, SeesTheNoiseOfGradientsAtTheWorkersOwnModels) {
  // Halves of batches have the variance 2 sigma^2 d; G - half has sigma^2 d, in expectation.
  const test::TinyObjective objective = test::noisy_quadratic(50, 0.3);
  const auto gossip = plain_on("ring");
  Recipe recipe = gossip_recipe(*gossip, 5, 4);
  recipe.split = Json(2);
  const auto sights = sights_of(objective, recipe);
  EXPECT_TRUE(sights[0].late_noise.has_value());
  EXPECT_FALSE(sights[1].late_noise.has_value());
  EXPECT_TRUE(sights[2].late_noise.has_value());
}

void expect_same_sights(const std::vector<Sight>& a, const std::vector<Sight>& b) {
  std::vector<test::Frame> frames_a;
  std::vector<test::Frame> frames_b;
  for (std::size_t t = 0; t < std::min(a.size(), b.size()); ++t) {
    EXPECT_EQ(a[t].notes.consensus_sq, b[t].notes.consensus_sq);
    EXPECT_EQ(a[t].late_noise, b[t].late_noise);
    frames_a.push_back(a[t].frame);
    frames_b.push_back(b[t].frame);
  }
  EXPECT_EQ(a.size(), b.size());
  test::expect_same_frames(frames_a, frames_b);
}

TEST(Gossip, HasTheSameBitsAtAnyNumberOfProcesses) {
  const test::TinyObjective objective = test::noisy_quadratic(6, 0.3);
  for (const char* graph : {"ring", "complete", "erdos-renyi:0.5"}) {
    const auto plain = plain_on(graph);
    const auto choco = choco_on(graph, 0.4);
    for (const auto* protocol : {plain.get(), choco.get()}) {
      for (const auto precision : {Precision::float32, Precision::float64}) {
        Recipe recipe = gossip_recipe(*protocol, 5, 6);
        recipe.precision = precision;
        recipe.split = Json(2);
        if (protocol == choco.get()) {
          recipe.sparsifier = {{"kind", "rand-k"}, {"k", 2}, {"mask", "per-worker"}};
        }
        const auto alone = sights_of(objective, recipe);
        expect_same_sights(alone, sights_of(objective, recipe, 2));
        expect_same_sights(alone, sights_of(objective, recipe, 5));
      }
    }
    const auto whole = choco_on(graph, 0.4);
    const Recipe recipe = gossip_recipe(*whole, 5, 6);
    expect_same_sights(sights_of(objective, recipe), sights_of(objective, recipe, 3));
  }
}

TEST(Gossip, NamesTheWorkerThatDiverges) {
  const test::TinyObjective objective(
      {0.0}, [](const Draw& draw, std::span<const double>, std::span<double> gradient) {
        gradient[0] = draw.worker == 3 && draw.iteration == 2 ? std::nan("") : 1;
      });
  const auto gossip = plain_on("ring");
  for (const int processes : {1, 3}) {
    test::on_processes(processes, [&](World& world) {
      NoObserver nobody;
      const auto outcome = test::train(world, objective, gossip_recipe(*gossip, 5, 6), nobody);
      EXPECT_EQ(outcome.message,
                "gradient of worker 3 is not finite at iteration 2: entry 0 is nan");
    });
  }
}

TEST(Gossip, NamesTheAccumulatorThatDiverges) {
  const test::TinyObjective objective(
      {0.0}, [](const Draw& draw, std::span<const double>, std::span<double> gradient) {
        gradient[0] = draw.worker == 1 ? -1e30 : 0;
      });
  const auto gossip = plain_on("ring");
  Recipe recipe = gossip_recipe(*gossip, 3, 2);
  recipe.precision = Precision::float32;
  recipe.step = {{"value", 1e20}};
  EXPECT_EQ(test::train(objective, recipe).outcome.message,
            "accumulator of worker 1 is not finite at iteration 0: entry 0 is inf");
}

TEST(Gossip, SaysWhatItIs) {
  const ProtocolLaw law = plain_on("complete")->law(4);
  EXPECT_EQ(law.synchrony, Synchrony::neighbours);
  EXPECT_EQ(law.local_steps, 1U);
  EXPECT_EQ(law.staleness, 0U);
  EXPECT_EQ(law.contributions, 4U);
  EXPECT_NEAR(law.spectral_gap.value(), 1, 1e-15);
  // A ring of n with weights 1/3 has the eigenvalues 1/3 + 2/3 cos(2 pi j/n).
  EXPECT_NEAR(plain_on("ring")->law(8).spectral_gap.value(), 2.0 / 3 * (1 - std::sqrt(0.5)), 1e-15);
}

}  // namespace
}  // namespace residuum
