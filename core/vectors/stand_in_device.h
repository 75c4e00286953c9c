#pragma once
// The stand-in of a device keeps its vectors in the host's memory and computes by the host's
// kernels, so that bits are the host's, norms too. What a device would copy is copied and counted.
// A call that breaks the order of device.h is a std::logic_error.

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <string>

#include "core/vectors/device.h"

namespace residuum {

class StandInDevice final : public Device {
 public:
  /// The calls of vectors, whose order a test wants to know.
  enum class Event { start_pass, start_selection, take_norms, take_selection };
  /// Gets each event, and the number of the vectors: those that were made first have 0.
  using Watch = std::function<void(Event event, std::size_t vectors)>;

  /// It has room for `bytes` bytes of vectors.
  explicit StandInDevice(std::size_t bytes = std::numeric_limits<std::size_t>::max());

  std::string name() const override;
  std::string identity() const override;
  std::size_t free_bytes() const override;
  std::uint64_t selection_bytes(std::size_t d, std::size_t k, std::size_t parts) const override;
  std::unique_ptr<DeviceVectors> vectors(std::size_t count, std::size_t d) const override;

  void read(DeviceSpan from, std::span<float> values) const override;

  /// From now on `watch` is called.
  void watch(Watch watch);

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;  // vectors may outlive the device
};

}  // namespace residuum
