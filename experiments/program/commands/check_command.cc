// `residuum check` looks at the laws of a compressor in any language, which it starts and talks to
// over pipes, or of which the user brings inputs and outputs.

#include <fmt/format.h>

#include <memory>
#include <string_view>
#include <unistd.h>

#include "assumptions/testing/compressor_laws.h"
#include "core/random/random.h"
#include "core/text.h"
#include "experiments/program/commands/commands.h"
#include "experiments/program/commands/vectors_file.h"
#include "experiments/program/console/streams.h"
#include "experiments/program/foreign/child_process.h"
#include "experiments/program/foreign/compressor_frames.h"
#include "reports/results/result_folder.h"

namespace residuum {
namespace {

constexpr std::size_t kMostEntries = 10'000'000;

/// A compressor that is a program. It is started when it is first asked after a restart, or after
/// it has ended. After a restart the requests have the same seeds again, each another.
class PipedCompressor final : public laws::Compressor {
 public:
  PipedCompressor(std::vector<std::string> words, double timeout_s)
      : words_(std::move(words)), timeout_s_(timeout_s) {}

  laws::CompressorAnswer compress(const laws::Tensor& tensor, std::span<const float> x) override {
    if (!process_) {
      process_ = std::make_unique<ChildProcess>(
          words_,
          ChildProcess::Limits{.timeout_s = timeout_s_, .more_time = "--timeout gives it longer"});
    }
    RandomStream random(3, Purpose::test, 0, requests_++);
    compressor_request(tensor, frame_seed(random.bits64()), x, request_);
    const auto bytes =
        process_->exchange(request_, [&](std::string_view so_far) -> std::optional<std::size_t> {
          const auto parsed = parse_answer(so_far, tensor.shape);
          return parsed ? std::optional(parsed->size) : std::nullopt;
        });
    if (bytes) {
      return parse_answer(*bytes, tensor.shape)->answer;
    }
    laws::CompressorAnswer none;
    none.refusal = process_->ending();
    none.ended = true;
    process_.reset();
    return none;
  }

  void restart() override {
    process_.reset();
    requests_ = 0;
  }

