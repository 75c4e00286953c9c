#include "reports/figures/drawn_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <utility>

#include "core/text.h"
#include "reports/figures/gnuplot_script.h"

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

namespace {

struct CodeRange {
  char32_t first;
  char32_t last;
};

// Code ranges of DejaVuSans.ttf 2.37 that hold the letters and signs of labels.
constexpr std::array<CodeRange, 32> kKnown{
    {{0x20, 0x7E},     {0xA0, 0x2DF},    {0x300, 0x34F},   {0x370, 0x377},   {0x37A, 0x37E},
     {0x384, 0x525},   {0x1E00, 0x1EFB}, {0x1F00, 0x1FFE}, {0x2000, 0x205F}, {0x2070, 0x208E},
     {0x2090, 0x2094}, {0x20A0, 0x20B5}, {0x2100, 0x2149}, {0x2150, 0x2185}, {0x2190, 0x2311},
     {0x2329, 0x232A}, {0x2500, 0x269C}, {0x269E, 0x26B8}, {0x2701, 0x2704}, {0x2706, 0x2709},
     {0x270C, 0x2727}, {0x2729, 0x274B}, {0x274D, 0x274D}, {0x274F, 0x2752}, {0x2756, 0x2756},
     {0x2758, 0x275E}, {0x2761, 0x2794}, {0x2798, 0x27AF}, {0x27B1, 0x27BE}, {0x27E6, 0x27EB},
     {0x27F0, 0x28FF}, {0x2A00, 0x2A02}}};

char32_t code_of(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 1) {
    return byte(0);
  }
  constexpr unsigned kLead = 0xFF;
  char32_t code = byte(0) & (kLead >> (character.size() + 1));
  for (std::size_t i = 1; i < character.size(); ++i) {
    code = (code << 6U) | (byte(i) & 0x3FU);
  }
  return code;
}

bool is_known(std::string_view character) {
  const char32_t code = code_of(character);
  return std::any_of(kKnown.begin(), kKnown.end(), [&](const CodeRange& range) {
    return code >= range.first && code <= range.last;
  });
}

/// Calls `use` with each character of the text.
template <typename Use>
void for_each_character(std::string_view text, Use use) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = std::max<std::size_t>(1, utf8_character(text, at));
    use(text.substr(at, length));
    at += length;
  }
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Returns whether the sign '_' at a place makes the one sign behind it an index of the one letter
/// before it, as in "z_0".
bool is_index_at(std::string_view text, std::size_t place) {
  if (text[place] != '_' || place == 0 || place + 1 >= text.size()) {
    return false;
  }
  const bool has_letter = std::isalpha(static_cast<unsigned char>(text[place - 1])) != 0 &&
                          (place == 1 || !is_word(text[place - 2]));
  const bool has_index = std::isalnum(static_cast<unsigned char>(text[place + 1])) != 0 &&
                         (place + 2 == text.size() || !is_word(text[place + 2]));
  return has_letter && has_index;
}

bool has_index(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_index_at(text, i)) {
      return true;
    }
  }
  return false;
}

/// Returns the text for the enhanced mode: only an index is a command in it.
std::string enhanced(std::string_view text) {
  constexpr std::string_view kCommands = "{}^_@&~\\";
  std::string escaped;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_index_at(text, i)) {
      escaped += fmt::format("_{{{}}}", text[++i]);
    } else {
      escaped += kCommands.find(text[i]) == std::string_view::npos ? "" : "\\";
      escaped += text[i];
    }
  }
  return escaped;
}

/// Returns an expression that is the text, or in a PDF the one beside it.
std::string text_or(const std::string& text, const std::string& in_pdf) {
  return text == in_pdf ? gnuplot_text(text)
                        : fmt::format("(pdf ? {} : {})", gnuplot_text(in_pdf), gnuplot_text(text));
}

}  // namespace

std::string with_known_glyphs(std::string_view text) {
  std::string known;
  for_each_character(text, [&](std::string_view one) { known += is_known(one) ? one : "?"; });
  return known;
}

std::vector<std::string> unknown_glyphs(std::string_view text) {
  std::vector<std::string> unknown;
  for_each_character(text, [&](std::string_view one) {
    if (!is_known(one) && std::find(unknown.begin(), unknown.end(), one) == unknown.end()) {
      unknown.emplace_back(one);
    }
  });
  return unknown;
}

GnuplotText gnuplot_drawn(std::string_view text) {
  const std::string clean = harmless(text);
  if (!has_index(clean)) {
    return {.argument = gnuplot_plain(clean), .mode = "noenhanced"};
  }
  return {.argument = text_or(enhanced(clean), enhanced(with_known_glyphs(clean))),
          .mode = "enhanced"};
}

std::string gnuplot_plain(std::string_view text) {
  const std::string clean = harmless(text);
  return text_or(clean, with_known_glyphs(clean));
}

}  // namespace residuum::reports
