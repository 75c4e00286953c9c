// residuum page and residuum table, as a user calls them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/experiments/support.h"

namespace residuum {
namespace {

using testing::HasSubstr;

/// A folder of kept results, whose numbers are those of tables of Student's distribution.
class KeptResults : public testing::Test {
 protected:
  KeptResults() {
    std::filesystem::create_directory(folder_.path() / "kept");
    runs(
        "run_id,seed,p_kind,p_workers,final_loss\n"
        "a,1,base,4,1\nb,2,base,4,2\nc,1,other,4,1.5\nd,2,other,4,3.5\n");
    describe(R"([methods]
base = { kind = "base" }
other = { kind = "other" }

[ends]
corner = ["P"]
column = "final_loss"
digits = 2
columns = [
  { head = "base", method = "base" },
  { head = "other − base", method = "other", minus = "base" },
]
rows = [{ head = ["4"], where = { workers = "4" } }]
)");
    page("# Page\n\n<!-- table kept ends -->\n| old |\n<!-- end -->\nafter\n");
  }
  void runs(const std::string& text) const { folder_.write("kept/runs.csv", text); }
  void describe(const std::string& text) const { folder_.write("kept/tables.toml", text); }
  void page(const std::string& text) const { folder_.write("page.md", text); }
  std::string page() const { return read_text(folder_.path() / "page.md"); }
  Finished call(const std::vector<std::string>& words) const {
    return residuum_program(words, folder_.path());
  }
  TemporaryFolder folder_;
};

using Page = KeptResults;

// The differences are 0.5 and 1.5: with one degree of freedom the half width is 12.7062 / 2. Those
// of the ends are 12.7062 / 2 around 1.5.
TEST_F(Page, MakesTheTableBetweenItsMarks) {
  const auto made = call({"page", "page.md"});
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(made.out, "page.md: 1 table, 1 made anew\n");
  EXPECT_EQ(page(),
            "# Page\n\n<!-- table kept ends -->\n"
            "| P | base | other − base |\n|---|---:|---:|\n"
            "| 4 | 1.50 [−4.85, 7.85] | +1.00 [−5.35, 7.35] |\n"
            "<!-- end -->\nafter\n");

  const auto again = call({"page", "page.md"});
  EXPECT_EQ(again.out, "page.md: 1 table, 0 made anew\n");
}

TEST_F(Page, SaysWhichTableIsStaleAndWritesNothing) {
  const std::string before = page();
  const auto checked = call({"page", "--check", "page.md"});
  EXPECT_EQ(checked.code, 4);
  EXPECT_THAT(checked.out, HasSubstr("page.md:3: table ends is stale\n  is:      | old |\n"));
  EXPECT_THAT(checked.out, HasSubstr("must be: | P | base | other − base |\n"));
  EXPECT_EQ(page(), before);

  call({"page", "page.md"});
  EXPECT_EQ(call({"page", "--check", "page.md"}).code, 0);
  runs(
      "run_id,seed,p_kind,p_workers,final_loss\n"
      "a,1,base,4,1\nb,2,base,4,2\nc,1,other,4,1.5\nd,2,other,4,3.6\n");
  EXPECT_THAT(call({"page", "--check", "page.md"}).out, HasSubstr("+1.05"));
}

// A method's name may be the study's own: then its keys stand in columns.
TEST_F(Page, FindsMethodsByTheKeysInTheirColumns) {
  folder_.write("kept/checks.csv",
                "method,p_kind,p_workers,check,worst_ratio\n"
                "\"fast, n=4\",other,4,bytes,0.25\nplain,base,4,bytes,0.5\n");
  describe(
      "[ends]\ntable = \"checks.csv\"\ncolumn = \"worst_ratio\"\nstatistic = \"same\"\ndigits = 2\n"
      "columns = [{ head = \"r\" }]\n"
      "rows = [{ head = \"\", where = { kind = \"other\", workers = \"4\", check = \"bytes\" } "
      "}]\n");

  const auto made = call({"page", "page.md"});

  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(page(), HasSubstr("|  | 0.25 |\n"));
}

// With two degrees of freedom t = a sqrt(2 / (1 - a^2)) for a probability a of the middle: 12.59
// for one of eight tests and 19.96 for one of twenty, and the standard error is 1 / sqrt(3).
TEST_F(Page, MarksWhatIsSignificantAmongSoManyTests) {
  runs(
      "run_id,seed,p_kind,final_loss\n"
      "a,1,base,0\nb,2,base,0\nc,3,base,0\nd,1,other,1\ne,2,other,2\nf,3,other,3\n");
  const auto cell = [&](const std::string& more) {
    describe(
        "[ends]\ncolumn = \"final_loss\"\ndigits = 3\ncolumns = [{ head = \"d\" }]\n"
        "rows = [{ head = \"\", where = { kind = \"other\" }, minus = { kind = \"base\" }" +
        more + " }]\n");
    const auto made = call({"page", "page.md"});
    EXPECT_EQ(made.code, 0) << made.err;
    return page();
  };
  // t of two degrees of freedom is 4.302653, and the standard error 1 / sqrt(3).
  EXPECT_THAT(cell(""), HasSubstr("| +2.000 [−0.484, 4.484] |\n"));
  EXPECT_THAT(cell(", scale = -1, unit = \" s\""), HasSubstr("| −2.000 s [−4.484, 0.484] |\n"));
  EXPECT_THAT(cell(", statistic = \"median\""), HasSubstr("| 2.000 |\n"));
  // (1.95996 + 0.84162)^2 / 4 + 1.95996^2 / 2 = 3.88
  EXPECT_THAT(cell(", statistic = \"needed\""), HasSubstr("| 4 |\n"));
  runs(
      "run_id,seed,p_kind,final_loss\n"
      "a,1,base,0\nb,2,base,0\nc,3,base,0\nd,1,other,9\ne,2,other,10\nf,3,other,11\n");
  EXPECT_THAT(cell(", tests = 1"), HasSubstr("| +10.000 [7.516, 12.484] * |\n"));
  EXPECT_THAT(cell(", tests = 8"), HasSubstr("] * |\n"));       // t is 12.59: 10 exceeds 7.27
  EXPECT_THAT(cell(", tests = 20"), HasSubstr("12.484] |\n"));  // t is 19.96: 10 is below 11.5
}

// Holm at 5 % over three tests of two degrees of freedom: t = 10 sqrt(3) = 17.32 has p = 0.00332,
// which is below 0.05/3; t = 6 sqrt(3) has 0.00913, below 0.05/2; t = 2 sqrt(3) has 0.0742, above
// 0.05.
TEST_F(Page, DecidesAFamilyOfTestsByHolm) {
  runs(
      "run_id,seed,p_kind,final_loss\n"
      "a,1,base,0\nb,2,base,0\nc,3,base,0\n"
      "d,1,far,9\ne,2,far,10\nf,3,far,11\n"
      "g,1,mid,5\nh,2,mid,6\ni,3,mid,7\n"
      "j,1,near,1\nk,2,near,2\nl,3,near,3\n");
  describe(R"([ends]
column = "final_loss"
digits = 0
holm = true
minus = { kind = "base" }
columns = [{ head = "d", interval = false }, { head = "p", statistic = "p" }]
rows = [
  { head = "near", where = { kind = "near" } },
  { head = "far", where = { kind = "far" } },
  { head = "mid", where = { kind = "mid" } },
]
)");
  const auto made = call({"page", "page.md"});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(
      page(),
      HasSubstr("| near | +2 | 0.074 |\n| far | +10 * | 0.0033 |\n| mid | +6 * | 0.0091 |\n"));
}

TEST_F(Page, HasSharesExtremesAndTextsOfAllRows) {
  folder_.write("kept/epochs.csv",
                "method,seed,epoch,measured,delta_above_1,delta_max,word\n"
                "kind=a,1,0,100,0,0.5,yes\nkind=a,1,1,100,30,1.25,yes\n"
                "kind=a,2,0,100,0,,yes\nkind=b,1,0,9000,1,1.5,yes\nkind=c,1,0,100,,,no\n");
  describe(R"([ends]
table = "epochs.csv"
columns = [
  { head = "share", statistic = "share", column = "delta_above_1", over = "measured", digits = 1, missing = "–" },
  { head = "largest", statistic = "max", take = "max", column = "delta_max", missing = "–" },
  { head = "text", statistic = "text", column = "word" },
]
rows = [
  { head = "b", where = { kind = "b" } },
  { head = "c", where = { kind = "c" } },
]
)");
  ASSERT_EQ(call({"page", "page.md"}).code, 0);
  EXPECT_THAT(page(), HasSubstr("| b | < 0.1 % | 1.500 | yes |\n| c | – | – | no |\n"));
}

TEST_F(Page, ReadsAValueAtABudgetOnALine) {
  runs("run_id,seed,iterations,p_kind,final_loss\na,1,30,x,1\n");
  folder_.write("kept/iterations.csv",
                "run_id,iteration,loss,sent_bytes,total_sent_bytes\n"
                "a,0,9,10,10\na,10,5,10,110\na,20,3,10,210\n");
  folder_.write("kept/networks.csv",
                "run_id,iteration,network,virtual_s\na,0,slow,1\na,10,slow,11\na,20,slow,21\n");
  const auto at = [&](const std::string& budget) {
    describe(
        "[ends]\ncolumn = \"loss\"\ndigits = 2\nmissing = \"–\"\ncolumns = [{ head = \"f\" }]\n"
        "rows = [{ head = \"x\", budget = { " +
        budget + " } }]\n");
    const auto made = call({"page", "page.md"});
    EXPECT_EQ(made.code, 0) << made.err;
    return page();
  };
  // 100 bytes had been sent before iteration 10, and 200 before iteration 20.
  EXPECT_THAT(at("bytes = 150"), HasSubstr("| x | 4.00 |\n"));
  EXPECT_THAT(at("bytes = 50"), HasSubstr("| x | – |\n"));      // one measurement alone
  EXPECT_THAT(at("bytes = 1e9"), HasSubstr("| x | 1.00 |\n"));  // the end
  EXPECT_THAT(at("slow = 16"), HasSubstr("| x | 4.00 |\n"));
}

// A page that is refused leaves the others to be looked at.
TEST_F(Page, LooksAtEveryPage) {
  folder_.write("broken.md", "<!-- table kept ends -->\n| old |\n");
  const auto checked = call({"page", "--check", "none.md", "broken.md", "page.md"});
  EXPECT_EQ(checked.code, 2);
  EXPECT_THAT(checked.out, HasSubstr("page.md:3: table ends is stale"));
  EXPECT_THAT(checked.err, HasSubstr("error: cannot read 'none.md'"));
  EXPECT_THAT(checked.err, HasSubstr("error: broken.md:1: the table has no <!-- end -->"));
  EXPECT_EQ(std::count(checked.err.begin(), checked.err.end(), '\n'), 2) << checked.err;
}

TEST_F(Page, RefusesWhatItCannotMake) {
  const auto error_of = [&] {
    const auto refused = call({"page", "page.md"});
    EXPECT_EQ(refused.code, 2);
    EXPECT_EQ(std::count(refused.err.begin(), refused.err.end(), '\n'), 1) << refused.err;
    return refused.err;
  };
  page("<!-- table kept ends -->\n| old |\n");
  EXPECT_THAT(error_of(), HasSubstr("page.md:1: the table has no <!-- end -->"));
  page("<!-- table kept -->\n<!-- end -->\n");
  EXPECT_THAT(error_of(), HasSubstr("page.md:1: the mark must be <!-- table FOLDER NAME -->"));
  page("<!-- table kept end -->\n<!-- end -->\n");
  EXPECT_THAT(error_of(), HasSubstr("has no table 'end'; did you mean 'ends'?"));
  page("<!-- table kept ends -->\n<!-- end -->\n");
  runs("run_id,seed,p_kind,p_workers,final_loss\na,1,base,4,1\na2,1,base,4,2\nc,1,other,4,1.5\n");
  EXPECT_THAT(error_of(), HasSubstr("two runs have the seed 1"));
  runs("run_id,seed,p_kind,p_workers,final_loss\na,1,base,4,1\nc,2,other,4,1.5\n");
  EXPECT_THAT(error_of(), HasSubstr("the run of seed 2 has no other to subtract"));
  runs("run_id,seed,p_kind,p_workers,final_loss\na,1,base,8,1\n");
  EXPECT_THAT(error_of(), HasSubstr("row '4', column 'base': "));
  EXPECT_THAT(error_of(), HasSubstr("has no row with kind = 'base', workers = '4'"));
  runs("run_id,seed,p_kind,p_workers,final_loss\na,1,base,4,nan\nc,1,other,4,1\n");
  EXPECT_THAT(error_of(), HasSubstr("no row has a number in final_loss"));
  runs("run_id,seed,p_kind,p_workers,final_loss\na,1,base,4,1");
  EXPECT_THAT(error_of(), HasSubstr("is cut short: its last line does not end"));
  describe("[ends]\ncolumns = [{ head = \"x\", colunm = \"y\" }]\nrows = [{ head = \"r\" }]\n");
  EXPECT_THAT(error_of(), HasSubstr("unknown key 'colunm' at kept/tables.toml:2:"));
  describe("[ends]\ncolumns = []\nrows = [{ head = \"r\" }]\n");
  EXPECT_THAT(error_of(), HasSubstr("columns at kept/tables.toml:2:"));
  EXPECT_THAT(call({"page", "none.md"}).err, HasSubstr("none.md"));
}

using Table = KeptResults;

TEST_F(Table, HasOneNumberOfEachMethodOverTheSeeds) {
  folder_.write("kept/iterations.csv",
                "run_id,iteration,delta,loss,clock\n"
                "a,0,9,4,1\na,10,1,3,21\na,20,,2,41\nb,0,2,4,1\nb,10,3,2,11\nb,20,4,1,81\n"
                "c,0,0.5,4,1\nd,0,0.5,4,1\n");
  const auto row_of_base = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"table", "kept", "delta", "--where", "kind=base"};
    words.insert(words.end(), more.begin(), more.end());
    const auto printed = call(words);
    EXPECT_EQ(printed.code, 0) << printed.err;
    return printed.out;
  };
  const std::string head =
      "| method | delta | runs |\n| --- | --- | --- |\n| kind=base workers=4 | ";
  EXPECT_EQ(row_of_base({}), head + "2.5 [−16.5593, 21.5593] | 2 |\n");    // 1, 4
  EXPECT_THAT(row_of_base({"--take", "max"}), HasSubstr(head + "6.5 ["));  // 9, 4
  EXPECT_THAT(row_of_base({"--take", "mean"}), HasSubstr(head + "4 ["));   // 5, 3
  EXPECT_THAT(row_of_base({"--where", "iteration=10"}), HasSubstr(head + "2 ["));
  EXPECT_THAT(row_of_base({"--until", "loss=3"}), HasSubstr(head + "2 ["));  // 1 and 3 at 10
  EXPECT_THAT(row_of_base({"--until", "loss=1"}), HasSubstr("1 of 2 runs have no delta"));
  EXPECT_THAT(call({"table", "kept", "clock", "--take", "rate", "--where", "kind=base"}).out,
              HasSubstr("| 3 [−9.7062, 15.7062] | 2 |"));  // 40 / 20 and 80 / 20
}

