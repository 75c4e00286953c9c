// Host side of device_step.h. Everything runs on one stream, and a step waits for it once: the
// selection from what the pass has noted is started before anybody knows whether that does. Only
// where it does not (first step, another density, a shift) a second selection reads the accumulator
// itself and is waited for as well.

#include <cub/device/device_radix_sort.cuh>
#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>

#include "core/vectors/cuda/accumulate_kernel.cuh"
#include "core/vectors/cuda/buffer.cuh"
#include "core/vectors/cuda/device_step.h"
#include "core/vectors/cuda/select_kernels.cuh"
#include "core/vectors/cuda/warm_bound.h"

namespace residuum::cuda {
namespace {

class Stream {
 public:
  /// It waits for the legacy default stream and is waited for.
  Stream() { check(cudaStreamCreate(&stream_), "cudaStreamCreate"); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { cudaStreamDestroy(stream_); }

  cudaStream_t get() const { return stream_; }
  void wait() const { check(cudaStreamSynchronize(stream_), "the step on the device"); }

 private:
  cudaStream_t stream_ = nullptr;
};

unsigned blocks_for(std::size_t size, std::size_t per_block) {
  return static_cast<unsigned>((size + per_block - 1) / per_block);
}

/// Enough to fill any device; what is left over goes round.
constexpr unsigned kMostBlocks = 2048;
constexpr std::size_t kItemsPerBlock = std::size_t{8} * kThreads;

unsigned blocks_of_selection(std::size_t items) {
  return std::clamp(blocks_for(items, kItemsPerBlock), 1U, kMostBlocks);
}

}  // namespace

class DeviceStep::Implementation {
 public:
  explicit Implementation(std::size_t d)
      : d_(d),
        tiles_(blocks_for(d, kTile)),
        memory_(d),
        tile_sums_(tiles_),
        told_(1),
        search_(1),
        told_on_host_(1) {
    assert(d <= std::numeric_limits<std::uint32_t>::max());
    check(cudaMemsetAsync(memory_.data(), 0, d * sizeof(float), stream_.get()), "cudaMemset");
    check(cudaMemsetAsync(search_.data(), 0, sizeof(Search), stream_.get()), "cudaMemset");
    stream_.wait();
  }

  std::size_t dimension() const { return d_; }
  std::size_t cold_selections() const { return cold_selections_; }

  void set_memory(std::span<const float> values) {
    assert(values.size() == d_);
    upload(memory_.data(), values.data(), d_);
    stream_.wait();
  }

  void get_memory(std::span<float> values) const {
    assert(values.size() == d_);
    download(values.data(), memory_.data(), d_);
    stream_.wait();
  }

  PassNorms step_from_host(std::span<const float> gradient,
                           float scale,
                           std::size_t k,
                           SparseVector<float>& selected) {
    assert(gradient.size() == d_);
    gradient_.reserve(d_);
    upload(gradient_.data(), gradient.data(), d_);
    return step({.data = gradient_.data(), .size = d_}, scale, k, selected);
  }

  PassNorms step(DeviceSpan gradient, float scale, std::size_t k, SparseVector<float>& selected) {
    assert(gradient.size == d_ && k <= d_);
    assert(reinterpret_cast<std::uintptr_t>(gradient.data) % sizeof(float4) == 0);
    selected.clear();
    if (d_ == 0) {
      return {};
    }
    reserve(k);
    const std::uint32_t bound = k > 0 ? bound_.bits() : WarmBound::kNothing;
    begin(k);
    accumulate(gradient, scale, k, bound);
    const bool warm = bound != WarmBound::kNothing;
    if (warm) {
      select(Noted{notes_.data(), &told_.data()->noted, capacity(k)}, capacity(k), k);
    }
    fetch(warm ? k : 0);
    const Told told = *told_on_host_.data();
    const PassNorms norms = norms_of(told);
    if (k == 0 || !std::isfinite(norms.accumulator_sq)) {
      return norms;
    }
    if (!warm || !bound_.complete(told.noted, k, capacity(k))) {
      select_cold(k);
    }
    take(k, selected);
    learn(told.noted, k, selected);
    return norms;
  }

