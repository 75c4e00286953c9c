#include "reports/terminal/watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <limits>
#include <string_view>
#include <system_error>

#include "core/error.h"
#include "reports/analysis/groups.h"
#include "reports/analysis/tuning_folder.h"
#include "reports/analysis/words.h"
#include "reports/results/csv.h"
#include "reports/results/files.h"
#include "reports/terminal/table.h"

namespace residuum::reports {

void BlockCurve::add(double x, double y) {
  constexpr std::size_t kMost = 1024;
  if (!std::isfinite(x) || !std::isfinite(y)) {
    return;
  }
  if (!points_.empty() && ++skipped_ < stride_) {
    return;
  }
  skipped_ = 0;
  points_.push_back({.x = x, .y = y});
  if (points_.size() < kMost) {
    return;
  }
  for (std::size_t i = 0; 2 * i < points_.size(); ++i) {
    points_[i] = points_[2 * i];
  }
  points_.resize((points_.size() + 1) / 2);
  stride_ *= 2;
}

namespace {

/// Gives stretches without a point the heights of a line between those that have some; the first
/// and the last stretch have one.
void join(std::vector<double>& means, const std::vector<double>& counts) {
  std::size_t before = 0;
  for (std::size_t i = 1; i < means.size(); ++i) {
    if (counts[i] == 0) {
      continue;
    }
    const double slope = (means[i] - means[before]) / static_cast<double>(i - before);
    for (std::size_t between = before + 1; between < i; ++between) {
      means[between] = means[before] + slope * static_cast<double>(between - before);
    }
    before = i;
  }
  std::fill(means.begin() + static_cast<std::ptrdiff_t>(before), means.end(), means[before]);
}

}  // namespace

/// Returns the mean of y in each stretch.
std::vector<double> BlockCurve::means(std::size_t width) const {
  const double first = points_.front().x;
  const double length = points_.back().x - first;
  std::vector<double> means(width, 0.0);
  std::vector<double> counts(width, 0.0);
  for (const auto& point : points_) {
    const double share = length > 0 ? (point.x - first) / length : 0;
    const auto at =
        static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(width));
    const std::size_t stretch = std::min(at, width - 1);
    ++counts[stretch];
    means[stretch] += (point.y - means[stretch]) / counts[stretch];
  }
  join(means, counts);
  return means;
}

std::string BlockCurve::blocks(std::size_t width) const {
  constexpr std::array<const char*, 8> kBlocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr double kTop = kBlocks.size() - 1;
  constexpr double kManyTimes = 100;
  if (points_.empty() || width == 0) {
    return std::string(width, ' ');
  }
  auto heights = means(width);
  const auto [least, largest] = std::minmax_element(heights.begin(), heights.end());
  if (*least > 0 && *largest >= kManyTimes * *least) {
    std::transform(
        heights.begin(), heights.end(), heights.begin(), [](double y) { return std::log(y); });
  }
  const double low = *least;
  const double range = *largest - low;
  std::string text;
  for (const double height : heights) {
    const double share = range > 0 ? (height - low) / range : 0.5;
    text += kBlocks.at(static_cast<std::size_t>(std::lround(share * kTop)));
  }
  return text;
}

