#include "reports/figures/latex_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <vector>

#include "core/text.h"

namespace residuum::reports {
namespace {

struct Escape {
  std::string_view from;
  std::string_view to;
};

constexpr std::array<Escape, 14> kSpecials{{{"\\", "\\textbackslash{}"},
                                            {"{", "\\{"},
                                            {"}", "\\}"},
                                            {"$", "\\$"},
                                            {"&", "\\&"},
                                            {"#", "\\#"},
                                            {"%", "\\%"},
                                            {"_", "\\_"},
                                            {"^", "\\textasciicircum{}"},
                                            {"~", "\\textasciitilde{}"},
                                            {"<", "\\textless{}"},
                                            {">", "\\textgreater{}"},
                                            {"|", "\\textbar{}"},
                                            {"\"", "\\char34{}"}}};

// The signs that the program's own labels are written with, in mathematics.
constexpr std::array<Escape, 36> kSigns{
    {{"α", "\\alpha "},   {"β", "\\beta "},   {"γ", "\\gamma "},  {"δ", "\\delta "},
     {"ε", "\\epsilon "}, {"ζ", "\\zeta "},   {"η", "\\eta "},    {"θ", "\\theta "},
     {"κ", "\\kappa "},   {"λ", "\\lambda "}, {"μ", "\\mu "},     {"ξ", "\\xi "},
     {"ρ", "\\rho "},     {"σ", "\\sigma "},  {"τ", "\\tau "},    {"φ", "\\varphi "},
     {"ω", "\\omega "},   {"Δ", "\\Delta "},  {"Σ", "\\Sigma "},  {"∇", "\\nabla "},
     {"‖", "\\|"},        {"ℓ", "\\ell "},    {"−", "-"},         {"≤", "\\le "},
     {"≥", "\\ge "},      {"∞", "\\infty "},  {"√", "\\surd "},   {"·", "\\cdot "},
     {"×", "\\times "},   {"ā", "\\bar a"},   {"ē", "\\bar e"},   {"ḡ", "\\bar g"},
     {"ĝ", "\\hat g"},    {"⟨", "\\langle "}, {"⟩", "\\rangle "}, {"≈", "\\approx "}}};

// Signs that stand above the line, and below it.
constexpr std::array<Escape, 13> kRaised{{{"*", "*"},
                                          {"⁻", "-"},
                                          {"⁰", "0"},
                                          {"¹", "1"},
                                          {"²", "2"},
                                          {"³", "3"},
                                          {"⁴", "4"},
                                          {"⁵", "5"},
                                          {"⁶", "6"},
                                          {"⁷", "7"},
                                          {"⁸", "8"},
                                          {"⁹", "9"},
                                          {"ⁿ", "n"}}};
constexpr std::array<Escape, 3> kLowered{{{"₀", "0"}, {"₁", "1"}, {"₂", "2"}}};

// Dashes and dots of texts, and blanks at which no line breaks.
constexpr std::array<Escape, 6> kPunctuation{{{"–", "--"},
                                              {"—", "---"},
                                              {"…", "\\dots{}"},
                                              {"\u00a0", "~"},
                                              {"\u2009", "\\,"},
                                              {"\u202f", "\\,"}}};

// Letters beyond Latin-1 that every LaTeX can compose.
constexpr std::array<Escape, 109> kLetters{{{"Ā", "\\={A}"},
                                            {"ā", "\\={a}"},
                                            {"Ă", "\\u{A}"},
                                            {"ă", "\\u{a}"},
                                            {"Ć", "\\'{C}"},
                                            {"ć", "\\'{c}"},
                                            {"Ĉ", "\\^{C}"},
                                            {"ĉ", "\\^{c}"},
                                            {"Ċ", "\\.{C}"},
                                            {"ċ", "\\.{c}"},
                                            {"Č", "\\v{C}"},
                                            {"č", "\\v{c}"},
                                            {"Ď", "\\v{D}"},
                                            {"ď", "\\v{d}"},
                                            {"Ē", "\\={E}"},
                                            {"ē", "\\={e}"},
                                            {"Ĕ", "\\u{E}"},
                                            {"ĕ", "\\u{e}"},
                                            {"Ė", "\\.{E}"},
                                            {"ė", "\\.{e}"},
                                            {"Ě", "\\v{E}"},
                                            {"ě", "\\v{e}"},
                                            {"Ĝ", "\\^{G}"},
                                            {"ĝ", "\\^{g}"},
                                            {"Ğ", "\\u{G}"},
                                            {"ğ", "\\u{g}"},
                                            {"Ġ", "\\.{G}"},
                                            {"ġ", "\\.{g}"},
                                            {"Ģ", "\\c{G}"},
                                            {"ģ", "\\c{g}"},
                                            {"Ĥ", "\\^{H}"},
                                            {"ĥ", "\\^{h}"},
                                            {"Ĩ", "\\~{I}"},
                                            {"ĩ", "\\~{\\i}"},
                                            {"Ī", "\\={I}"},
                                            {"ī", "\\={\\i}"},
                                            {"Ĭ", "\\u{I}"},
                                            {"ĭ", "\\u{\\i}"},
                                            {"İ", "\\.{I}"},
                                            {"ı", "\\i{}"},
                                            {"Ĵ", "\\^{J}"},
                                            {"ĵ", "\\^{\\j}"},
                                            {"Ķ", "\\c{K}"},
                                            {"ķ", "\\c{k}"},
                                            {"Ĺ", "\\'{L}"},
                                            {"ĺ", "\\'{l}"},
                                            {"Ļ", "\\c{L}"},
                                            {"ļ", "\\c{l}"},
                                            {"Ľ", "\\v{L}"},
                                            {"ľ", "\\v{l}"},
                                            {"Ł", "\\L{}"},
                                            {"ł", "\\l{}"},
                                            {"Ń", "\\'{N}"},
                                            {"ń", "\\'{n}"},
                                            {"Ņ", "\\c{N}"},
                                            {"ņ", "\\c{n}"},
                                            {"Ň", "\\v{N}"},
                                            {"ň", "\\v{n}"},
                                            {"Ō", "\\={O}"},
                                            {"ō", "\\={o}"},
                                            {"Ŏ", "\\u{O}"},
                                            {"ŏ", "\\u{o}"},
                                            {"Ő", "\\H{O}"},
                                            {"ő", "\\H{o}"},
                                            {"Œ", "\\OE{}"},
                                            {"œ", "\\oe{}"},
                                            {"Ŕ", "\\'{R}"},
                                            {"ŕ", "\\'{r}"},
                                            {"Ŗ", "\\c{R}"},
                                            {"ŗ", "\\c{r}"},
                                            {"Ř", "\\v{R}"},
                                            {"ř", "\\v{r}"},
                                            {"Ś", "\\'{S}"},
                                            {"ś", "\\'{s}"},
                                            {"Ŝ", "\\^{S}"},
                                            {"ŝ", "\\^{s}"},
                                            {"Ş", "\\c{S}"},
                                            {"ş", "\\c{s}"},
                                            {"Š", "\\v{S}"},
                                            {"š", "\\v{s}"},
                                            {"Ţ", "\\c{T}"},
                                            {"ţ", "\\c{t}"},
                                            {"Ť", "\\v{T}"},
                                            {"ť", "\\v{t}"},
                                            {"Ũ", "\\~{U}"},
                                            {"ũ", "\\~{u}"},
                                            {"Ū", "\\={U}"},
                                            {"ū", "\\={u}"},
                                            {"Ŭ", "\\u{U}"},
                                            {"ŭ", "\\u{u}"},
                                            {"Ů", "\\r{U}"},
                                            {"ů", "\\r{u}"},
                                            {"Ű", "\\H{U}"},
                                            {"ű", "\\H{u}"},
                                            {"Ŵ", "\\^{W}"},
                                            {"ŵ", "\\^{w}"},
                                            {"Ŷ", "\\^{Y}"},
                                            {"ŷ", "\\^{y}"},
                                            {"Ÿ", "\\\"{Y}"},
                                            {"Ź", "\\'{Z}"},
                                            {"ź", "\\'{z}"},
                                            {"Ż", "\\.{Z}"},
                                            {"ż", "\\.{z}"},
                                            {"Ž", "\\v{Z}"},
                                            {"ž", "\\v{z}"},
                                            {"Ș", "\\textcommabelow{S}"},
                                            {"ș", "\\textcommabelow{s}"},
                                            {"Ț", "\\textcommabelow{T}"},
                                            {"ț", "\\textcommabelow{t}"}}};

/// Letters that need an encoding of fonts such as T1; without one their plain form is printed.
struct EncodedLetter {
  std::string_view from;
  std::string_view to;
  std::string_view plain;
};
constexpr std::array<EncodedLetter, 12> kEncodedLetters{{{"Ą", "\\k{A}", "A"},
                                                         {"ą", "\\k{a}", "a"},
                                                         {"Đ", "\\DJ{}", "D"},
                                                         {"đ", "\\dj{}", "d"},
                                                         {"Ę", "\\k{E}", "E"},
                                                         {"ę", "\\k{e}", "e"},
                                                         {"Į", "\\k{I}", "I"},
                                                         {"į", "\\k{i}", "i"},
                                                         {"Ŋ", "\\NG{}", "N"},
                                                         {"ŋ", "\\ng{}", "n"},
                                                         {"Ų", "\\k{U}", "U"},
                                                         {"ų", "\\k{u}", "u"}}};

// Greek letters as the names of methods have them.
constexpr std::array<Escape, 3> kNamedLetters{{{"rho=", "ρ="}, {"lambda=", "λ="}, {"eta=", "η="}}};

template <std::size_t kCount>
const Escape* find_in(const std::array<Escape, kCount>& escapes, std::string_view character) {
  const auto* const found = std::find_if(
      escapes.begin(), escapes.end(), [&](const Escape& one) { return one.from == character; });
  return found == escapes.end() ? nullptr : found;
}

/// Returns whether every LaTeX prints the character: it is ASCII or a letter of Latin-1.
bool is_printed_everywhere(std::string_view character) {
  return character.size() == 1 || (character.size() == 2 && character[0] == '\xc3');
}

const EncodedLetter* find_encoded(std::string_view character) {
  const auto* const found =
      std::find_if(kEncodedLetters.begin(), kEncodedLetters.end(), [&](const EncodedLetter& one) {
        return one.from == character;
      });
  return found == kEncodedLetters.end() ? nullptr : found;
}

std::string latex_character(std::string_view character) {
  if (const Escape* escape = find_in(kSpecials, character)) {
    return std::string(escape->to);
  }
  if (const Escape* escape = find_in(kPunctuation, character)) {
    return std::string(escape->to);
  }
  if (is_printed_everywhere(character)) {
    return std::string(character);
  }
  if (const Escape* letter = find_in(kLetters, character)) {
    return std::string(letter->to);
  }
  if (const EncodedLetter* letter = find_encoded(character)) {
    return fmt::format(
        "\\ifdefined\\Uchar {}\\else\\ifcsname\\csname f@encoding\\endcsname"
        "\\string{}\\endcsname{}\\else {}\\fi\\fi{{}}",
        letter->from,
        letter->to.substr(0, letter->to.find('{')),
        letter->to,
        letter->plain);
  }
  return fmt::format("\\ifdefined\\Uchar {}\\else ?\\fi{{}}", character);
}

/// Returns whether pdfLaTeX prints the character, if not as a sign of mathematics.
bool is_printed_by_pdflatex(std::string_view character) {
  return is_printed_everywhere(character) || find_in(kPunctuation, character) != nullptr ||
         find_in(kLetters, character) != nullptr || find_encoded(character) != nullptr;
}

/// Returns the characters of the text.
std::vector<std::string_view> characters_of(std::string_view text) {
  std::vector<std::string_view> characters;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = std::max<std::size_t>(1, utf8_character(text, at));
    characters.push_back(text.substr(at, length));
    at += length;
  }
  return characters;
}

bool is_letter(std::string_view character) {
  return character.size() == 1 && std::isalpha(static_cast<unsigned char>(character[0])) != 0;
}

bool is_script(std::string_view character) {
  return find_in(kRaised, character) != nullptr || find_in(kLowered, character) != nullptr;
}

/// A WordKind says how a word takes part in mathematics: a formula has a sign of mathematics in it,
/// a term may be part of one (a number, a letter, an operator), and other words are text.
enum class WordKind { text, term, formula };

using Characters = std::vector<std::string_view>;

/// Returns whether a character is a sign of mathematics. A star is one at the end of a name alone,
/// that of a minimum.
bool is_sign_at(const Characters& characters, std::size_t place) {
  const std::string_view one = characters[place];
  if (one != "*") {
    return find_in(kSigns, one) != nullptr || is_script(one);
  }
  const bool is_last = place + 1 == characters.size();
  return is_last && place > 0 && (is_letter(characters[place - 1]) || characters[place - 1] == ")");
}

/// Returns whether a character may stand in a formula: no letter beside another does.
bool fits_formula(const Characters& characters, std::size_t place) {
  constexpr std::string_view kOperators = "()/+-=^|.,_";
  const std::string_view one = characters[place];
  if (is_letter(one)) {
    return place == 0 || !is_letter(characters[place - 1]);
  }
  const bool is_plain = one.size() == 1 && (std::isdigit(static_cast<unsigned char>(one[0])) != 0 ||
                                            kOperators.find(one[0]) != std::string_view::npos);
  return is_plain || is_sign_at(characters, place);
}

WordKind kind_of(std::string_view word) {
  const Characters characters = characters_of(word);
  const bool is_number_of_item =  // "(a)"
      characters.size() == 3 && word.front() == '(' && word.back() == ')';
  if (word.empty() || is_number_of_item || word == "a" || word == "A" || word == "I") {
    return WordKind::text;
  }
  bool has_sign = word == "f" || word == "X_T";
  for (std::size_t i = 0; i < characters.size(); ++i) {
    if (!fits_formula(characters, i)) {
      return WordKind::text;
    }
    has_sign = has_sign || is_sign_at(characters, i);
  }
  const bool is_function = word.size() > 3 && word[1] == '(' && is_letter(word.substr(0, 1));
  return has_sign || is_function ? WordKind::formula : WordKind::term;
}

bool is_letter_or_digit(std::string_view character) {
  return character.size() == 1 && std::isalnum(static_cast<unsigned char>(character[0])) != 0;
}

/// Returns what stands above or below the line from a place on, which moves behind it: "^{-4}" of
/// "⁻⁴" and "_{t}" of "_t"; empty where nothing does.
std::string script_at(const std::vector<std::string_view>& characters, std::size_t& place) {
  const auto run_of = [&](const auto& escapes) {
    std::string run;
    while (place < characters.size()) {
      const Escape* const escape = find_in(escapes, characters[place]);
      if (escape == nullptr) {
        break;
      }
      run += escape->to;
      ++place;
    }
    return run;
  };
  if (const std::string raised = run_of(kRaised); !raised.empty()) {
    return raised.size() == 1 ? '^' + raised : fmt::format("^{{{}}}", raised);
  }
  if (const std::string lowered = run_of(kLowered); !lowered.empty()) {
    return fmt::format("_{{{}}}", lowered);
  }
  const std::string_view sign = characters[place];
  const bool is_typed = (sign == "_" || sign == "^") && place > 0 &&
                        place + 1 < characters.size() && is_letter_or_digit(characters[place + 1]);
  if (!is_typed) {
    return {};
  }
  place += 2;
  return fmt::format("{}{}", sign, characters[place - 1]);
}

/// Writes one character of a formula that is no script.
std::string formula_character(std::string_view one) {
  if (const Escape* sign = find_in(kSigns, one)) {
    return std::string(sign->to);
  }
  return one == "_" ? "\\_" : one == "^" ? "\\wedge " : std::string(one);
}

/// Writes a formula's characters in mathematics; none of them is special to TeX. Scripts that
/// follow each other stand side by side, because TeX takes only one of a kind.
std::string formula_text(std::string_view formula) {
  const auto characters = characters_of(formula);
  std::string text;
  bool is_after_script = false;
  for (std::size_t i = 0; i < characters.size();) {
    const std::string script = script_at(characters, i);
    if (script.empty()) {
      const std::string one = formula_character(characters[i++]);
      text += one == " " && text.ends_with(' ') ? std::string() : one;
    } else {
      text += (is_after_script ? "{}" : "") + script;
    }
    is_after_script = !script.empty();
  }
  while (!text.empty() && text.back() == ' ') {
    text.pop_back();
  }
  return text;
}

/// Splits at blanks.
std::vector<std::string> words_in(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (c == ' ') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

/// Takes the punctuation off the end of a word.
std::string without_end(std::string& word) {
  std::string end;
  while (word.size() > 1 && std::string_view(",.:;").find(word.back()) != std::string_view::npos) {
    end.insert(end.begin(), word.back());
    word.pop_back();
  }
  return end;
}

constexpr std::string_view kBreaks = "=._/,:+-";

/// Returns for each character how long the run is that it stands in, between signs at which a line
/// may break.
std::vector<std::size_t> runs_of(const std::vector<std::string_view>& characters) {
  std::vector<std::size_t> lengths(characters.size());
  for (std::size_t begin = 0; begin < characters.size();) {
    std::size_t end = begin;
    while (end < characters.size() && kBreaks.find(characters[end]) == std::string_view::npos) {
      ++end;
    }
    end = std::min(end + 1, characters.size());
    std::fill(lengths.begin() + static_cast<std::ptrdiff_t>(begin),
              lengths.begin() + static_cast<std::ptrdiff_t>(end),
              end - begin);
    begin = end;
  }
  return lengths;
}

std::string escaped_word(std::string_view word, LatexBreaks breaks) {
  constexpr std::size_t kLongRun = 12;
  const auto characters = characters_of(word);
  const auto runs = runs_of(characters);
  std::string escaped;
  for (std::size_t i = 0; i < characters.size(); ++i) {
    const std::string_view one = characters[i];
    const bool is_sign = find_in(kSigns, one) != nullptr || (is_script(one) && one != "*");
    escaped += is_sign ? fmt::format("${}$", formula_text(one)) : latex_character(one);
    if (breaks == LatexBreaks::between_words || i + 1 == characters.size()) {
      continue;
    }
    if (one != "-" && kBreaks.find(one) != std::string_view::npos) {
      escaped += "\\allowbreak{}";
    } else if (runs[i] > kLongRun) {
      escaped += "\\penalty9000{}";
    }
  }
  return escaped;
}

/// Writes Greek letters for their names before a number: "rho=0.01".
std::string with_greek(std::string word) {
  for (const auto& [name, letter] : kNamedLetters) {
    if (word.starts_with(name)) {
      return std::string(letter) + word.substr(name.size());
    }
  }
  return word;
}

/// A Formula is a run of words that is written as mathematics.
struct Formula {
  std::size_t words = 0;  // 0: there is none
  std::string latex;
};

/// Returns the longest formula that begins with the word at a place.
Formula formula_at(const std::vector<std::string>& words, std::size_t first) {
  Formula formula;
  std::string run;
  for (std::size_t i = first; i < words.size(); ++i) {
    std::string word = with_greek(words[i]);
    const std::string punctuation = without_end(word);
    const WordKind kind = kind_of(word);
    if (kind == WordKind::text) {
      break;
    }
    run += (run.empty() ? "" : " ") + word;
    if (kind == WordKind::formula || formula.words > 0) {
      formula = {.words = i + 1 - first,
                 .latex = fmt::format("${}${}", formula_text(run), punctuation)};
    }
    if (!punctuation.empty()) {
      break;
    }
  }
  return formula;
}

}  // namespace

std::string latex_text(std::string_view text, LatexBreaks breaks) {
  const std::vector<std::string> words = words_in(harmless(text));
  std::string latex;
  for (std::size_t i = 0; i < words.size();) {
    latex += i == 0 ? "" : " ";
    const Formula formula = formula_at(words, i);
    latex += formula.words > 0 ? formula.latex : escaped_word(words[i], breaks);
    i += std::max<std::size_t>(1, formula.words);
  }
  return latex;
}

std::vector<std::string> unprinted_by_pdflatex(std::string_view text) {
  std::vector<std::string> unprinted;
  const std::string clean = harmless(text);
  for (const auto one : characters_of(clean)) {
    const bool is_printed =
        is_printed_by_pdflatex(one) || find_in(kSigns, one) != nullptr || is_script(one);
    if (!is_printed && std::find(unprinted.begin(), unprinted.end(), one) == unprinted.end()) {
      unprinted.emplace_back(one);
    }
  }
  return unprinted;
}

}  // namespace residuum::reports
