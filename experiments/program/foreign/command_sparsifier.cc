// The claims of a study about a program become the law of the sparsifier, and every message is
// checked against them:
//   k, density     at most so many entries are not zero
//   contraction    |a - C(a)|^2 <= (1 - contraction) |a|^2 for every message, but with
//                  pathwise = false in the mean over draws alone, which no message can break
//   omega          the same with omega in the place of 1 - contraction, in the mean
//   deterministic  C(a) is a function of a: every 64th message of a worker is asked for twice, with
//                  another seed, and must have the same bits
//   unbiased       E C(a) = a, which no message can break
// C(a) is rounded to float32, so that |a - C(a)|^2/|a|^2 may be larger by kSingleRounding.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "assumptions/testing/compressor_session.h"
#include "core/config/amount.h"
#include "core/output_file.h"
#include "core/sparsifiers/sparsifier.h"
#include "experiments/program/foreign/child_process.h"
#include "experiments/program/foreign/compressor_frames.h"
#include "objectives/data/npy.h"

namespace residuum {
namespace {

constexpr double kStopGrace = 10;  // seconds for the message that is waited for
constexpr std::uint64_t kMessagesPerRepetition = 64;

struct CommandSettings {
  std::vector<std::string> words;
  std::string shown;  // the words, for messages
  std::string timeout_place;
  bool per_worker = false;
  double timeout_s = 30;
  std::optional<Amount> amount;
  std::optional<double> contraction;
  std::optional<double> omega;
  bool pathwise = true;
  bool unbiased = false;
  bool deterministic = false;

  /// Returns the part of |a|^2 that no message may exceed; absent where none is claimed.
  std::optional<double> largest_loss() const {
    if (contraction && pathwise) {
      return 1 - *contraction;
    }
    return deterministic ? omega : std::nullopt;
  }
};

std::vector<std::string> read_words(const Section& section) {
  const char* const key = "command";
  const auto value = section.any(key);
  require(value.is_array() && !value.empty(),
          "{} must be a list of words, the program and its arguments, such as "
          "[\"python3\", \"mine.py\"]",
          section.has(key) ? section.where(key) : fmt::format("'{}.{}'", section.name(), key));
  std::vector<std::string> words;
  for (const auto& word : value) {
    require(word.is_string(), "{}: the word {} is not a text", section.where(key), shown(word));
    words.push_back(word.get<std::string>());
    require(words.back().find('\0') == std::string::npos,
            "{}: a word has a zero byte, which no argument can have",
            section.where(key));
  }
  require(!words.front().empty(), "{}: the program has no name", section.where(key));
  return words;
}

/// The time for an answer is no part of what a run is, so that it is not recorded.
double read_timeout(const Section& section) {
  constexpr double kDefault = 30;
  constexpr double kLongest = 1e6;
  if (!section.has("timeout_s")) {
    return kDefault;
  }
  const auto given = section.given()["timeout_s"];
  require(given.is_number() && given.get<double>() > 0 && given.get<double>() <= kLongest,
          "{} must be seconds above 0, at most {}; got {}",
          section.where("timeout_s"),
          kLongest,
          shown(given));
  return given.get<double>();
}

std::optional<double> read_claim(const Section& section, const char* key) {
  return section.has(key) ? std::optional(section.number(key)) : std::nullopt;
}

CommandSettings read_command(const Section& section) {
  CommandSettings settings;
  settings.words = read_words(section);
  settings.shown = fmt::format("{}", fmt::join(settings.words, " "));
  settings.per_worker = section.flag("per_worker", false);
  settings.timeout_s = read_timeout(section);
  settings.amount = Amount::if_given(section);
  require(
      !section.has("schedule"),
      "{}: the program is not told how many entries to keep, so that no schedule can change it; "
      "take the key out",
      section.where("schedule"));
  settings.contraction = read_claim(section, "contraction");
  settings.omega = read_claim(section, "omega");
  settings.pathwise = section.flag("pathwise", true);
  settings.unbiased = section.flag("unbiased", false);
  settings.deterministic = section.flag("deterministic", false);
  require(!settings.contraction || (*settings.contraction >= 0 && *settings.contraction < 1),
          "{} must be from 0 to below 1, got {}; use kind \"none\" to send everything",
          section.where("contraction"),
          settings.contraction.value_or(0));
  require(!settings.omega || (*settings.omega >= 0 && std::isfinite(*settings.omega)),
          "{} must be a number from 0 up, got {}",
          section.where("omega"),
          settings.omega.value_or(0));
  require(!(settings.contraction && settings.omega),
          "{} and {}: give one of them",
          section.where("contraction"),
          section.where("omega"));
  require(!(settings.unbiased && settings.deterministic),
          "{} and {} exclude each other: an unbiased rule that is not random sends everything; "
          "take one out",
          section.where("unbiased"),
          section.where("deterministic"));
  return settings;
}

/// The question that a program answers with a message: a vector of one worker, and a seed.
struct Question {
  int worker = 0;
  std::uint64_t iteration = 0;
  laws::Tensor tensor;
  std::uint64_t seed = 0;
  std::span<const float> x;
};

/// The bytes of an answer and the numbers in them.
struct AnsweredBytes {
  std::string bytes;
  std::string_view output;
};

float single_at(std::string_view output, std::size_t i) {
  float value = 0;
  std::memcpy(&value, output.data() + i * sizeof(float), sizeof(float));
  return value;
}

/// CommandProcesses are the programs of a run in this process: one, or one for each worker.
class CommandProcesses {
 public:
  CommandProcesses(std::shared_ptr<const CommandSettings> settings, const RunPlace& place)
      : settings_(std::move(settings)), vectors_(place.vectors) {
    const int programs = settings_->per_worker ? place.count : std::min(place.count, 1);
    for (int i = 0; i < programs; ++i) {
      start(number_of(place.first + i));
    }
  }

