#include "experiments/program/study/participation_section.h"

#include <algorithm>
#include <cmath>

namespace residuum {
namespace {

constexpr const char* kKey = "participation";

}  // namespace

std::optional<int> read_participation(const Section& workers, int count) {
  const auto value = workers.any(kKey, "all");
  if (value == "all") {
    return std::nullopt;
  }
  if (value.is_number_integer()) {
    const auto number = value.get<std::int64_t>();
    require(number >= 1 && number <= count,
            "{} must lie in 1..{}, the number of workers, got {}; or give a fraction of them",
            workers.where(kKey),
            count,
            shown(value));
    return static_cast<int>(number);
  }
  const double fraction = value.is_number() ? value.get<double>() : 0;
  require(fraction > 0 && fraction <= 1,
          "{} must be \"all\", a fraction in (0, 1], or a whole number of workers; got {}",
          workers.where(kKey),
          shown(value));
  return std::max(1, static_cast<int>(std::lround(fraction * count)));
}

void check_participation(const Section& workers,
                         const Training& training,
                         const ProtocolLaw& law,
                         const Method& method) {
  if (!law.participants) {
    return;
  }
  const std::string where = workers.where(kKey);
  require(law.may_leave_out,
          "{}: under this protocol no worker can be left out of a version; use protocol \"bsp\" or "
          "\"local\"",
          where);
  require(training.networks.empty() && !training.times_work && !law.times_gradients,
          "{}: virtual clocks follow all workers of every version; take out [network], and "
          "'compute' of [protocol]",
          where);
  require(!method.feedback->estimates(),
          "{}: the update of this feedback is the mean of all workers' estimates, of which some "
          "are not renewed; use feedback \"ef14\"",
          where);
}

}  // namespace residuum