namespace {

/// Returns the field in this place of a line; tables of iterations quote nothing.
std::string_view field_at(std::string_view line, std::size_t place) {
  for (; place > 0; --place) {
    const auto comma = line.find(',');
    if (comma == std::string_view::npos) {
      return {};
    }
    line.remove_prefix(comma + 1);
  }
  return line.substr(0, line.find(','));
}

/// Returns the states in the order of their lines.
constexpr std::array kOrder{"running", "failed", "interrupted", "diverged", "finished", "missing"};

int order_of(const std::string& state) {
  return static_cast<int>(std::find(kOrder.begin(), kOrder.end(), state) - kOrder.begin());
}

/// Writes "1 h 05 min", "3 min 20 s" or "12 s".
std::string duration(double seconds) {
  constexpr std::uint64_t kMinute = 60;
  constexpr std::uint64_t kHour = 3600;
  constexpr double kLongest = 1e9;
  if (!(seconds < kLongest)) {
    return "–";
  }
  const auto whole = static_cast<std::uint64_t>(std::max(0.0, seconds));
  if (whole >= kHour) {
    return fmt::format("{} h {:02} min", whole / kHour, whole % kHour / kMinute);
  }
  return whole >= kMinute ? fmt::format("{} min {:02} s", whole / kMinute, whole % kMinute)
                          : fmt::format("{} s", whole);
}

/// Returns for how many seconds a run that is alive may write nothing. It writes a block of rows at
/// a time, the next as long after the last as the first took at most, and at its checkpoints, which
/// are five minutes apart unless it was told otherwise.
double longest_silence(double written_for, bool has_rows) {
  constexpr double kLeast = 30;
  constexpr double kCheckpoints = 360;  // with the time that an iteration takes
  return has_rows ? std::clamp(written_for, kLeast, kCheckpoints) : kCheckpoints;
}

std::string share_done(std::uint64_t done, std::uint64_t length) {
  const bool is_known = length > 0 && done <= length;
  return !is_known ? fmt::format("{}", done)
                   : fmt::format("{} of {} ({} %)", done, length, 100 * done / length);
}

/// Returns in words where a run is, "pilot 2: 300 of 4000 (7 %)", also where it writes no rows.
std::string place_words(const std::optional<RunPlace>& place,
                        std::uint64_t done,
                        std::uint64_t length) {
  const std::string share = share_done(done, length);
  if (place && place->pilot > 0) {
    return fmt::format("pilot {}: {}", place->pilot, share);
  }
  return place && done > 0 && done == length ? share + ", evaluating" : share;
}

/// Returns what an iteration has taken since the process that trains began with it: a pause before
/// a resume and the pilots are left out. Absent before the first iteration.
std::optional<double> seconds_per_iteration(const Run& run,
                                            const std::optional<RunPlace>& place,
                                            std::uint64_t done,
                                            double written) {
  if (place && place->done > place->resumed_at) {
    return place->trained_s / static_cast<double>(place->done - place->resumed_at);
  }
  const auto resumed = seconds_of_utc(text_at(run.status, "resumed_utc"));
  const double before = resumed ? number_at(run.status, "resumed_at").value_or(0) : 0;
  const auto since = resumed ? resumed : seconds_of_utc(text_at(run.status, "started_utc"));
  const double made = static_cast<double>(done) - before;
  return since && made > 0 ? std::optional((written - *since) / made) : std::nullopt;
}

/// Returns how many iterations a run is to have, if it or its budget says so.
std::optional<std::uint64_t> planned_length(const Run& run) {
  constexpr double kMost = 1e15;
  auto planned = number_at(run.status, "planned_iterations");
  if (!planned && !run.has_tables()) {
    planned = number_at(run.config, "config.budget.iterations");
  }
  const bool is_count = planned && *planned >= 1 && *planned < kMost;
  return is_count ? std::optional(static_cast<std::uint64_t>(*planned)) : std::nullopt;
}

/// Returns in words whether delta has been above 1, against the assumption of gTop-k.
std::string verdict_so_far(const GrowingTable& table) {
  if (table.measured() == 0) {
    return "–";
  }
  return table.violations() == 0 ? "not so far"
                                 : fmt::format("{} of {}", table.violations(), table.measured());
}

/// Returns the last delta of a table that is complete, from its last lines alone; absent where
/// these have none.
std::optional<double> last_delta(const std::filesystem::path& path) {
  constexpr std::streamoff kTail = 1 << 16;
  std::ifstream file(path, std::ios::binary);
  std::string line;
  if (!std::getline(file, line)) {
    return std::nullopt;
  }
  std::optional<std::size_t> place;
  const auto fields = static_cast<std::size_t>(std::count(line.begin(), line.end(), ',')) + 1;
  for (std::size_t i = 0; i < fields; ++i) {
    place = field_at(line, i) == "delta" ? i : place;
  }
  const std::streamoff first = file.tellg();
  file.seekg(0, std::ios::end);
  const std::streamoff size = file.tellg();
  file.seekg(std::max(first, size - kTail));
  if (size - kTail > first) {
    std::getline(file, line);  // a part of a line
  }
  std::optional<double> last;
  while (place && std::getline(file, line)) {
    const auto delta = parsed<double>(field_at(line, *place));
    last = delta ? delta : last;
  }
  return last;
}

/// Returns whether every method of a tuned study has its best value and its runs there are known,
/// or cannot get one.
bool tuning_has_ended(const ResultFolder& folder) {
  const auto study = tuned_study(folder, group_runs(folder));
  if (!study) {
    return true;
  }
  const auto is_listed = [&](const std::string& id) {
    return std::any_of(
        folder.runs.begin(), folder.runs.end(), [&](const Run& run) { return run.id == id; });
  };
  return std::all_of(study->methods.begin(), study->methods.end(), [&](const TunedMethod& method) {
    const auto& best = method.result.best;
    return !method.result.trouble.empty() ||
           (method.result.is_over && best && is_listed(method.final[best->level].front()));
  });
}

}  // namespace

