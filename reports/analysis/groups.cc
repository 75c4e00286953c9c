#include "reports/analysis/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "reports/analysis/short_labels.h"
#include "reports/analysis/words.h"

namespace residuum::reports {
namespace {

struct ShortName {
  std::string_view key;
  std::string_view name;  // empty: the value is shown without a name
};

// A label names these keys in this order; every other key comes after, by its own name.
constexpr std::array<ShortName, 13> kShortNames{{{"objective.kind", ""},
                                                 {"objective.data", ""},
                                                 {"aggregator.kind", ""},
                                                 {"sparsifier.kind", ""},
                                                 {"feedback.kind", ""},
                                                 {"feedback.putback", ""},
                                                 {"protocol.kind", ""},
                                                 {"sparsifier.density", "rho"},
                                                 {"sparsifier.k", "k"},
                                                 {"sparsifier.threshold", "lambda"},
                                                 {"workers.count", "P"},
                                                 {"step.rule", ""},
                                                 {"step.value", "eta"}}};

LabelPart part(const Run& run, std::string_view key, std::string_view name, const Json& value) {
  const auto label = run.value_labels.find(std::string(key));
  if (label != run.value_labels.end()) {
    return {.word = {}, .value = label->second, .is_own = true};
  }
  const bool is_text = value.is_string();
  if (name.empty() && is_text) {
    return {.word = {}, .value = value.get<std::string>()};
  }
  return {.word = std::string(name.empty() ? key : name), .value = plain_text(value)};
}

/// Returns whether a key says nothing of the run.
bool is_unsaid(const Run& run, const std::string& key) {
  return run.moot.contains(key) || run.unnamed.contains(key);
}

LabelParts label_parts_of(const Run& run, std::string_view omitted, bool with_moot) {
  LabelParts parts;
  std::set<std::string, std::less<>> said{std::string(omitted)};
  for (const auto& [key, name] : kShortNames) {
    const bool is_implied = run.implied.contains(std::string(key));
    const Json& values = is_implied ? run.implied : run.varying;
    const auto found = values.find(std::string(key));
    if (found == values.end() || key == omitted) {
      continue;
    }
    said.emplace(key);
    if (with_moot || !is_unsaid(run, std::string(key))) {
      parts.push_back(part(run, key, name, *found));
    }
  }
  for (const auto& [key, value] : run.varying.items()) {
    if (!said.contains(key) && (with_moot || !is_unsaid(run, key))) {
      parts.push_back(part(run, key, {}, value));
    }
  }
  return parts;
}

/// The name of a run by which nothing varies.
std::string plain_name(const Run& run) {
  const std::string kind = text_at(run.config, "config.aggregator.kind");
  return kind.empty() ? run.id : kind;
}

constexpr std::string_view kCut = "…";

/// Returns the values in a name: "gtopk-tree" and "0.01" of "gtopk-tree, rho=0.01".
std::vector<std::string> words_of(std::string_view name) {
  constexpr std::string_view kComma = ", ";
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find(kComma, begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    words.emplace_back(part.substr(part.find('=') + 1));  // all of it where there is none
    begin = end + kComma.size();
  }
  return words;
}

/// Returns whether a word is the value without its middle.
bool is_cut_of(std::string_view word, std::string_view value) {
  const std::size_t at = word.find(kCut);
  return at != std::string_view::npos && value.starts_with(word.substr(0, at)) &&
         value.ends_with(word.substr(at + kCut.size()));
}

/// MethodNames has the names of a folder's methods, which are short and differ.
class MethodNames {
 public:
  explicit MethodNames(const ResultFolder& folder) {
    std::set<std::string> begun;  // what varies in them
    for (const auto& run : folder.runs) {
      if (!run.config.empty()) {
        begun.insert(run.varying.dump());
        add(run);
      }
    }
    for (const auto& run : folder.runs) {
      if (run.config.empty() && run.is_known && !begun.contains(run.varying.dump())) {
        add(run);
      }
    }
    const auto names = short_labels(methods_, named_);
    for (std::size_t i = 0; i < names.size(); ++i) {
      names_[label_text(methods_[i])] = names[i];
    }
  }

