// This file implements cuda_device.h. Vector 0 and its selections are a DeviceStep's, whose pass
// notes large entries for the selection that follows. Everything else runs on the legacy default
// stream, which waits for the stream of a step, and for which that one waits.

#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/vectors/cuda/buffer.cuh"
#include "core/vectors/cuda/cuda_device.h"
#include "core/vectors/cuda/device.h"
#include "core/vectors/cuda/device_step.h"
#include "core/vectors/cuda/part_kernels.cuh"
#include "core/vectors/cuda/vector_kernels.cuh"

namespace residuum::cuda {
namespace {

constexpr std::size_t kPairBytes = sizeof(std::uint32_t) + sizeof(float);

unsigned blocks_for(std::size_t size, std::size_t per_block) {
  return static_cast<unsigned>((size + per_block - 1) / per_block);
}

void launched(const char* kernel) { check(cudaGetLastError(), kernel); }

template <typename T>
void upload(T* to, const T* from, std::size_t count) {
  if (count > 0) {
    check(cudaMemcpy(to, from, count * sizeof(T), cudaMemcpyHostToDevice),
          "cudaMemcpy to the device");
  }
}

template <typename T>
void download(T* to, const T* from, std::size_t count) {
  if (count > 0) {
    check(cudaMemcpy(to, from, count * sizeof(T), cudaMemcpyDeviceToHost),
          "cudaMemcpy to the host");
  }
}

/// A list of entries on the device.
class ListThere {
 public:
  void set(const SparseVector<float>& list) {
    reserve(list.size());
    upload(indices_.data(), list.indices.data(), list.size());
    upload(values_.data(), list.values.data(), list.size());
  }
  void reserve(std::size_t size) {
    indices_.reserve(size);
    values_.reserve(size);
  }
  std::uint32_t* indices() const { return indices_.data(); }
  float* values() const { return values_.data(); }

 private:
  Buffer<std::uint32_t> indices_;
  Buffer<float> values_;
};

/// Selects from parts of a vector. The parts cross once, as long as they stay the same.
class PartSelection {
 public:
  /// Returns how many bytes of parts and thresholds have crossed.
  std::size_t set(std::span<const SelectionPart> parts) {
    std::vector<std::uint32_t> leasts;
    leasts.reserve(parts.size());
    for (const SelectionPart& part : parts) {
      leasts.push_back(std::bit_cast<std::uint32_t>(part.least));
    }
    std::size_t crossed = 0;
    if (!has_same_places(parts)) {
      const std::vector<PartThere> all = parts_there(parts);
      count_ = static_cast<std::uint32_t>(all.size());
      parts_.reserve(all.size());
      cuts_.reserve(all.size());
      kept_.reserve(all.size());
      begins_.reserve(all.size() + 1);
      upload(parts_.data(), all.data(), all.size());
      crossed += all.size() * sizeof(PartThere);
      leasts_here_.clear();
    }
    if (leasts != leasts_here_) {
      leasts_.reserve(leasts.size());
      upload(leasts_.data(), leasts.data(), leasts.size());
      crossed += leasts.size() * sizeof(std::uint32_t);
      leasts_here_ = std::move(leasts);
    }
    here_.assign(parts.begin(), parts.end());
    return crossed;
  }

  void select(const float* values, SparseVector<float>& selected) {
    selected.clear();
    if (count_ == 0) {
      return;
    }
    cut_parts_kernel<<<count_, kSearchThreads>>>(
        values, parts_.data(), leasts_.data(), cuts_.data(), kept_.data());
    launched("cut_parts_kernel");
    place_parts_kernel<<<1, kSearchThreads>>>(kept_.data(), count_, begins_.data());
    launched("place_parts_kernel");
    std::uint32_t total = 0;
    download(&total, begins_.data() + count_, 1);
    list_.reserve(total);
    write_parts_kernel<<<count_, kSearchThreads>>>(
        values, parts_.data(), cuts_.data(), begins_.data(), list_.indices(), list_.values());
    launched("write_parts_kernel");
    selected.resize(total);
    download(selected.indices.data(), list_.indices(), total);
    download(selected.values.data(), list_.values(), total);
  }