std::optional<RunPlace> place_of(const std::filesystem::path& run_folder) {
  constexpr double kMost = 1e15;
  try {
    const Json beat = read_json(run_folder / "heartbeat.json");
    const auto number = [&](const char* key) {
      const double value = number_at(beat, key).value_or(-1);
      return value >= 0 && value < kMost ? std::optional(value) : std::nullopt;
    };
    const auto done = number("iteration");
    const auto pilot = number("pilot");
    const auto every = number("every_s");
    const auto resumed_at = number("resumed_at");
    const auto trained_s = number("trained_s");
    if (done && pilot && every && resumed_at && trained_s) {
      return RunPlace{.done = static_cast<std::uint64_t>(*done),
                      .pilot = static_cast<std::uint64_t>(*pilot),
                      .every_s = *every,
                      .resumed_at = static_cast<std::uint64_t>(*resumed_at),
                      .trained_s = *trained_s};
    }
  } catch (const Error&) {
    return std::nullopt;  // the run has none yet, or none any more
  }
  return std::nullopt;
}

void GrowingTable::forget() { *this = GrowingTable(path_); }

void GrowingTable::look() {
  std::error_code error;
  const auto size = std::filesystem::file_size(path_, error);
  if (error) {
    return;
  }
  if (size < read_) {
    forget();
  }
  std::ifstream file(path_, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(read_));
  constexpr std::size_t kAtOnce = std::size_t{1} << 20U;  // no line of a table is as long
  std::string block(kAtOnce, '\0');
  while (file.read(block.data(), static_cast<std::streamsize>(block.size())) || file.gcount() > 0) {
    const std::string_view got(block.data(), static_cast<std::size_t>(file.gcount()));
    read_ += got.size();
    std::size_t begin = 0;
    for (auto end = got.find('\n'); end != std::string_view::npos; end = got.find('\n', begin)) {
      rest_ += got.substr(begin, end - begin);
      take_line(rest_);
      rest_.clear();
      begin = end + 1;
    }
    rest_ += got.substr(begin);
    require(rest_.size() <= kAtOnce, "'{}' is no table: a line has no end", path_.string());
  }
}

void GrowingTable::take_header(std::string_view line) {
  has_header_ = true;
  std::size_t place = 0;
  for (bool more = true; more; ++place) {
    const auto comma = line.find(',');
    const auto name = line.substr(0, comma);
    iteration_place_ = name == "iteration" ? place : iteration_place_;
    loss_place_ = name == "loss" ? place : loss_place_;
    delta_place_ = name == "delta" ? place : delta_place_;
    more = comma != std::string_view::npos;
    line.remove_prefix(more ? comma + 1 : line.size());
  }
}

void GrowingTable::take_line(std::string_view line) {
  if (!has_header_) {
    take_header(line);
    return;
  }
  const auto number = [&](const std::optional<std::size_t>& place) {
    return place ? parsed<double>(field_at(line, *place)) : std::nullopt;
  };
  const auto iteration =
      iteration_place_ ? parsed<std::uint64_t>(field_at(line, *iteration_place_)) : std::nullopt;
  iteration_ = iteration ? iteration : iteration_;
  const auto loss = number(loss_place_);
  loss_ = loss ? loss : loss_;
  const auto at = static_cast<double>(iteration_.value_or(0));
  if (loss) {
    losses_.add(at, *loss);
  }
  if (const auto delta = number(delta_place_)) {
    delta_ = delta;
    deltas_.add(at, *delta);
    worst_delta_ = std::max(worst_delta_.value_or(*delta), *delta);
    ++measured_;
    violations_ += *delta > 1 ? 1 : 0;
  }
}