  std::string of(const Run& run) const {
    if (!run.label.empty()) {
      return run.label;
    }
    const std::string whole = label_text(label_parts_of(run, {}, false));
    const auto found = names_.find(whole);
    const std::string& name = found == names_.end() ? whole : found->second;
    return name.empty() ? plain_name(run) : name;
  }

  /// Returns the words that are cut in the name of a run: values, or the name if no value is cut.
  static std::vector<CutWord> cut_in(const std::string& name, const Run& run) {
    const LabelParts parts = label_parts_of(run, {}, false);
    const std::string whole = label_text(parts);
    if (!run.label.empty() || name.find(kCut) == std::string::npos || name == whole) {
      return {};
    }
    std::vector<CutWord> cut;
    for (const auto& word : words_of(name)) {
      const auto part = std::find_if(parts.begin(), parts.end(), [&](const LabelPart& one) {
        return is_cut_of(word, one.value);
      });
      if (word.find(kCut) != std::string::npos && part == parts.end()) {
        return {{.shown = name, .whole = whole}};
      }
      if (word.find(kCut) != std::string::npos) {
        cut.push_back({.shown = word, .whole = part->value});
      }
    }
    return cut;
  }

 private:
  void add(const Run& run) {
    auto parts = label_parts_of(run, {}, false);
    if (!run.label.empty()) {
      named_.push_back(std::move(parts));
    } else if (!parts.empty() && names_.emplace(label_text(parts), std::string()).second) {
      methods_.push_back(std::move(parts));
    }
  }

  std::vector<LabelParts> methods_;
  std::vector<LabelParts> named_;             // by the study
  std::map<std::string, std::string> names_;  // by all that the parts say
};

/// Returns the positions of groups that have no label of their own.
std::vector<std::size_t> with_shared_label(const std::vector<Group>& groups) {
  std::map<std::string, std::vector<std::size_t>> by_label;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    by_label[groups[i].label].push_back(i);
  }
  std::vector<std::size_t> shared;
  for (const auto& [label, places] : by_label) {
    if (places.size() > 1) {
      shared.insert(shared.end(), places.begin(), places.end());
    }
  }
  return shared;
}

/// Groups of one label get one with all that varies, and an id where that does not tell them apart.
void make_labels_differ(const ResultFolder& folder, std::vector<Group>& groups) {
  for (const std::size_t i : with_shared_label(groups)) {
    const Run& run = folder.runs[groups[i].runs.front()];
    const std::string all = short_labels({label_parts_of(run, {}, true)}).front();
    groups[i].label = run.label.empty() ? all : fmt::format("{} ({})", run.label, all);
  }
  for (const std::size_t i : with_shared_label(groups)) {
    const std::string& id = folder.runs[groups[i].runs.front()].id;
    constexpr std::size_t kShown = 12;
    groups[i].label += fmt::format(" [{}]", id.substr(id.size() - std::min(kShown, id.size())));
  }
}

std::string value_text(const Group& group, const std::string& key) {
  const auto found = group.varying.find(key);
  return found == group.varying.end() ? std::string("(none)") : plain_text(*found);
}

/// Returns the key that makes the fewest facets of at most kCurvesPerFigure groups each.
std::optional<std::string> facet_key(const ResultFolder& folder, const std::vector<Group>& groups) {
  std::optional<std::string> best;
  std::size_t fewest = groups.size();
  for (const auto& key : folder.varying_keys) {
    std::map<std::string, std::size_t> sizes;
    std::size_t largest = 0;
    for (const auto& group : groups) {
      largest = std::max(largest, ++sizes[value_text(group, key)]);
    }
    if (largest <= kCurvesPerFigure && sizes.size() < fewest) {
      best = key;
      fewest = sizes.size();
    }
  }
  return best;
}

std::vector<Facet> split_by_order(std::size_t groups) {
  std::vector<Facet> facets;
  for (std::size_t i = 0; i < groups; ++i) {
    if (i % kCurvesPerFigure == 0) {
      facets.emplace_back();
    }
    facets.back().groups.push_back(i);
    facets.back().styles.push_back(i);
  }
  for (std::size_t i = 0; facets.size() > 1 && i < facets.size(); ++i) {
    facets[i].title = fmt::format("part {} of {}", i + 1, facets.size());
  }
  return facets;
}

std::vector<Facet> split_by_key(const ResultFolder& folder,
                                const std::vector<Group>& groups,
                                const std::string& key) {
  std::vector<Facet> facets;
  std::vector<std::string> methods;  // a method's place is its style
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::string title = fmt::format("{} = {}", key, value_text(groups[i], key));
    auto facet = std::find_if(
        facets.begin(), facets.end(), [&](const Facet& f) { return f.title == title; });
    if (facet == facets.end()) {
      facet = facets.insert(facets.end(), Facet{.title = title, .groups = {}, .styles = {}});
    }
    const std::string method = method_label(folder.runs[groups[i].runs.front()], key);
    const auto place = std::find(methods.begin(), methods.end(), method);
    facet->groups.push_back(i);
    facet->styles.push_back(static_cast<std::size_t>(place - methods.begin()));
    if (place == methods.end()) {
      methods.push_back(method);
    }
  }
  return facets;
}