 private:
  bool has_same_places(std::span<const SelectionPart> parts) const {
    return std::equal(parts.begin(),
                      parts.end(),
                      here_.begin(),
                      here_.end(),
                      [](const SelectionPart& a, const SelectionPart& b) {
                        return a.at == b.at && a.most == b.most;
                      });
  }

  /// A part that wants all that reaches a threshold is cut into tiles, so that many blocks of
  /// threads share it.
  static std::vector<PartThere> parts_there(std::span<const SelectionPart> parts) {
    std::vector<PartThere> all;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto& [at, most, least] = parts[i];
      const std::size_t piece = most >= at.size ? std::size_t{kTile} : at.size;
      for (std::size_t begin = 0; begin < at.size; begin += piece) {
        const std::size_t size = std::min(piece, at.size - begin);
        all.push_back({at.begin + begin,
                       static_cast<std::uint32_t>(size),
                       static_cast<std::uint32_t>(std::min(most, size)),
                       static_cast<std::uint32_t>(i)});
      }
    }
    return all;
  }

  std::vector<SelectionPart> here_;
  std::vector<std::uint32_t> leasts_here_;
  std::uint32_t count_ = 0;
  Buffer<PartThere> parts_;
  Buffer<std::uint32_t> leasts_;
  Buffer<std::uint64_t> cuts_;
  Buffer<std::uint32_t> kept_;
  Buffer<std::uint32_t> begins_;
  ListThere list_;
};

class CudaVectors final : public DeviceVectors {
 public:
  CudaVectors(std::shared_ptr<Crossed> crossed, std::size_t count, std::size_t d)
      : DeviceVectors(std::move(crossed)), d_(d), step_(d), others_(count > 1 ? count - 1 : 0) {
    for (Buffer<float>& other : others_) {
      other.reserve(d_);
      check(cudaMemset(other.data(), 0, d_ * sizeof(float)), "cudaMemset");
    }
    extents_.reserve(blocks_for(d_, kTile) + 1);
  }

  std::size_t dimension() const override { return d_; }
  DeviceRoom vector(std::size_t number) override { return {at(number), d_}; }

  void set(std::size_t number, std::span<const float> values) override {
    assert(values.size() == d_);
    upload(at(number), values.data(), d_);
    count_to_device(values.size_bytes());
  }
  void get(std::size_t number, std::span<float> values) const override {
    assert(values.size() == d_);
    download(values.data(), at(number), d_);
    count_to_host(values.size_bytes());
  }

  /// The step selects as many entries as the last selection did, which the pass has noted.
  PassNorms accumulate(DeviceSpan gradient,
                       float scale,
                       std::span<const Segment> /*segments*/) override {
    const PassNorms norms = step_.step(gradient, scale, expected_, selected_);
    has_selected_ = std::isfinite(norms.accumulator_sq);
    count_to_host(kNormBytes + selected_.size() * kPairBytes);
    return norms;
  }

  PassNorms subtract(DeviceSpan gradient, std::span<const Segment> /*segments*/) override {
    forget_selection();
    PassNorms norms;
    norms.residual_sq = extent_of(at(0)).norm_sq;
    norms.gradient_sq = extent_of(gradient.data).norm_sq;
    if (d_ > 0) {
      subtract_kernel<<<blocks_for(d_, kThreads), kThreads>>>(at(0), gradient.data, at(1), d_);
      launched("subtract_kernel");
    }
    norms.accumulator_sq = extent_of(at(0)).norm_sq;
    count_to_host(kNormBytes);
    return norms;
  }

