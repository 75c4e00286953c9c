// This file is the host side of device_step.h. Everything runs on one stream, and the host waits
// for a step once: the selection from the notes of the pass is started before it is known whether
// these suffice. If they do not (first step, another density, a shift), a second selection reads
// the accumulator itself, and the host waits again.

#include <cuda_runtime.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "core/vectors/cuda/accumulate_kernel.cuh"
#include "core/vectors/cuda/buffer.cuh"
#include "core/vectors/cuda/device_step.h"
#include "core/vectors/cuda/select_kernels.cuh"
#include "core/vectors/cuda/stream.cuh"
#include "core/vectors/cuda/warm_bound.h"

namespace residuum::cuda {
namespace {

unsigned blocks_for(std::size_t size, std::size_t per_block) {
  return static_cast<unsigned>((size + per_block - 1) / per_block);
}

int attribute(cudaDeviceAttr which) {
  int device = 0;
  int value = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
  return value;
}

/// A launch says how a selection is started.
struct Launch {
  unsigned blocks;     // all of them are on the device at once
  std::uint32_t room;  // entries that fit into the shared memory of each
};

/// Returns blocks for one tile per warp, at most `each` per multiprocessor.
unsigned blocks_of_selection(unsigned tiles, int each) {
  const auto resident = static_cast<unsigned>(each * attribute(cudaDevAttrMultiProcessorCount));
  return std::clamp(blocks_for(tiles, kSearchWarps), 1U, std::min(kMostBlocks, resident));
}

template <class Source>
const void* kernel_of() {
  return reinterpret_cast<const void*>(&select_kernel<Source>);
}

/// Short lists take few blocks, which synchronise sooner, each with all of a multiprocessor's
/// shared memory.
Launch launch_for_noted(unsigned tiles) {
  const void* kernel = kernel_of<Noted>();
  cudaFuncAttributes of_kernel{};
  check(cudaFuncGetAttributes(&of_kernel, kernel), "cudaFuncGetAttributes");
  const int bytes = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) -
                    static_cast<int>(of_kernel.sharedSizeBytes);
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
        "cudaFuncSetAttribute");
  return {.blocks = blocks_of_selection(tiles, 1),
          .room = static_cast<std::uint32_t>(bytes / sizeof(std::uint64_t))};
}

/// A whole vector, which no shared memory holds, takes as many blocks as there can be.
Launch launch_for_everything(unsigned tiles) {
  int each = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &each, kernel_of<Everything>(), kSearchThreads, 0),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  return {.blocks = blocks_of_selection(tiles, each), .room = 0};
}

/// The answer is what a step sends to the host: the report, the selected indices and their values.
/// They are contiguous, so that one copy fetches all.
struct Answer {
  Answer(unsigned char* room, std::size_t k)
      : told(reinterpret_cast<Told*>(room)),
        indices(reinterpret_cast<std::uint32_t*>(room + padded(sizeof(Told)))),
        values(reinterpret_cast<float*>(room + bytes(k) - padded(k * sizeof(float)))) {}