  /// Returns the answer of the worker's program; every fault of it is an Error that names the
  /// command, worker and iteration.
  AnsweredBytes ask(const Question& question) {
    try {
      ChildProcess& process = program_of(question.worker);
      AnswerView view;
      compressor_request(question.tensor, question.seed, question.x, request_);
      auto bytes =
          process.exchange(request_, [&](std::string_view so_far) -> std::optional<std::size_t> {
            const auto found = view_answer(so_far, question.tensor.shape);
            view = found.value_or(AnswerView());
            return found ? std::optional(found->size) : std::nullopt;
          });
      require(bytes.has_value(), "no answer came: {}", bytes ? "" : process.ending());
      require(view.refusal.empty(), "it refuses the vector: {}", view.refusal);
      AnsweredBytes answer{.bytes = *std::move(bytes), .output = {}};
      answer.output = view_answer(answer.bytes, question.tensor.shape)->output;
      return answer;
    } catch (const Error& error) {
      if (error.code() == ExitCode::stopped) {
        throw;
      }
      throw failure(question, error.what());
    }
  }

  void recycle(int worker, AnsweredBytes answer) {
    program_of(worker).recycle(std::move(answer.bytes));
  }

  /// Ends the run because these answers to the question break a claim. They are saved beside the
  /// run's folder, one in a row, for `residuum check` with `options`; without options the fault is
  /// in the program itself.
  [[noreturn]] void refute(const Question& question,
                           std::span<const std::string_view> answers,
                           const std::string& what,
                           const std::string& options) const {
    const std::string stem =
        fmt::format("{}.worker-{}.", vectors_.filename().string(), question.worker);
    const OutputPath folder(vectors_.parent_path());
    const OutputPath input(folder.path() / (stem + "input.npy"));
    const OutputPath output(folder.path() / (stem + "output.npy"));
    const std::array<std::size_t, 2> shape{answers.size(), question.x.size()};
    const std::string head = npy_header(NpyType::float32, shape);
    std::string inputs = head;
    std::string outputs = head;
    for (const std::string_view answer : answers) {
      inputs.append(std::string_view(reinterpret_cast<const char*>(question.x.data()),  // NOLINT
                                     question.x.size_bytes()));
      outputs.append(answer);
    }
    write_file_atomically(input, inputs);
    write_file_atomically(output, outputs);
    const std::string look = options.empty()
                                 ? fmt::format(
                                       "look with residuum check -- {}; the vector and its answers "
                                       "are in {} and {}",
                                       settings_->shown,
                                       input.string(),
                                       output.string())
                                 : fmt::format("look with residuum check {} --input {} --output {}",
                                               options,
                                               input.string(),
                                               output.string());
    throw failure(question, fmt::format("{}; {}", what, look));
  }

