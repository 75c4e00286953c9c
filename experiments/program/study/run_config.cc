#include "experiments/program/study/run_config.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/fnv1a.h"
#include "core/gradient_source.h"
#include "core/schedules/density_schedule.h"
#include "core/training/device_placement.h"
#include "core/training/method_facts.h"
#include "core/training/training.h"
#include "experiments/program/foreign/compressor_frames.h"
#include "experiments/program/study/budget_section.h"
#include "experiments/program/study/method_sections.h"
#include "experiments/program/study/network_section.h"
#include "experiments/program/study/worker_smoothness.h"
#include "objectives/data/partition.h"

namespace residuum {
namespace {

// Every program that prepares runs knows it.
const Registered<Sparsifier> command_sparsifier(command_entry());

/// The sections of one run.
struct Sections {
  explicit Sections(const RunSpec& spec) {
    for (const auto& name : section_names()) {
      const auto found = spec.sections.find(name);
      sections.emplace(
          name,
          Section::with_places(
              name,
              found == spec.sections.end() ? std::map<std::string, Setting>{} : found->second));
    }
  }
  const Section& operator[](const std::string& name) const { return sections.at(name); }

  std::map<std::string, Section> sections;
};

/// Returns the given section, with `key` set where the study does not set it.
Section with_default(const Section& section,
                     const char* key,
                     const nlohmann::json& value,
                     const RunSpec& spec) {
  const auto found = spec.sections.find(section.name());
  auto settings = found == spec.sections.end() ? std::map<std::string, Setting>{} : found->second;
  settings.try_emplace(key, Setting{.value = value, .place = "the default"});
  return Section::with_places(section.name(), std::move(settings));
}

Section with_default_kind(const Section& section, const char* kind, const RunSpec& spec) {
  return with_default(section, "kind", kind, spec);
}

/// Returns the section [step]; gradients that come from elsewhere do not depend on the step, which
/// is then 1.
Section read_step(const Section& section, const Objective& objective, const RunSpec& spec) {
  const bool comes_from_elsewhere = objective.recorded_steps() || objective.source() != nullptr;
  const bool needs_none = comes_from_elsewhere && !section.has("rule");
  return needs_none ? with_default(section, "value", 1, spec) : section;
}

int read_workers(const Section& section) {
  const auto count = section.integer("count", kDefaultWorkers);
  require(count >= 1 && count <= 1'000'000,
          "{} must lie in 1..1000000, got {}",
          section.where("count"),
          count);
  return static_cast<int>(count);
}

/// The most samples of a gradient: they are counted in 32 bits.
constexpr std::uint64_t kMostSamples = (std::uint64_t{1} << 32U) - 1;

std::size_t read_batch(const Section& section, const Objective& objective) {
  if (objective.samples() == 0) {
    require(!section.has("batch"),
            "{}: this objective has no data set to draw batches from",
            section.where("batch"));
    return 0;
  }
  const auto value = section.any("batch", 32);
  if (value == "full") {
    return 0;
  }
  require(value.is_number_integer() && value.get<std::int64_t>() >= 1 &&
              value.get<std::uint64_t>() <= kMostSamples,
          "{} must be a whole number in 1..{}, or \"full\"; got {}",
          section.where("batch"),
          kMostSamples,
          shown(value));
  return value.get<std::size_t>();
}

/// Seed of the partition where the study gives none: all runs have the same shards.
constexpr std::uint64_t kPartitionSeed = 1;

/// Reads `partition_seed`; "run" is the run's own seed. Without data there is nothing to divide.
std::uint64_t read_partition_seed(const Section& section,
                                  const Objective& objective,
                                  std::uint64_t run_seed) {
  const char* const key = "partition_seed";
  if (objective.samples() == 0) {
    require(!section.has(key) || section.given()[key] == kPartitionSeed,
            "{}: this objective has no data set to divide among the workers",
            section.where(key));
    return kPartitionSeed;
  }
  const auto value = section.any(key, kPartitionSeed);
  if (value == "run") {
    return run_seed;
  }
  require(value.is_number_integer() && value.get<std::int64_t>() >= 0,
          "{} must be \"run\" or a whole number of at least 0, got {}",
          section.where(key),
          shown(value));
  return value.get<std::uint64_t>();
}

/// Returns how many parts a batch has; their gradients are taken one after the other.
std::size_t read_accumulation(const Section& section, std::size_t batch) {
  const std::int64_t parts = section.integer("accumulate", 1);
  require(parts >= 1 && parts <= 65536,
          "{} must be a whole number in 1..65536, got {}",
          section.where("accumulate"),
          parts);
  require(parts == 1 || batch > 0,
          "{}: there are no batches to accumulate; give 'workers.batch' and an objective with data",
          section.where("accumulate"));
  return static_cast<std::size_t>(parts);
}

/// Counts the samples of all gradients of an iteration: their batches, or their shards. It is
/// absent where iterations have more gradients or fewer.
std::optional<double> samples_per_iteration(const PreparedRun& run) {
  const auto gradients = law_of(run).contributions;
  if (!gradients) {
    return std::nullopt;
  }
  const auto n = static_cast<double>(run.objective->samples());
  return run.training.batch == 0
             ? static_cast<double>(*gradients) * n / run.workers
             : static_cast<double>(*gradients) * static_cast<double>(run.training.batch);
}

Precision read_precision(const Section& section) {
  return section.choice("precision", {"float32", "float64"}, "float32") == "float64"
             ? Precision::float64
             : Precision::float32;
}

void read_quantiser_of(const Section& quantiser,
                       const Section& aggregator,
                       const PreparedRun& run,
                       std::span<const Segment> layers,
                       Method& method,
                       nlohmann::json& config,
                       KnownKeys& known) {
  read_quantiser(quantiser, aggregator, law_of(run), layers, method);
  known.note(quantiser.name(), quantiser.known());
  if (method.quantiser != nullptr) {  // a section that does nothing is no part of the run
    config[quantiser.name()] = quantiser.resolved();
  }
}

std::vector<Segment> segments_of(const Objective& objective) {
  std::vector<Segment> segments;
  for (const Layer& layer : objective.layers()) {
    segments.push_back({.begin = layer.offset, .size = layer.size});
  }
  return segments;
}

/// Returns whether the model takes the update as it is, by an [outer] that has only defaults, or by
/// none.
bool moves_by_the_update(const nlohmann::json& outer) {
  return outer.empty() || outer == nlohmann::json{{"kind", "plain"}, {"step", 1.0}};
}

/// Returns the constants of the tight theory of error feedback. The share of the accumulator is the
/// least of all stages of a density schedule.
TightFacts tight_facts(const PreparedRun& run, const Method& method) {
  const std::size_t d = run.objective->dimension();
  const auto of_workers = worker_smoothness(run);
  const auto largest = std::max_element(of_workers.begin(), of_workers.end());
  TightFacts facts{.smoothness = std::nullopt,
                   .strong_convexity = worker_strong_convexity(run),
                   .contraction = method.message_law(*method.sparsifier, d, 1).contraction};
  if (largest != of_workers.end()) {
    facts.smoothness = *largest;
  }
  for (const auto& stage : method.stages) {
    const auto of_stage = method.message_law(*stage.sparsifier, d, 1).contraction;
    facts.contraction = facts.contraction && of_stage
                            ? std::optional(std::min(*facts.contraction, *of_stage))
                            : std::nullopt;
  }
  return facts;
}

/// Returns what a step size may refer to in a run whose workers send k entries.
StepContext step_context(const PreparedRun& run, const Method& method, std::size_t k) {
  const Objective& objective = *run.objective;
  StepContext context{.facts = [&objective] { return objective.facts(); },
                      .dimension = static_cast<double>(objective.dimension()),
                      .k = static_cast<double>(k),
                      .iterations = static_cast<double>(run.training.iterations),
                      .workers = static_cast<double>(run.participants()),
                      .has_epochs = objective.samples() > 0};
  if (run.has_open_end()) {
    context.iterations = 0;
  }
  if (GradientSource* const source = objective.source()) {
    context.live = [source] { return source->step_size(); };
  }
  context.tight = [&run, &method] { return tight_facts(run, method); };
  return context;
}

std::unique_ptr<Method> read_method(const Sections& sections,
                                    const RunSpec& spec,
                                    const PreparedRun& run,
                                    nlohmann::json& config,
                                    KnownKeys& known) {
  const auto resolve = [&](const Section& section) {
    config[section.name()] = section.resolved();
    known.note(section.name(), section.known());
  };
  auto method = std::make_unique<Method>();
  const Objective& objective = *run.objective;
  const std::size_t d = objective.dimension();
  const auto sparsifier =
      with_final_density(with_default_kind(sections["sparsifier"], "none", spec));
  const std::vector<Segment> layers = segments_of(objective);
  method->sparsifier = make_sparsifier(sparsifier, layers);
  method->stages =
      read_density_stages(sparsifier,
                          *method->sparsifier,
                          {.layers = layers,
                           .dimension = d,
                           .iterations = run.training.iterations,
                           .samples = static_cast<double>(objective.samples()),
                           .samples_per_iteration = samples_per_iteration(run).value_or(0)});
  resolve(sparsifier);
  const auto aggregator = with_default_kind(sections["aggregator"], "dense", spec);
  method->aggregator = make_aggregator(aggregator);
  resolve(aggregator);
  const auto feedback = with_default_kind(sections["feedback"], "ef14", spec);
  method->feedback = make_feedback(feedback);
  resolve(feedback);

  read_quantiser_of(sections["quantiser"], aggregator, run, layers, *method, config, known);
  check_approximation(*method, d, sparsifier, aggregator, feedback);
  check_clearing(*method, aggregator.text("kind"), feedback);

  const auto k = method->sparsifier->k(d);
  require(k.has_value() || !method->aggregator->needs_k(),
          "{}: aggregator '{}' selects k entries, but sparsifier '{}' has no k; use 'allgather' or "
          "'dense', or 'ok-topk' with a k of its own (aggregator.k)",
          aggregator.where("kind"),
          config["aggregator"]["kind"].get<std::string>(),
          config["sparsifier"]["kind"].get<std::string>());
  const Section step = read_step(sections["step"], objective, spec);
  method->step_rule = make_step_rule(step, step_context(run, *method, k.value_or(d)));
  const ProtocolLaw protocol = law_of(run);
  read_update(step, feedback, protocol, *method);
  resolve(step);
  read_local(sections["local"], protocol, feedback, *method);
  read_outer(sections["outer"], step, feedback, *method);
  const auto note = [&](const Section& section, bool counts) {
    known.note(section.name(), section.known());
    if (counts) {  // a section that does nothing is no part of the run
      config[section.name()] = section.resolved();
    }
  };
  note(sections["local"], method->optimiser != nullptr);
  note(sections["outer"], !moves_by_the_update(sections["outer"].resolved()));
  return method;
}

/// Reads what virtual clocks assume of links.
void read_networks(const Section& section, PreparedRun& run, KnownKeys& known) {
  const auto network = read_network(section, run.workers, law_of(run));
  known.note(section.name(), section.known());
  if (section.given().empty()) {  // a section that does nothing is no part of the run
    return;
  }
  run.training.networks = network.networks;
  run.training.times_work = network.times_work;
  run.training.overlap = network.overlap;
  run.config[section.name()] = section.resolved();
}

void read_protocol(const Sections& sections,
                   const RunSpec& spec,
                   PreparedRun& run,
                   KnownKeys& known) {
  const Section protocol = with_default_kind(sections["protocol"], "bsp", spec);
  run.protocol = make_protocol(protocol);
  run.training.protocol = run.protocol.get();
  run.config[protocol.name()] = protocol.resolved();
  known.note(protocol.name(), protocol.known());
  read_networks(sections["network"], run, known);
}

/// Makes an id like "logistic-gtopk-tree-s3-0123456789ab".
std::string make_id(const nlohmann::json& config, std::uint64_t seed) {
  const nlohmann::json identity{{"config", config}, {"seed", seed}, {"schema", 1}};
  return fmt::format("{}-{}-s{}-{}",
                     config["objective"]["kind"].get<std::string>(),
                     config["aggregator"]["kind"].get<std::string>(),
                     seed,
                     short_hash(identity.dump()));
}

/// Reads what a worker takes of its samples for a version, and how many workers do.
void read_batches(const Section& workers, PreparedRun& run) {
  Training& training = run.training;
  training.batch = read_batch(workers, *run.objective);
  training.accumulation = read_accumulation(workers, training.batch);
  const auto samples = product_within({training.batch, training.accumulation}, kMostSamples);
  require(samples.has_value(),
          "{}: {} batches of {} samples are more than {} samples; accumulate fewer, or give a "
          "smaller 'workers.batch'",
          workers.where("accumulate"),
          training.accumulation,
          training.batch,
          kMostSamples);
  training.batch = *samples;
  training.sampling =
      workers.choice("sampling", {"replacement", "shuffle"}, "replacement") == "shuffle"
          ? Sampling::shuffle
          : Sampling::replacement;
  training.participants = read_participation(workers, run.workers);
  run.device = read_wanted_device(workers);
}

}  // namespace

std::shared_ptr<const Objective> ObjectiveCache::get(const Section& section, int workers) {
  const std::string settings = section.given().dump();
  if (last_ != nullptr && settings == settings_ && workers_.value_or(workers) == workers) {
    section.adopt(resolved_);
    return last_;
  }
  last_.reset();  // two data sets may be more than the memory holds
  ObjectiveContext context = context_;
  context.workers = workers;
  last_ = make_objective(section, context);
  resolved_ = section.resolved();
  settings_ = settings;
  workers_ = context.workers.was_asked_for() ? std::optional(workers) : std::nullopt;
  return last_;
}

std::unique_ptr<const Objective> ObjectiveCache::build(const Section& section, int workers) const {
  ObjectiveContext context = context_;
  context.workers = workers;
  return make_objective(section, context);
}

void KnownKeys::note(const std::string& section, const std::vector<std::string>& keys) {
  keys_[section].insert(keys.begin(), keys.end());
}

void KnownKeys::check(const Study& study) const {
  for (const auto& spec : study.runs) {
    for (const auto& [name, settings] : spec.sections) {
      const Section section = Section::with_places(name, settings);
      const auto& keys = keys_.at(name);
      section.finish({keys.begin(), keys.end()});
    }
  }
}

namespace {

/// Returns whether nothing is left out of messages, and feedback keeps no more than a residual.
bool puts_nothing_back(const PreparedRun& run) {
  const RunFacts facts = method_facts(*run.method, run.dimension, law_of(run), run.workers);
  return facts.sends_everything && facts.applies_as_sent() &&
         facts.feedback.memory == Memory::residual;
}

/// Refuses a method that the protocol, the number of workers or the layers do not go with.
void check_method(const PreparedRun& run) {
  const auto layers = matrices_of(*run.objective);
  run.protocol->check(*run.method, run.objective->dimension(), run.workers);
  run.method->aggregator->check(run.participants(), layers);
  if (run.method->optimiser != nullptr) {
    run.method->optimiser->check(layers);
  }
}

/// Records that the method needs a pilot run, and refuses one that cannot be made.
void read_pilot(const Section& sparsifier, PreparedRun& run) {
  const auto pilot = run.method->sparsifier->pilot(run.objective->dimension());
  if (!pilot) {
    return;
  }
  require(run.objective->source() == nullptr,
          "{}: pilot runs need gradients of their own; give 'threshold'",
          sparsifier.where("kind"));
  check_pilot_length(sparsifier, run.training, law_of(run));
  check_pilot(*pilot, run.workers, run.training.iterations);
  run.needs_pilot = true;
}

/// Checks the method against all that was read before it.
void take_method(const Sections& sections, PreparedRun& run) {
  Training& training = run.training;
  check_method(run);
  check_overlap(training.overlap, *run.method, *run.objective, law_of(run));
  check_participation(sections["workers"], training, law_of(run), *run.method);
  check_memory_periods(sections["local"], training, *run.method);
  check_shift(sections["aggregator"], training, *run.method);
  training.method = run.method.get();
  run.puts_nothing_back = puts_nothing_back(run);
}

/// Says where the memories are, once it is known what is measured.
void place(const Section& workers, PreparedRun& run) {
  run.wants_device = wants_device(run.device, *run.objective, workers);
  if (!run.wants_device) {
    return;
  }
  const ProtocolLaw law = law_of(run);
  run.device_obstacle = device_obstacle(run.training, law);
  if (!run.device_obstacle.empty()) {
    return;
  }
  if (place_of_gradients(*run.objective).kind != Place::Kind::host) {
    run.gradient_obstacle = gradient_obstacle(run.training, law);
  }
  run.residual_obstacle = residual_obstacle(run.training);
}

}  // namespace

PreparedRun prepare(const RunSpec& spec, ObjectiveCache& objectives, KnownKeys& known) {
  const Sections sections(spec);
  PreparedRun run;
  run.seed = spec.seed;
  run.varying = spec.varying;
  Training& training = run.training;
  training.seed = spec.seed;
  const auto resolve = [&](const Section& section) {
    run.config[section.name()] = section.resolved();
    known.note(section.name(), section.known());
  };

  const Section& workers = sections["workers"];
  run.workers = read_workers(workers);
  const auto partition = workers.text("partition", "iid");
  check_partition(partition, workers.where("partition"));
  const Section& objective = sections["objective"];
  training.precision = read_precision(objective);
  run.objective = objectives.get(objective, run.workers);
  check_dimension(*run.objective);
  run.dimension = run.objective->dimension();
  run.samples = run.objective->samples();
  require(run.samples > 0 || partition == "iid",
          "{}: this objective has no data set to divide among the workers; leave the key out",
          workers.where("partition"));
  run.data_fingerprint = run.objective->data().fingerprint;
  resolve(objective);
  training.objective = run.objective.get();
  read_batches(workers, run);
  const auto partition_seed = read_partition_seed(workers, *run.objective, run.seed);
  resolve(workers);
  if (run.objective->samples() > 0) {
    training.shards = make_partition(
        partition, run.objective->samples(), run.workers, run.objective->labels(), partition_seed);
  }

  read_protocol(sections, spec, run, known);
  const Section& budget = sections["budget"];
  read_length(budget,
              {.gradients = law_of(run).contributions, .samples = samples_per_iteration(run)},
              law_of(run),
              training);
  check_source(sections["protocol"], training, law_of(run));
  check_batches(budget, training, law_of(run).local_steps);
  check_recorded(budget, training, law_of(run));
  training.loss_bound = read_loss_bound(budget, *run.objective);
  resolve(budget);
  run.method = read_method(sections, spec, run, run.config, known);
  take_method(sections, run);
  read_pilot(sections["sparsifier"], run);
  const Section& probe_section = sections["probes"];
  read_probes(probe_section, run);
  resolve(probe_section);
  place(workers, run);
  forget_absent_tables(run.config["probes"]);
  run.id = make_id(run.config, run.seed);
  return run;
}

std::vector<std::string> host_notes(const PreparedRun& run) {
  std::vector<std::string> notes;
  const auto add = [&](std::string_view what, const std::string& why) {
    if (!why.empty()) {
      notes.push_back(fmt::format("{}: {}", what, why));
    }
  };
  add("memories stay on the host", run.device_obstacle);
  add("each gradient is copied to the host", run.gradient_obstacle);
  add("each residual is copied to the host", run.residual_obstacle);
  return notes;
}

ProtocolLaw law_of(const PreparedRun& run) {
  return with_participants(run.protocol->law(run.workers), run.workers, run.participants());
}

std::string fingerprint_now(const RunSpec& spec, const ObjectiveCache& objectives) {
  return objectives.build(Sections(spec)["objective"], workers_of(spec))->data().fingerprint;
}

int workers_of(const RunSpec& spec) { return read_workers(Sections(spec)["workers"]); }

}  // namespace residuum
