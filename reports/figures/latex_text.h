#pragma once
// Conversion of untrusted texts to LaTeX: no special character of TeX is left unescaped.

#include <string>
#include <string_view>
#include <vector>

namespace residuum::reports {

/// The places, besides blanks, at which a line may be broken.
enum class LatexBreaks { between_words, in_words };

/// Returns the text for LaTeX: special characters escaped, formulas and Greek letters as
/// mathematics, so that "f − f*" is $f - f^*$ and "rho=0.1" has a Greek letter. Latin letters with
/// accents are composed, "Ł" as \L{}. Other characters beyond Latin-1 are printed by LuaLaTeX and
/// XeLaTeX alone; pdfLaTeX prints a '?'. With `in_words` a name such as "sparsifier.share=0.3" may
/// be broken after its signs, and a run of more than twelve characters without one anywhere, if
/// nothing else fits.
std::string latex_text(std::string_view text, LatexBreaks breaks = LatexBreaks::between_words);

/// Returns the characters in whose place pdfLaTeX prints a '?', each once.
std::vector<std::string> unprinted_by_pdflatex(std::string_view text);

}  // namespace residuum::reports
