// This file implements cuda_device.h. Vector 0 and its selections are a DeviceStep's, whose pass
// notes large entries for the selection that follows. Everything runs on the stream of the step, so
// that vectors of several workers are worked on at the same time. Gradients, and vectors whose
// addresses were handed out, are written or read on the legacy default stream: where these are
// used, each of the two streams waits for what the other has queued.

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
#include "core/vectors/cuda/stream.cuh"
#include "core/vectors/cuda/vector_kernels.cuh"
#include "core/vectors/cuda/warm_bound.h"

namespace residuum::cuda {
namespace {

constexpr std::size_t kPairBytes = sizeof(std::uint32_t) + sizeof(float);

unsigned blocks_for(std::size_t size, std::size_t per_block) {
  return static_cast<unsigned>((size + per_block - 1) / per_block);
}

void launched(const char* kernel) { check(cudaGetLastError(), kernel); }

/// Numbers of the host that are not pinned have been read when this returns.
template <typename T>
void upload(T* to, const T* from, std::size_t count, cudaStream_t stream) {
  if (count > 0) {
    check(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyHostToDevice, stream),
          "cudaMemcpy to the device");
  }
}

/// Queues a copy to pinned memory.
template <typename T>
void queue_download(T* to, const T* from, std::size_t count, cudaStream_t stream) {
  if (count > 0) {
    check(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyDeviceToHost, stream),
          "cudaMemcpy to the host");
  }
}

/// Copies to any memory, and waits.
template <typename T>
void download(T* to, const T* from, std::size_t count, cudaStream_t stream) {
  if (count > 0) {
    queue_download(to, from, count, stream);
    check(cudaStreamSynchronize(stream), "cudaMemcpy to the host");
  }
}

template <typename T>
void zero(T* of, std::size_t count, cudaStream_t stream) {
  if (count > 0) {
    check(cudaMemsetAsync(of, 0, count * sizeof(T), stream), "cudaMemset");
  }
}