  /// Returns the size of the whole answer.
  static std::size_t bytes(std::size_t k) {
    return padded(sizeof(Told)) + 2 * padded(k * sizeof(std::uint32_t));
  }
  static std::size_t padded(std::size_t size) {
    constexpr std::size_t kAlignment = 256;  // the alignment of CUDA allocations
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
        runs_(tiles_),
        tile_sums_(tiles_),
        group_sums_(blocks_for(tiles_, kGroup)),
        noted_(1),
        search_(1),
        answer_(Answer::bytes(0)),
        answer_on_host_(Answer::bytes(0)),
        warm_(launch_for_noted(tiles_)),
        cold_(launch_for_everything(tiles_)) {
    assert(d <= std::numeric_limits<std::uint32_t>::max());
    clear(memory_.data(), d);
    clear(noted_.data(), 1);
    clear(search_.data(), 1);
    clear(answer_.data(), Answer::bytes(0));
    stream_.wait();
  }
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;
  /// Copies to the host may be under way, whose memory is freed next.
  ~Implementation() { cudaStreamSynchronize(stream_.get()); }

  std::size_t dimension() const { return d_; }
  Stream& stream() { return stream_; }
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

  /// Copies a gradient of the host to the device, for a step that is started next.
  DeviceSpan placed(std::span<const float> gradient) {
    assert(gradient.size() == d_);
    gradient_.reserve(d_);
    upload(gradient_.data(), gradient.data(), d_);
    return {.data = gradient_.data(), .size = d_};
  }

  void start(DeviceSpan gradient, float scale, std::size_t k) {
    assert(gradient.size == d_ && k <= d_);
    assert(reinterpret_cast<std::uintptr_t>(gradient.data) % sizeof(float4) == 0);
    kept_ = 0;
    started_k_ = k;
    if (d_ == 0) {
      return;
    }
    reserve(k);
    const std::uint32_t bound = k > 0 ? bound_.bits() : WarmBound::kNothing;
    is_warm_ = bound != WarmBound::kNothing;
    stream_.follow_default();
    accumulate(gradient, scale, k, bound);
    stream_.lead_default();  // the gradient may be written again once it has been read
    select(Noted{notes_.data(), runs_.data(), capacity(k)}, warm_, k);
    copy_answer(is_warm_ ? k : 0);
    answered_.record(stream_.get());
  }

  PassNorms take(SparseVector<float>& selected) {
    const std::size_t k = started_k_;
    selected.clear();
    if (d_ == 0) {
      return {};
    }
    answered_.wait();
    const Told told = *answer_on_host(k).told;
    const PassNorms norms = norms_of(told);
    if (k == 0 || !std::isfinite(norms.accumulator_sq)) {
      return norms;
    }
    if (!is_warm_ || !bound_.complete(told.noted, k, capacity(k))) {
      select_cold(k);
    }
    keep(k, selected);
    bound_.learn(told.noted, k, answer_on_host(k).told->cut);
    return norms;
  }

  void select_again(std::size_t k, SparseVector<float>& selected) {
    assert(k <= d_);
    selected.clear();
    kept_ = 0;
    if (d_ == 0 || k == 0) {
      return;
    }
    reserve(k);
    select_cold(k);
    keep(k, selected);
    // As if the notes had been as many as they should be: this says nothing of the bound.
    bound_.learn(2 * k, k, answer_on_host(k).told->cut);
  }

  float* memory() const { return memory_.data(); }

  void update_residual(const SparseVector<float>& removed, const SparseVector<float>& returned) {
    const std::size_t count = removed.size() + returned.size();
    if (count == 0) {
      return;
    }
    stream_.wait();  // until the lists of an earlier call have been read
    list_indices_.reserve(count);
    list_values_.reserve(count);
    put(removed, 0);
    put(returned, removed.size());
    scatter(list_indices_.data(), list_values_.data(), removed.size(), -1);
    scatter(list_indices_.data() + removed.size(),
            list_values_.data() + removed.size(),
            returned.size(),
            1);
  }

  void update_selected_residual() {
    scatter(answer(k_).indices, answer(k_).values, kept_, -1);
    kept_ = 0;
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

  template <typename T>
  void clear(T* to, std::size_t count) const {
    if (count > 0) {
      check(cudaMemsetAsync(to, 0, count * sizeof(T), stream_.get()), "cudaMemset");
    }
  }

  /// Makes room for a selection of k, if no earlier one was as large. The whole answer is copied to
  /// the host even if fewer than k entries are selected, so nothing in it may be undefined.
  void reserve(std::size_t k) {
    if (k <= reserved_) {
      return;
    }
    notes_.reserve(capacity(k));
    answer_.reserve(Answer::bytes(k));
    clear(answer_.data(), Answer::bytes(k));
    answer_on_host_.reserve(Answer::bytes(k));
    reserved_ = k;
  }

  void accumulate(DeviceSpan gradient, float scale, std::size_t k, std::uint32_t bound) {
    const Notes notes{.entries = notes_.data(),
                      .runs = runs_.data(),
                      .count = noted_.data(),
                      .capacity = capacity(k),
                      .bound = bound};
    accumulate_kernel<<<tiles_, kThreads, 0, stream_.get()>>>(
        memory_.data(), gradient.data, scale, d_, notes, tile_sums_.data());
    check(cudaGetLastError(), "accumulate_kernel");
  }

  /// Computes the norms and selects the first k entries, or as many as there are, by index.
  template <class Source>
  void select(Source source, Launch launch, std::size_t k) {
    Passed passed{.tile_sums = tile_sums_.data(),
                  .group_sums = group_sums_.data(),
                  .noted = noted_.data(),
                  .tiles = tiles_};
    Search* search = search_.data();
    Selected selected{.indices = answer(k).indices,
                      .values = answer(k).values,
                      .told = answer(k).told,
                      .k = static_cast<std::uint32_t>(k)};
    void* arguments[] = {&source, &passed, &search, &selected, &launch.room};
    check(cudaLaunchCooperativeKernel(kernel_of<Source>(),
                                      launch.blocks,
                                      kSearchThreads,
                                      arguments,
                                      launch.room * sizeof(std::uint64_t),
                                      stream_.get()),
          "select_kernel");
  }

  /// Selects from the accumulator itself, which is read once per digit that is needed and twice
  /// more.
  void select_cold(std::size_t k) {
    ++cold_selections_;
    select(Everything{memory_.data(), d_}, cold_, k);
    copy_answer(k);
    stream_.wait();
  }

  void copy_answer(std::size_t k) {
    download(answer_on_host_.data(), answer_.data(), Answer::bytes(k));
  }

  static PassNorms norms_of(const Told& told) {
    return {.residual_sq = told.norms.of[0],
            .gradient_sq = told.norms.of[1],
            .accumulator_sq = told.norms.of[2]};
  }

  void keep(std::size_t k, SparseVector<float>& selected) {
    const Answer here = answer_on_host(k);
    k_ = k;
    kept_ = here.told->kept;
    assert(kept_ <= k);
    selected.indices.assign(here.indices, here.indices + kept_);
    selected.values.assign(here.values, here.values + kept_);
  }

  void put(const SparseVector<float>& list, std::size_t at) {
    std::copy(list.indices.begin(), list.indices.end(), list_indices_.data() + at);
    std::copy(list.values.begin(), list.values.end(), list_values_.data() + at);
  }

  void scatter(const std::uint32_t* indices, const float* values, std::size_t count, float sign) {
    if (count == 0) {
      return;
    }
    scatter_kernel<<<blocks_for(count, kThreads), kThreads, 0, stream_.get()>>>(
        memory_.data(), indices, values, static_cast<std::uint32_t>(count), sign);
    check(cudaGetLastError(), "scatter_kernel");
  }

  Stream stream_;
  std::size_t d_;
  unsigned tiles_;
  Buffer<float> memory_;
  Buffer<float> gradient_;  // only for gradients that come from the host
  Buffer<Run> runs_;
  Buffer<Sums> tile_sums_;
  Buffer<Sums> group_sums_;
  Buffer<std::uint32_t> noted_;
  Buffer<Search> search_;
  Buffer<unsigned char> answer_;
  PinnedBuffer<unsigned char> answer_on_host_;
  Launch warm_;
  Launch cold_;

  std::size_t reserved_ = 0;  // the largest k so far
  Buffer<std::uint64_t> notes_;
  std::size_t k_ = 0;  // the k of the last selection
  std::size_t kept_ = 0;
  Event answered_;  // the answer of the last step is on the host
  std::size_t started_k_ = 0;
  bool is_warm_ = false;  // the step that was started selects from notes

  // The lists of removed and returned entries stay on the host: the kernel reads each entry once.
  PinnedBuffer<std::uint32_t> list_indices_;
  PinnedBuffer<float> list_values_;

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
  return step(implementation_->placed(gradient), scale, k, selected);
}

PassNorms DeviceStep::step(DeviceSpan gradient,
                           float scale,
                           std::size_t k,
                           SparseVector<float>& selected) {
  start(gradient, scale, k);
  return take(selected);
}

void DeviceStep::start(DeviceSpan gradient, float scale, std::size_t k) {
  implementation_->start(gradient, scale, k);
}

PassNorms DeviceStep::take(SparseVector<float>& selected) {
  return implementation_->take(selected);
}

void DeviceStep::update_residual(const SparseVector<float>& removed,
                                 const SparseVector<float>& returned) {
  implementation_->update_residual(removed, returned);
}

void DeviceStep::select(std::size_t k, SparseVector<float>& selected) {
  implementation_->select_again(k, selected);
}

float* DeviceStep::memory() const { return implementation_->memory(); }
Stream& DeviceStep::stream() const { return implementation_->stream(); }

void DeviceStep::update_selected_residual() { implementation_->update_selected_residual(); }

}  // namespace residuum::cuda
