#include "assumptions/testing/law_vectors.h"

#include <cmath>

#include "core/random/random.h"

namespace residuum::laws {
namespace {

std::vector<double> drawn(std::size_t d, std::uint32_t position, double (*shape)(RandomStream&)) {
  RandomStream random(1, Purpose::test, 0, position);
  std::vector<double> values(d);
  for (double& value : values) {
    value = shape(random);
  }
  return values;
}

std::vector<double> one_hot(std::size_t d, std::size_t at) {
  std::vector<double> values(d);
  values[at] = -3;
  return values;
}

}  // namespace

std::vector<NamedVector> accumulators(std::size_t d) {
  std::vector<double> alternating(d);
  std::vector<double> decaying(d);
  for (std::size_t i = 0; i < d; ++i) {
    alternating[i] = i % 2 == 0 ? 0.75 : -0.75;
    decaying[i] = std::pow(0.8, static_cast<double>(d - i));
  }
  std::vector<NamedVector> all{{"all of one magnitude", alternating},
                               {"first entry alone", one_hot(d, 0)},
                               {"last entry alone", one_hot(d, d - 1)},
                               {"geometric, largest last", decaying},
                               {"zero", std::vector<double>(d)}};
  for (std::uint32_t n = 1; n <= 3; ++n) {
    all.push_back({"normal " + std::to_string(n),
                   drawn(d, n, [](RandomStream& random) { return random.normal(); })});
    all.push_back({"heavy-tailed " + std::to_string(n),
                   drawn(d, n, [](RandomStream& random) { return std::pow(random.normal(), 5); })});
    all.push_back({"of few values " + std::to_string(n),
                   drawn(d, n, [](RandomStream& random) { return random.below(3) - 1.0; })});
  }
  return all;
}

}  // namespace residuum::laws