TEST_F(Table, HasTheDifferenceToABaselineOfTheSameSeed) {
  const auto paired = call({"table", "kept", "final_loss", "--minus", "kind=base", "--tests", "8"});
  EXPECT_EQ(paired.code, 0) << paired.err;
  // For one of eight tests the normal quantile is 2.73437: 12.788 / 2 + 3.738 pairs would decide.
  EXPECT_EQ(paired.out,
            "| method | final_loss | seeds that would decide |\n| --- | --- | --- |\n"
            "| kind=other workers=4 | +1 [−5.3531, 7.3531] | 11 |\n");
  runs(
      "run_id,seed,p_kind,p_density,final_loss\na,1,base,,1\nb,2,base,,2\nc,1,other,5,4\nd,2,other,"
      "5,5\n");
  EXPECT_THAT(call({"table", "kept", "final_loss", "--minus", "kind=base", "--by", "none"}).out,
              HasSubstr("| density=5 kind=other | +3 |"));
  EXPECT_EQ(call({"table", "kept", "final_loss", "--minus", "kind=base"}).code, 2);
}

TEST_F(Table, NamesWhatIsNotThere) {
  EXPECT_THAT(call({"table", "kept", "final_lss"}).err, HasSubstr("iterations.csv"));
  folder_.write("kept/iterations.csv", "run_id,iteration,loss\na,0,4\n");
  EXPECT_THAT(call({"table", "kept", "final_lss"}).err, HasSubstr("has no column 'final_lss'"));
  EXPECT_THAT(call({"table", "kept", "loss", "--minus", "knd=base"}).err,
              HasSubstr("--minus: no run has the varied key 'knd'"));
  EXPECT_THAT(call({"table", "kept", "loss", "--budget", "bytes"}).err, HasSubstr("COST=AMOUNT"));
  EXPECT_THAT(call({"table", "kept", "loss", "--until", "loss"}).err, HasSubstr("COLUMN=LIMIT"));
  EXPECT_THAT(call({"table", "kept", "loss", "--until", "loss="}).err, HasSubstr("COLUMN=LIMIT"));
  EXPECT_THAT(call({"table", "kept", "loss", "--where", "knd=base"}).err,
              HasSubstr("no method varies 'knd', and no column has that name"));
  EXPECT_THAT(call({"table", "kept", "kept", "loss"}).err, HasSubstr("'kept' is a folder"));
  EXPECT_THAT(call({"table", "kept", "loss", "--tests", "0"}).err, HasSubstr("from 1 to"));
  EXPECT_EQ(call({"table", "kept", "loss", "--take", "least"}).code, 2);
}

