#include "objectives/data/libsvm.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "objectives/data/byte_stream.h"

namespace residuum {
namespace {

constexpr std::string_view kKnownLabels = "-1/+1, 0/1 or 1/2";

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// Returns the beginning of a token, for a message.
std::string shown(std::string_view token) {
  constexpr std::size_t kLongest = 24;
  const std::string text(token.substr(0, kLongest));
  return token.size() > kLongest ? text + "..." : text;
}

/// FirstSeen is a label of the file, and where it was first seen.
struct FirstSeen {
  int label = 0;
  std::size_t line = 0;
  std::size_t column = 0;
};

class Parser {
 public:
  Parser(std::string_view text, const std::string& file, LibsvmOptions options)
      : text_(text), file_(file), options_(std::move(options)) {}

  SparseDataset parse() {
    constexpr std::string_view kMark = "\xef\xbb\xbf";
    const bool is_marked = text_.starts_with(kMark);
    position_ = is_marked ? kMark.size() : 0;
    refuse_byte_order_mark(text_.substr(position_), file_);
    data_.features = options_.minimum_features;
    while (position_ < text_.size()) {
      parse_line();
    }
    require(
        data_.rows() > 0, "{}:1:1: no samples; lines 'label index:value ...' were expected", file_);
    map_labels();
    if (is_marked) {
      data_.note += "; a byte order mark left out";
    }
    if (has_queries_) {
      data_.note += "; the qid of rows left out";
    }
    return std::move(data_);
  }

 private:
  template <typename... Args>
  [[noreturn]] void fail(std::size_t position,
                         fmt::format_string<Args...> message,
                         Args&&... args) const {
    usage_error("{}:{}:{}: {}",
                file_,
                line_,
                position - line_begin_ + 1,
                fmt::format(message, std::forward<Args>(args)...));
  }

  void parse_line() {
    ++line_;
    line_begin_ = position_;
    const std::size_t end = std::min(text_.find('\n', position_), text_.size());
    line_end_ = std::min(text_.substr(0, end).find('#', position_), end);
    std::string_view token = next_token();
    if (!token.empty()) {
      parse_label(token);
      token = next_token();
      if (token.starts_with('|')) {
        token = next_token();
      }
      if (token.starts_with("qid:")) {
        has_queries_ = true;
        token = next_token();
      }
      parse_features(token);
    }
    position_ = end + 1;
  }

  /// Returns the next word of the line, empty at its end; token_begin_ is set to its place.
  std::string_view next_token() {
    while (position_ < line_end_ && is_blank(text_[position_])) {
      ++position_;
    }
    token_begin_ = position_;
    while (position_ < line_end_ && !is_blank(text_[position_])) {
      ++position_;
    }
    return text_.substr(token_begin_, position_ - token_begin_);
  }

  /// Parses all of `word` as a number that is finite also in float32, which most trainings use. A
  /// leading plus sign is allowed.
  static std::optional<double> number(std::string_view word) {
    if (word.size() > 1 && word[0] == '+' && word[1] != '-') {
      word.remove_prefix(1);
    }
    const auto value = parsed<double>(word);
    return value && std::abs(*value) <= std::numeric_limits<float>::max() ? value : std::nullopt;
  }

  void parse_label(std::string_view token) {
    const auto value = number(token);
    if (options_.labels == LabelKind::targets) {
      parse_target(token, value);
      return;
    }
    if (options_.labels == LabelKind::many_classes) {
      parse_one_of_many(token, value);
      return;
    }
    if (options_.positive) {
      parse_class(token, value);
      return;
    }
    if (!value || (*value != -1 && *value != 0 && *value != 1 && *value != 2)) {
      fail(token_begin_,
           "label '{}' is no class; expected {}, or classes = \"one-vs-rest:LABEL\"",
           shown(token),
           kKnownLabels);
    }
    const int label = static_cast<int>(*value);
    if (options_.classes) {
      check_known(label, *options_.classes);
    } else {
      remember(label);
    }
    data_.labels.push_back(label);
  }

  void parse_target(std::string_view token, std::optional<double> value) {
    if (!value) {
      fail(token_begin_, "target '{}' is not a finite number of float32's range", shown(token));
    }
    data_.targets.push_back(*value);
    data_.labels.push_back(0);
  }

