#pragma once
// An open budget ends a run where its number of iterations is not known beforehand.

#include <algorithm>
#include <cstdint>
#include <optional>

namespace residuum {

/// The versions of a run so far have taken this much.
struct SpentSoFar {
  std::uint64_t gradients = 0;  // of all workers together, where versions have more or fewer
  double virtual_s = 0;         // on the first network
};

/// The totals of a whole run. They are kept here because the last version of a run may have no row.
struct RunTotals {
  double sent_bytes = 0;
  double uplink_bytes = 0;
  double nnz_sent = 0;
  double virtual_s = 0;  // on the first network
};

/// An open budget ends a run at the first version by which it is spent. It is open where it has a
/// limit; else a run ends after its iterations.
struct OpenBudget {
  std::optional<std::uint64_t> gradients = std::nullopt;
  std::optional<double> virtual_s = std::nullopt;

  bool is_open() const { return gradients || virtual_s; }

  /// Returns the part of the budget that is spent, 1 where it is all of it; 0 without a limit.
  /// A clock adds up rounded numbers, so that a billionth of the seconds may be missing.
  double share(const SpentSoFar& spent) const {
    constexpr double kRounding = 1e-9;
    double share = 0;
    if (gradients) {
      share = static_cast<double>(spent.gradients) / static_cast<double>(*gradients);
    }
    if (virtual_s) {
      share = std::max(share, spent.virtual_s / (*virtual_s * (1 - kRounding)));
    }
    return share;
  }
  bool is_spent(const SpentSoFar& spent) const { return share(spent) >= 1; }
};

}  // namespace residuum
