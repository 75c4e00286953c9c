#pragma once
// The stand-in of a device keeps its vectors in the host's memory and computes by the host's
// kernels, so that bits are the host's, norms too. What a device would copy is copied and counted.

#include <cstddef>
#include <limits>
#include <memory>
#include <string>

#include "core/vectors/device.h"

namespace residuum {

class StandInDevice final : public Device {
 public:
  /// It has room for `bytes` bytes of vectors.
  explicit StandInDevice(std::size_t bytes = std::numeric_limits<std::size_t>::max());

  std::string name() const override;
  std::string identity() const override;
  std::size_t free_bytes() const override;
  std::unique_ptr<DeviceVectors> vectors(std::size_t count, std::size_t d) const override;

 private:
  struct Room;
  std::shared_ptr<Room> room_;  // vectors may outlive the device
};

}  // namespace residuum