/// Draws a method that does not compress, and has a facet for itself, in all others instead,
/// because they are compared with it.
void spread_uncompressed(const ResultFolder& folder,
                         const std::vector<Group>& groups,
                         std::vector<Facet>& facets) {
  const auto alone = std::find_if(facets.begin(), facets.end(), [&](const Facet& facet) {
    return facet.groups.size() == 1 && sends_everything(folder, groups[facet.groups.front()]);
  });
  if (alone == facets.end() || facets.size() == 1) {
    return;
  }
  const std::size_t group = alone->groups.front();
  const std::size_t style = alone->styles.front();
  facets.erase(alone);
  for (auto& facet : facets) {
    facet.groups.push_back(group);
    facet.styles.push_back(style);
  }
}

/// Returns the one group that a run which has not begun is of; nullptr where there is none.
Group* planned_group(const Run& run, std::vector<Group>& groups) {
  if (!run.config.empty() || !run.is_known) {
    return nullptr;
  }
  const auto found = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
    return group.varying == run.varying;
  });
  return found == groups.end() ? nullptr : &*found;
}

}  // namespace

bool sends_everything(const ResultFolder& folder, const Group& group) {
  const RunFacts& facts = folder.runs[group.runs.front()].facts;
  return facts.sends_everything && facts.aggregator.applies_whole_messages &&
         !facts.aggregator.approximates_sum;
}

bool selects_at_random(const ResultFolder& folder, const Group& group) {
  return std::any_of(group.runs.begin(), group.runs.end(), [&](std::size_t i) {
    return folder.runs[i].has_tables() && !folder.runs[i].facts.sparsifier.deterministic;
  });
}

std::string short_key(std::string_view key) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kLetters{
      {{"rho", "ρ"}, {"lambda", "λ"}, {"eta", "η"}}};
  const auto* const known =
      std::find_if(kShortNames.begin(), kShortNames.end(), [&](const ShortName& one) {
        return one.key == key && !one.name.empty();
      });
  if (known == kShortNames.end()) {
    return std::string(key);
  }
  const auto* const letter = std::find_if(
      kLetters.begin(), kLetters.end(), [&](const auto& one) { return one.first == known->name; });
  return std::string(letter == kLetters.end() ? known->name : letter->second);
}

std::string method_label(const Run& run, std::string_view omitted) {
  if (!run.label.empty() && omitted.empty()) {
    return run.label;
  }
  const std::string label = label_text(label_parts_of(run, omitted, false));
  return label.empty() ? plain_name(run) : label;
}