  void settle(const SparseVector<float>& cleared, const SparseVector<float>& returned) {
    scatter(cleared, -1);
    scatter(returned, 1);
  }

 private:
  std::uint32_t capacity(std::size_t k) const {
    return static_cast<std::uint32_t>(WarmBound::capacity(k, d_));
  }

  template <typename T>
  void upload(T* to, const T* from, std::size_t count) const {
    check(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyHostToDevice, stream_.get()),
          "cudaMemcpy to the device");
  }

  template <typename T>
  void download(T* to, const T* from, std::size_t count) const {
    check(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyDeviceToHost, stream_.get()),
          "cudaMemcpy to the host");
  }

  /// The number of bits that tell indices below d apart.
  int index_bits() const {
    return std::max(1, static_cast<int>(std::bit_width(static_cast<std::uint32_t>(d_ - 1))));
  }

  cudaError_t sort_by_index(void* room, std::size_t& bytes, std::size_t k) {
    return cub::DeviceRadixSort::SortPairs(room,
                                           bytes,
                                           indices_.data(),
                                           sorted_indices_.data(),
                                           values_.data(),
                                           sorted_values_.data(),
                                           static_cast<std::uint32_t>(k),
                                           0,
                                           index_bits(),
                                           stream_.get());
  }

  /// Room for a selection of k; nothing where an earlier one was as large.
  void reserve(std::size_t k) {
    if (k <= reserved_) {
      return;
    }
    notes_.reserve(capacity(k));
    indices_.reserve(k);
    values_.reserve(k);
    sorted_indices_.reserve(k);
    sorted_values_.reserve(k);
    std::size_t bytes = 0;
    check(sort_by_index(nullptr, bytes, k), "cub::DeviceRadixSort");
    sort_room_.reserve(bytes);
    sort_bytes_ = bytes;
    indices_on_host_.reserve(k);
    values_on_host_.reserve(k);
    reserved_ = k;
  }

  void begin(std::size_t k) {
    begin_kernel<<<1, 1, 0, stream_.get()>>>(
        search_.data(), told_.data(), static_cast<std::uint32_t>(k));
    check(cudaGetLastError(), "begin_kernel");
  }

  void accumulate(DeviceSpan gradient, float scale, std::size_t k, std::uint32_t bound) {
    const Notes notes{.entries = notes_.data(),
                      .count = &told_.data()->noted,
                      .capacity = capacity(k),
                      .bound = bound};
    accumulate_kernel<<<tiles_, kThreads, 0, stream_.get()>>>(
        memory_.data(), gradient.data, scale, d_, notes, tile_sums_.data());
    check(cudaGetLastError(), "accumulate_kernel");
    add_tiles_kernel<<<1, kThreads, 0, stream_.get()>>>(
        tile_sums_.data(), tiles_, &told_.data()->norms);
    check(cudaGetLastError(), "add_tiles_kernel");
  }

  /// The k first of at most `items` entries, by index; behind them, if there are fewer, the largest
  /// index there is.
  template <class Source>
  void select(Source source, std::size_t items, std::size_t k) {
    const auto stream = stream_.get();
    const unsigned blocks = blocks_of_selection(items);
    check(cudaMemsetAsync(indices_.data(), 0xFF, k * sizeof(std::uint32_t), stream), "cudaMemset");
    for (const Digit digit : kDigits) {
      narrow_kernel<<<blocks, kThreads, 0, stream>>>(source, digit, search_.data());
    }
    keep_kernel<<<blocks, kThreads, 0, stream>>>(source,
                                                 search_.data(),
                                                 Kept{.indices = indices_.data(),
                                                      .values = values_.data(),
                                                      .count = &told_.data()->kept,
                                                      .k = static_cast<std::uint32_t>(k)});
    check(cudaGetLastError(), "the kernels of the selection");
    std::size_t bytes = sort_bytes_;
    check(sort_by_index(sort_room_.data(), bytes, k), "cub::DeviceRadixSort");
  }

  /// Reads all of the accumulator, once per digit that is needed and once more.
  void select_cold(std::size_t k) {
    ++cold_selections_;
    begin(k);
    select(Everything{memory_.data(), d_}, d_, k);
    fetch(k);
  }