  void select(std::span<const SelectionPart> parts, SparseVector<float>& selected) override {
    const bool is_top_k = parts.size() == 1 && parts[0].least == 0 &&
                          parts[0].at == Segment{0, d_} && parts[0].most < d_;
    if (!is_top_k) {
      count_to_device(parts_.set(parts));
      parts_.select(at(0), selected);
      count_to_host(selected.size() * kPairBytes + sizeof(std::uint32_t));
      return;
    }
    if (!has_selected_ || parts[0].most != expected_) {
      expected_ = parts[0].most;
      step_.select(expected_, selected_);
      has_selected_ = true;
      count_to_host(selected_.size() * kPairBytes);
    }
    selected = selected_;
  }

  MagnitudeMoments moments(const Segment& of, bool with_logarithms) const override {
    return moments_of(of, 0, /*of_excesses=*/false, with_logarithms);
  }
  MagnitudeMoments excess_moments(const Segment& of,
                                  double threshold,
                                  bool with_logarithms) const override {
    return moments_of(of, threshold, /*of_excesses=*/true, with_logarithms);
  }

  std::size_t count(const Segment& of, float least) override {
    if (of.size == 0) {
      return 0;
    }
    counted_.reserve(1);
    check(cudaMemset(counted_.data(), 0, sizeof(std::uint32_t)), "cudaMemset");
    const std::uint32_t bits = std::max<std::uint32_t>(1, std::bit_cast<std::uint32_t>(least));
    count_kernel<<<blocks_for(of.size, kThreads), kThreads>>>(
        at(0) + of.begin, of.size, bits, counted_.data());
    launched("count_kernel");
    std::uint32_t total = 0;
    download(&total, counted_.data(), 1);
    count_to_host(sizeof(total));
    return total;
  }

  void clear(std::size_t number) override {
    changes(number);
    check(cudaMemset(at(number), 0, d_ * sizeof(float)), "cudaMemset");
  }
  void scale(std::size_t number, float factor) override {
    changes(number);
    if (d_ > 0) {
      scale_kernel<<<blocks_for(d_, kThreads), kThreads>>>(at(number), factor, d_);
      launched("scale_kernel");
    }
  }

  /// The last selection is still on the device, and does not cross again.
  void add(std::size_t number, const SparseVector<float>& list, float sign) override {
    if (number == 0 && sign < 0 && has_selected_ && list == selected_) {
      step_.update_selected_residual();
      forget_selection();
      return;
    }
    changes(number);
    if (list.empty()) {
      return;
    }
    list_.set(list);
    count_to_device(list.size() * kPairBytes);
    add_list_kernel<<<blocks_for(list.size(), kThreads), kThreads>>>(
        at(number), list_.indices(), list_.values(), static_cast<std::uint32_t>(list.size()), sign);
    launched("add_list_kernel");
  }

  void assign(std::size_t number, const SparseVector<float>& list) override {
    changes(number);
    if (list.empty()) {
      return;
    }
    list_.set(list);
    count_to_device(list.size() * kPairBytes);
    assign_kernel<<<blocks_for(list.size(), kThreads), kThreads>>>(
        at(number), list_.indices(), list_.values(), static_cast<std::uint32_t>(list.size()));
    launched("assign_kernel");
  }

  void add_vector(std::size_t to, std::size_t from) override {
    changes(to);
    if (d_ > 0) {
      add_vector_kernel<<<blocks_for(d_, kThreads), kThreads>>>(at(to), at(from), d_);
      launched("add_vector_kernel");
    }
  }

  void gather(std::size_t number,
              std::span<const std::uint32_t> indices,
              std::span<float> values) const override {
    if (indices.empty()) {
      return;
    }
    list_.reserve(indices.size());
    upload(list_.indices(), indices.data(), indices.size());
    gather_kernel<<<blocks_for(indices.size(), kThreads), kThreads>>>(
        at(number), list_.indices(), list_.values(), static_cast<std::uint32_t>(indices.size()));
    launched("gather_kernel");
    download(values.data(), list_.values(), values.size());
    count_to_device(indices.size_bytes());
    count_to_host(values.size_bytes());
  }

