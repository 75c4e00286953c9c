#pragma once
// A device has memory of its own, which the host does not read: vectors of floats are kept there,
// and what the host asks for is copied. Accumulators and selections have the bits of the host
// (fused.h, select.h). Every copy between the two is counted, so that tests can tell what crosses.
// The implementations are a CUDA device (cuda/cuda_device.h) and a stand-in on the host, by which
// all code above is tested without one (stand_in_device.h).

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "core/vectors/candidates.h"
#include "core/vectors/dense.h"
#include "core/vectors/fused.h"
#include "core/vectors/sparse_vector.h"

namespace residuum {

/// Says where numbers are: in the host's memory, or on which device.
struct Place {
  enum class Kind { host, cuda, stand_in };
  Kind kind = Kind::host;
  int index = 0;  // among the CUDA devices that this process sees

  friend bool operator==(const Place&, const Place&) = default;
};

/// Refers to numbers on a device: the address is for its kernels, and the host must not read it. It
/// is a multiple of 16 bytes, as allocations are. On a CUDA device the work that writes the numbers
/// was queued before on the legacy default stream (libtorch's own), or has been waited for. What is
/// queued there after a call that reads them may write them again.
struct DeviceSpan {
  const float* data = nullptr;
  std::size_t size = 0;
};

/// Refers to numbers on a device that its kernels may write.
struct DeviceRoom {
  float* data = nullptr;
  std::size_t size = 0;

  DeviceSpan span() const { return {.data = data, .size = size}; }
};

/// Crossed is how many bytes were copied between the host and a device.
struct Crossed {
  std::uint64_t to_host = 0;
  std::uint64_t to_device = 0;
};

/// A part of a vector that is selected from: of its entries with |x_i| >= `least`, zeros excluded,
/// the `most` that come first in the order of select.h. Either `least` is 0, or `most` is no limit:
/// at least the part's size.
struct SelectionPart {
  Segment at;
  std::size_t most = 0;
  float least = 0;

  friend bool operator==(const SelectionPart&, const SelectionPart&) = default;
};

/// Some vectors of d floats on a device, numbered from 0; at first they are zero.
class DeviceVectors {
 public:
  /// Copies are counted in `crossed`.
  explicit DeviceVectors(std::shared_ptr<Crossed> crossed) : crossed_(std::move(crossed)) {}
  DeviceVectors(const DeviceVectors&) = delete;
  DeviceVectors& operator=(const DeviceVectors&) = delete;
  DeviceVectors(DeviceVectors&&) = delete;
  DeviceVectors& operator=(DeviceVectors&&) = delete;
  virtual ~DeviceVectors() = default;

  virtual std::size_t dimension() const = 0;
  /// Returns where a vector is, for the work that is queued next; ask again before later work.
  virtual DeviceRoom vector(std::size_t number) = 0;

  // Copies of d numbers.
  virtual void set(std::size_t number, std::span<const float> values) = 0;
  virtual void get(std::size_t number, std::span<float> values) const = 0;

  // A pass and a selection are started, which only queues them, and taken later, which waits for
  // them: vectors of several workers are worked on at the same time. Each is taken once, the norms
  // before the selection, and vector 0 must not change meanwhile.
  /// Vector 0 := vector 0 + scale * gradient, rounded after each operation.
  virtual void start_accumulate(DeviceSpan gradient,
                                float scale,
                                std::span<const Segment> segments) = 0;
  /// Vector 0 := gradient - vector 1.
  virtual void start_subtract(DeviceSpan gradient, std::span<const Segment> segments) = 0;
  /// Returns the norms of the pass that was started. They are sums in an order of the device's own,
  /// which the segments may decide. If that of the accumulator is not finite, a selection that was
  /// started is dropped, and must not be taken.
  virtual PassNorms take_norms() = 0;
  /// Selects the entries of vector 0 that the parts ask for. Parts rise and do not overlap.
  virtual void start_select(std::span<const SelectionPart> parts) = 0;
  /// selected := those entries, by index.
  virtual void take_selected(SparseVector<float>& selected) = 0;

