#include "reports/figures/drawn_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>

#include "core/text.h"
#include "reports/figures/gnuplot_script.h"

namespace residuum::reports {
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
