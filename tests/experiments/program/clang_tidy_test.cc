// tests/clang_tidy looks only at files that are not known to be clean. clang-tidy itself is played
// by a script that notes the files it is given and finds fault with the word "fault".

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "tests/experiments/support.h"

namespace residuum {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ClangTidy : public testing::Test {
 protected:
  ClangTidy() {
    for (const char* name :
         {"bin", "core", "objectives", "assumptions", "reports", "experiments"}) {
      std::filesystem::create_directories(folder_.path() / name);
    }
    std::filesystem::create_directories(folder_.path() / "tests");
    std::filesystem::copy_file(std::filesystem::path(RESIDUUM_STUDIES) / "../tests/clang_tidy",
                               folder_.path() / "tests/clang_tidy");
    folder_.write(".clang-tidy", "Checks: all\n");
    folder_.write("core/a.h", "int a();\n");
    folder_.write("core/a.cc", "#include \"core/a.h\"\n");
    folder_.write("core/b.cc", "int b();\n");
    const auto program = folder_.write("bin/clang-tidy",
                                       "#!/bin/bash\n"
                                       "[[ $1 == --version ]] && echo 1 && exit\n"
                                       "echo \"${@: -1}\" >>looked_at\n"
                                       "! grep fault \"${@: -1}\"\n");
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    begin_build();
  }

  /// Makes an empty build folder, as in a clone that has not been built.
  void begin_build() const {
    std::filesystem::remove_all(folder_.path() / "build");
    std::filesystem::create_directories(folder_.path() / "build");
    folder_.write("build/compile_commands.json", "[\n]\n");
  }

  int tidy(const std::string& first, const std::string& second) const {
    return run_program({"env",
                        "PATH=" + (folder_.path() / "bin").string() + ":/usr/bin:/bin",
                        "bash",
                        "tests/clang_tidy",
                        first,
                        second},
                       folder_.path())
        .code;
  }

  /// The files that were looked at since the last call, in order.
  std::vector<std::string> looked_at() const {
    std::istringstream lines(read_text(folder_.path() / "looked_at"));
    std::filesystem::remove(folder_.path() / "looked_at");
    std::vector<std::string> files;
    for (std::string line; std::getline(lines, line);) {
      files.push_back(line);
    }
    std::sort(files.begin(), files.end());
    return files;
  }

  TemporaryFolder folder_;
};

TEST_F(ClangTidy, LooksOnceAtWhatIsClean) {
  EXPECT_EQ(tidy("build", "core"), 0);
  EXPECT_THAT(looked_at(), ElementsAre("core/a.cc", "core/b.cc"));
  EXPECT_EQ(tidy("build", "core"), 0);
  EXPECT_THAT(looked_at(), IsEmpty());
}

TEST_F(ClangTidy, LooksInAnotherCloneOnlyAtWhatIsNotRecorded) {
  ASSERT_EQ(tidy("build", "core"), 0);
  ASSERT_EQ(tidy("--record", "build"), 0);
  looked_at();
  begin_build();
  EXPECT_EQ(tidy("build", "core"), 0);
  EXPECT_THAT(looked_at(), IsEmpty());

  folder_.write("core/a.h", "int a(int);\n");
  EXPECT_EQ(tidy("build", "core"), 0);
  EXPECT_THAT(looked_at(), ElementsAre("core/a.cc"));
  folder_.write(".clang-tidy", "Checks: more\n");
  EXPECT_EQ(tidy("build", "core"), 0);
  EXPECT_THAT(looked_at(), ElementsAre("core/a.cc", "core/b.cc"));
}

TEST_F(ClangTidy, NeverRecordsAFileWithAFault) {
  folder_.write("core/b.cc", "int fault();\n");
  EXPECT_NE(tidy("build", "core"), 0);
  ASSERT_EQ(tidy("--record", "build"), 0);

  EXPECT_THAT(read_text(folder_.path() / "tests/clang_tidy.clean"),
              testing::MatchesRegex("[0-9a-f]+  core/a.cc\n"));
}

}  // namespace
}  // namespace residuum