void StudyWatch::look(double now) {
  now_ = now;
  folder_ = read_result_folders(paths_);
  is_tuned_ = folder_.tune.is_null() || tuning_has_ended(folder_);
  // The runs of a tuning come first. Here alone they stand beside the others, by their state.
  tuning_runs_ = folder_.tuning_runs.size();
  folder_.runs.insert(folder_.runs.begin(), folder_.tuning_runs.begin(), folder_.tuning_runs.end());
  places_.clear();
  for (const auto& run : folder_.runs) {
    if (run.has_tables()) {
      tables_.erase(run.id);
      if (!last_deltas_.contains(run.id)) {
        last_deltas_[run.id] = last_delta(run.folder / "iterations.csv");
      }
    } else if (run.state == "running" || run.state == "interrupted") {
      auto path = run.folder / "iterations.csv.part";
      tables_.try_emplace(run.id, std::move(path)).first->second.look();
      const auto place = run.state == "running" ? place_of(run.folder) : std::nullopt;
      if (place) {
        places_[run.id] = *place;
      }
    }
  }
}

bool StudyWatch::is_over() const {
  return is_tuned_ && std::all_of(folder_.runs.begin(), folder_.runs.end(), [](const Run& run) {
           return run.has_tables() || run.state == "failed";
         });
}

void StudyWatch::add_end(const Run& run, std::uint64_t length, Line& line) const {
  const auto done = static_cast<std::uint64_t>(number_at(run.status, "iterations").value_or(0));
  // A run that has finished is whole, also where a budget of time or gradients has ended it.
  line.cells.push_back(share_done(done, run.state == "finished" ? done : length));
  line.cells.emplace_back("–");
  line.cells.push_back(short_number(number_at(run.status, "final.loss")));
  const auto last = last_deltas_.find(run.id);
  line.cells.push_back(short_number(last == last_deltas_.end() ? std::nullopt : last->second));
  const auto worst = number_at(run.status, "totals.delta_max");
  line.cells.push_back(short_number(worst));
  line.cells.emplace_back(!worst ? "–" : *worst <= 1 ? "never" : "yes");
}

StudyWatch::Advance StudyWatch::advance_of(const Run& run,
                                           const GrowingTable& table,
                                           std::uint64_t length) const {
  const std::uint64_t rows = table.iteration() ? *table.iteration() + 1 : 0;
  const auto place = places_.find(run.id);
  // A pilot run is over where the training has rows, and rows can be newer than the last heartbeat.
  if (place != places_.end() && (place->second.pilot == 0 || rows == 0)) {
    return {.done = std::max(rows, place->second.done), .length = length, .place = place->second};
  }
  return {.done = rows, .length = length, .place = std::nullopt};
}

std::string StudyWatch::left_of(const Run& run, const Advance& advance) const {
  const auto [done, length, place] = advance;
  const auto started = seconds_of_utc(text_at(run.status, "started_utc"));
  if (run.state != "running" || !started) {
    return "–";
  }
  const std::string time = last_written(run);
  const double written = std::min(seconds_of_utc(time).value_or(now_), now_);
  constexpr double kMissed = 5;  // heartbeats
  constexpr double kBusyDisk = 30;
  const double silence = place ? std::max(kBusyDisk, kMissed * place->every_s)
                               : longest_silence(written - *started, done > 0);
  if (now_ - written > silence) {
    return fmt::format("nothing written since {}", time);
  }
  const bool is_pilot = place && place->pilot > 0;
  const auto pace = is_pilot ? std::nullopt : seconds_per_iteration(run, place, done, written);
  if (!pace || length < done) {
    return "–";
  }
  return duration(*pace * static_cast<double>(length - done) - (now_ - written));
}

std::string StudyWatch::age_of(const Run& run, const Advance& advance) const {
  constexpr double kFresh = 5;   // seconds
  constexpr double kMissed = 3;  // heartbeats
  if (!advance.place) {
    return {};
  }
  const double age = now_ - seconds_of_utc(last_written(run)).value_or(now_);
  return age > std::max(kFresh, kMissed * advance.place->every_s)
             ? fmt::format(", {} ago", duration(age))
             : std::string();
}

