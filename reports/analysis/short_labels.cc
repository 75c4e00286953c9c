#include "reports/analysis/short_labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

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

bool is_of_number(char c) { return (c >= '0' && c <= '9') || c == '.'; }

/// Returns whether a cut before the place would part a number, which then reads as another one.
bool parts_number(const std::string& name, std::size_t place) {
  return place > 0 && place < name.size() && is_of_number(name[place - 1]) &&
         is_of_number(name[place]);
}

/// Returns the first `head` and the last `tail` characters of a longer name, and more where these
/// would part a number.
std::string cut_between(const std::string& name, std::size_t head, std::size_t tail) {
  const auto places = places_of_characters(name);
  const std::size_t count = places.size() - 1;
  if (count <= head + tail) {
    return name;
  }
  std::size_t end = head;
  while (parts_number(name, places[end])) {
    ++end;
  }
  std::size_t begin = count - tail;
  while (parts_number(name, places[begin])) {
    --begin;
  }
  return end >= begin ? name : name.substr(0, places[end]) + "…" + name.substr(places[begin]);
}

/// Returns whether a value is a number or several: "0.1", "-3", "0.1/L", "[1, 0.5]". These are
/// never cut.
bool begins_as_number(std::string_view value) {
  return !value.empty() &&
         std::string_view("0123456789.-+[").find(value.front()) != std::string_view::npos;
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

/// Removes the parts that all labels share. If nothing else were left of one label, all keep its
/// first part. Parts that the study itself named stay.
void leave_out_shared(std::vector<LabelParts>& methods, const std::vector<LabelParts>& named) {
  std::vector<LabelParts> all = methods;
  all.insert(all.end(), named.begin(), named.end());
  if (all.size() < 2) {
    return;
  }
  std::set<std::string> shared;
  for (const auto& [text, count] : counts_of_parts(all)) {
    if (count == all.size()) {
      shared.insert(text);
    }
  }
  const auto is_left_out = [&](const LabelPart& part) {
    return !part.is_own && shared.contains(part.text());
  };
  const auto empty = std::find_if(methods.begin(), methods.end(), [&](const LabelParts& parts) {
    return std::all_of(parts.begin(), parts.end(), is_left_out);
  });
  if (empty != methods.end()) {
    shared.erase(empty->front().text());
  }
  for (auto& parts : methods) {
    std::erase_if(parts, is_left_out);
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

Labels all_labels_of(const std::vector<LabelParts>& methods) {
  Labels labels(methods.size());
  std::transform(methods.begin(), methods.end(), labels.begin(), label_text);
  return labels;
}

/// Leaves a long name the one part that the study has named and no other method has.
void leave_unique_names(std::vector<LabelParts>& methods) {
  const auto counts = counts_of_parts(methods);
  for (auto& parts : methods) {
    const auto unique = std::find_if(parts.begin(), parts.end(), [&](const LabelPart& part) {
      return part.is_own && counts.at(part.text()) == 1;
    });
    if (unique != parts.end() && is_long(label_text(parts))) {
      parts = LabelParts{*unique};
    }
  }
}

/// Cuts each value to about `most` characters. One whose cut is also that of another stays whole: a
/// number in place of what varies would tell the values apart without saying them.
Labels cut_values(const Labels& values, std::size_t most) {
  const std::size_t kept = most - 1;
  Labels cut(values.size());
  std::map<std::string, std::size_t> counts;
  for (std::size_t i = 0; i <= kept + 1; ++i) {  // the last round is the first one again
    const std::size_t head = (kept / 2 + i) % (kept + 1);
    counts.clear();
    for (std::size_t j = 0; j < values.size(); ++j) {
      const bool is_short = places_of_characters(values[j]).size() - 1 <= most;
      cut[j] = is_short ? values[j] : cut_between(values[j], head, kept - head);
      ++counts[cut[j]];
    }
    if (counts.size() == values.size()) {
      return cut;
    }
  }
  for (std::size_t j = 0; j < values.size(); ++j) {
    cut[j] = counts[cut[j]] > 1 ? values[j] : cut[j];
  }
  return cut;
}

/// Returns the different values that may be cut, in order.
Labels values_to_cut(const std::vector<LabelParts>& methods, bool cuts_own) {
  std::set<std::string> different;
  for (const auto& parts : methods) {
    for (const auto& part : parts) {
      if ((cuts_own || !part.is_own) && !begins_as_number(part.value)) {
        different.insert(part.value);
      }
    }
  }
  return {different.begin(), different.end()};
}

/// Returns the methods with no value longer than `most`, or none but those that the study has
/// named. A value is cut alike in all methods, and different ones stay different. Numbers stay.
std::vector<LabelParts> with_short_values(std::vector<LabelParts> methods,
                                          std::size_t most,
                                          bool cuts_own) {
  const Labels whole = values_to_cut(methods, cuts_own);
  const Labels cut = cut_values(whole, most);
  for (auto& parts : methods) {
    for (auto& part : parts) {
      const auto found = std::lower_bound(whole.begin(), whole.end(), part.value);
      if ((cuts_own || !part.is_own) && found != whole.end() && *found == part.value) {
        part.value = cut[static_cast<std::size_t>(found - whole.begin())];
      }
    }
  }
  return methods;
}

/// Returns the names with their longest values cut as little as makes none of them too long. Where
/// no cut does that, values stay readable.
Labels with_cut_values(const std::vector<LabelParts>& methods) {
  constexpr std::size_t kShortestValue = 5;
  constexpr std::size_t kReadableValue = 12;
  for (const bool cuts_own : {false, true}) {
    for (std::size_t most = kMostLabelCharacters; most >= kShortestValue; --most) {
      Labels labels = all_labels_of(with_short_values(methods, most, cuts_own));
      if (std::none_of(labels.begin(), labels.end(), is_long)) {
        return labels;
      }
    }
  }
  return all_labels_of(with_short_values(methods, kReadableValue, false));
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

std::vector<std::string> short_labels(std::vector<LabelParts> methods,
                                      const std::vector<LabelParts>& named) {
  Labels labels = all_labels_of(methods);
  if (std::none_of(labels.begin(), labels.end(), is_long)) {
    return labels;
  }
  leave_out_shared(methods, named);
  shorten_words(methods);
  leave_unique_names(methods);
  return with_cut_values(methods);
}

}  // namespace residuum::reports
