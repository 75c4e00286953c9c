#include "experiments/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <unistd.h>

namespace residuum {
namespace {

constexpr std::array kMarks{0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0};

double mark_after(double fraction) {
  const auto* const next = std::upper_bound(kMarks.begin(), kMarks.end(), fraction);
  return next == kMarks.end() ? 2 : *next;  // 2: beyond the end
}

}  // namespace

void say(const std::string& text) { fmt::print(stderr, "{}\n", text); }

Progress::Progress(ProgressStyle style, std::size_t runs)
    : style_(style), runs_(runs), next_(kMarks.front()) {
  if (style_ == ProgressStyle::automatic) {
    style_ = isatty(STDERR_FILENO) != 0 ? ProgressStyle::bar : ProgressStyle::lines;
  }
}

void Progress::start_run(const std::string& label) { label_ = label; }

void Progress::iteration(std::uint64_t done, std::uint64_t total) {
  if (style_ == ProgressStyle::none) {
    return;
  }
  const double of_run = static_cast<double>(done) / static_cast<double>(total);
  const double fraction = (static_cast<double>(finished_) + of_run) / static_cast<double>(runs_);
  // The clock is asked rarely: an iteration can be a few microseconds.
  constexpr std::uint64_t kStride = 64;
  const auto patience =
      style_ == ProgressStyle::bar ? std::chrono::seconds(1) : std::chrono::seconds(60);
  const bool late = done % kStride == 0 && Clock::now() - shown_ > patience;
  if (fraction >= next_ || late) {
    show(fraction);
  }
}

void Progress::show(double fraction) {
  shown_ = Clock::now();
  next_ = mark_after(fraction);
  if (style_ == ProgressStyle::bar) {
    bar(fraction);
  } else {
    say(fmt::format("{:3.0f} %  run {} of {}: {}",
                    100 * fraction,
                    std::min(finished_ + 1, runs_),
                    runs_,
                    label_));
  }
}

void Progress::bar(double fraction) const {
  constexpr int kWidth = 30;
  const int filled = static_cast<int>(fraction * kWidth);
  fmt::print(stderr,
             "\r\x1b[K{:#<{}}{:.<{}} {:3.0f} %  run {} of {}: {}",
             "",
             filled,
             "",
             kWidth - filled,
             100 * fraction,
             std::min(finished_ + 1, runs_),
             runs_,
             label_);
  if (fraction >= 1) {
    fmt::print(stderr, "\n");
  }
}

void Progress::end_run(const std::string& outcome, bool remarkable) {
  ++finished_;
  if (style_ == ProgressStyle::none || !remarkable) {
    return;
  }
  const char* start = style_ == ProgressStyle::bar ? "\r\x1b[K" : "";
  fmt::print(stderr, "{}run {} of {}: {}: {}\n", start, finished_, runs_, label_, outcome);
}

}  // namespace residuum
