#pragma once
// Tests of LaTeX output compile a page around it, and share a name that holds everything that TeX
// could stumble over.

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "reports/results/files.h"
#include "tests/reports/synthetic_study.h"

namespace residuum::reports::testing {

/// Returns whether the shell's command succeeds; what it prints is dropped.
inline bool succeeds(const std::string& command) {
  // NOLINTNEXTLINE(cert-env33-c,concurrency-mt-unsafe): fixed programs, one thread
  return std::system((command + " >/dev/null 2>&1").c_str()) == 0;
}

/// Returns whether TeX finds all of these files, which are parted by spaces.
inline bool has_latex_packages(const std::string& files) { return succeeds("kpsewhich " + files); }

/// A folder in which a page takes in one file.
class LatexPage {
 public:
  const std::filesystem::path& path() const { return folder_.path(); }

  /// Returns the log of pdfLaTeX where it fails, else nothing. The preamble loads the packages.
  std::string compile(const std::string& preamble, const std::string& file) const {
    write_file_atomically(path() / "page.tex",
                          "\\documentclass{article}\n" + preamble + "\\begin{document}\n\\input{" +
                              file + "}\n\\end{document}\n");
    const bool is_compiled =
        succeeds("cd " + path().string() +
                 " && pdflatex -no-shell-escape -interaction=nonstopmode -halt-on-error page.tex");
    return is_compiled ? "" : read_file(path() / "page.log");
  }

 private:
  TemporaryFolder folder_;
};

inline constexpr const char* kPgfplotsPreamble =
    "\\usepackage{pgfplots}\n\\usepgfplotslibrary{fillbetween}\n\\pgfplotsset{compat=1.16}\n";

inline const std::string kHostileLatexName =
    "\\input{/etc/passwd} % _ # & ~ ^ $ { } [ ] \" ' ` < > | \n\t </script> , ; "
    "é ü ß 中文 Ж 🙂 \\end{document}";

}  // namespace residuum::reports::testing
