#pragma once
// Helpers of the tests of the convex objectives.

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <unistd.h>
#include <vector>

#include "core/random/random.h"
#include "objectives/registry.h"

namespace residuum::test {

inline std::filesystem::path data_dir() { return RESIDUUM_TEST_DATA; }

/// The objective that `values` describes; every key must be known to it.
inline std::unique_ptr<Objective> make(const std::string& kind,
                                       const nlohmann::json& values,
                                       const std::filesystem::path& cache_dir = {},
                                       int workers = 1) {
  const Section section("objective", values);
  for (const auto& entry : convex_objectives()) {
    if (entry.name == kind) {
      auto objective = entry.make(section, {data_dir(), cache_dir, workers});
      section.finish();
      return objective;
    }
  }
  return nullptr;
}

/// The message of the Error that `action` throws; empty if it throws none.
template <class Action>
std::string error_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

inline std::vector<std::uint32_t> all_samples(const Objective& objective) {
  std::vector<std::uint32_t> samples(objective.samples());
  std::iota(samples.begin(), samples.end(), 0U);
  return samples;
}

/// f(w) and its gradient, over `workers` workers that hold every workers-th sample.
struct Evaluation {
  double value = 0;
  std::vector<double> gradient;
};

inline Evaluation evaluate(const Objective& objective, std::span<const double> w, int workers = 1) {
  Evaluation result{.value = 0, .gradient = std::vector<double>(w.size(), 0.0)};
  for (int worker = 0; worker < workers; ++worker) {
    std::vector<std::uint32_t> shard;
    for (const auto sample : all_samples(objective)) {
      if (static_cast<int>(sample) % workers == worker) {
        shard.push_back(sample);
      }
    }
    result.value += objective.evaluate(worker, workers, shard, w, result.gradient);
  }
  return result;
}

inline double norm(std::span<const double> v) {
  return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
}

inline double distance(std::span<const double> a, std::span<const double> b) {
  std::vector<double> difference(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference[i] = a[i] - b[i];
  }
  return norm(difference);
}

/// `count` normal numbers times `scale`, the same for the same seed.
inline std::vector<double> normal_vector(std::size_t count, std::uint64_t seed, double scale = 1) {
  RandomStream random(seed, Purpose::test, 0, 0);
  std::vector<double> v(count);
  for (double& v_j : v) {
    v_j = scale * random.normal();
  }
  return v;
}

/// A directory of its own for a test, removed with all files in it.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "residuum-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  TemporaryDirectory(TemporaryDirectory&&) = delete;
  TemporaryDirectory& operator=(TemporaryDirectory&&) = delete;

  const std::filesystem::path& path() const { return path_; }

  /// Writes a file in it; returns its path.
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return (path_ / name).string();
  }

 private:
  std::filesystem::path path_;
};

}  // namespace residuum::test

/// Skips a test that needs a data set which is not on this machine.
#define RESIDUUM_NEEDS_DATA(name)                                            \
  if (!std::filesystem::exists(residuum::test::data_dir() / (name))) {       \
    GTEST_SKIP() << "no " << (residuum::test::data_dir() / (name)).string(); \
  }
