#include "experiments/progress.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <unistd.h>

namespace residuum {
namespace {

constexpr std::array kMarks{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0};

double mark_after(double fraction) {
  for (const double mark : kMarks) {
    if (mark > fraction) {
      return mark;
    }
  }
  return 2;  // beyond the end
}

}  // namespace

void say(const std::string& text) { fmt::print(stderr, "{}\n", text); }

Progress::Progress(ProgressStyle style, std::size_t runs) : style_(style), runs_(runs) {
  if (style_ == ProgressStyle::automatic) {
    style_ = isatty(STDERR_FILENO) != 0 ? ProgressStyle::bar : ProgressStyle::lines;
  }
}

void Progress::start_run(const std::string& label) {
  label_ = label;
  next_ = kMarks.front();
  shown_ = Clock::now();
}

void Progress::iteration(std::uint64_t done, std::uint64_t total) {
  if (style_ == ProgressStyle::none) {
    return;
  }
  const double fraction = static_cast<double>(done) / static_cast<double>(total);
  // The clock is asked rarely: an iteration can be a few microseconds.
  constexpr std::uint64_t kStride = 64;
  const bool late = done % kStride == 0 && Clock::now() - shown_ > (style_ == ProgressStyle::bar
                                                                        ? std::chrono::seconds(1)
                                                                        : std::chrono::seconds(60));
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
    line(fraction);
  }
}

void Progress::line(double fraction) {
  if (fraction < 1) {
    say(fmt::format("[{}/{}] {} {:.0f} %", finished_ + 1, runs_, label_, 100 * fraction));
  }
}

void Progress::bar(double fraction) {
  constexpr int kWidth = 30;
  const int filled = static_cast<int>(fraction * kWidth);
  fmt::print(stderr,
             "\r\x1b[K[{}/{}] {:#<{}}{:.<{}} {:3.0f} % {}",
             finished_ + 1,
             runs_,
             "",
             filled,
             "",
             kWidth - filled,
             100 * fraction,
             label_);
}

void Progress::end_run(const std::string& outcome) {
  ++finished_;
  if (style_ == ProgressStyle::none) {
    return;
  }
  const char* start = style_ == ProgressStyle::bar ? "\r\x1b[K" : "";
  fmt::print(stderr, "{}[{}/{}] {}: {}\n", start, finished_, runs_, label_, outcome);
}

}  // namespace residuum
