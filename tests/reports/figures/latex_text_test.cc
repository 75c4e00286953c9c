// Texts in LaTeX: TeX's special characters are escaped, and mathematics is mathematics.

#include "reports/figures/latex_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace residuum::reports {
namespace {

TEST(LatexText, EscapesSpecialCharacters) {
  EXPECT_EQ(latex_text("50% of a_b^{c} & #1 ~ $x$ \\end"),
            "50\\% of a\\_b\\textasciicircum{}\\{c\\} \\& \\#1 \\textasciitilde{} \\$x\\$ "
            "\\textbackslash{}end");
  EXPECT_EQ(latex_text("é中"), "é\\ifdefined\\Uchar 中\\else ?\\fi{}");
  EXPECT_EQ(latex_text("a\nb"), "a?b");
  EXPECT_EQ(latex_text("1 – 2, and so on…"), "1 -- 2, and so on\\dots{}");
  EXPECT_EQ(latex_text("2\u00a0iterations, 3\u202fs"), "2~iterations, 3\\,s");
}

TEST(LatexText, ComposesLettersWithAccents) {
  EXPECT_EQ(latex_text("Łukasz Čapek ő ı"), "\\L{}ukasz \\v{C}apek \\H{o} \\i{}");
  EXPECT_EQ(latex_text("ą"),
            "\\ifdefined\\Uchar ą\\else\\ifcsname\\csname f@encoding\\endcsname\\string\\k"
            "\\endcsname\\k{a}\\else a\\fi\\fi{}");
}

TEST(LatexText, NamesWhatPdfLatexCannotPrint) {
  EXPECT_TRUE(unprinted_by_pdflatex("Łukasz é ą f(z_0) − δ² … a_b").empty());
  EXPECT_EQ(unprinted_by_pdflatex("中文中 Ж"), (std::vector<std::string>{"中", "文", "Ж"}));
}

TEST(LatexText, WritesFormulasAsOnePieceOfMathematics) {
  EXPECT_EQ(latex_text("f − f*"), "$f - f^*$");
  EXPECT_EQ(latex_text("final f(w) − f*, mean"), "final $f(w) - f^*$, mean");
  EXPECT_EQ(latex_text("‖∇f(w)‖² ≤ δ"), "$\\|\\nabla f(w)\\|^2 \\le \\delta$");
  EXPECT_EQ(latex_text("1 − δ (1 − k/d)"), "$1 - \\delta (1 - k/d)$");
  EXPECT_EQ(latex_text("δ = 1: as good as random selection"),
            "$\\delta = 1$: as good as random selection");
  EXPECT_EQ(latex_text("f − f* / 10⁻⁴"), "$f - f^* / 10^{-4}$");
  EXPECT_EQ(latex_text("2(f(z_0) − f(z_T))/Ση"), "$2(f(z_0) - f(z_T))/\\Sigma \\eta$");
}

TEST(LatexText, WritesGreekLettersForTheirNamesInLabels) {
  EXPECT_EQ(latex_text("gtopk-tree, rho=0.01, eta=0.1"), "gtopk-tree, $\\rho =0.01$, $\\eta =0.1$");
  EXPECT_EQ(latex_text("rhombus"), "rhombus");
}

TEST(LatexText, LeavesWordsAndNumbersAsTheyAre) {
  EXPECT_EQ(latex_text("a run of 8 seeds, k=10 and P=4"), "a run of 8 seeds, k=10 and P=4");
  EXPECT_EQ(latex_text("(a) 2 * 3 **x** 5*"), "(a) 2 * 3 **x** 5*");
}

// TeX refuses x^2^3 and x_1_2.
TEST(LatexText, SetsScriptsThatFollowEachOtherSideBySide) {
  EXPECT_EQ(latex_text("δ²³"), "$\\delta ^{23}$");
  EXPECT_EQ(latex_text("δ²_1"), "$\\delta ^2{}_1$");
  EXPECT_EQ(latex_text("δ_1_2^3^4_"), "$\\delta _1{}_2{}^3{}^4\\_$");
}

TEST(LatexText, BreaksLongNamesWhereItIsAsked) {
  EXPECT_EQ(latex_text("own.share=0.3"), "own.share=0.3");
  EXPECT_EQ(latex_text("own.share=0.3", LatexBreaks::in_words),
            "own.\\allowbreak{}share=\\allowbreak{}0.\\allowbreak{}3");
}

}  // namespace
}  // namespace residuum::reports