std::vector<Group> group_runs(const ResultFolder& folder) {
  std::vector<Group> groups;
  if (!folder.mixed_data.empty()) {
    return groups;
  }
  const MethodNames names(folder);
  std::map<std::string, std::size_t> place;
  for (std::size_t i = 0; i < folder.runs.size(); ++i) {
    const Run& run = folder.runs[i];
    if (run.config.empty()) {
      continue;
    }
    // Keys are sorted, so that two spellings of one configuration are one.
    const nlohmann::json config = value_at(run.config, "config");
    const std::string key = config.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    const auto [found, is_new] = place.emplace(key, groups.size());
    if (is_new) {
      const std::string name = names.of(run);
      groups.push_back({.label = name,
                        .cut = MethodNames::cut_in(name, run),
                        .varying = run.varying,
                        .runs = {}});
    }
    groups[found->second].runs.push_back(i);
  }
  for (std::size_t i = 0; i < folder.runs.size(); ++i) {
    if (Group* const group = planned_group(folder.runs[i], groups)) {
      group->runs.push_back(i);
    }
  }
  make_labels_differ(folder, groups);
  return groups;
}

std::vector<std::string> method_labels(const ResultFolder& folder) {
  std::vector<std::string> labels(folder.runs.size());
  for (const auto& group : group_runs(folder)) {
    for (const std::size_t i : group.runs) {
      labels[i] = group.label;
    }
  }
  const MethodNames names(folder);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    labels[i] = labels[i].empty() ? names.of(folder.runs[i]) : labels[i];
  }
  return labels;
}

std::vector<CutWord> cut_words(const std::vector<Group>& groups,
                               const std::vector<std::size_t>& places) {
  std::vector<CutWord> words;
  for (const std::size_t place : places) {
    for (const auto& word : groups.at(place).cut) {
      if (std::find(words.begin(), words.end(), word) == words.end()) {
        words.push_back(word);
      }
    }
  }
  return words;
}

std::vector<std::string> methods_not_begun(const ResultFolder& folder,
                                           const std::vector<Group>& groups) {
  const MethodNames names(folder);
  std::vector<std::string> labels;
  for (const auto& run : folder.runs) {
    const bool has_begun = !run.config.empty() || !run.is_known ||
                           std::any_of(groups.begin(), groups.end(), [&](const Group& group) {
                             return group.varying == run.varying;
                           });
    const std::string label = has_begun ? std::string() : names.of(run);
    if (!has_begun && std::find(labels.begin(), labels.end(), label) == labels.end()) {
      labels.push_back(label);
    }
  }
  return labels;
}

std::vector<Facet> split_into_facets(const ResultFolder& folder, const std::vector<Group>& groups) {
  if (groups.size() <= kCurvesPerFigure) {
    return split_by_order(groups.size());
  }
  const auto key = facet_key(folder, groups);
  if (!key) {
    return split_by_order(groups.size());
  }
  auto facets = split_by_key(folder, groups, *key);
  spread_uncompressed(folder, groups, facets);
  return facets;
}

std::vector<std::size_t> method_styles(const ResultFolder& folder,
                                       const std::vector<Group>& groups) {
  std::vector<std::size_t> styles(groups.size());
  for (const auto& facet : split_into_facets(folder, groups)) {
    for (std::size_t i = 0; i < facet.groups.size(); ++i) {
      styles[facet.groups[i]] = facet.styles[i];
    }
  }
  return styles;
}

std::string_view final_path(Column quantity) {
  if (quantity == Column::test_accuracy) {
    return "final.test_accuracy";
  }
  return quantity == Column::loss_gap ? "final.loss_gap" : "final.loss";
}