  int whole_label(std::string_view token, std::optional<double> value) const {
    constexpr double kLargest = std::numeric_limits<std::int32_t>::max();
    if (!value || std::abs(*value) > kLargest || *value != std::trunc(*value)) {
      fail(token_begin_, "label '{}' is no class; expected a whole number", shown(token));
    }
    return static_cast<int>(*value);
  }

  /// Takes the label as it is; `map_many` numbers it.
  void parse_one_of_many(std::string_view token, std::optional<double> value) {
    constexpr std::size_t kMostClasses = 10000;
    const int label = whole_label(token, value);
    const auto& known = options_.known_classes;
    if (!known.empty() && !std::binary_search(known.begin(), known.end(), label)) {
      fail(token_begin_, "label {} is none of the training data's {} classes", label, known.size());
    }
    rest_.insert(label);
    if (rest_.size() > kMostClasses) {
      fail(token_begin_,
           "label {} is a class beyond the {} that are taken; targets of a regression are for kind "
           "= "
           "\"least-squares\"",
           label,
           kMostClasses);
    }
    data_.labels.push_back(label);
  }

  /// Maps a label of any class to that of "this class" or "the rest".
  void parse_class(std::string_view token, std::optional<double> value) {
    const int label = whole_label(token, value);
    if (label != *options_.positive) {
      rest_.insert(label);
    }
    data_.labels.push_back(label == *options_.positive ? 1 : -1);
  }

  void check_known(int label, const LabelPair& known) const {
    if (label != known.low && label != known.high) {
      fail(token_begin_,
           "label {} is none of the training data's, which are {} and {}",
           label,
           known.low,
           known.high);
    }
  }

  /// Notes a new label, and refuses it if it forms no known pair with the other one.
  void remember(int label) {
    const bool is_known = std::any_of(
        seen_.begin(), seen_.begin() + classes_, [&](auto s) { return s.label == label; });
    if (is_known) {
      return;
    }
    if (classes_ == 2) {
      fail(token_begin_,
           "label {} is a third class beside {} (line {}) and {} (line {}); expected {}, or "
           "classes = \"one-vs-rest:LABEL\"",
           label,
           seen_[0].label,
           seen_[0].line,
           seen_[1].label,
           seen_[1].line,
           kKnownLabels);
    }
    if (classes_ == 1 && !is_pair(seen_[0].label, label)) {
      fail(token_begin_,
           "label {} does not go with {} (line {}); expected {}",
           label,
           seen_[0].label,
           seen_[0].line,
           kKnownLabels);
    }
    seen_.at(static_cast<std::size_t>(classes_++)) = {
        .label = label, .line = line_, .column = token_begin_ - line_begin_ + 1};
  }

  static bool is_pair(int a, int b) {
    const std::pair<int, int> pair = std::minmax(a, b);
    return pair == std::pair(-1, 1) || pair == std::pair(0, 1) || pair == std::pair(1, 2);
  }

  void parse_features(std::string_view token) {
    std::uint64_t previous = 0;
    for (; !token.empty(); token = next_token()) {
      const std::size_t colon = token.find(':');
      if (colon == std::string_view::npos) {
        fail(token_begin_, "'{}' has no colon; expected index:value", shown(token));
      }
      const std::uint64_t index = parse_index(token.substr(0, colon), previous);
      const double value = parse_value(token.substr(colon + 1), token_begin_ + colon + 1);
      previous = index;
      data_.features = std::max<std::size_t>(data_.features, index);
      if (value != 0) {
        data_.columns.push_back(static_cast<std::uint32_t>(index - 1));
        data_.values.push_back(value);
      }
    }
    data_.row_begin.push_back(data_.columns.size());
  }

