#pragma once
// The LaTeX form of a table has booktabs rules, numbers aligned by siunitx, and the width of a
// line. Texts are untrusted: latex_text.h leaves none of TeX's special characters in them.

#include <string>

#include "reports/typeset/table_spec.h"

namespace residuum::reports {

/// <name>.tex: a table with a short caption and the label tab:<name>, to \input in a document that
/// loads booktabs, tabularx and siunitx. A number has the digits that its interval leaves, or four.
/// It fits a column of a paper with two, or a page where the spec is wide: intervals stand below
/// their values, and columns in several blocks, as far as that takes.
std::string table_latex(const TableSpec& spec);

/// <name>.caption.tex: all that is said of the table, for a paper's text.
std::string table_caption_latex(const TableSpec& spec);

}  // namespace residuum::reports