std::vector<Field> fields_of(const ResultFolder& folder, const std::vector<Group>& groups) {
  std::vector<Field> fields;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const Json& config = folder.runs[groups[g].runs.front()].config;
    const nlohmann::json objective = value_at(config, "config.objective");
    const std::string key =
        objective.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    auto field = std::find_if(
        fields.begin(), fields.end(), [&](const Field& known) { return known.key == key; });
    if (field == fields.end()) {
      const std::string data = text_at(config, "config.objective.data");
      const std::string kind = text_at(config, "config.objective.kind");
      field = fields.insert(fields.end(),
                            {.objective = data.empty() ? kind : fmt::format("{}, {}", kind, data),
                             .key = key,
                             .groups = {},
                             .runs = {},
                             .diverged = {}});
    }
    field->groups.push_back(g);
    field->runs.emplace_back();
    field->diverged.emplace_back();
    for (const std::size_t i : groups[g].runs) {
      if (folder.runs[i].state == "finished") {
        field->runs.back().push_back(i);
      } else if (folder.runs[i].state == "diverged") {
        field->diverged.back().push_back(i);
      }
    }
  }
  return fields;
}

Column quantity_of(const ResultFolder& folder, const Field& field) {
  const bool all_know = std::all_of(field.runs.begin(), field.runs.end(), [&](const auto& runs) {
    return std::all_of(runs.begin(), runs.end(), [&](std::size_t i) {
      return number_at(folder.runs[i].status, final_path(Column::loss_gap)).has_value();
    });
  });
  return all_know ? Column::loss_gap : Column::loss;
}

namespace {

/// Returns the number of gradients in a version: those of all workers that take part, H of each.
std::optional<double> gradients_of_version(const Run& run) {
  const RunFacts& facts = run.facts;
  if (facts.protocol.synchrony == Synchrony::late) {
    return facts.protocol.contributions;
  }
  return facts.taking_part() * static_cast<double>(facts.protocol.local_steps);
}

/// Returns the samples of every finished run, in all its iterations or in one.
std::vector<std::optional<double>> samples_of(const ResultFolder& folder,
                                              const Field& field,
                                              bool of_all_iterations) {
  std::vector<std::optional<double>> samples;
  for (const auto& runs : field.runs) {
    for (const std::size_t i : runs) {
      auto one = samples_of_iteration(folder.runs[i]);
      const auto iterations = number_at(folder.runs[i].status, "iterations");
      if (of_all_iterations && one) {
        one = iterations ? std::optional(*one * *iterations) : std::nullopt;
      }
      samples.push_back(one);
    }
  }
  return samples;
}

}  // namespace

std::optional<double> samples_of_iteration(const Run& run) {
  const auto gradients = gradients_of_version(run);
  if (!gradients) {
    return std::nullopt;
  }
  const double accumulated = number_at(run.config, "config.workers.accumulate").value_or(1);
  const double count = run.facts.workers;
  if (text_at(run.config, "config.workers.batch") == "full") {
    // Whole shards are all samples once every worker has taken one gradient.
    return *gradients / count * run.facts.objective.samples.value_or(count) * accumulated;
  }
  return *gradients * number_at(run.config, "config.workers.batch").value_or(1) * accumulated;
}

std::string unequal_iterations(const ResultFolder& folder, const Field& field) {
  const auto samples = samples_of(folder, field, /*of_all_iterations=*/false);
  if (samples.empty() || std::equal(samples.begin() + 1, samples.end(), samples.begin())) {
    return {};
  }
  if (std::find(samples.begin(), samples.end(), std::nullopt) != samples.end()) {
    return "an iteration takes more samples or fewer";
  }
  const auto [least, most] = std::minmax_element(samples.begin(), samples.end());
  return fmt::format(
      "an iteration takes {} to {} samples, by method", short_number(*least), short_number(*most));
}

bool took_equal_samples(const ResultFolder& folder, const Field& field) {
  constexpr double kApart = 1.05;  // epochs end within an iteration
  const auto samples = samples_of(folder, field, /*of_all_iterations=*/true);
  if (samples.empty()) {
    return true;
  }
  const auto [least, most] = std::minmax_element(samples.begin(), samples.end());
  return *least == *most || (*least && **most <= kApart * **least);
}

}  // namespace residuum::reports
