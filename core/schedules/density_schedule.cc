// The presets are: dgc, Lin et al., ICLR 2018, section 3.3 (25 %, 6.25 %, 1.5625 %, 0.4 %, then 0.1
// %); gtopk, Shi et al., ICDCS 2019, section IV (four epochs); gtopk-code, what the public code of
// Shi et al., IJCAI 2019, trains with (0.4 % in the first epoch).

#include "core/schedules/density_schedule.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

namespace residuum {
namespace {

constexpr double kPresetDensity = 0.001;

struct Preset {
  std::string_view name;
  std::array<double, 4> densities;
  std::size_t stages;
};

constexpr auto kPresets = std::to_array<Preset>({
    {"dgc", {0.25, 0.0625, 0.015625, 0.004}, 4},
    {"gtopk", {0.25, 0.0725, 0.015, 0.004}, 4},
    {"gtopk-code", {0.004}, 1},
});

/// Returns the schedule that the section gives, null for none.
nlohmann::json given_schedule(const Section& section) {
  const auto schedule = section.given().value("schedule", nlohmann::json());
  return schedule == "none" ? nlohmann::json() : schedule;
}

std::vector<double> preset(const Section& section) {
  std::vector<std::string> names;
  names.reserve(kPresets.size());
  for (const auto& known : kPresets) {
    names.emplace_back(known.name);
  }
  const auto name = section.choice("schedule", names);
  const auto* found = std::find_if(
      kPresets.begin(), kPresets.end(), [&](const Preset& known) { return known.name == name; });
  const auto densities = std::span(found->densities).first(found->stages);
  return {densities.begin(), densities.end()};
}

std::vector<double> read_densities(const Section& section) {
  const auto value = section.any("schedule");
  if (value.is_string()) {
    return preset(section);
  }
  const std::string where = section.where("schedule");
  require(value.is_array() && !value.empty(),
          "{} must be \"none\", \"dgc\", \"gtopk\", \"gtopk-code\" or a list of densities, got {}",
          where,
          shown(value));
  std::vector<double> densities;
  densities.reserve(value.size());
  for (const auto& entry : value) {
    require(entry.is_number() && entry.get<double>() > 0 && entry.get<double>() <= 1,
            "{} must list densities in (0, 1], got {}",
            where,
            shown(entry));
    densities.push_back(entry.get<double>());
  }
  require(std::is_sorted(densities.rbegin(), densities.rend()), "{} must not increase", where);
  return densities;
}

/// Returns after how many iterations each of the stages ends.
std::vector<std::uint64_t> read_ends(const Section& section,
                                     std::size_t stages,
                                     bool in_iterations,
                                     const ScheduleContext& context) {
  const char* key = in_iterations ? "schedule_iterations" : "schedule_epochs";
  require(in_iterations || context.samples > 0,
          "{}: this objective has no data set to count epochs of; give 'schedule_iterations'",
          section.where("schedule"));
  require(in_iterations || context.samples_per_iteration > 0,
          "{}: under this protocol the number of gradients in an iteration varies; give "
          "'schedule_iterations'",
          section.where("schedule"));
  const double length = section.number(key, 1.0);
  require(length > 0, "{} must be positive, got {}", section.where(key), length);
  std::vector<std::uint64_t> ends;
  ends.reserve(stages);
  for (std::size_t i = 1; i <= stages; ++i) {
    const double end = length * static_cast<double>(i);
    const double iterations =
        in_iterations ? end : end * context.samples / context.samples_per_iteration;
    require(iterations < static_cast<double>(context.iterations),
            "{}: stage {} of {} would end at iteration {:.0f}, but the training ends after {}; "
            "shorten the stages or train longer",
            section.where("schedule"),
            i,
            stages,
            std::ceil(iterations),
            context.iterations);
    ends.push_back(static_cast<std::uint64_t>(std::ceil(iterations)));
  }
  return ends;
}

/// Returns the section with this density in place of its own amount.
Section with_density(const Section& section, double density) {
  auto values = section.given();
  values.erase("k");
  values["density"] = density;
  return {section.name(), values};
}

}  // namespace

Section with_final_density(const Section& section) {
  const auto schedule = given_schedule(section);
  const auto given = section.given();  // what the sparsifier reads is not known here
  const bool has_amount =
      given.contains("density") || given.contains("k") || given.contains("threshold");
  if (has_amount || schedule.is_null()) {
    return section;
  }
  require(schedule.is_string(),
          "{}: the schedule ends after its {} stages; give 'density' or 'k' for the rest of the "
          "training",
          section.where("schedule"),
          schedule.size());
  return section.with("density", kPresetDensity);
}

std::vector<DensityStage> read_density_stages(const Section& section,
                                              const Sparsifier& final_one,
                                              const ScheduleContext& context) {
  const auto& read = section.known();
  const bool has_amount = std::any_of(
      read.begin(), read.end(), [](const auto& key) { return key == "k" || key == "density"; });
  const auto k = has_amount ? final_one.k(context.dimension) : std::nullopt;
  if (!k || !section.has("schedule")) {
    return {};
  }
  const bool in_iterations = section.has("schedule_iterations");
  const bool in_epochs = section.has("schedule_epochs");
  if (given_schedule(section).is_null()) {
    return {};
  }
  require(!(in_iterations && in_epochs),
          "{} and {}: give one of them",
          section.where("schedule_epochs"),
          section.where("schedule_iterations"));
  const auto densities = read_densities(section);
  const auto ends = read_ends(section, densities.size(), in_iterations, context);
  std::vector<DensityStage> stages;
  stages.reserve(densities.size());
  for (std::size_t i = 0; i < densities.size(); ++i) {
    DensityStage stage{
        .until = ends[i],
        .sparsifier = make_sparsifier(with_density(section, densities[i]), context.layers)};
    require(stage.sparsifier->k(context.dimension).value_or(0) >= *k,
            "{}: its density {} keeps fewer entries than the {} that follow the schedule",
            section.where("schedule"),
            densities[i],
            *k);
    stages.push_back(std::move(stage));
  }
  return stages;
}

}  // namespace residuum
