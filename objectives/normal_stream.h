#pragma once
// NormalStream draws standard normal numbers at a quarter of Box-Muller's cost, for objectives
// whose gradient is little more than its noise. Source: the ziggurat of Marsaglia and Tsang (2000),
// 128 layers, in the form of Doornik (2005), whose layer and abscissa come from different bits.

#include "core/random/random.h"

namespace residuum {

class NormalStream {
 public:
  explicit NormalStream(const RandomStream& bits) : bits_(bits) {}

  /// Returns a draw of N(0, 1), exact up to the 53 bits of its uniform numbers.
  double next();

 private:
  double tail(bool negative);

  RandomStream bits_;
};

}  // namespace residuum
