#include "experiments/program/console/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>
#include <unistd.h>

#include "core/text.h"
#include "experiments/program/console/streams.h"

namespace residuum {
namespace {

constexpr std::array kMarks{0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0};

constexpr std::string_view kNewLine = "\r\x1b[K";  // writes over the bar

double mark_after(double fraction) {
  const auto* const next = std::upper_bound(kMarks.begin(), kMarks.end(), fraction);
  return next == kMarks.end() ? 2 : *next;  // 2: beyond the end
}

}  // namespace

Progress::Progress(ProgressStyle style, bool speaks, std::size_t runs, int groups)
    : style_(speaks ? style : ProgressStyle::none),
      speaks_(speaks),
      runs_(runs),
      alone_(groups == 1),
      next_(kMarks.front()) {
  if (style_ == ProgressStyle::automatic) {
    style_ = isatty(STDERR_FILENO) != 0 ? ProgressStyle::bar : ProgressStyle::lines;
  }
  if (style_ == ProgressStyle::bar && !alone_) {
    style_ = ProgressStyle::lines;
  }
}

void Progress::start_run(std::size_t position, const std::string& label) {
  position_ = position;
  label_ = label;
  if (!alone_) {
    next_ = kMarks.front();
  }
}

void Progress::iteration(std::uint64_t done, std::uint64_t total) {
  if (style_ == ProgressStyle::none) {
    return;
  }
  const double of_run = static_cast<double>(done) / static_cast<double>(total);
  const double fraction =
      alone_ ? (static_cast<double>(position_) + of_run) / static_cast<double>(runs_) : of_run;
  // The clock is asked rarely: an iteration can be a few microseconds.
  constexpr std::uint64_t kStride = 64;
  const auto patience =
      style_ == ProgressStyle::bar ? std::chrono::seconds(1) : std::chrono::seconds(60);
  const bool late = done % kStride == 0 && Clock::now() - shown_ > patience;
  constexpr auto kBreath = std::chrono::seconds(10);
  const bool due = fraction >= next_ && (alone_ || Clock::now() - shown_ > kBreath);
  if (due || late) {
    show(fraction);
  }
}

void Progress::show(double fraction) {
  shown_ = Clock::now();
  next_ = mark_after(fraction);
  if (style_ == ProgressStyle::bar) {
    bar(fraction);
  } else if (alone_) {
    say(fmt::format("{:3.0f} %  {}", 100 * fraction, run_name()));
  } else {
    say(fmt::format("{}: {:.0f} %", run_name(), 100 * fraction));
  }
}

void Progress::bar(double fraction) const {
  constexpr int kWidth = 30;
  const int filled = static_cast<int>(fraction * kWidth);
  say_raw(fmt::format("{}{:#<{}}{:.<{}} {:3.0f} %  {}{}",
                      kNewLine,
                      "",
                      filled,
                      "",
                      kWidth - filled,
                      100 * fraction,
                      harmless(run_name()),
                      fraction >= 1 ? "\n" : ""));
}

void Progress::end_run(const std::string& outcome, Notice notice) const {
  const bool is_wanted =
      notice == Notice::trouble || (notice == Notice::progress && style_ != ProgressStyle::none);
  if (!speaks_ || !is_wanted) {
    return;
  }
  if (style_ == ProgressStyle::bar) {
    say_raw(kNewLine);
  }
  say(fmt::format("{}: {}", run_name(), outcome));
}

std::string Progress::run_name() const {
  return fmt::format("run {} of {}: {}", position_ + 1, runs_, label_);
}

}  // namespace residuum
