#include "reports/analysis/network_clocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/record/tables.h"
#include "reports/analysis/statistics.h"
#include "reports/tables/csv_reader.h"

namespace residuum::reports {
namespace {

/// The ends of iterations on one network, one of each run.
struct EndsOfRuns {
  std::string network;
  std::map<std::uint64_t, std::vector<double>> ends;
};

EndsOfRuns& ends_on(const std::string& network, std::vector<EndsOfRuns>& all) {
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const EndsOfRuns& known) { return known.network == network; });
  return found != all.end() ? *found : all.emplace_back(EndsOfRuns{.network = network, .ends = {}});
}

void read_clocks(const std::filesystem::path& file,
                 const Run& run,
                 const std::set<std::uint64_t>& iterations,
                 std::vector<EndsOfRuns>& all) {
  CsvReader reader(file);
  const std::size_t iteration = reader.column("iteration");
  const std::size_t network = reader.column(kNetworksTable.key);
  const std::size_t end = reader.column("virtual_s");
  while (reader.next()) {
    if (reader.text(0) != run.id) {
      reader.fail(fmt::format("the record is of another run: '{}'", reader.text(0)));
    }
    const std::uint64_t t = reader.integer(iteration);
    const auto time = reader.number(end);
    if (time && iterations.contains(t)) {
      ends_on(reader.text(network), all).ends[t].push_back(*time);
    }
  }
}

}  // namespace

std::vector<NetworkClock> read_network_clocks(const ResultFolder& folder,
                                              const Group& group,
                                              const std::set<std::uint64_t>& iterations) {
  std::vector<EndsOfRuns> all;
  for (const std::size_t i : group.runs) {
    const Run& run = folder.runs[i];
    if (!run.has_tables()) {
      continue;
    }
    const auto file = run.folder / (std::string(kNetworksTable.name) + ".csv");
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) {
      return {};
    }
    read_clocks(file, run, iterations, all);
  }
  std::vector<NetworkClock> clocks;
  for (const auto& one : all) {
    NetworkClock clock{.network = one.network, .ends = {}};
    for (const auto& [iteration, ends] : one.ends) {
      if (const auto middle = median(ends)) {
        clock.ends[iteration] = *middle;
      }
    }
    clocks.push_back(std::move(clock));
  }
  return clocks;
}

}  // namespace residuum::reports
