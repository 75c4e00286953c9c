#include <string>
#include <vector>

#include "assumptions/monitor.h"
#include "experiments/program/study/run_config.h"

namespace residuum {
namespace {

bool needs_gradients(const std::string& probe, const std::string& where) {
  return make_probes({probe}, where).front()->needs().gradients;
}

/// Returns the probes of a study that names none: of a real run, those that its server can serve.
/// A run at the step of the tight theory has the probe of this theory.
std::vector<std::string> default_probes(bool is_real, bool is_tight) {
  std::vector<std::string> names = {"delta",
                                    "contraction",
                                    "residual",
                                    "conservation",
                                    "xi",
                                    "traffic",
                                    "noise",
                                    "certificate",
                                    "ef21"};
  if (is_tight) {
    names.emplace_back("lyapunov");
  }
  if (is_real) {
    std::erase_if(names, [](const std::string& name) { return needs_gradients(name, "defaults"); });
  }
  return names;
}

std::vector<std::string> read_probe_names(const Section& section, bool is_real, bool is_tight) {
  const auto value = section.any("names", nlohmann::json(default_probes(is_real, is_tight)));
  require(value.is_array(), "{} must be a list of probe names", section.where("names"));
  std::vector<std::string> names;
  for (const auto& name : value) {
    require(name.is_string(), "{} must be a list of probe names", section.where("names"));
    names.push_back(name.get<std::string>());
  }
  make_probes(names, section.where("names"));  // names the first unknown one
  for (const auto& name : names) {
    require(!is_real || !needs_gradients(name, section.where("names")),
            "{}: probe '{}' needs the gradient of every worker, which a real server does not see; "
            "use execution = \"simulated\" or leave it out",
            section.where("names"),
            name);
  }
  return names;
}

/// Tables of workers and layers are made of accumulators.
void refuse_details(const Section& section, const PreparedRun& run) {
  const bool has_workers = run.details.workers;
  require(!has_workers && run.details.layers.empty(),
          "{}: this table needs the gradient of every worker, which a real server does not see; "
          "use execution = \"simulated\" or leave it out",
          section.where(has_workers ? "workers" : "layers"));
}

/// A cadence that the study gives must have a second iteration before the end, or be the default.
Cadence read_cadence(const Section& section,
                     const char* key,
                     const nlohmann::json& fallback,
                     const Training& training) {
  const auto value = section.any(key, fallback);
  const std::uint64_t iterations = training.iterations;
  require(!training.budget.is_open() || !value.is_object() || !value.contains("even"),
          "{}: {{ even = N }} divides the iterations of the run, whose number is not known "
          "beforehand; give a whole number or {{ geometric = F }}",
          section.where(key));
  require(!value.is_number_integer() || value == fallback || value < 1 || value <= iterations,
          "{}: every {} iterations are more than the run has, which are {}",
          section.where(key),
          shown(value),
          iterations);
  return {value, section.where(key), iterations};
}

/// Returns the iterations that have rows if the study does not choose them. Short runs have rows of
/// every iteration, because only they decide whether an assumption holds in every iteration. Long
/// runs have about kDefaultRows. Gradients that come from elsewhere take no time here, and their
/// end may be open, so every step is measured. If a budget ends the run, rows become rarer as it
/// goes on.
nlohmann::json default_rows(const PreparedRun& run) {
  constexpr int kDefaultRows = 2000;
  if (run.objective->recorded_steps() || run.objective->source() != nullptr) {
    return 1;
  }
  return run.training.budget.is_open() ? nlohmann::json{{"geometric", 1.05}}
                                       : nlohmann::json{{"even", kDefaultRows}};
}

/// Refuses what a study asks for that takes an f, where only gradients are known.
void refuse_function(const Section& section, const PreparedRun& run) {
  const std::string reason =
      "the gradients of this objective come from elsewhere, and no f is known";
  for (const char* key :
       {"evaluate", "test", "virtual_every", "noise_every", "power_every", "full_gradient"}) {
    require(!section.has(key), "{}: {}; leave it out", section.where(key), reason);
  }
  for (const auto& name : run.probes) {
    const Needs needs = make_probes({name}, section.where("names")).front()->needs();
    require(!needs.compares_points && !needs.averages_iterates,
            "{}: probe '{}' needs f, but {}; leave it out",
            section.where("names"),
            name,
            reason);
  }
}

/// Leaves out of the plan what takes an f.
void measure_without_function(MeasurementPlan& plan) {
  plan.evaluated.reset();
  plan.tested.reset();
  plan.virtual_points.reset();
  plan.split.reset();
  plan.full_gradient = false;
}

/// Adds to the plan the means over workers that a probe looks at.
void add_means(const Needs& needs, MeasurementPlan& plan) {
  plan.mean_gradient = plan.mean_gradient || needs.mean_gradient;
  plan.mean_accumulator = plan.mean_accumulator || needs.mean_accumulator;
  plan.mean_residual = plan.mean_residual || needs.mean_residual;
}

/// Reads what the chosen probes need beyond the run itself, each on a cadence of its own.
void read_needs(const Section& section, PreparedRun& run) {
  Training& training = run.training;
  bool virtual_points = false;
  bool halves = false;
  bool sorts = false;
  bool power = false;
  const bool has_layers = !run.details.layers.empty();  // a table of all that is measured
  bool iterate = has_layers;
  training.plan.mean_gradient = has_layers;
  training.plan.mean_accumulator = has_layers;
  training.plan.mean_residual = has_layers;
  for (const auto& probe : make_probes(run.probes, section.where("names"))) {
    const Needs needs = probe->needs();
    virtual_points = virtual_points || needs.virtual_loss || needs.compares_points;
    training.plan.wants_unperturbed = training.plan.wants_unperturbed || needs.unperturbed;
    training.plan.compares_points = training.plan.compares_points || needs.compares_points;
    training.plan.averages_iterates = training.plan.averages_iterates || needs.averages_iterates;
    halves = halves || needs.halves;
    sorts = sorts || needs.sorts;
    power = power || needs.power;
    iterate = iterate || needs.iterate;
    training.plan.lyapunov = training.plan.lyapunov || needs.lyapunov;
    add_means(needs, training.plan);
  }
  training.plan.follows_iterate = iterate;
  const auto cadence = [&](const char* key, const nlohmann::json& fallback) {
    return read_cadence(section, key, fallback, training);
  };
  if (virtual_points) {
    training.plan.virtual_points = cadence("virtual_every", {{"geometric", 4.0}});
  }
  if (halves) {
    training.plan.split = cadence("noise_every", {{"geometric", 1.5}});
  }
  if (sorts) {
    training.plan.sorted = cadence("tail_every", 100);
  }
  if (power && section.has("power_every")) {
    training.plan.power = cadence("power_every", 1);
    const auto samples = section.integer("power_samples", 1024);
    require(samples >= 1, "{} must be at least 1, got {}", section.where("power_samples"), samples);
    training.plan.power_samples = static_cast<std::size_t>(samples);
  }
}

}  // namespace

void read_probes(const Section& section, PreparedRun& run) {
  Training& training = run.training;
  const ProtocolLaw law = law_of(run);
  const auto& step = run.config.at("step");
  const bool is_tight = step.contains("value") && step["value"] == "tight";
  run.probes = read_probe_names(section, law.is_real, is_tight);
  run.details = read_detail_tables(section, *run.objective, law);
  if (law.is_real) {
    refuse_details(section, run);
  }
  run.details.networks = !training.networks.empty() && !clocks_decide(law) && !law.is_on_wall_clock;
  if (training.overlap.rule != OverlapRule::none && !law.is_on_wall_clock) {
    run.details.overlapped = run.objective->layers();
  }
  training.plan.measure = !run.probes.empty() || run.details.any();
  if (run.details.magnitudes) {
    training.plan.magnitudes = read_cadence(section, "magnitudes_every", 1, training);
  }
  training.plan.measured = read_cadence(section, "every", default_rows(run), training);
  const nlohmann::json dense_start{{"geometric", 1.1}};
  const auto evaluate = section.any("evaluate", dense_start);
  training.plan.evaluated = read_cadence(section, "evaluate", dense_start, training);
  training.plan.tested = read_cadence(section, "test", evaluate, training);
  training.plan.full_gradient = section.flag("full_gradient", true);
  run.records_times = section.flag("times", true);
  read_needs(section, run);
  if (!run.objective->has_function()) {
    refuse_function(section, run);
    measure_without_function(training.plan);
  }
}

}  // namespace residuum
