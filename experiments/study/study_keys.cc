#include "experiments/study/study_keys.h"

#include <array>
#include <string>

namespace residuum {
namespace {

constexpr std::string_view kObjective = "objective";
constexpr std::string_view kWorkers = "workers";
constexpr std::string_view kSparsifier = "sparsifier";
constexpr std::string_view kQuantiser = "quantiser";
constexpr std::string_view kAggregator = "aggregator";
constexpr std::string_view kFeedback = "feedback";
constexpr std::string_view kProtocol = "protocol";
constexpr std::string_view kLocal = "local";
constexpr std::string_view kNetwork = "network";
constexpr std::string_view kStep = "step";
constexpr std::string_view kOuter = "outer";
constexpr std::string_view kBudget = "budget";
constexpr std::string_view kProbes = "probes";
constexpr std::string_view kSearch = "search";
constexpr std::string_view kExpected = "expected";

constexpr bool kDecidesData = true;

constexpr auto kKeys = std::to_array<StudyKey>({
    {"", "schema", "", "1, the form of this file"},
    {"", "name", "", "names the results folder: letters, digits, '.', '-', '_'"},
    {"", "title", "the name", "free text, for the report"},
    {"", "seeds", "1", "how many seeds each point of the study gets, or a list of them"},
    {"", "sweep", "", "section of keys with lists of values; the study has their product"},
    {"", "point", "", "[[point]] adds a point outside of the product"},

    {kObjective, "kind", "", "residuum list objectives", kDecidesData},
    {kObjective, "precision", "float32", "of accumulators and messages; or float64"},
    {kObjective,
     "coordinates",
     "standard",
     "dct: workers train, select and remember cosine coefficients of blocks of the layers"},
    {kObjective,
     "data",
     "synthetic-logistic; networks: synthetic-images, synthetic-text",
     "residuum list datasets, or a path: LIBSVM (plain, .gz, .xz, .bz2, .zst), lstm, gpt: a text; "
     "recorded: "
     ".npy, "
     "(T, P, d), or a folder of T files of (P, d)",
     kDecidesData},
    {kObjective, "rows", "4000; images: 6000", "samples of synthetic data", kDecidesData},
    {kObjective, "features", "200", "of synthetic-logistic", kDecidesData},
    {kObjective,
     "zero_based",
     "false",
     "LIBSVM: features count from 0, as scikit-learn writes them",
     kDecidesData},
    {kObjective,
     "classes",
     "two",
     "LIBSVM: \"one-vs-rest:3\" takes label 3 for +1 and all others for -1",
     kDecidesData},
    {kObjective, "data_seed", "1", "of what is drawn once for all runs", kDecidesData},
    {kObjective, "scale", "none", "max-abs divides each feature by its largest magnitude"},
    {kObjective, "intercept", "false", "logistic: one more parameter, a constant feature"},
    {kObjective, "l2", "1/n", "a number, 1/n or L/NUMBER: the loss has l2/2 |w|^2"},
    {kObjective, "start", "zero", "logistic: zero, a number, or \"minimizer + NUMBER\""},
    {kObjective, "shifted", "false", "logistic: gradients less those of the worker at x* (EF-GD*)"},
    {kObjective, "regulariser", "0.1", "nonconvex-logistic: lambda of sum w_j^2 / (1 + w_j^2)"},
    {kObjective,
     "dimension",
     "200; signal: 100000; recorded: 50",
     "quadratic, signal, synthetic-gradients: d"},
    {kObjective, "smoothness", "1.0", "quadratic: L, the largest curvature"},
    {kObjective, "curvature_ratio", "0.01", "quadratic: mu/L"},
    {kObjective, "heterogeneity", "0.5", "quadratic: how far the minima of workers are apart"},
    {kObjective, "noise_variance", "4.0", "quadratic: sigma^2 of a worker's gradient"},
    {kObjective, "law", "normal", "signal: of all entries; or laplace"},
    {kObjective, "steps", "20", "synthetic-gradients: T, how many each worker has"},
    {kObjective, "signal_to_noise", "0.0", "signal: the common part of gradients over their noise"},
    {kObjective, "hidden", "128", "mlp: widths of hidden layers, one or a list; lstm: state"},
    {kObjective, "sequence", "lstm: 32; gpt: 64", "lstm, gpt: tokens of a window", kDecidesData},
    {kObjective,
     "stride",
     "lstm: 32; gpt: 64",
     "lstm, gpt: tokens from one window to the next, by default sequence",
     kDecidesData},
    {kObjective, "embedding", "64", "lstm: numbers for a token"},
    {kObjective, "width", "128", "gpt: numbers for a token, in every layer"},
    {kObjective, "heads", "4", "gpt: of attention in every layer; they divide the width"},
    {kObjective,
     "layers",
     "lstm: 2; gpt: 4",
     "lstm, gpt: on top of each other; recorded: a list of { name, size } or { name, shape }"},
    {kObjective,
     "level",
     "word; synthetic-text: character",
     "lstm, gpt: a token is a word or a character",
     kDecidesData},
    {kObjective, "characters", "20000", "lstm, gpt: length of synthetic-text", kDecidesData},
    {kObjective,
     "train_samples",
     "0",
     "networks: takes the first so many samples; 0 is all",
     kDecidesData},
    {kObjective, "evaluate_samples", "0", "networks: f is a mean over so many; 0 is all"},
    {kObjective, "test_samples", "0", "networks: held-out samples that are used; 0 is all"},
    {kObjective,
     "evaluate_precision",
     "float64; lstm, gpt: float32",
     "networks: in which f is taken"},
    {kObjective,
     "device",
     "auto",
     "networks: cpu, cuda (by turns for the processes of a machine), cuda:N, or auto"},
    {kObjective, "augment", "false", "images: random crops and flips in training"},
    {kObjective, "depth", "20", "resnet: weighted layers, 6 n + 2"},

    {kWorkers, "count", "4", "P, the logical workers"},
    {kWorkers, "batch", "32", "samples of a gradient, or full; times accumulate at most 2^32 - 1"},
    {kWorkers, "partition", "iid", "iid, contiguous, by-label or dirichlet:ALPHA"},
    {kWorkers, "partition_seed", "1", "of the shards; run draws them anew for every seed"},
    {kWorkers, "sampling", "replacement", "or shuffle"},
    {kWorkers, "participation", "all", "bsp, local: part of the workers in a version, or how many"},
    {kWorkers, "accumulate", "1", "batches whose gradients are added up before an exchange"},

    {kSparsifier, "kind", "none", "residuum list sparsifiers"},
    {kSparsifier, "density", "", "k/d, in (0, 1]"},
    {kSparsifier, "k", "", "entries that a worker keeps; instead of density; command: a claim"},
    {kSparsifier, "scope", "model", "layer selects in every layer by itself"},
    {kSparsifier,
     "threshold",
     "",
     "hard-threshold: a number, or with a density \"matched\" (as many bytes as Top-k) or "
     "\"pilot\""},
    {kSparsifier,
     "rule",
     "fixed; from a density: eta-scaled",
     "hard-threshold: eta-scaled moves with the step size"},
    {kSparsifier, "period", "32", "reused-threshold: messages for each selection by Top-k"},
    {kSparsifier, "block", "", "chunk-top-k, random-block: entries of a block"},
    {kSparsifier, "mask", "shared", "rand-k, random-block: or per-worker"},
    {kSparsifier, "scaled", "false", "rand-k, random-block: sends what is unbiased"},
    {kSparsifier, "stages", "1", "estimated thresholds: times that the tail is fitted"},
    {kSparsifier, "command", "", "command: the program and its arguments, a list of words"},
    {kSparsifier, "per_worker", "false", "command: a process for each worker, not one for all"},
    {kSparsifier, "timeout_s", "30", "command: seconds for an answer"},
    {kSparsifier, "contraction", "", "command: claims |a - C(a)|² ≤ (1 - contraction) |a|²"},
    {kSparsifier, "pathwise", "true", "command: claims that of every message, or in the mean"},
    {kSparsifier, "omega", "", "command: claims |a - C(a)|² ≤ omega |a|² in the mean"},
    {kSparsifier, "unbiased", "false", "command: claims that the mean of C(a) is a"},
    {kSparsifier, "deterministic", "false", "command: claims that C(a) depends on a alone"},
    {kSparsifier, "schedule", "none", "dgc, gtopk, gtopk-code or a list: densities at first"},
    {kSparsifier, "schedule_epochs", "1.0", "length of a stage of the schedule"},
    {kSparsifier, "schedule_iterations", "", "length of a stage of the schedule, in iterations"},

    {kQuantiser, "kind", "none", "residuum list quantisers"},
    {kQuantiser, "bits", "4", "qsgd, linear: of a value"},
    {kQuantiser, "bucket", "512", "qsgd: values to a norm"},
    {kQuantiser,
     "scale",
     "mean",
     "sign: the magnitude of values as they are read, their mean or one"},
    {kQuantiser,
     "scope",
     "model",
     "layer writes every layer by itself, with its own scale or table"},
    {kQuantiser, "shrink", "false", "qsgd, terngrad, linear: sends Q(x)/(1 + omega)"},

    {kAggregator, "kind", "dense", "residuum list aggregators"},
    {kAggregator,
     "algorithm",
     "",
     "dense, powersgd: chain, ring, tree, recursive-doubling or "
     "hierarchical"},
    {kAggregator, "per_node", "", "hierarchical: workers of a node"},
    {kAggregator, "reduction", "ordered", "fast is MPI_Allreduce, whose bits depend on processes"},
    {kAggregator, "down", "whole", "parameter-server: or top-k of the sum"},
    {kAggregator, "rank", "2", "powersgd: of the approximation of a layer"},
    {kAggregator, "warm_start", "true", "powersgd: goes on from the last approximation"},
    {kAggregator, "k", "", "ok-topk: where the sparsifier has none"},
    {kAggregator, "density", "", "ok-topk: k/d, where the sparsifier has neither"},
    {kAggregator, "period", "32", "ok-topk: exchanges with one threshold"},
    {kAggregator, "region_period", "64", "ok-topk: exchanges with the same regions"},

    {kAggregator, "weighting", "workers", "allgather: or senders, entries over how many sent them"},
    {kAggregator, "clip", "none", "allgather: or median-norm, messages down to the median norm"},

    {kFeedback, "kind", "ef14", "residuum list feedback"},
    {kFeedback, "putback", "captured", "published, discard: what becomes of what a merge cut"},
    {kFeedback, "units", "step", "gradient, as most training code does"},
    {kFeedback, "decay", "1", "ef14: what is left of a residual after an exchange"},
    {kFeedback, "clears", "sent", "ef14: selected: a residual ignores what a quantiser rounds"},
    {kFeedback, "error_weight", "0.001", "econtrol: of the error in a message, above 0 to 1"},
    {kFeedback, "averaging", "0.1", "ef21-sgdm: weight of the newest gradient"},
    {kFeedback, "momentum", "0.9", "dgc: of the momentum correction"},
    {kFeedback, "masking", "true", "dgc: what was sent loses its velocity"},

    {kProtocol, "kind", "bsp", "residuum list protocols"},
    {kProtocol, "period", "", "local: gradients between two exchanges"},
    {kProtocol, "execution", "simulated", "asp, ssp, inhad: or real, on the processes of mpirun"},
    {kProtocol,
     "staleness",
     "inhad: unlimited",
     "ssp, inhad: gradients or versions ahead, at most"},
    {kProtocol, "nodes", "", "inhad: over which the workers are divided"},
    {kProtocol, "quota", "", "inhad: gradients announced before the server pulls"},
    {kProtocol,
     "cap",
     "1",
     "inhad: gradients of a worker at one version, at most 10000, or unlimited"},
    {kProtocol, "weights", "plain", "inhad: or per-worker"},
    {kProtocol, "graph", "", "gossip: ring, torus, hypercube, complete or erdos-renyi:P"},
    {kProtocol, "graph_seed", "1", "gossip: of a random graph"},
    {kProtocol, "mixing", "plain", "gossip: or choco"},
    {kProtocol, "consensus_step", "", "gossip with choco: in (0, 1]"},
    {kProtocol,
     "compute",
     "late gradients: 1",
     "virtual seconds of a gradient: a number, exponential:MEAN, lognormal:MEDIAN,SIGMA, "
     "pareto:LEAST,ALPHA, or in lockstep measured"},
    {kProtocol, "speeds", "", "of the workers, a list: worker p takes 1/speeds[p] of the time"},
    {kProtocol, "straggler_factor", "1", "how many times as long a straggler takes"},
    {kProtocol, "straggler_every_s", "", "mean time between two slow times of a worker"},
    {kProtocol, "straggler_lasts_s", "", "mean time that it is slow"},

    {kLocal, "optimiser", "sgd", "residuum list optimisers: how workers step between exchanges"},
    {kLocal, "momentum", "0.9", "momentum"},
    {kLocal, "nesterov", "false", "momentum: Nesterov's form"},
    {kLocal, "beta1", "0.9", "adamw: of the mean of gradients"},
    {kLocal, "beta2", "0.999", "adamw: of the mean of squares"},
    {kLocal, "epsilon", "1e-08", "adamw: added to the root of the mean of squares"},
    {kLocal, "weight_decay", "momentum: 0; adamw: 0.01", "in units of the step"},

    {kNetwork,
     "model",
     "none",
     "residuum list networks, a table {alpha_s, beta_s_per_byte, name} or, for LogGP, {latency_s, "
     "overhead_s, gap_s, gap_s_per_byte, name}, or a list of these"},
    {kNetwork, "workers_per_node", "", "workers that share a link to the others"},
    {kNetwork, "within", "", "links in a node, a table like those of `model`"},
    {kNetwork, "local", "none", "measured: selection and received messages take what they take"},
    {kNetwork, "overlap", "none", "wfbp or merged: layers travel while gradients are computed"},
    {kNetwork, "layer_times", "measured", "when the gradients of layers are ready, fractions"},

    {kStep, "rule", "constant", "inv-sqrt, inv-time, milestones or cosine"},
    {kStep, "value", "", "a number, C/L, C/mu, C/sqrt(T), C*sqrt(P/T) or theory"},
    {kStep, "shift", "7d/k", "inv-time: the step is value/(shift + t)"},
    {kStep, "milestones", "", "list of epochs; each multiplies the step by factor"},
    {kStep, "factor", "0.1", "of milestones"},
    {kStep, "until", "T", "cosine: when the step has come to its floor"},
    {kStep,
     "floor",
     "0.1",
     "cosine: the part of the step that is left at the end; 0 only at the end of the run"},
    {kStep, "unit", "epochs; cosine: iterations", "of milestones, until and warmup; or the other"},
    {kStep, "warmup", "0", "how long the step grows to its value"},
    {kStep, "warmup_from", "1/P", "the part of the step that the warm-up begins with"},
    {kStep, "momentum", "0.0", "heavy ball, after the aggregation"},
    {kStep, "weight_decay", "0", "after the aggregation"},
    {kStep, "clip_norm", "0", "largest norm of a gradient; 0 clips nothing"},
    {kStep, "clip_at", "worker", "worker (to clip_norm/sqrt(P), before compression) or update"},

    {kOuter, "kind", "plain", "heavy-ball, nesterov, or sign: by signs of the update"},
    {kOuter, "step", "1.0", "the update is multiplied by it"},
    {kOuter, "momentum", "0.9", "heavy-ball, nesterov"},

    {kBudget, "iterations", "", "T"},
    {kBudget,
     "epochs",
     "",
     "instead of iterations; refused where the last iteration would make them a quarter more"},
    {kBudget, "loss_bound", "", "an evaluated f above it ends the run as diverged"},

    {kProbes,
     "names",
     "delta, contraction, residual, conservation, xi, traffic, noise, "
     "certificate, ef21",
     "residuum list probes; a list"},
    {kProbes,
     "every",
     "{ even = 2000 }; recorded: 1",
     "which iterations have rows: each N-th from 0, { geometric = F } or { even = N }; those of "
     "the other cadences and the last have rows, too"},
    {kProbes,
     "evaluate",
     "{ geometric = 1.1 }",
     "when f and its gradient are measured (see every)"},
    {kProbes,
     "test",
     "as evaluate: { geometric = 1.1 }",
     "when held-out data are evaluated (see every)"},
    {kProbes, "virtual_every", "{ geometric = 4.0 }", "when f is taken at the virtual iterate"},
    {kProbes, "noise_every", "{ geometric = 1.5 }", "when half batches are compared"},
    {kProbes, "tail_every", "100", "probe tail: when entries are sorted"},
    {kProbes, "power_every", "", "probe smoothness: when power iteration estimates L"},
    {kProbes, "power_samples", "1024", "probe smoothness: samples of the power iteration"},
    {kProbes, "full_gradient", "true", "false evaluates the loss alone"},
    {kProbes, "times", "true", "false leaves wall times out"},
    {kProbes, "workers", "false", "true writes workers.csv"},
    {kProbes, "layers", "[]", "names of layers, or all: writes layers.csv"},
    {kProbes, "staleness", "false", "true writes staleness.csv"},
    {kProbes,
     "magnitudes_every",
     "",
     "when the workers' accumulators are counted by magnitude, for magnitudes.csv"},

    {kSearch, "key", "", "what makes the compression, such as sparsifier.density"},
    {kSearch, "ratios", "", "of 1/density: a list, or { from = 10, to = 1000, factor = 2 }"},
    {kSearch,
     "values",
     "",
     "of the key, from the least compression to the most; instead of ratios"},
    {kSearch, "quantity", "loss", "loss-gap or accuracy: at the end of a run"},
    {kSearch, "margin", "0", "a loss beyond it is significant"},
    {kSearch, "relative_margin", "", "the margin as a part of what dense training ends at"},
    {kSearch, "alpha", "0.05", "the chance that any interval of the search misses"},
    {kSearch, "first", "4", "seeds of the first look; each further one has twice as many"},
    {kSearch, "order", "bisection", "or ascending, which looks at every ratio up to the answer"},
    {kSearch,
     "dense",
     "no sparsifier and quantiser, aggregator dense",
     "settings of dense training: the sections that it names stand in for those of the study"},

    {kExpected, "quantity", "", "a column, a result of runs.csv, or facts.NAME: what a paper has"},
    {kExpected, "at", "end", "of a column: end, max, mean, or an iteration"},
    {kExpected, "value", "", "the published number"},
    {kExpected, "interval", "", "the published interval, or that of a number's rounding"},
    {kExpected, "source", "", "where it is published"},
    {kExpected, "where", "all methods", "the keys and values of the methods that it is about"},
});

}  // namespace

std::span<const StudyKey> study_keys() { return kKeys; }

nlohmann::json data_settings(const nlohmann::json& config) {
  auto settings = nlohmann::json::object();
  for (const StudyKey& key : kKeys) {
    const auto section = key.decides_data ? config.find(key.section) : config.end();
    if (section != config.end() && section->contains(key.name)) {
      settings[std::string(key.section)][std::string(key.name)] =
          section->at(std::string(key.name));
    }
  }
  return settings;
}

}  // namespace residuum