  double norm_sq(std::size_t number, std::span<const Segment> /*segments*/) const override {
    count_to_host(sizeof(Extent));
    return extent_of(at(number)).norm_sq;
  }
  float norm_inf(std::size_t number) const override {
    count_to_host(sizeof(Extent));
    return std::bit_cast<float>(extent_of(at(number)).largest);
  }

 private:
  static constexpr std::size_t kNormBytes = 3 * sizeof(double);

  float* at(std::size_t number) const {
    return number == 0 ? step_.memory() : others_[number - 1].data();
  }

  MagnitudeMoments moments_of(const Segment& of,
                              double threshold,
                              bool of_excesses,
                              bool with_logarithms) const {
    if (of.size == 0) {
      return {};
    }
    const unsigned tiles = blocks_for(of.size, kTile);
    moments_.reserve(tiles + 1);
    MomentSums* const whole = moments_.data() + tiles;
    tile_moments_kernel<<<tiles, kThreads>>>(
        at(0) + of.begin, of.size, threshold, of_excesses, with_logarithms, moments_.data());
    launched("tile_moments_kernel");
    join_moments_kernel<<<1, kWarp>>>(moments_.data(), tiles, whole);
    launched("join_moments_kernel");
    MomentSums sums{};
    download(&sums, whole, 1);
    count_to_host(sizeof(sums));
    MagnitudeMoments moments;
    moments.entries = static_cast<std::size_t>(sums.of[0]);
    moments.nonzero = static_cast<std::size_t>(sums.of[1]);
    moments.signed_sum = sums.of[2];
    moments.sum = sums.of[3];
    moments.sum_sq = sums.of[4];
    moments.sum_log = sums.of[5];
    return moments;
  }

  Extent extent_of(const float* x) const {
    if (d_ == 0) {
      return {};
    }
    const unsigned tiles = blocks_for(d_, kTile);
    Extent* const whole = extents_.data() + tiles;
    tile_extent_kernel<<<tiles, kThreads>>>(x, d_, extents_.data());
    launched("tile_extent_kernel");
    join_extents_kernel<<<1, kWarp>>>(extents_.data(), tiles, whole);
    launched("join_extents_kernel");
    Extent extent{};
    download(&extent, whole, 1);
    return extent;
  }

  /// The selection of the step belongs to vector 0 as it was.
  void forget_selection() { has_selected_ = false; }
  void changes(std::size_t number) {
    if (number == 0) {
      forget_selection();
    }
  }

  std::size_t d_;
  DeviceStep step_;
  std::vector<Buffer<float>> others_;
  Buffer<Extent> extents_;              // of the tiles, and behind them of the whole
  mutable Buffer<MomentSums> moments_;  // of the tiles, and behind them of the whole
  Buffer<std::uint32_t> counted_;
  PartSelection parts_;
  mutable ListThere list_;

  std::size_t expected_ = 0;  // entries of the last selection of the whole vector
  SparseVector<float> selected_;
  bool has_selected_ = false;  // the selection is that of vector 0
};

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(int index) : index_(index) { use(); }

  std::string name() const override {
    return "cuda:" + std::to_string(index_) + " (" + cuda::name(index_) + ")";
  }
  std::string identity() const override {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, index_), "cudaGetDeviceProperties");
    return {properties.uuid.bytes, sizeof(properties.uuid.bytes)};
  }
  std::size_t free_bytes() const override {
    use();
    std::size_t free = 0;
    std::size_t total = 0;
    check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    return free;
  }
  std::unique_ptr<DeviceVectors> vectors(std::size_t count, std::size_t d) const override {
    use();
    return std::make_unique<CudaVectors>(counter(), count, d);
  }

 private:
  void use() const { check(cudaSetDevice(index_), "cudaSetDevice"); }

  int index_;
};

}  // namespace

int device_count() {
  int devices = 0;
  return cudaGetDeviceCount(&devices) == cudaSuccess ? devices : 0;
}

std::unique_ptr<Device> make_device(int index) {
  if (index >= device_count()) {
    device_error("cudaSetDevice", "there is no such device");
  }
  return std::make_unique<CudaDevice>(index);
}

}  // namespace residuum::cuda