 private:
  std::vector<std::string> words_;
  double timeout_s_;
  std::uint32_t requests_ = 0;
  std::string request_;
  std::unique_ptr<ChildProcess> process_;
};

/// "60" or "6x10".
std::vector<std::size_t> parse_shape_option(const std::string& text) {
  std::vector<std::size_t> shape;
  std::size_t entries = 1;
  std::string_view left = text;
  for (;;) {
    const auto size = leading_number<std::size_t>(left);
    const bool is_size = size && size->number >= 1 && size->number <= kMostEntries / entries;
    require(is_size && (size->rest.empty() || size->rest.front() == 'x'),
            "--shape is '{}', but must be sizes like 60 or 6x10, at most {} entries in all",
            text,
            kMostEntries);
    shape.push_back(size->number);
    entries *= size->number;
    if (size->rest.empty()) {
      return shape;
    }
    left = size->rest.substr(1);
  }
}

void check_numbers(const Options& options) {
  const CheckOptions& given = options.check;
  constexpr double kLongest = 1e6;
  constexpr std::int64_t kFewestDraws = 100;
  constexpr std::int64_t kMostDraws = 10'000'000;
  require(given.timeout_s > 0 && given.timeout_s <= kLongest,
          "--timeout is {}, but must be seconds above 0",
          given.timeout_s);
  require(given.draws >= kFewestDraws && given.draws <= kMostDraws,
          "--draws is {}, but must be from {} to {}",
          given.draws,
          kFewestDraws,
          kMostDraws);
  require(!given.contraction || (*given.contraction >= 0 && *given.contraction <= 1),
          "--contraction is {}, but must be from 0 to 1",
          given.contraction.value_or(0));
  require(!given.omega || *given.omega >= 0,
          "--omega is {}, but must not be negative",
          given.omega.value_or(0));
  require(!(given.contraction && given.omega), "give one of --contraction and --omega");
  require(given.decay > 0 && given.decay <= 1,
          "--decay is {}, but must be above 0 and at most 1",
          given.decay);
  require(given.decay == 1 || given.memory, "--decay is that of a memory: say --memory too");
  require(!(given.unbiased && given.memory),
          "--unbiased and --memory exclude each other: with a memory a single answer is biased; "
          "leave one out");
}

laws::CompressorClaims claims_of(const Options& options, std::size_t dimension) {
  const CheckOptions& given = options.check;
  check_numbers(options);
  require(!options.k || (*options.k >= 1 && static_cast<std::size_t>(*options.k) <= dimension),
          "--k is {}, but must be from 1 to {}, the entries of a vector",
          options.k.value_or(0),
          dimension);
  return {.k = options.k ? std::optional(static_cast<std::size_t>(*options.k)) : std::nullopt,
          .contraction = given.contraction,
          .omega = given.omega,
          .unbiased = given.unbiased,
          .random = given.random || given.unbiased,
          .has_memory = given.memory,
          .decay = given.decay,
          .finite_only = given.finite_only};
}

std::vector<laws::LawFinding> findings_of_program(const Options& options) {
  const CheckOptions& given = options.check;
  const laws::CompressorCases cases{
      .shape = parse_shape_option(given.shape.value_or("60")),
      .lengths = given.shape ? std::vector<std::size_t>()
                             : std::vector<std::size_t>(laws::kUsualLengths.begin(),
                                                        laws::kUsualLengths.end()),
      .draws = static_cast<std::size_t>(std::max<std::int64_t>(given.draws, 1))};
  std::size_t dimension = 1;
  for (const std::size_t size : cases.shape) {
    dimension *= size;
  }
  const auto claims = claims_of(options, dimension);
  PipedCompressor compressor(given.command, given.timeout_s);
  const bool shows_progress = ::isatty(STDERR_FILENO) == 1;
  const auto show = [&](std::string_view law) {
    if (shows_progress) {
      say_raw(fmt::format("\r\x1b[K{}", law.empty() ? "" : fmt::format("looking at {} ...", law)));
    }
  };
  auto findings = laws::check_compressor(compressor, claims, cases, show);
  show("");
  return findings;
}

std::vector<laws::LawFinding> findings_of_files(const Options& options) {
  const CheckOptions& given = options.check;
  require(!given.unbiased, "--unbiased needs many draws, and so a command; give one after --");
  const auto inputs = read_vectors(given.input);
  const auto outputs = read_vectors(given.output);
  const auto claims = claims_of(options, inputs.front().size());
  return laws::check_compressed_pairs(inputs, outputs, claims);
}

const char* verdict_of(const laws::LawFinding& finding) {
  if (!finding.holds) {
    return "not looked at";
  }
  return *finding.holds ? "holds" : "violated";
}

void print_findings(const std::vector<laws::LawFinding>& findings, bool violated, bool json) {
  if (!json) {
    for (const auto& finding : findings) {
      fmt::print("{:<13} {:<14} {}\n", finding.law, verdict_of(finding), finding.explanation);
    }
    return;
  }
  reports::Json laws = reports::Json::array();
  for (const auto& finding : findings) {
    laws.push_back({{"law", finding.law},
                    {"verdict", verdict_of(finding)},
                    {"explanation", finding.explanation}});
  }
  print_json(reports::Json{{"verdict", violated ? "violated" : "not violated"}, {"laws", laws}},
             -1);
}

}  // namespace

ExitCode check_command(const Options& options) {
  const CheckOptions& given = options.check;
  const bool has_files = !given.input.empty() || !given.output.empty();
  const bool has_both_files = !given.input.empty() && !given.output.empty();
  require(
      given.command.empty() ? has_both_files : !has_files,
      "give a command after --, as in 'residuum check --k 6 -- python3 mine.py', or --input and "
      "--output");
  require(given.command.empty() || !given.command.front().empty(), "the command has no name");
  const auto findings = has_files ? findings_of_files(options) : findings_of_program(options);
  bool violated = false;
  for (const auto& finding : findings) {
    violated = violated || finding.holds == false;
  }
  print_findings(findings, violated, options.json);
  return violated ? ExitCode::check_failed : ExitCode::done;
}

}  // namespace residuum
