// Figures of kept studies that were run seed by seed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/experiments/support.h"

namespace residuum {
namespace {

using testing::HasSubstr;

class DrawKept : public testing::Test {
 protected:
  DrawKept() {
    folder_.write("runs.csv",
                  "run_id,seed,p_aggregator_kind,p_sparsifier_density,p_workers_count,final_loss\n"
                  "a,1,dense,,4,3\nb,2,dense,,4,5\nc,1,tree,0.01,4,7\nd,1,tree,0.01,8,8\n");
    folder_.write("iterations.csv",
                  "run_id,iteration,loss,sent_bytes,total_sent_bytes\n"
                  "a,0,9,10,10\na,1,3,10,20\nb,0,7,10,10\nb,1,,10,20\nc,0,6,2,2\nc,5,4,2,12\n"
                  "d,0,6,2,2\n");
    folder_.write("quarters.csv",
                  "method,seed,epoch,delta\n"
                  "aggregator_kind=tree workers_count=4,1,3,0.5\n"
                  "aggregator_kind=tree workers_count=8,1,2,0.7\n"
                  "aggregator_kind=tree workers_count=8,1,3,1.5\n");
  }
  Finished draw(const std::string& figure, const std::vector<std::string>& where = {}) const {
    std::vector<std::string> command{"figure", ".", figure, "-o", "out/"};
    for (const auto& wish : where) {
      command.insert(command.end(), {"--where", wish});
    }
    return residuum_program(command, folder_.path());
  }
  std::string drawn(const std::string& file) const {
    return read_text(folder_.path() / "out" / file);
  }
  TemporaryFolder folder_;
};

TEST_F(DrawKept, HasTheMedianAndTheQuartilesOfTheSeeds) {
  ASSERT_EQ(draw("loss", {"workers_count=4"}).err, "");
  EXPECT_EQ(drawn("loss.csv"),
            "curve,x,median,lower,upper,n\n"
            "0,0,8,7.5,8.5,2\n0,1,3,3,3,1\n1,0,6,6,6,1\n1,5,4,4,4,1\n");
  EXPECT_THAT(drawn("loss.curves.csv"), HasSubstr("\n0,dense,"));
  EXPECT_THAT(drawn("loss.curves.csv"), HasSubstr("\n1,\"tree, rho=0.01\","));
  EXPECT_THAT(drawn("loss.svg"), HasSubstr("tree, rho=0.01"));
}

// f of iteration 5 is taken when 10 bytes had been sent, before the 2 of its own.
TEST_F(DrawKept, TakesBytesThatWereSentBefore) {
  ASSERT_EQ(draw("loss-bytes", {"aggregator_kind=tree", "workers_count=4"}).err, "");
  EXPECT_EQ(drawn("loss-bytes.csv"), "curve,x,median,lower,upper,n\n0,10,4,4,4,1\n");
}

TEST_F(DrawKept, HasEndsAndTheLastQuarterByTheNumberOfWorkers) {
  ASSERT_EQ(draw("end-workers").err, "");
  EXPECT_EQ(drawn("end-workers.csv"),
            "curve,x,median,lower,upper,n\n0,4,4,3.5,4.5,2\n1,4,7,7,7,1\n1,8,8,8,8,1\n");
  ASSERT_EQ(draw("delta-workers").err, "");
  EXPECT_EQ(drawn("delta-workers.csv"),
            "curve,x,median,lower,upper,n\n0,4,0.5,0.5,0.5,1\n0,8,1.5,1.5,1.5,1\n");
}

// The two runs of the tree have a density each, which belongs to their number of workers.
TEST_F(DrawKept, MakesOneCurveOfMethodsThatDifferInAKeyThatIsJoined) {
  folder_.write("runs.csv",
                "run_id,seed,p_aggregator_kind,p_sparsifier_density,p_workers_count,final_loss\n"
                "a,1,dense,,4,3\nc,1,tree,0.01,4,7\nd,1,tree,0.02,8,8\n");
  ASSERT_EQ(draw("end-workers", {"sparsifier_density=*"}).err, "");
  EXPECT_EQ(drawn("end-workers.csv"),
            "curve,x,median,lower,upper,n\n0,4,3,3,3,1\n1,4,7,7,7,1\n1,8,8,8,8,1\n");
  EXPECT_THAT(drawn("end-workers.curves.csv"), HasSubstr("\n1,tree,"));
  EXPECT_THAT(draw("end-workers", {"sparsifier_density=*", "aggregator_kind=*"}).err,
              HasSubstr("runs.csv has two rows of c at 4, or of another run of its curve"));
  EXPECT_THAT(draw("end-workers", {"densty=*"}).err, HasSubstr("no method has the key densty"));
  EXPECT_THAT(draw("end-workers", {"densty=none"}).err, HasSubstr("no method has the key densty"));
  EXPECT_THAT(draw("end-workers", {"aggregator_kind=*", "aggregator_kind=tree"}).err,
              HasSubstr("aggregator_kind=* makes one curve of all values; give it alone"));
}

TEST_F(DrawKept, ReadsMethodsWhoseValuesHaveSeveralWords) {
  folder_.write("quarters.csv",
                "method,seed,epoch,delta\n"
                "\"sparsifier_k=[5, 6] workers_count=4\",1,3,0.5\n"
                "sparsifier_k=7 workers_count=4,1,3,0.7\n");
  ASSERT_EQ(draw("delta-workers").err, "");
  EXPECT_THAT(drawn("delta-workers.curves.csv"), HasSubstr("\n0,k=7,"));
  EXPECT_THAT(drawn("delta-workers.curves.csv"), HasSubstr("\n1,\"[5, 6]\","));
}

TEST_F(DrawKept, LeavesOutRunsThatHaveNotFinishedAndNumbersThatAreNotFinite) {
  folder_.write("runs.csv",
                "run_id,status,seed,p_kind\na,finished,1,x\nb,diverged,2,x\nc,finished,3,x\n");
  folder_.write("iterations.csv", "run_id,iteration,loss\na,0,9\nb,0,1\nc,0,7\nc,1,nan\n");
  ASSERT_EQ(draw("loss").err, "");
  EXPECT_EQ(drawn("loss.csv"), "curve,x,median,lower,upper,n\n0,0,8,7.5,8.5,2\n");
}

TEST_F(DrawKept, NamesWhatIsNotThere) {
  EXPECT_EQ(draw("los").code, 2);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "out"));
  EXPECT_THAT(draw("end-workers", {"workers_count=4"}).err,
              HasSubstr("no method has the key workers_count, or it is the x axis"));
  EXPECT_THAT(draw("los").err,
              HasSubstr("unknown figure 'los' of kept tables; did you mean 'loss'?"));
  EXPECT_THAT(draw("loss", {"aggregator_kind=mask"}).err,
              HasSubstr("no method has aggregator_kind=mask"));
  EXPECT_THAT(draw("delta").err, HasSubstr("epochs.csv"));
  folder_.write("iterations.csv", "run_id,iteration,loss\na,0,9\na,0,9\n");
  EXPECT_THAT(draw("loss").err, HasSubstr("iterations.csv has two rows of a at 0"));
  folder_.write("iterations.csv", "run_id,iteration,loss\na,,9\n");
  EXPECT_THAT(draw("loss").err, HasSubstr("iterations.csv: a has no iteration"));
  folder_.write("iterations.csv", "run_id,iteration,loss\nz,0,9\n");
  EXPECT_THAT(draw("loss").err, HasSubstr("iterations.csv:2: runs.csv has no run z"));
  EXPECT_EQ(draw("loss").code, 2);
  EXPECT_THAT(draw("loss", {"aggregator_kind"}).err,
              HasSubstr("--where is 'aggregator_kind', but"));
  const Finished by =
      residuum_program({"figure", ".", "loss", "--by", "bytes", "-o", "out/"}, folder_.path());
  EXPECT_EQ(by.code, 2);
  EXPECT_THAT(by.err, HasSubstr(". has kept tables: choose methods with --where"));
}

