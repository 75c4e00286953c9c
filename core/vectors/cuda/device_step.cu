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
constexpr std::size_t kItemsPerBlock = std::size_t{4} * kThreads;

unsigned blocks_of_selection(std::size_t items) {
  return std::clamp(blocks_for(items, kItemsPerBlock), 1U, kMostBlocks);
}

/// What the host is told, the selected indices and their values, side by side: one copy fetches
/// all.
struct Answer {
  Answer(unsigned char* room, std::size_t k)
      : told(reinterpret_cast<Told*>(room)),
        indices(reinterpret_cast<std::uint32_t*>(room + padded(sizeof(Told)))),
        values(reinterpret_cast<float*>(room + bytes(k) - padded(k * sizeof(float)))) {}

  /// Of the whole answer.
  static std::size_t bytes(std::size_t k) {
    return padded(sizeof(Told)) + 2 * padded(k * sizeof(std::uint32_t));
  }
  static std::size_t padded(std::size_t size) {
    constexpr std::size_t kAlignment = 256;  // as of allocations
    return (size + kAlignment - 1) / kAlignment * kAlignment;
  }

  Told* told;
  std::uint32_t* indices;
  float* values;
};

}  // namespace

class DeviceStep::Implementation {
 public:
  explicit Implementation(std::size_t d)
      : d_(d),
        tiles_(blocks_for(d, kTile)),
        memory_(d),
        tile_sums_(tiles_),
        search_(1),
        answer_(Answer::bytes(0)),
        answer_on_host_(Answer::bytes(0)) {
    assert(d <= std::numeric_limits<std::uint32_t>::max());
    if (d > 0) {
      check(cudaMemsetAsync(memory_.data(), 0, d * sizeof(float), stream_.get()), "cudaMemset");
    }
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
      select(Noted{notes_.data(), &answer(k).told->noted, capacity(k)}, capacity(k), k);
    }
    fetch(warm ? k : 0);
    const Told told = *answer_on_host(k).told;
    const PassNorms norms = norms_of(told);
    if (k == 0 || !std::isfinite(norms.accumulator_sq)) {
      return norms;
    }
    if (!warm || !bound_.complete(told.noted, k, capacity(k))) {
      select_cold(k);
    }
    take(k, selected);
    bound_.learn(told.noted, k, answer_on_host(k).told->cut);
    return norms;
  }

  void settle(const SparseVector<float>& cleared, const SparseVector<float>& returned) {
    const std::size_t count = cleared.size() + returned.size();
    if (count == 0) {
      return;
    }
    stream_.wait();  // for the lists of an earlier call to have left
    list_indices_on_host_.reserve(count);
    list_values_on_host_.reserve(count);
    list_indices_.reserve(count);
    list_values_.reserve(count);
    put(cleared, 0);
    put(returned, cleared.size());
    upload(list_indices_.data(), list_indices_on_host_.data(), count);
    upload(list_values_.data(), list_values_on_host_.data(), count);
    scatter(0, cleared.size(), -1);
    scatter(cleared.size(), returned.size(), 1);
  }

 private:
  Answer answer(std::size_t k) const { return {answer_.data(), k}; }
  Answer answer_on_host(std::size_t k) const { return {answer_on_host_.data(), k}; }

  std::uint32_t capacity(std::size_t k) const {
    return static_cast<std::uint32_t>(WarmBound::capacity(k, d_));
  }

  template <typename T>
  void upload(T* to, const T* from, std::size_t count) const {
    if (count == 0) {
      return;
    }
    check(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyHostToDevice, stream_.get()),
          "cudaMemcpy to the device");
  }

  template <typename T>
  void download(T* to, const T* from, std::size_t count) const {
    if (count == 0) {
      return;
    }
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
                                           answer(k).indices,
                                           values_.data(),
                                           answer(k).values,
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
    answer_.reserve(Answer::bytes(k));
    answer_on_host_.reserve(Answer::bytes(k));
    std::size_t bytes = 0;
    check(sort_by_index(nullptr, bytes, k), "cub::DeviceRadixSort");
    sort_room_.reserve(bytes);
    sort_bytes_ = bytes;
    reserved_ = k;
  }

  void begin(std::size_t k) {
    begin_kernel<<<1, 1, 0, stream_.get()>>>(
        search_.data(), answer(k).told, static_cast<std::uint32_t>(k));
    check(cudaGetLastError(), "begin_kernel");
  }

  void accumulate(DeviceSpan gradient, float scale, std::size_t k, std::uint32_t bound) {
    const Notes notes{.entries = notes_.data(),
                      .count = &answer(k).told->noted,
                      .capacity = capacity(k),
                      .bound = bound};
    accumulate_kernel<<<tiles_, kThreads, 0, stream_.get()>>>(
        memory_.data(), gradient.data, scale, d_, notes, tile_sums_.data());
    check(cudaGetLastError(), "accumulate_kernel");
    add_tiles_kernel<<<1, kThreads, 0, stream_.get()>>>(
        tile_sums_.data(), tiles_, &answer(k).told->norms);
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
                                                      .told = answer(k).told,
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
    download(answer_on_host_.data(), answer_.data(), Answer::bytes(k));
    stream_.wait();
  }

  static PassNorms norms_of(const Told& told) {
    return {.residual_sq = told.norms.of[0],
            .gradient_sq = told.norms.of[1],
            .accumulator_sq = told.norms.of[2]};
  }

  void take(std::size_t k, SparseVector<float>& selected) const {
    const Answer here = answer_on_host(k);
    const std::size_t count = here.told->kept;
    assert(count <= k);
    selected.indices.assign(here.indices, here.indices + count);
    selected.values.assign(here.values, here.values + count);
  }

  void put(const SparseVector<float>& list, std::size_t at) {
    std::copy(list.indices.begin(), list.indices.end(), list_indices_on_host_.data() + at);
    std::copy(list.values.begin(), list.values.end(), list_values_on_host_.data() + at);
  }

  void scatter(std::size_t at, std::size_t count, float sign) {
    if (count == 0) {
      return;
    }
    scatter_kernel<<<blocks_for(count, kThreads), kThreads, 0, stream_.get()>>>(
        memory_.data(),
        list_indices_.data() + at,
        list_values_.data() + at,
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
  Buffer<Search> search_;
  Buffer<unsigned char> answer_;
  PinnedBuffer<unsigned char> answer_on_host_;

  std::size_t reserved_ = 0;  // the largest k so far
  Buffer<std::uint64_t> notes_;
  Buffer<std::uint32_t> indices_;
  Buffer<float> values_;
  Buffer<unsigned char> sort_room_;
  std::size_t sort_bytes_ = 0;

  Buffer<std::uint32_t> list_indices_;  // to be settled
  Buffer<float> list_values_;
  PinnedBuffer<std::uint32_t> list_indices_on_host_;
  PinnedBuffer<float> list_values_on_host_;

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
