#include "reports/analysis/short_labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace residuum::reports {
namespace {

using Labels = std::vector<std::string>;

/// Returns the places at which the characters of a text begin, and its end.
std::vector<std::size_t> places_of_characters(std::string_view text) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U) {
      places.push_back(i);
    }
  }
  places.push_back(text.size());
  return places;
}

bool is_long(const std::string& label) {
  return places_of_characters(label).size() - 1 > kMostLabelCharacters;
}

/// Returns the first `head` and the last `tail` characters of a longer name.
std::string cut_between(const std::string& name, std::size_t head, std::size_t tail) {
  const auto places = places_of_characters(name);
  const std::size_t count = places.size() - 1;
  if (count <= head + tail) {
    return name;
  }
  return name.substr(0, places[head]) + "…" + name.substr(places[count - tail]);
}

bool all_differ(const Labels& labels) {
  return std::set<std::string>(labels.begin(), labels.end()).size() == labels.size();
}

/// Returns how many methods have each part.
std::map<std::string, std::size_t> counts_of_parts(const std::vector<LabelParts>& methods) {
  std::map<std::string, std::size_t> counts;
  for (const auto& parts : methods) {
    std::set<std::string> texts;  // a method may have a part twice
    for (const auto& part : parts) {
      texts.insert(part.text());
    }
    for (const auto& text : texts) {
      ++counts[text];
    }
  }
  return counts;
}

/// A method that has nothing else keeps its first part.
void leave_out_shared(std::vector<LabelParts>& methods) {
  if (methods.size() < 2) {
    return;
  }
  const auto counts = counts_of_parts(methods);
  for (auto& parts : methods) {
    const LabelPart first = parts.front();
    std::erase_if(parts,
                  [&](const LabelPart& part) { return counts.at(part.text()) == methods.size(); });
    if (parts.empty()) {
      parts.push_back(first);
    }
  }
}

std::string last_word(const std::string& key) { return key.substr(key.rfind('.') + 1); }

/// Names "protocol.period" by its last word, if no other key has it.
void shorten_words(std::vector<LabelParts>& methods) {
  std::map<std::string, std::set<std::string>> keys_of_word;
  for (const auto& parts : methods) {
    for (const auto& part : parts) {
      keys_of_word[last_word(part.word)].insert(part.word);
    }
  }
  for (auto& parts : methods) {
    for (auto& part : parts) {
      const std::string word = last_word(part.word);
      part.word = keys_of_word[word].size() == 1 ? word : part.word;
    }
  }
}

/// Leaves out of the parts of method `i` what most methods have too, while its label is long and
/// stays different from all others. Of what most have, numbers go before names of components: a
/// reader knows a method by its components.
void leave_out_common(const std::map<std::string, std::size_t>& counts,
                      std::size_t i,
                      LabelParts& parts,
                      Labels& labels) {
  LabelParts by_count(parts.rbegin(), parts.rend());  // of equal counts the last first
  const auto rank = [&](const LabelPart& part) {
    const std::size_t count = counts.at(part.text());
    return std::tuple(2 * count > labels.size(), !part.word.empty(), count);
  };
  std::stable_sort(by_count.begin(), by_count.end(), [&](const LabelPart& a, const LabelPart& b) {
    return rank(a) > rank(b);
  });
  for (const auto& part : by_count) {
    if (!is_long(labels[i]) || parts.size() == 1) {
      return;
    }
    LabelParts fewer = parts;
    fewer.erase(std::find(fewer.begin(), fewer.end(), part));
    const std::string label = label_text(fewer);
    if (std::find(labels.begin(), labels.end(), label) == labels.end()) {
      parts = fewer;
      labels[i] = label;
    }
  }
}

Labels all_labels_of(const std::vector<LabelParts>& methods) {
  Labels labels(methods.size());
  std::transform(methods.begin(), methods.end(), labels.begin(), label_text);
  return labels;
}

}  // namespace

std::string label_text(const LabelParts& parts) {
  std::string text;
  for (const auto& part : parts) {
    text += (text.empty() ? "" : ", ") + part.text();
  }
  return text;
}

std::vector<std::string> cut_apart(const Labels& names, std::size_t most) {
  const std::size_t kept = most - 1;
  Labels cut(names.size());
  for (std::size_t i = 0; i <= kept; ++i) {
    const std::size_t head = (kept / 2 + i) % (kept + 1);
    std::transform(names.begin(), names.end(), cut.begin(), [&](const std::string& name) {
      return places_of_characters(name).size() - 1 <= most ? name
                                                           : cut_between(name, head, kept - head);
    });
    if (all_differ(cut)) {
      return cut;
    }
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool is_cut = places_of_characters(names[i]).size() - 1 > most;
    const std::string number = fmt::format(" [{}]", i + 1);
    cut[i] = is_cut ? cut_between(names[i], kept - number.size(), 0) + number : names[i];
  }
  return cut;
}

std::vector<std::string> short_labels(std::vector<LabelParts> methods) {
  Labels labels = all_labels_of(methods);
  if (std::none_of(labels.begin(), labels.end(), is_long)) {
    return labels;
  }
  leave_out_shared(methods);
  shorten_words(methods);
  labels = all_labels_of(methods);
  const auto counts = counts_of_parts(methods);
  for (std::size_t i = 0; i < methods.size(); ++i) {
    leave_out_common(counts, i, methods[i], labels);
  }
  return cut_apart(labels, kMostLabelCharacters);
}

}  // namespace residuum::reports