StudyWatch::Line StudyWatch::line_of(const Run& run, const std::string& method) const {
  // Other runs do not tell how long this one is to be: a budget of time or bytes ends each in its
  // own iteration.
  const std::uint64_t length = planned_length(run).value_or(0);
  Line line{.order = order_of(run.state),
            .cells = {method, run.is_known ? fmt::format("{}", run.seed) : "–", run.state}};
  const auto found = tables_.find(run.id);
  const bool has_ended = run.has_tables();
  if (found == tables_.end() && !has_ended) {
    line.cells.insert(line.cells.end(), {"–", "–", "–", "–", "–", "–"});
    return line;
  }
  if (has_ended) {
    add_end(run, length, line);
    return line;
  }
  const GrowingTable& table = found->second;
  const Advance advance = advance_of(run, table, length);
  line.cells.push_back(place_words(advance.place, advance.done, length) + age_of(run, advance));
  line.cells.push_back(left_of(run, advance));
  line.cells.push_back(short_number(table.loss()));
  line.cells.push_back(short_number(table.delta()));
  line.cells.push_back(short_number(table.worst_delta()));
  line.cells.push_back(verdict_so_far(table));
  return line;
}

std::vector<std::string> StudyWatch::labels() const {
  std::vector<std::string> labels = method_labels(folder_);
  for (std::size_t i = 0; i < tuning_runs_; ++i) {
    labels[i] = "tuning: " + labels[i];
  }
  return labels;
}

std::string StudyWatch::counts() const {
  std::string text;
  for (const std::string state : kOrder) {
    const auto count = std::count_if(folder_.runs.begin(), folder_.runs.end(), [&](const Run& run) {
      return run.state == state;
    });
    if (count > 0) {
      text += fmt::format(
          "{}{} {}", text.empty() ? "" : ", ", count, state == "missing" ? "to do" : state);
    }
  }
  const std::size_t runs = folder_.runs.size();
  return fmt::format(
      "{}: {} {}: {}\n", printable(folder_.name), runs, runs == 1 ? "run" : "runs", text);
}

std::string StudyWatch::table(std::size_t lines) const {
  std::vector<Line> all;
  const std::vector<std::string> methods = labels();
  const auto names = printable_names(methods);
  for (std::size_t i = 0; i < folder_.runs.size(); ++i) {
    all.push_back(line_of(folder_.runs[i], names.at(methods[i])));
  }
  std::stable_sort(
      all.begin(), all.end(), [](const Line& a, const Line& b) { return a.order < b.order; });
  constexpr std::size_t kOthers = 3;  // the counts, the header, and what is left out
  const std::size_t shown = std::min(all.size(), lines > kOthers ? lines - kOthers : 0);
  std::vector<std::vector<std::string>> rows{
      {"method", "seed", "state", "iteration", "left", "loss", "delta", "worst", "delta > 1"}};
  for (std::size_t i = 0; i < shown; ++i) {
    rows.push_back(std::move(all[i].cells));
  }
  std::string text = counts() + aligned(rows);
  if (shown < all.size()) {
    text += fmt::format("... and {} more\n", all.size() - shown);
  }
  return text;
}

std::string StudyWatch::curves(std::size_t lines) const {
  constexpr std::size_t kWidth = 60;
  const std::vector<std::string> methods = labels();
  const auto names = printable_names(methods);
  std::string text;
  std::size_t left = lines;
  for (std::size_t i = 0; i < folder_.runs.size(); ++i) {
    const Run& run = folder_.runs[i];
    const auto table = tables_.find(run.id);
    if (run.state != "running" || table == tables_.end() || left < 3) {
      continue;
    }
    left -= 3;
    text += fmt::format("{}, seed {}\n", names.at(methods[i]), run.seed);
    text += fmt::format("  loss  {}  {}\n",
                        table->second.losses().blocks(kWidth),
                        short_number(table->second.loss()));
    text += fmt::format("  delta {}  {}\n",
                        table->second.deltas().blocks(kWidth),
                        short_number(table->second.delta()));
  }
  return text;
}

}  // namespace residuum::reports