  /// Throws an Error about a number that the program cannot be asked about, or has answered.
  [[noreturn]] void refuse_number(const Question& question,
                                  const char* what,
                                  std::size_t entry,
                                  double value) const {
    throw failure(question, fmt::format("{}: entry {} is {}", what, entry, value));
  }

  /// Returns the accumulator as the float32 of a frame.
  static std::span<const float> as_singles(std::span<const float> accumulator) {
    return accumulator;
  }
  std::span<const float> as_singles(std::span<const double> accumulator) {
    singles_.resize(accumulator.size());
    std::transform(accumulator.begin(), accumulator.end(), singles_.begin(), [](double value) {
      return static_cast<float>(value);
    });
    return singles_;
  }

 private:
  int number_of(int worker) const { return settings_->per_worker ? worker : 0; }

  ChildProcess& start(int number) {
    auto& process = processes_[number];
    process = std::make_unique<ChildProcess>(
        settings_->words,
        ChildProcess::Limits{.timeout_s = settings_->timeout_s,
                             .more_time = "'sparsifier.timeout_s' gives it longer",
                             .stop_grace_s = std::min(kStopGrace, settings_->timeout_s)});
    return *process;
  }

  ChildProcess& program_of(int worker) {
    const auto found = processes_.find(number_of(worker));
    return found == processes_.end() ? start(number_of(worker)) : *found->second;
  }

  /// It is no usage error: in a run that was resumed one would speak against the checkpoint.
  Error failure(const Question& question, std::string_view what) const {
    return {ExitCode::runs_failed,
            fmt::format("command '{}', worker {}, iteration {}: {}",
                        settings_->shown,
                        question.worker,
                        question.iteration,
                        what)};
  }

  std::shared_ptr<const CommandSettings> settings_;
  std::filesystem::path vectors_;
  std::map<int, std::unique_ptr<ChildProcess>> processes_;
  std::string request_;
  std::vector<float> singles_;  // an accumulator of the other precision
};

class CommandSparsifier final : public SparsifierFor<CommandSparsifier> {
 public:
  explicit CommandSparsifier(const Section& section)
      : settings_(std::make_shared<const CommandSettings>(read_command(section))) {}
  CommandSparsifier(std::shared_ptr<const CommandSettings> settings, const RunPlace& place)
      : settings_(std::move(settings)),
        processes_(std::make_unique<CommandProcesses>(settings_, place)) {}

  template <class Real>
  void select(std::span<const Real> accumulator,
              const SelectionContext& context,
              SelectWorkspace& workspace,
              Message<Real>& message) const {
    require(processes_ != nullptr,
            "command '{}' is not started: only a run does that",
            settings_->shown);
    const Question question{
        .worker = context.worker,
        .iteration = context.iteration,
        .tensor = {.name = workspace.parts.size() == 1
                               ? fmt::format("worker-{}", context.worker)
                               : fmt::format("worker-{}/layer-{}", context.worker, workspace.part),
                   .shape = {accumulator.size()}},
        .seed = frame_seed(selection_stream(context, /*shared=*/false).bits64()),
        .x = processes_->as_singles(accumulator)};
    for (std::size_t i = 0; i < question.x.size(); ++i) {
      if (!std::isfinite(question.x[i])) {
        processes_->refuse_number(question,
                                  "an accumulator is too large for the float32 of a frame",
                                  i,
                                  static_cast<double>(accumulator[i]));
      }
    }
    AnsweredBytes answer = processes_->ask(question);
    take(question, answer.output, accumulator, message);
    if (settings_->deterministic && context.messages_before() % kMessagesPerRepetition == 0) {
      ask_again(question, answer.output);
    }
    processes_->recycle(question.worker, std::move(answer));
  }

