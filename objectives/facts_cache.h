#pragma once
// A solved x* is kept between runs, in one JSON file per (data, l2, intercept, scale) and
// revision of the solver. A stored x* is used if the gradient there is small enough.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace residuum {

/// Raise it with every change of the solver that changes a digit of x*: f* must not depend on which
/// program has filled the cache.
inline constexpr int kSolver = 2;

/// The key has all values that x* depends on.
struct FactsKey {
  std::string fingerprint;  // that of the data as loaded
  double l2 = 0;
  bool intercept = false;
  std::string scale;
  int solver = kSolver;  // the revision of the solver that found x*
};

/// Returns cache_dir/facts-<fingerprint>-<hash of the rest>.json.
std::filesystem::path facts_file(const std::filesystem::path& cache_dir, const FactsKey& key);

/// Returns the stored x* of this key, if there is a readable one with `dimension` finite numbers.
std::optional<std::vector<double>> load_minimizer(const std::filesystem::path& cache_dir,
                                                  const FactsKey& key,
                                                  std::size_t dimension);

/// Replaces the file in one step, so that a reader never sees half of it. If that fails, a note on
/// stderr says so and nothing else happens. Without a directory nothing is stored.
void store_minimizer(const std::filesystem::path& cache_dir,
                     const FactsKey& key,
                     const std::vector<double>& minimizer,
                     double gradient_norm);

}  // namespace residuum
