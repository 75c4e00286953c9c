// `residuum check` with compressors that break its language, and with options that make no sense.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "core/error.h"
#include "experiments/program/commands/vectors_file.h"
#include "experiments/program/foreign/compressor_frames.h"
#include "objectives/data/npy.h"
#include "tests/experiments/support.h"

namespace residuum {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<std::size_t> kTwo{2};

std::string array_of(const std::vector<float>& numbers) {
  return npy_header(NpyType::float32, std::vector<std::size_t>{numbers.size()}) +
         std::string(std::string_view(reinterpret_cast<const char*>(numbers.data()),
                                      numbers.size() * sizeof(float)));
}

std::string answer_fault(const std::string& bytes) {
  try {
    parse_answer(bytes, kTwo);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(CompressorFrames, AnAnswerIsAnArrayOrALineAndTheArraysItNames) {
  const auto bare = parse_answer(array_of({1, 2}), kTwo);
  const std::string message = npy_header(NpyType::uint8, std::vector<std::size_t>{3}) + "abc";
  const auto full = parse_answer("{\"bytes\": 3, \"residual\": true, \"message\": true}\n" +
                                     array_of({1, 2}) + array_of({3, 4}) + message,
                                 kTwo);

  EXPECT_THAT(bare.value().answer.output, ElementsAre(1, 2));
  EXPECT_EQ(bare.value().answer.declared_bytes, std::nullopt);
  EXPECT_THAT(full.value().answer.residual, ElementsAre(3, 4));
  EXPECT_EQ(full.value().answer.declared_bytes, 3U);
  EXPECT_EQ(full.value().answer.message_bytes, 3U);
  EXPECT_EQ(parse_answer("{\"error\": \"no\"}\n", kTwo).value().answer.refusal, "no");
}

TEST(CompressorFrames, AnAnswerIsIncompleteUntilItsLastByte) {
  const std::string whole = "{\"residual\": true}\n" + array_of({1, 2}) + array_of({3, 4});

  for (std::size_t seen = 0; seen < whole.size(); ++seen) {
    EXPECT_FALSE(parse_answer(whole.substr(0, seen), kTwo).has_value()) << seen;
  }
  EXPECT_EQ(parse_answer(whole + "more", kTwo).value().size, whole.size());
}

TEST(CompressorFrames, WhatCannotBecomeAnAnswerIsNamed) {
  EXPECT_THAT(answer_fault("Traceback"), HasSubstr("where the output should begin stands: Trace"));
  EXPECT_THAT(answer_fault("\x93NUMBY"), HasSubstr("no .npy file"));
  EXPECT_THAT(answer_fault("{nonsense}\n"), HasSubstr("is no JSON object"));
  EXPECT_THAT(answer_fault("{\"byte\": 3}\n"), HasSubstr("did you mean 'bytes'?"));
  EXPECT_THAT(answer_fault("{\"bytes\": -3}\n"), HasSubstr("'bytes' is -3"));
  EXPECT_THAT(answer_fault("{\"bytes\": 18446744073709551615}\n"),
              HasSubstr("'bytes' is 18446744073709551615, more than "));
  EXPECT_THAT(answer_fault("{\"error\": \"\"}\n"), HasSubstr("'error' is \"\""));
  EXPECT_THAT(answer_fault("{\"residual\": 1}\n"), HasSubstr("'residual' is 1"));
  EXPECT_THAT(answer_fault("{" + std::string(70'000, ' ')), HasSubstr("has no end"));
  EXPECT_THAT(answer_fault(array_of({1, 2, 3})), HasSubstr("the shape is (3,), not (2)"));
  EXPECT_THAT(answer_fault(npy_header(NpyType::float64, kTwo)), HasSubstr("'<f8', not '<f4'"));
  EXPECT_THAT(answer_fault("{\"message\": true}\n" + array_of({1, 2}) +
                           npy_header(NpyType::uint8, std::vector<std::size_t>{1UL << 60U})),
              HasSubstr("is more than 65664 bytes"));
  EXPECT_THAT(answer_fault(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12)),
              HasSubstr("a head of"));
}

/// Waits until a process that was killed is gone, or is a zombie that nobody has waited for.
bool has_ended(int process) {
  constexpr int kTries = 500;
  for (int i = 0; i < kTries; ++i) {
    const auto stat = read_text(fmt::format("/proc/{}/stat", process));
    if (stat.empty() || stat.find(") Z ") != std::string::npos) {
      return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

class CheckCommand : public testing::Test {
 protected:
  Finished check(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "check");
    return residuum_program(arguments, folder_.path());
  }

  /// Runs the check, expects exit code 2 and one line, and returns it.
  std::string fault(const std::vector<std::string>& arguments) const {
    const Finished finished = check(arguments);
    EXPECT_EQ(finished.code, 2) << finished.out << finished.err;
    EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
    return finished.err;
  }

  /// Runs the check with a script of the shell, expects exit code 2 and one line, and returns it.
  std::string fault_of_script(const std::string& text,
                              std::vector<std::string> options = {}) const {
    folder_.write("compressor.sh", text);
    options.insert(options.end(), {"--", "sh", "compressor.sh"});
    return fault(options);
  }

  TemporaryFolder folder_;
};

TEST_F(CheckCommand, ACompressorThatHangsIsKilledWithItsProcessGroup) {
  // The shell has five seconds to write the number of what it started, also on a busy machine.
  const auto before = std::chrono::steady_clock::now();

  const std::string line = fault_of_script("sleep 600 & echo $! > pid; wait", {"--timeout", "5"});

  EXPECT_THAT(line, HasSubstr("did not answer within 5 s, and was killed"));
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(60));
  EXPECT_TRUE(has_ended(std::stoi(read_text(folder_.path() / "pid"))));
}

TEST_F(CheckCommand, ACompressorThatHasLeftItsProcessGroupIsKilled) {
  folder_.write("leaves.py",
                "import os, time\n"
                "os.setpgid(0, os.getpgid(os.getppid()))\n"
                "open('pid', 'w').write(str(os.getpid()))\n"
                "time.sleep(600)\n");

  const std::string line = fault({"--timeout", "5", "--", "python3", "leaves.py"});

  EXPECT_THAT(line, HasSubstr("did not answer within 5 s, and was killed"));
  EXPECT_TRUE(has_ended(std::stoi(read_text(folder_.path() / "pid"))));
}

// In a session of its own it is in no group of the program's, and nobody waits for it.
TEST_F(CheckCommand, WhatACompressorHasStartedInAnotherSessionIsKilled) {
  const std::string line =
      fault_of_script("(setsid sleep 600 & echo $! > pid); sleep 600", {"--timeout", "5"});

  EXPECT_THAT(line, HasSubstr("did not answer within 5 s, and was killed"));
  EXPECT_TRUE(has_ended(std::stoi(read_text(folder_.path() / "pid"))));
}

// The request is longer than a pipe, so that it is never sent in full.
TEST_F(CheckCommand, AFloodOfAnswersBeforeTheRequestIsReadEndsIt) {
  folder_.write("floods.py",
                "import struct, sys\n"
                "head = \"{'descr': '<f4', 'fortran_order': False, 'shape': (100000,), }\\n\"\n"
                "array = b'\\x93NUMPY\\x01\\x00' + struct.pack('<H', len(head)) + head.encode()\n"
                "while True: sys.stdout.buffer.write(array + bytes(400000))\n");

  const std::string line =
      fault({"--timeout", "60", "--shape", "100000", "--", "python3", "floods.py"});

  EXPECT_THAT(line, HasSubstr("bytes more than its answer on standard output"));
}

TEST(CompressorFrames, AMessageBeyondAllUseIsRefusedByItsHead) {
  const auto answer_with = [](std::size_t bytes) {
    return "{\"message\": true}\n" + array_of({1, 2}) +
           npy_header(NpyType::uint8, std::vector<std::size_t>{bytes});
  };
  constexpr std::size_t kMost = 65536 + 2 * 64;

  EXPECT_EQ(parse_answer(answer_with(kMost), kTwo), std::nullopt);  // it is still to come
  EXPECT_THAT(answer_fault(answer_with(kMost + 1)),
              HasSubstr("the message: the shape (65665,) is more than 65664 bytes"));
  EXPECT_THAT(answer_fault(answer_with(std::size_t{1} << 32U)), HasSubstr("is more than"));
}

TEST_F(CheckCommand, ACompressorThatEndsEarlyIsQuoted) {
  EXPECT_THAT(fault_of_script("echo no module named numpy >&2; exit 3"),
              HasSubstr("it ended with exit code 3; its last line on standard error: no module "
                        "named numpy"));
  EXPECT_THAT(fault_of_script("kill -9 $$"), HasSubstr("it ended by signal 9"));
  EXPECT_THAT(fault({"true"}), HasSubstr("it ended with exit code 0"));
}

TEST_F(CheckCommand, GarbageOnThePipeIsQuoted) {
  EXPECT_THAT(fault_of_script("echo starting up; cat > /dev/null"),
              HasSubstr("where the output should begin stands: starting up"));
  EXPECT_THAT(fault({"cat"}), HasSubstr("unknown key 'seed'"));
  EXPECT_THAT(fault({"yes"}), HasSubstr("should begin stands: y"));
}

TEST_F(CheckCommand, AFloodOfStandardErrorEndsIt) {
  EXPECT_THAT(fault_of_script("yes warning >&2"),
              HasSubstr("more than 16 MiB on standard error, and was killed; its last line on "
                        "standard error: "));
}

TEST_F(CheckCommand, NoiseOnStandardErrorDoesNotBlockAnAnswer) {
  const std::string line = fault_of_script(
      "read line; head -c 1000000 /dev/zero >&2; echo "
      "'{\"error\": \"not today\"}'; cat > /dev/null");

  EXPECT_THAT(line, HasSubstr("though its numbers are finite: not today"));
}

TEST_F(CheckCommand, MoreThanOneAnswerToARequestIsAFault) {
  const std::string both = R"(read line; printf '{"error": "no"}\nmore'; cat > /dev/null)";

  EXPECT_THAT(fault_of_script(both), HasSubstr("4 bytes more than its answer"));
}

TEST_F(CheckCommand, RefusesOptionsThatMakeNoSenseInOneLine) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{}, "give a command after --"},
      {{"--input", "a.npy", "--", "true"}, "give a command after --"},
      {{"--input", "a.npy"}, "or --input and --output"},
      {{"--", ""}, "the command has no name"},
      {{"--", "no-such-program-here"}, "cannot start 'no-such-program-here'"},
      {{"--k", "0", "--", "true"}, "--k is 0, but must be from 1 to 60"},
      {{"--k", "61", "--", "true"}, "--k is 61"},
      {{"--shape", "6y10", "--", "true"}, "--shape is '6y10'"},
      {{"--shape", "0", "--", "true"}, "--shape is '0'"},
      {{"--shape", "99999999x99999999", "--", "true"}, "at most 10000000 entries"},
      {{"--contraction", "1.5", "--", "true"}, "--contraction is 1.5"},
      {{"--contraction", "nan", "--", "true"}, "--contraction is nan"},
      {{"--omega", "-1", "--", "true"}, "--omega is -1"},
      {{"--omega", "1", "--contraction", "0.5", "--", "true"}, "give one of"},
      {{"--draws", "3", "--", "true"}, "--draws is 3"},
      {{"--timeout", "0", "--", "true"}, "--timeout is 0"},
      {{"--decay", "0.5", "--", "true"}, "say --memory too"},
      {{"--decay", "0", "--memory", "--", "true"}, "--decay is 0"},
      {{"--memory", "--unbiased", "--", "true"}, "exclude each other"}};
  for (const auto& [arguments, message] : cases) {
    EXPECT_THAT(fault(arguments), HasSubstr(message));
  }
}

TEST_F(CheckCommand, InputsAndOutputsFromFilesAreJudged) {
  write_vectors(folder_.path() / "in.npy", std::vector<double>{3, 1, -3, 1}, 2);
  write_vectors(folder_.path() / "right.npy", std::vector<double>{3, 0, -3, 0}, 2);
  write_vectors(folder_.path() / "signed.npy", std::vector<double>{3, 0, 0, 1}, 2);

  const Finished right = check({"--input", "in.npy", "--output", "right.npy", "--k", "1"});
  const Finished wrong = check({"--input", "in.npy", "--output", "signed.npy", "--k", "1"});

  EXPECT_EQ(right.code, 0) << right.out << right.err;
  EXPECT_EQ(wrong.code, 4) << wrong.out << wrong.err;
  EXPECT_THAT(wrong.out, HasSubstr("row 1: |x - C(x)|^2 = 0.9 |x|^2, allowed is 0.5 |x|^2"));
  EXPECT_THAT(fault({"--input", "in.npy", "--output", "right.npy", "--unbiased"}),
              HasSubstr("--unbiased needs many draws"));
}

}  // namespace
}  // namespace residuum