  // The same for those who do not wait for anything else meanwhile.
  PassNorms accumulate(DeviceSpan gradient, float scale, std::span<const Segment> segments) {
    start_accumulate(gradient, scale, segments);
    return take_norms();
  }
  PassNorms subtract(DeviceSpan gradient, std::span<const Segment> segments) {
    start_subtract(gradient, segments);
    return take_norms();
  }
  /// The vector must be finite.
  void select(std::span<const SelectionPart> parts, SparseVector<float>& selected) {
    start_select(parts);
    take_selected(selected);
  }

  // These sums estimate thresholds of vector 0. Their order is the device's own.
  virtual MagnitudeMoments moments(const Segment& of, bool with_logarithms) const = 0;
  virtual MagnitudeMoments excess_moments(const Segment& of,
                                          double threshold,
                                          bool with_logarithms) const = 0;
  /// Returns how many entries that are not 0 have |x_i| >= least.
  virtual std::size_t count(const Segment& of, float least) = 0;

  // Updates.
  virtual void clear(std::size_t number) = 0;
  virtual void scale(std::size_t number, float factor) = 0;
  /// The vector's entries += sign * the list's, sign being 1 or -1.
  virtual void add(std::size_t number, const SparseVector<float>& list, float sign) = 0;
  /// The vector's entries := the list's.
  virtual void assign(std::size_t number, const SparseVector<float>& list) = 0;
  /// Vector `to` += vector `from`.
  virtual void add_vector(std::size_t to, std::size_t from) = 0;

  // Measured iterations ask for these.
  /// values := the vector's entries at the indices.
  virtual void gather(std::size_t number,
                      std::span<const std::uint32_t> indices,
                      std::span<float> values) const = 0;
  virtual double norm_sq(std::size_t number, std::span<const Segment> segments) const = 0;
  virtual float norm_inf(std::size_t number) const = 0;

 protected:
  void count_to_host(std::size_t bytes) const { crossed_->to_host += bytes; }
  void count_to_device(std::size_t bytes) const { crossed_->to_device += bytes; }

 private:
  std::shared_ptr<Crossed> crossed_;
};

/// A Device may be used in several threads, one after the other: where a thread has a current
/// device, as with CUDA, a call of `vectors` or `read` makes it this one for the thread that calls.
/// Vectors are used in the thread that made them.
class Device {
 public:
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  Device(Device&&) = delete;
  Device& operator=(Device&&) = delete;
  virtual ~Device() = default;

  /// Says which device it is, for a reader: "cuda:1 (NVIDIA H100)".
  virtual std::string name() const = 0;
  /// Returns a text that processes share if and only if they use the same device.
  virtual std::string identity() const = 0;
  /// Returns the bytes that are free, for all processes together.
  virtual std::size_t free_bytes() const = 0;
  /// Returns the bytes that selections of up to k of d entries, from that many parts, take beside
  /// the vectors.
  virtual std::uint64_t selection_bytes(std::size_t d, std::size_t k, std::size_t parts) const = 0;
  /// Makes `count` vectors of d numbers. If there is no room, the resource error names the sizes.
  virtual std::unique_ptr<DeviceVectors> vectors(std::size_t count, std::size_t d) const = 0;

  /// values := numbers on this device that others own, as many as there are.
  virtual void read(DeviceSpan from, std::span<float> values) const = 0;

  /// Returns what has crossed so far for all vectors that were made here, and by `read`.
  const Crossed& crossed() const { return *crossed_; }

 protected:
  const std::shared_ptr<Crossed>& counter() const { return crossed_; }

 private:
  std::shared_ptr<Crossed> crossed_ = std::make_shared<Crossed>();
};

}  // namespace residuum
