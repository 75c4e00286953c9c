#include "experiments/commands/command_words.h"

#include "core/error.h"

namespace residuum {
namespace {

constexpr std::string_view kWordBlanks = " \t\r\n";
constexpr std::string_view kShellOnly = "|&;<>()$`*?[#~!{}";

class WordReader {
 public:
  WordReader(std::string_view line, std::string_view option) : rest_(line), option_(option) {}

  std::vector<std::string> words() {
    while (!rest_.empty()) {
      take_one();
    }
    end_word();
    require(!words_.empty(), "{} is empty: it names a program and its arguments", option_);
    return std::move(words_);
  }

 private:
  void take_one() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    if (kWordBlanks.find(c) != std::string_view::npos) {
      end_word();
      return;
    }
    in_word_ = true;
    if (c == '\'' || c == '"') {
      take_quoted(c);
      return;
    }
    if (c == '\\') {
      word_ += escaped();
      return;
    }
    require(kShellOnly.find(c) == std::string_view::npos,
            "{} has a '{}', but no shell reads it: quote it, or write a script",
            option_,
            c);
    word_ += c;
  }

  void take_quoted(char quote) {
    for (;;) {
      require(!rest_.empty(), "{} has a {} that does not end", option_, quote);
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == quote) {
        return;
      }
      const bool is_escape = quote == '"' && c == '\\' && !rest_.empty() &&
                             (rest_.front() == '"' || rest_.front() == '\\');
      word_ += is_escape ? escaped() : c;
    }
  }

  char escaped() {
    require(!rest_.empty(), "{} ends in a backslash", option_);
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  void end_word() {
    if (in_word_) {
      words_.push_back(std::move(word_));
    }
    word_.clear();
    in_word_ = false;
  }

  std::string_view rest_;
  std::string_view option_;
  std::vector<std::string> words_;
  std::string word_;
  bool in_word_ = false;
};

}  // namespace

std::vector<std::string> command_words(std::string_view line, std::string_view option) {
  return WordReader(line, option).words();
}

}  // namespace residuum
