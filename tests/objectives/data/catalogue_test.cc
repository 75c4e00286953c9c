#include "objectives/data/catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "tests/objectives/data/files.h"

namespace residuum {
namespace {

using ::testing::AllOf;
using testing::Folder;
using ::testing::HasSubstr;
using testing::usage_message;

constexpr const char* kTwoRows = "+1 1:1\n-1 2:1\n";
constexpr const char* kThreeRows = "+1 1:1\n-1 2:1\n-1 4:1\n";

TEST(Catalogue, EntriesHaveDifferentNamesTermsAndFilesForTheirKind) {
  std::set<std::string> names;
  for (const auto& entry : datasets()) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    EXPECT_FALSE(entry.summary.empty());
    EXPECT_FALSE(entry.terms.empty());
    const std::size_t files = entry.kind == DataKind::images ? 2 : 1;
    const bool is_in_pieces = entry.name == "cifar10";
    EXPECT_TRUE(entry.train.empty() || is_in_pieces || entry.train.size() == files) << entry.name;
    EXPECT_TRUE(entry.test.empty() || entry.test.size() == files) << entry.name;
  }
  for (const char* name : {"synthetic-logistic",
                           "synthetic-gisette",
                           "synthetic-images",
                           "rcv1-vw",
                           "a9a",
                           "mushrooms",
                           "w8a",
                           "madelon",
                           "mnist",
                           "cifar10",
                           "wikitext-2",
                           "tinyshakespeare"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

TEST(Catalogue, FindsANameInItsOwnFolderOrBesideInEveryPacking) {
  for (const char* file : {"a9a/a9a", "a9a/a9a.xz", "a9a/a9a.gz", "a9a.xz", "a9a.gz", "a9a"}) {
    const Folder folder;
    const std::string name(file);
    folder.write(name,
                 name.ends_with("xz")   ? testing::xz(kTwoRows)
                 : name.ends_with("gz") ? testing::gzip(kTwoRows)
                                        : kTwoRows);

    const auto data = load_sparse("a9a", folder.path());
    EXPECT_EQ(data.rows(), 2U) << file;
    EXPECT_EQ(data.name, "a9a");
  }
}

TEST(Catalogue, PrefersTheFolderOfTheName) {
  const Folder folder;
  folder.write("w8a/w8a", kTwoRows);
  folder.write("w8a.xz", testing::xz(kThreeRows));

  EXPECT_EQ(load_sparse("w8a", folder.path()).rows(), 2U);
}

TEST(Catalogue, FindsOtherFilesOfTheDataDirectoryByName) {
  const Folder folder;
  folder.write("phishing/phishing.xz", testing::xz(kTwoRows));
  folder.write("phishing/phishing.t", kThreeRows);

  EXPECT_EQ(load_sparse("phishing", folder.path()).rows(), 2U);
  EXPECT_EQ(load_sparse_test("phishing", folder.path())->rows(), 3U);
}

TEST(Catalogue, TakesAPathAndFindsTheTestFileBesideIt) {
  const Folder folder;
  const auto file = folder.write("x/mine.gz", testing::gzip(kTwoRows)).string();
  EXPECT_EQ(load_sparse(file, "nowhere").rows(), 2U);
  EXPECT_FALSE(load_sparse_test(file, "nowhere").has_value());

  folder.write("x/mine.t.xz", testing::xz(kThreeRows));
  EXPECT_EQ(load_sparse_test(file, "nowhere")->rows(), 3U);
}

TEST(Catalogue, HeldOutDataIsAbsentWhereThereIsNone) {
  const Folder folder;
  folder.write("a9a", kTwoRows);
  folder.write("mushrooms", kTwoRows);
  folder.write("mushrooms.t", kTwoRows);

  EXPECT_FALSE(load_sparse_test("a9a", folder.path()).has_value());
  EXPECT_FALSE(load_sparse_test("mushrooms", folder.path()).has_value());
  EXPECT_FALSE(load_images_test("mnist", folder.path()).has_value());
}

TEST(Catalogue, SyntheticSetsNeedNoFiles) {
  const auto training = load_sparse("synthetic-logistic", "nowhere");
  const auto test = load_sparse_test("synthetic-logistic", "nowhere");
  EXPECT_EQ(training.rows(), 2000U);
  EXPECT_EQ(test->rows(), 500U);
  EXPECT_EQ(test->features, training.features);

  EXPECT_EQ(load_images("synthetic-images", "nowhere").rows(), 6000U);
  EXPECT_EQ(load_images_test("synthetic-images", "nowhere")->rows(), 1000U);
}

TEST(Catalogue, SaysWhereItLookedForAKnownNameAndHowToGetIt) {
  EXPECT_THAT(
      usage_message([] { load_sparse("a9a", "some/dir"); }),
      AllOf(HasSubstr("data set 'a9a' is not there"),
            HasSubstr("'some/dir/a9a/a9a' and 'some/dir/a9a', plain and .xz, .gz, .bz2, .zst"),
            HasSubstr("experiments/fetch_data a9a"),
            HasSubstr("--data-dir")));
  EXPECT_THAT(usage_message([] { load_images("mnist", "some/dir"); }),
              AllOf(HasSubstr("'some/dir/mnist/train-images-idx3-ubyte'"),
                    HasSubstr("experiments/fetch_data mnist")));
}

TEST(Catalogue, NamesTheNearestKnownNameForAnUnknownOne) {
  EXPECT_THAT(usage_message([] { load_sparse("mushroms", "some/dir"); }),
              AllOf(HasSubstr("unknown data set 'mushroms'"),
                    HasSubstr("'some/dir/mushroms/mushroms'"),
                    HasSubstr("did you mean 'mushrooms'?")));
  EXPECT_THAT(usage_message([] { load_images("mnst", "d"); }), HasSubstr("did you mean 'mnist'?"));
}

TEST(Catalogue, RefusesNamesThatCouldLeaveTheDataDirectory) {
  const Folder folder;
  folder.write("secret", kTwoRows);
  for (const std::string& name : {std::string(),
                                  std::string("a\nb"),
                                  std::string("a b"),
                                  std::string("a\\b"),
                                  std::string("a\0b", 3),
                                  std::string(200, 'a')}) {
    EXPECT_THAT(usage_message([&] { load_sparse(name, folder.path() / "data"); }),
                HasSubstr("a data set's name is"));
    EXPECT_THAT(usage_message([&] { load_images(name, folder.path() / "data"); }),
                HasSubstr("a data set's name is"));
  }
  // With a slash or a dot it is a path as the user wrote it, never one inside the data directory.
  for (const char* const path : {"../secret", "..", "secret.svm"}) {
    EXPECT_THAT(usage_message([&] { load_sparse(path, folder.path() / "data"); }),
                ::testing::StartsWith(std::string(path) + ": "))
        << path;
  }
  EXPECT_THAT(usage_message([&] { load_sparse("../secret", folder.path() / "data"); }),
              ::testing::StartsWith("../secret: no such file"));
  EXPECT_THAT(usage_message([&] { load_images("../mnist", folder.path()); }),
              HasSubstr("images are taken by name, not from a path; known: "));
}

TEST(Catalogue, PathsOfAStudyBeginAtItsFolderAndNamesStayNames) {
  EXPECT_EQ(data_in_study("mine.svm", "studies"), "studies/mine.svm");
  EXPECT_EQ(data_in_study("./mine", "studies"), "studies/./mine");
  EXPECT_EQ(data_in_study("/data/mine", "studies"), "/data/mine");
  EXPECT_EQ(data_in_study("mine.svm", ""), "mine.svm");
  for (const char* const name : {"a9a", "synthetic-logistic", "mine", ""}) {
    EXPECT_EQ(data_in_study(name, "studies"), name);
  }
}

TEST(Catalogue, TellsImagesFromFeatureVectors) {
  EXPECT_THAT(usage_message([] { load_sparse("mnist", "d"); }),
              AllOf(HasSubstr("'mnist' holds images"), HasSubstr("a9a")));
  EXPECT_THAT(usage_message([] { load_images("a9a", "d"); }),
              AllOf(HasSubstr("'a9a' holds feature vectors"), HasSubstr("mnist")));
  EXPECT_THAT(usage_message([] { load_images_test("a9a", "d"); }), HasSubstr("feature vectors"));
}

TEST(DataDirectory, IsTheFlagElseTheVariableElseData) {
  ASSERT_EQ(setenv("RESIDUUM_DATA", "/from/variable", 1), 0);  // NOLINT(concurrency-mt-unsafe)
  EXPECT_EQ(data_directory("flag"), "flag");
  EXPECT_EQ(data_directory(std::nullopt), "/from/variable");
  ASSERT_EQ(setenv("RESIDUUM_DATA", "", 1), 0);  // NOLINT(concurrency-mt-unsafe)
  EXPECT_EQ(data_directory(std::nullopt), "data");
  ASSERT_EQ(unsetenv("RESIDUUM_DATA"), 0);  // NOLINT(concurrency-mt-unsafe)
  EXPECT_EQ(data_directory(std::nullopt), "data");
  EXPECT_THAT(usage_message([] { data_directory(""); }), HasSubstr("--data-dir is empty"));
}

}  // namespace
}  // namespace residuum