  void fetch(std::size_t k) {
    download(told_on_host_.data(), told_.data(), 1);
    if (k > 0) {
      download(indices_on_host_.data(), sorted_indices_.data(), k);
      download(values_on_host_.data(), sorted_values_.data(), k);
    }
    stream_.wait();
  }

  static PassNorms norms_of(const Told& told) {
    return {.residual_sq = told.norms.of[0],
            .gradient_sq = told.norms.of[1],
            .accumulator_sq = told.norms.of[2]};
  }

  void take(std::size_t k, SparseVector<float>& selected) const {
    const std::size_t count = told_on_host_.data()->kept;
    assert(count <= k);
    selected.indices.assign(indices_on_host_.data(), indices_on_host_.data() + count);
    selected.values.assign(values_on_host_.data(), values_on_host_.data() + count);
  }

  /// The cut is the smallest magnitude selected; where all non-zeros were, anything may be noted.
  void learn(std::size_t noted, std::size_t k, const SparseVector<float>& selected) {
    std::uint32_t cut = 0;
    if (selected.size() == k) {
      const auto less = [](float a, float b) { return magnitude(a) < magnitude(b); };
      cut = magnitude(*std::min_element(selected.values.begin(), selected.values.end(), less));
    }
    bound_.learn(noted, k, cut);
  }

  void scatter(const SparseVector<float>& list, float sign) {
    if (list.empty()) {
      return;
    }
    const std::size_t count = list.size();
    list_indices_.reserve(count);
    list_values_.reserve(count);
    upload(list_indices_.data(), list.indices.data(), count);
    upload(list_values_.data(), list.values.data(), count);
    scatter_kernel<<<blocks_for(count, kThreads), kThreads, 0, stream_.get()>>>(
        memory_.data(),
        list_indices_.data(),
        list_values_.data(),
        static_cast<std::uint32_t>(count),
        sign);
    check(cudaGetLastError(), "scatter_kernel");
  }

  Stream stream_;
  std::size_t d_;
  unsigned tiles_;
  Buffer<float> memory_;
  Buffer<float> gradient_;  // only for gradients that come from the host
  Buffer<Sums> tile_sums_;
  Buffer<Told> told_;
  Buffer<Search> search_;
  PinnedBuffer<Told> told_on_host_;

  std::size_t reserved_ = 0;  // the largest k so far
  Buffer<std::uint64_t> notes_;
  Buffer<std::uint32_t> indices_;
  Buffer<float> values_;
  Buffer<std::uint32_t> sorted_indices_;
  Buffer<float> sorted_values_;
  Buffer<unsigned char> sort_room_;
  std::size_t sort_bytes_ = 0;
  PinnedBuffer<std::uint32_t> indices_on_host_;
  PinnedBuffer<float> values_on_host_;

  Buffer<std::uint32_t> list_indices_;  // to be settled
  Buffer<float> list_values_;

  WarmBound bound_;
  std::size_t cold_selections_ = 0;
};

DeviceStep::DeviceStep(std::size_t d) : implementation_(std::make_unique<Implementation>(d)) {}
DeviceStep::~DeviceStep() = default;

std::size_t DeviceStep::dimension() const { return implementation_->dimension(); }
std::size_t DeviceStep::cold_selections() const { return implementation_->cold_selections(); }

void DeviceStep::set_memory(std::span<const float> values) { implementation_->set_memory(values); }
void DeviceStep::get_memory(std::span<float> values) const { implementation_->get_memory(values); }

PassNorms DeviceStep::step(std::span<const float> gradient,
                           float scale,
                           std::size_t k,
                           SparseVector<float>& selected) {
  return implementation_->step_from_host(gradient, scale, k, selected);
}

PassNorms DeviceStep::step(DeviceSpan gradient,
                           float scale,
                           std::size_t k,
                           SparseVector<float>& selected) {
  return implementation_->step(gradient, scale, k, selected);
}

void DeviceStep::settle(const SparseVector<float>& cleared, const SparseVector<float>& returned) {
  implementation_->settle(cleared, returned);
}

}  // namespace residuum::cuda