// Run a spends 30 bytes, run b 10.
TEST_F(Table, SaysWhichMethodsEndBelowABudget) {
  runs("run_id,status,seed,p_kind,iterations\na,finished,1,x,3\nb,finished,1,y,3\n");
  folder_.write("kept/iterations.csv",
                "run_id,iteration,loss,sent_bytes,total_sent_bytes\na,0,4,10,10\na,1,3,10,20\n"
                "a,2,2,10,30\nb,0,4,3,3\nb,1,3,3,6\nb,2,1,4,10\n");
  const auto at = [&](const std::string& budget) {
    return call({"table", "kept", "loss", "--budget", budget});
  };
  EXPECT_EQ(at("bytes=15").out,
            "| method | loss | runs |\n| --- | --- | --- |\n| kind=x | 2.5 | 1 |\n"
            "| kind=y | 1 | 1 |\n"
            "\nBelow the budget at their end, and shown as they ended: kind=y (10).\n");
  EXPECT_EQ(at("bytes=5").out.find("Below"), std::string::npos);
  EXPECT_EQ(at("bytes=0.015kB").out, at("bytes=15").out);
  EXPECT_EQ(at("bytes=1MB").code, 2);
  EXPECT_EQ(at("bytes=1MB").err, "error: --budget: no run spends bytes=1e+06; the most is 30\n");
  EXPECT_THAT(at("bytes=-5").err, HasSubstr("must be bytes above zero"));
}

TEST_F(Table, LeavesOutRunsThatHaveNotFinished) {
  runs("run_id,status,seed,p_kind,final_loss\na,finished,1,x,1\nb,diverged,2,x,9e9\n");
  EXPECT_EQ(call({"table", "kept", "final_loss", "--of", "runs.csv"}).out,
            "| method | final_loss | runs |\n| --- | --- | --- |\n| kind=x | 1 | 1 |\n"
            "\nLeft out: 1 run that diverged.\n");
}

}  // namespace
}  // namespace residuum