  std::optional<std::size_t> k(std::size_t dimension) const override {
    return settings_->amount ? std::optional(settings_->amount->resolve(dimension)) : std::nullopt;
  }

  /// Variance omega below 1 is a contraction in the mean.
  SparsifierLaw law(std::size_t /*dimension*/, double /*step_size*/) const override {
    const auto& omega = settings_->omega;
    SparsifierLaw law{.contraction = settings_->contraction,
                      .pathwise = settings_->largest_loss().has_value(),
                      .threshold = std::nullopt};
    if (omega && *omega < 1) {
      law.contraction = 1 - *omega;
    }
    law.deterministic = settings_->deterministic;
    law.unbiased = settings_->unbiased;
    law.claimed = true;
    return law;
  }

  std::unique_ptr<Sparsifier> started(const RunPlace& place) const override {
    return std::make_unique<CommandSparsifier>(settings_, place);
  }
  bool can_fail() const override { return true; }

 private:
  /// message := the answer, if it keeps the claims.
  template <class Real>
  void take(const Question& question,
            std::string_view output,
            std::span<const Real> accumulator,
            Message<Real>& message) const {
    message.everything = false;
    message.entries.clear();
    double lost = 0;
    double whole = 0;
    for (std::size_t i = 0; i < accumulator.size(); ++i) {
      const float value = single_at(output, i);
      const auto a = static_cast<double>(accumulator[i]);
      const double left = a - static_cast<double>(value);
      whole += a * a;
      lost += left * left;
      if (value != 0) {
        message.entries.push_back(static_cast<std::uint32_t>(i), static_cast<Real>(value));
      }
    }
    if (!std::isfinite(lost)) {
      refuse_infinite(question, output);
    }
    const std::array answers{output};
    const std::size_t sent = message.entries.size();
    const std::size_t most = k(accumulator.size()).value_or(sent);
    if (sent > most) {
      processes_->refute(
          question,
          answers,
          fmt::format("{} entries are not zero, but the study claims at most k = {}", sent, most),
          fmt::format("--k {}", most));
    }
    const auto largest = settings_->largest_loss();
    if (largest && lost > (*largest + laws::kSingleRounding) * whole) {
      processes_->refute(
          question,
          answers,
          fmt::format("|a - C(a)|^2 = {:.6g} |a|^2, but the study claims at most {:.6g}",
                      lost / whole,
                      *largest),
          settings_->contraction ? fmt::format("--contraction {}", *settings_->contraction)
                                 : fmt::format("--omega {}", *settings_->omega));
    }
  }

  /// A difference can be infinite though all numbers are finite: then it is only large.
  void refuse_infinite(const Question& question, std::string_view output) const {
    for (std::size_t i = 0; i < question.x.size(); ++i) {
      const auto value = static_cast<double>(single_at(output, i));
      if (!std::isfinite(value)) {
        processes_->refuse_number(question, "the answer to finite numbers is not finite", i, value);
      }
    }
  }

  void ask_again(const Question& question, std::string_view output) const {
    Question other = question;
    other.seed ^= 1U;
    const AnsweredBytes again = processes_->ask(other);
    if (again.output != output) {
      const std::array answers{output, again.output};
      processes_->refute(question,
                         answers,
                         "the same vector with another seed has another answer, but the study "
                         "claims that the rule is deterministic",
                         "");
    }
  }

  std::shared_ptr<const CommandSettings> settings_;
  std::unique_ptr<CommandProcesses> processes_;  // null before a run
};

}  // namespace

Entry<Sparsifier> command_entry() {
  return {"command",
          "a program of the user's in any language, by pipes; a run asks for --allow-commands",
          "experiments/studies/compressors",
          R"({"command": ["python3", "mine.py"]})",
          make_component<Sparsifier, CommandSparsifier>,
          "command"};
}

}  // namespace residuum