  /// Returns the index as if the first were 1.
  std::uint64_t parse_index(std::string_view word, std::uint64_t previous) const {
    constexpr std::uint64_t kLargest = std::numeric_limits<std::uint32_t>::max();
    std::uint64_t index = 0;
    const char* const end = word.data() + word.size();
    const auto [stopped, error] = std::from_chars(word.data(), end, index);
    if (stopped != end || error == std::errc::invalid_argument) {
      fail(token_begin_, "index '{}' is not a whole number from 1", shown(word));
    }
    if (error != std::errc() || index > kLargest) {
      fail(token_begin_, "index {} is larger than {}, the largest allowed", shown(word), kLargest);
    }
    if (index < options_.first_index) {
      fail(token_begin_,
           "index 0; indices start at 1, or at 0 with zero_based = true, as scikit-learn writes "
           "them");
    }
    index += 1 - options_.first_index;
    if (index <= previous) {
      fail(token_begin_,
           "index {} comes after {}; indices must increase within a line",
           index - 1 + options_.first_index,
           previous - 1 + options_.first_index);
    }
    return index;
  }

  double parse_value(std::string_view word, std::size_t position) const {
    const auto value = number(word);
    if (!value) {
      fail(position, "value '{}' is not a finite number of float32's range", shown(word));
    }
    return *value;
  }

  /// Returns the two labels of the file.
  LabelPair seen_pair() const {
    require(classes_ == 2,
            "{}:{}:{}: label {} is the only class in all {} rows; two are expected: {}",
            file_,
            seen_[0].line,
            seen_[0].column,
            seen_[0].label,
            data_.rows(),
            kKnownLabels);
    const auto [low, high] = std::minmax(seen_[0].label, seen_[1].label);
    return {.low = low, .high = high};
  }

  void map_classes() {
    const bool is_held_out = options_.classes.has_value();
    const auto count =
        static_cast<std::size_t>(std::count(data_.labels.begin(), data_.labels.end(), 1));
    require(is_held_out || (count > 0 && !rest_.empty()),
            "{}: {} of {} rows have label {}; one-vs-rest needs some and leaves some",
            file_,
            count,
            data_.rows(),
            *options_.positive);
    data_.note =
        fmt::format("label {} mapped to +1, {} others to -1", *options_.positive, rest_.size());
  }

  void map_many() {
    auto& classes = data_.class_labels;
    classes = options_.known_classes;
    if (classes.empty()) {
      classes.assign(rest_.begin(), rest_.end());
    }
    require(classes.size() >= 2,
            "{}: label {} is the only class in all {} rows; two or more are expected",
            file_,
            classes.front(),
            data_.rows());
    for (auto& label : data_.labels) {
      const auto place = std::lower_bound(classes.begin(), classes.end(), label);
      label = static_cast<std::int32_t>(place - classes.begin());
    }
    data_.note = fmt::format("{} classes, labels {} to {} numbered from 0 in their order",
                             classes.size(),
                             classes.front(),
                             classes.back());
  }

  void note_targets() {
    const auto [least, most] = std::minmax_element(data_.targets.begin(), data_.targets.end());
    data_.note = fmt::format("targets from {} to {}", *least, *most);
  }

  void map_labels() {
    if (options_.labels == LabelKind::targets) {
      note_targets();
      return;
    }
    if (options_.labels == LabelKind::many_classes) {
      map_many();
      return;
    }
    if (options_.positive) {
      map_classes();
      return;
    }
    data_.classes = options_.classes ? *options_.classes : seen_pair();
    const auto [low, high] = data_.classes;
    if (low == -1) {
      data_.note = "labels -1, +1";
      return;
    }
    data_.note = fmt::format("labels {}, {} mapped to -1, +1", low, high);
    for (auto& label : data_.labels) {
      label = label == high ? 1 : -1;
    }
  }

  std::string_view text_;
  const std::string& file_;
  LibsvmOptions options_;
  std::size_t position_ = 0;
  std::size_t line_ = 0;
  std::size_t line_begin_ = 0;
  std::size_t line_end_ = 0;
  std::size_t token_begin_ = 0;
  int classes_ = 0;
  std::array<FirstSeen, 2> seen_;
  std::set<int> rest_;  // the labels but `positive`; of many classes all of them
  bool has_queries_ = false;
  SparseDataset data_;
};

}  // namespace

SparseDataset parse_libsvm(std::string_view text,
                           const std::string& file,
                           const LibsvmOptions& options) {
  return Parser(text, file, options).parse();
}

SparseDataset read_libsvm(const std::filesystem::path& path, const LibsvmOptions& options) {
  const std::string text = read_bytes(path);
  SparseDataset data = parse_libsvm(text, path.string(), options);
  data.name = data_file_name(path);
  return data;
}

}  // namespace residuum
