#pragma once
// The LaTeX form of a table has booktabs rules and numbers aligned by siunitx. Texts are untrusted:
// `latex_text` leaves none of TeX's special characters in them.

#include <string>

#include "reports/typeset/table_spec.h"

namespace residuum::reports {

/// <name>.tex: a table with its caption and the label tab:<name>, to \input in a document that
/// loads booktabs and siunitx. Numbers of a column have one form, with four digits at least.
std::string table_latex(const TableSpec& spec);

}  // namespace residuum::reports
