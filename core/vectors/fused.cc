#include "core/vectors/fused.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>

#include "core/vectors/dense.h"
#include "core/vectors/kernels.h"

namespace residuum {
namespace {

/// The number of entries after which a pass checks how many candidates it has. It is a multiple of
/// the lanes.
constexpr std::size_t kChunk = 2048;

/// A collector takes the hits of a pass, chunk by chunk, to the candidates of a segment.
template <class Real>
class Collector {
 public:
  // The hits need no initial values: they are written before they are read.
  Collector(Candidates& candidates, std::span<const Real> segment)  // NOLINT(*-member-init)
      : candidates_(candidates), segment_(segment) {
    candidates.clear<Real>();
    // A bound may round to 0 in this precision, and every zero would reach it.
    candidates.complete = static_cast<Real>(candidates.bound) > 0;
    // Reserves the most there can be, so that no later pass reallocates; the system provides pages
    // only when they are used.
    candidates.reserve<Real>(std::min(segment.size(), most_candidates(segment.size()) + kChunk));
  }

  kernels::Watch<Real> watch(std::size_t first) {
    constexpr Real kOutOfReach = std::numeric_limits<Real>::infinity();
    return {.bound = candidates_.complete ? static_cast<Real>(candidates_.bound) : kOutOfReach,
            .first = static_cast<std::uint32_t>(first),
            .hits = hits_.data()};
  }

  void take(const std::uint32_t* end) {
    if (!candidates_.complete) {
      return;
    }
    const std::uint32_t* begin = hits_.data();
    candidates_.append<Real>({begin, end}, segment_);
    if (candidates_.indices.size() > most_candidates(segment_.size())) {
      candidates_.complete = false;
      candidates_.clear<Real>();
    }
  }

 private:
  Candidates& candidates_;
  std::span<const Real> segment_;
  std::array<std::uint32_t, kChunk + kernels::kHitsSlack> hits_;
};

/// Calls kernel(begin, size, watch, lanes) on every segment, chunk by chunk.
template <class Real, class Kernel>
PassNorms pass_over(std::span<const Real> memory, const Pass& pass, Kernel kernel) {
  assert(pass.segments.size() == pass.candidates.size());
  PassNorms norms;
  std::size_t covered = 0;
  for (std::size_t s = 0; s < pass.segments.size(); ++s) {
    const auto [begin, size] = pass.segments[s];
    assert(begin == covered);
    covered += size;
    Collector<Real> collector(pass.candidates[s], memory.subspan(begin, size));
    kernels::PassLanes lanes;
    for (std::size_t first = 0; first < size; first += kChunk) {
      const std::size_t count = std::min(kChunk, size - first);
      collector.take(kernel(begin + first, count, collector.watch(first), lanes));
    }
    norms.residual_sq += lanes.residual.total();
    norms.gradient_sq += lanes.gradient.total();
    norms.accumulator_sq += lanes.accumulator.total();
  }
  assert(covered == memory.size());
  return norms;
}

}  // namespace

template <class Real>
PassNorms accumulate(std::span<Real> memory,
                     std::span<const Real> gradient,
                     Real scale,
                     const Pass& pass) {
  assert(memory.size() == gradient.size());
  const auto kernel = kernels::best<Real>().accumulate;
  return pass_over<Real>(
      memory, pass, [&](std::size_t begin, std::size_t size, const auto& watch, auto& lanes) {
        return kernel(memory.data() + begin, gradient.data() + begin, size, scale, watch, lanes);
      });
}

template <class Real>
PassNorms subtract(std::span<Real> memory,
                   std::span<const Real> gradient,
                   std::span<const Real> estimate,
                   const Pass& pass) {
  assert(memory.size() == gradient.size() && memory.size() == estimate.size());
  const auto kernel = kernels::best<Real>().subtract;
  return pass_over<Real>(
      memory, pass, [&](std::size_t begin, std::size_t size, const auto& watch, auto& lanes) {
        return kernel(memory.data() + begin,
                      gradient.data() + begin,
                      size,
                      estimate.data() + begin,
                      watch,
                      lanes);
      });
}

template <class Real>
double norm_sq(std::span<const Real> x, std::span<const Segment> segments) {
  double sum = 0;
  for (const auto [begin, size] : segments) {
    sum += norm_sq<Real>(x.subspan(begin, size));
  }
  return sum;
}

template PassNorms accumulate<float>(std::span<float>, std::span<const float>, float, const Pass&);
template PassNorms accumulate<double>(std::span<double>,
                                      std::span<const double>,
                                      double,
                                      const Pass&);
template PassNorms subtract<float>(std::span<float>,
                                   std::span<const float>,
                                   std::span<const float>,
                                   const Pass&);
template PassNorms subtract<double>(std::span<double>,
                                    std::span<const double>,
                                    std::span<const double>,
                                    const Pass&);
template double norm_sq<float>(std::span<const float>, std::span<const Segment>);
template double norm_sq<double>(std::span<const double>, std::span<const Segment>);

}  // namespace residuum
