#include "experiments/program/study/long_keys.h"

#include <algorithm>
#include <cstddef>

#include "core/error.h"

namespace residuum {
namespace {

class DotCounter {
 public:
  DotCounter(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  void check() {
    while (position_ < text_.size()) {
      const char c = text_[position_];
      if (c == '#') {
        position_ = std::min(text_.find('\n', position_), text_.size());
      } else if (c == '"' || c == '\'') {
        skip_string(c);
      } else {
        count(c);
        ++position_;
      }
    }
  }

 private:
  void count(char c) {
    constexpr std::string_view kEndsOfKeys = "\n=,[]{}";
    line_ += c == '\n' ? 1 : 0;
    if (kEndsOfKeys.find(c) != std::string_view::npos) {
      dots_ = 0;
    }
    dots_ += c == '.' ? 1 : 0;
    require(
        dots_ < kMostKeyParts, "a key of more than {} parts at {}:{}", kMostKeyParts, file_, line_);
  }

  /// Skips a string; one that is never closed goes to the end, and the parser says so.
  void skip_string(char quote) {
    const std::string three(3, quote);
    const bool is_long = text_.substr(position_).starts_with(three);
    const std::string_view end =
        is_long ? std::string_view(three) : std::string_view(three).substr(2);
    position_ += end.size();
    while (position_ < text_.size() && !text_.substr(position_).starts_with(end)) {
      if (text_[position_] == '\n' && !is_long) {
        return;
      }
      line_ += text_[position_] == '\n' ? 1 : 0;
      position_ += quote == '"' && text_[position_] == '\\' ? 2 : 1;
    }
    position_ = std::min(position_ + end.size(), text_.size());
    // Up to two quotes just before the end of a long string are its own: '''a''''.
    for (int own = 0; is_long && own < 2 && text_.substr(position_).starts_with(quote); ++own) {
      ++position_;
    }
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t position_ = 0;
  std::size_t line_ = 1;
  int dots_ = 0;
};

}  // namespace

void refuse_long_keys(std::string_view text, const std::string& file) {
  DotCounter(text, file).check();
}

}  // namespace residuum
