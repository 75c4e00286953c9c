#include "reports/figures/text_width.h"

#include <algorithm>
#include <array>
#include <utility>

namespace residuum::reports {
namespace {

/// The advances of the characters from blank to ~, in thousandths of an em: table hmtx of
/// DejaVuSans.ttf 2.37.
constexpr std::array<int, 95> kAdvances{
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361,  318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632,
    575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635,  611, 732, 684, 989, 685,
    611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352,  635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592,  525, 636, 337, 636, 838};

bool goes_on(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

/// Returns where the character that begins at a place ends.
std::size_t end_of_character(std::string_view text, std::size_t place) {
  do {
    ++place;
  } while (place < text.size() && goes_on(text[place]));
  return place;
}

/// Returns the width of one character. Those of three bytes and more have ideographs among them,
/// those of two bytes the Latin, Greek and Cyrillic letters.
double character_width(std::string_view character) {
  constexpr double kTwoBytes = 0.75;
  constexpr double kMoreBytes = 1.05;
  const auto first = static_cast<unsigned char>(character.front());
  if (first >= ' ' && first <= '~') {
    return kAdvances.at(first - ' ') / 1000.0;
  }
  return character.size() <= 2 ? kTwoBytes : kMoreBytes;
}

bool may_break_behind(char c) { return std::string_view("-=./_,:+").find(c) != std::string::npos; }

/// Splits a word behind the signs at which it may break, and pieces that are too long anywhere.
std::vector<std::string> pieces_of(std::string_view word, double width) {
  std::vector<std::string> pieces(1);
  for (std::size_t i = 0; i < word.size();) {
    const std::size_t end = end_of_character(word, i);
    const std::string_view one = word.substr(i, end - i);
    const bool is_full =
        !pieces.back().empty() && text_width(pieces.back()) + character_width(one) > width;
    if (is_full) {
      pieces.emplace_back();
    }
    pieces.back() += one;
    if (end < word.size() && may_break_behind(one.front())) {
      pieces.emplace_back();
    }
    i = end;
  }
  return pieces;
}

}  // namespace

double text_width(std::string_view text) {
  double width = 0;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = end_of_character(text, i);
    width += character_width(text.substr(i, end - i));
    i = end;
  }
  return width;
}

std::vector<std::string> wrapped_text(std::string_view text, double width) {
  std::vector<std::string> lines(1);
  const auto add = [&](const std::string& piece, bool is_word) {
    const std::string joined = (is_word && !lines.back().empty() ? " " : "") + piece;
    if (!lines.back().empty() && text_width(lines.back()) + text_width(joined) > width) {
      lines.push_back(piece);
    } else {
      lines.back() += joined;
    }
  };
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    bool is_word = true;
    // A word that fits into a line of its own stays whole.
    const std::string_view word = text.substr(begin, end - begin);
    const auto pieces = text_width(word) <= width ? std::vector<std::string>{std::string(word)}
                                                  : pieces_of(word, width);
    for (const auto& piece : pieces) {
      add(piece, std::exchange(is_word, false));
    }
    begin = end + 1;
  }
  return lines;
}

}  // namespace residuum::reports