// As one file a figure has the size of a paper's column; --interval changes its middle.
TEST_F(DrawKept, HasTheSizeOfAPaper) {
  const Finished finished = residuum_program(
      {"figure", ".", "end-workers", "--interval", "student", "-o", "ends.tex"}, folder_.path());
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(read_text(folder_.path() / "ends.csv").substr(0, 25), "curve,x,median,lower,uppe");
  EXPECT_THAT(finished.err, HasSubstr("mean, 95 % interval (Student)"));
}

/// The gallery's figures of kept studies have the numbers of the tables as they are.
TEST_F(DrawKept, MadeTheFiguresOfTheGallery) {
  const std::filesystem::path gallery =
      std::filesystem::path(RESIDUUM_STUDIES).parent_path() / "reports/gallery";
  const Finished ran = run_program({"env",
                                    "RESIDUUM=" RESIDUUM_PROGRAM,
                                    (gallery / "draw").string(),
                                    "--into",
                                    folder_.path().string()},
                                   folder_.path());
  ASSERT_EQ(ran.code, 0) << ran.err;
  int figures = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path())) {
    const auto path = std::filesystem::relative(entry.path(), folder_.path());
    if (path.has_parent_path() && path.extension() == ".csv") {
      ++figures;
      EXPECT_EQ(read_text(entry.path()), read_text(gallery / path)) << path;
    }
  }
  EXPECT_GE(figures, 2);
  EXPECT_EQ(run_program({(gallery / "draw").string(), "nowhere"}, folder_.path()).code, 2);
}

}  // namespace
}  // namespace residuum