/// A list of entries on the device.
class ListThere {
 public:
  void set(const SparseVector<float>& list, cudaStream_t stream) {
    reserve(list.size());
    upload(indices_.data(), list.indices.data(), list.size(), stream);
    upload(values_.data(), list.values.data(), list.size(), stream);
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

/// Selects from parts of a vector. The parts cross once, as long as they stay the same. Where all
/// parts say how many entries they want at most, these are copied to pinned memory as soon as they
/// are selected. Else the host waits for their number first.
class PartSelection {
 public:
  /// Returns how many bytes of parts and thresholds have crossed.
  std::size_t set(std::span<const SelectionPart> parts, cudaStream_t stream) {
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
      upload(parts_.data(), all.data(), all.size(), stream);
      crossed += all.size() * sizeof(PartThere);
      leasts_here_.clear();
    }
    if (leasts != leasts_here_) {
      leasts_.reserve(leasts.size());
      upload(leasts_.data(), leasts.data(), leasts.size(), stream);
      crossed += leasts.size() * sizeof(std::uint32_t);
      leasts_here_ = std::move(leasts);
    }
    here_.assign(parts.begin(), parts.end());
    return crossed;
  }

  void start(const float* values, cudaStream_t stream) {
    if (count_ == 0) {
      return;
    }
    cut_parts_kernel<<<count_, kSearchThreads, 0, stream>>>(
        values, parts_.data(), leasts_.data(), cuts_.data(), kept_.data());
    launched("cut_parts_kernel");
    place_parts_kernel<<<1, kSearchThreads, 0, stream>>>(kept_.data(), count_, begins_.data());
    launched("place_parts_kernel");
    total_here_.reserve(1);
    queue_download(total_here_.data(), begins_.data() + count_, 1, stream);
    if (const std::size_t most = most_wanted(); most > 0) {
      write(values, most, stream);
    }
    copied_.record(stream);
  }

  /// Returns how many bytes have crossed.
  std::size_t take(const float* values, cudaStream_t stream, SparseVector<float>& selected) {
    selected.clear();
    if (count_ == 0) {
      return 0;
    }
    copied_.wait();
    const std::size_t total = *total_here_.data();
    std::size_t copied = most_wanted();
    if (copied == 0) {
      copied = total;
      write(values, total, stream);
      check(cudaStreamSynchronize(stream), "cudaMemcpy to the host");
    }
    selected.indices.assign(indices_here_.data(), indices_here_.data() + total);
    selected.values.assign(values_here_.data(), values_here_.data() + total);
    return copied * kPairBytes + sizeof(std::uint32_t);
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

  /// Returns how many entries the parts can have at most; 0 where only a threshold says how many.
  std::size_t most_wanted() const {
    std::size_t most = 0;
    for (const SelectionPart& part : here_) {
      if (part.least > 0 || part.most >= part.at.size) {
        return 0;
      }
      most += part.most;
    }
    return most;
  }

  /// Writes what the parts keep, and queues copies of the first `count` entries to the host. The
  /// parts may keep fewer, so nothing there may be undefined.
  void write(const float* values, std::size_t count, cudaStream_t stream) {
    if (count > room_) {
      list_.reserve(count);
      zero(list_.indices(), count, stream);
      zero(list_.values(), count, stream);
      indices_here_.reserve(count);
      values_here_.reserve(count);
      room_ = count;
    }
    write_parts_kernel<<<count_, kSearchThreads, 0, stream>>>(
        values, parts_.data(), cuts_.data(), begins_.data(), list_.indices(), list_.values());
    launched("write_parts_kernel");
    queue_download(indices_here_.data(), list_.indices(), count, stream);
    queue_download(values_here_.data(), list_.values(), count, stream);
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
  std::size_t room_ = 0;  // for so many entries
  PinnedBuffer<std::uint32_t> total_here_;
  PinnedBuffer<std::uint32_t> indices_here_;
  PinnedBuffer<float> values_here_;
  Event copied_;
};

class CudaVectors final : public DeviceVectors {
 public:
  CudaVectors(std::shared_ptr<Crossed> crossed, std::size_t count, std::size_t d)
      : DeviceVectors(std::move(crossed)),
        d_(d),
        step_(d),
        others_(count > 1 ? count - 1 : 0),
        extents_(blocks_for(d, kTile) + kNorms),
        extents_here_(kNorms) {
    for (Buffer<float>& other : others_) {
      other.reserve(d_);
      zero(other.data(), d_, stream());
    }
  }
  CudaVectors(const CudaVectors&) = delete;
  CudaVectors& operator=(const CudaVectors&) = delete;
  /// Copies to the host may be under way, whose memory is freed next.
  ~CudaVectors() override { cudaStreamSynchronize(step_.stream().get()); }

  std::size_t dimension() const override { return d_; }
  /// The caller queues its use of the address on the default stream.
  DeviceRoom vector(std::size_t number) override {
    is_handed_out_ = true;
    changes(number);
    step_.stream().lead_default();
    return {at(number), d_};
  }

  void set(std::size_t number, std::span<const float> values) override {
    assert(values.size() == d_);
    changes(number);
    upload(at(number), values.data(), d_, stream());
    count_to_device(values.size_bytes());
  }
  void get(std::size_t number, std::span<float> values) const override {
    assert(values.size() == d_);
    download(values.data(), at(number), d_, stream());
    count_to_host(values.size_bytes());
  }

  /// The step selects as many entries as the last selection did, which the pass has noted.
  void start_accumulate(DeviceSpan gradient,
                        float scale,
                        std::span<const Segment> /*segments*/) override {
    forget_selection();
    step_.start(gradient, scale, expected_);
    started_ = Begun::sum;
  }

  void start_subtract(DeviceSpan gradient, std::span<const Segment> /*segments*/) override {
    forget_selection();
    started_ = Begun::difference;
    if (d_ == 0) {
      return;
    }
    const cudaStream_t stream = this->stream();
    step_.stream().follow_default();
    queue_extent(at(0), kResidual, stream);
    queue_extent(gradient.data, kGradient, stream);
    subtract_kernel<<<blocks_for(d_, kThreads), kThreads, 0, stream>>>(
        at(0), gradient.data, at(1), d_);
    launched("subtract_kernel");
    step_.stream().lead_default();  // the gradient may be written again once it has been read
    queue_extent(at(0), kAccumulator, stream);
    queue_download(extents_here_.data(), whole(kResidual), kNorms, stream);
    copied_.record(stream);
  }

  PassNorms take_norms() override {
    const Begun started = std::exchange(started_, Begun::nothing);
    assert(started != Begun::nothing);
    const PassNorms norms = started == Begun::sum ? step_.take(selected_) : norms_here();
    const bool is_finite = std::isfinite(norms.accumulator_sq);
    has_selected_ = started == Begun::sum && is_finite;
    is_selecting_ = is_selecting_ && is_finite;
    count_to_host(kNormBytes + (has_selected_ ? selected_.size() * kPairBytes : 0));
    return norms;
  }

  /// The step that is under way selects from the whole vector already.
  void start_select(std::span<const SelectionPart> parts) override {
    assert(!is_selecting_);
    is_selecting_ = true;
    takes_top_k_ = parts.size() == 1 && parts[0].least == 0 && parts[0].at == Segment{0, d_} &&
                   parts[0].most < d_;
    if (takes_top_k_) {
      wanted_ = parts[0].most;
      return;
    }
    const cudaStream_t stream = this->stream();
    count_to_device(parts_.set(parts, stream));
    parts_.start(at(0), stream);
  }

  void take_selected(SparseVector<float>& selected) override {
    assert(is_selecting_ && started_ == Begun::nothing);
    is_selecting_ = false;
    if (!takes_top_k_) {
      count_to_host(parts_.take(at(0), stream(), selected));
      return;
    }
    if (!has_selected_ || wanted_ != expected_) {
      expected_ = wanted_;
      static_cast<void>(stream());  // it waits for those who have addresses
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
    const cudaStream_t stream = this->stream();
    counted_.reserve(1);
    zero(counted_.data(), 1, stream);
    const std::uint32_t bits = std::max<std::uint32_t>(1, std::bit_cast<std::uint32_t>(least));
    count_kernel<<<blocks_for(of.size, kThreads), kThreads, 0, stream>>>(
        at(0) + of.begin, of.size, bits, counted_.data());
    launched("count_kernel");
    std::uint32_t total = 0;
    download(&total, counted_.data(), 1, stream);
    count_to_host(sizeof(total));
    return total;
  }

  void clear(std::size_t number) override {
    changes(number);
    zero(at(number), d_, stream());
  }
  void scale(std::size_t number, float factor) override {
    changes(number);
    if (d_ > 0) {
      scale_kernel<<<blocks_for(d_, kThreads), kThreads, 0, stream()>>>(at(number), factor, d_);
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
    const cudaStream_t stream = this->stream();
    list_.set(list, stream);
    count_to_device(list.size() * kPairBytes);
    add_list_kernel<<<blocks_for(list.size(), kThreads), kThreads, 0, stream>>>(
        at(number), list_.indices(), list_.values(), static_cast<std::uint32_t>(list.size()), sign);
    launched("add_list_kernel");
  }

  void assign(std::size_t number, const SparseVector<float>& list) override {
    changes(number);
    if (list.empty()) {
      return;
    }
    const cudaStream_t stream = this->stream();
    list_.set(list, stream);
    count_to_device(list.size() * kPairBytes);
    assign_kernel<<<blocks_for(list.size(), kThreads), kThreads, 0, stream>>>(
        at(number), list_.indices(), list_.values(), static_cast<std::uint32_t>(list.size()));
    launched("assign_kernel");
  }

  void add_vector(std::size_t to, std::size_t from) override {
    changes(to);
    if (d_ > 0) {
      add_vector_kernel<<<blocks_for(d_, kThreads), kThreads, 0, stream()>>>(at(to), at(from), d_);
      launched("add_vector_kernel");
    }
  }

  void gather(std::size_t number,
              std::span<const std::uint32_t> indices,
              std::span<float> values) const override {
    if (indices.empty()) {
      return;
    }
    const cudaStream_t stream = this->stream();
    list_.reserve(indices.size());
    upload(list_.indices(), indices.data(), indices.size(), stream);
    gather_kernel<<<blocks_for(indices.size(), kThreads), kThreads, 0, stream>>>(
        at(number), list_.indices(), list_.values(), static_cast<std::uint32_t>(indices.size()));
    launched("gather_kernel");
    download(values.data(), list_.values(), values.size(), stream);
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
    const cudaStream_t stream = this->stream();
    const unsigned tiles = blocks_for(of.size, kTile);
    moments_.reserve(tiles + 1);
    MomentSums* const whole = moments_.data() + tiles;
    tile_moments_kernel<<<tiles, kThreads, 0, stream>>>(
        at(0) + of.begin, of.size, threshold, of_excesses, with_logarithms, moments_.data());
    launched("tile_moments_kernel");
    join_moments_kernel<<<1, kWarp, 0, stream>>>(moments_.data(), tiles, whole);
    launched("join_moments_kernel");
    MomentSums sums{};
    download(&sums, whole, 1, stream);
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

  // The places of the norms of a pass.
  static constexpr std::size_t kResidual = 0;
  static constexpr std::size_t kGradient = 1;
  static constexpr std::size_t kAccumulator = 2;
  static constexpr std::size_t kNorms = 3;

  /// Returns the place of the extent of a whole vector, behind those of its tiles.
  Extent* whole(std::size_t place) const { return extents_.data() + blocks_for(d_, kTile) + place; }
  void queue_extent(const float* x, std::size_t place, cudaStream_t stream) const {
    const unsigned tiles = blocks_for(d_, kTile);
    tile_extent_kernel<<<tiles, kThreads, 0, stream>>>(x, d_, extents_.data());
    launched("tile_extent_kernel");
    join_extents_kernel<<<1, kWarp, 0, stream>>>(extents_.data(), tiles, whole(place));
    launched("join_extents_kernel");
  }
  Extent extent_of(const float* x) const {
    Extent extent{};
    if (d_ > 0) {
      const cudaStream_t stream = this->stream();
      queue_extent(x, 0, stream);
      download(&extent, whole(0), 1, stream);
    }
    return extent;
  }
  PassNorms norms_here() const {
    if (d_ == 0) {
      return {};
    }
    copied_.wait();
    const Extent* const norms = extents_here_.data();
    return {.residual_sq = norms[kResidual].norm_sq,
            .gradient_sq = norms[kGradient].norm_sq,
            .accumulator_sq = norms[kAccumulator].norm_sq};
  }

  /// Returns the stream for the next work. It waits for those who have addresses.
  cudaStream_t stream() const {
    if (is_handed_out_) {
      step_.stream().follow_default();
    }
    return step_.stream().get();
  }

  /// The selection of the step belongs to vector 0 as it was.
  void forget_selection() { has_selected_ = false; }
  void changes(std::size_t number) {
    if (number == 0) {
      forget_selection();
    }
  }

  enum class Begun { nothing, sum, difference };

  std::size_t d_;
  DeviceStep step_;
  std::vector<Buffer<float>> others_;
  Buffer<Extent> extents_;  // of the tiles, and behind them of whole vectors
  PinnedBuffer<Extent> extents_here_;
  Event copied_;                        // the norms of a difference are on the host
  mutable Buffer<MomentSums> moments_;  // of the tiles, and behind them of the whole
  Buffer<std::uint32_t> counted_;
  PartSelection parts_;
  mutable ListThere list_;
  bool is_handed_out_ = false;  // the address of a vector is

  Begun started_ = Begun::nothing;  // its norms are to be taken
  bool is_selecting_ = false;       // the selection is to be taken
  bool takes_top_k_ = false;        // it is the first entries of the whole vector
  std::size_t wanted_ = 0;          // so many

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
  /// The notes of the pass, the answer, the lists that are scattered, and what parts have.
  std::uint64_t selection_bytes(std::size_t d, std::size_t k, std::size_t parts) const override {
    constexpr std::uint64_t kPart =
        sizeof(PartThere) + sizeof(std::uint64_t) + 3 * sizeof(std::uint32_t);
    return WarmBound::capacity(k, d) * sizeof(std::uint64_t) + 3 * k * kPairBytes + parts * kPart;
  }
  std::unique_ptr<DeviceVectors> vectors(std::size_t count, std::size_t d) const override {
    use();
    return std::make_unique<CudaVectors>(counter(), count, d);
  }

  void read(DeviceSpan from, std::span<float> values) const override {
    assert(values.size() == from.size);
    use();
    download(values.data(), from.data, from.size, cudaStreamLegacy);
    counter()->to_host += values.size_bytes();
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
