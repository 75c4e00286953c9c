// `residuum bench quantisers` times the packed forms of quantisers against a copy of the values.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "core/quantisers/quantiser.h"
#include "experiments/benchmarks/bench.h"

namespace residuum {
namespace {

constexpr std::array<std::size_t, 2> kQuantisedSizes{kMillion, 25 * kMillion};

/// Values and their packed form, which is made once before it is decoded.
struct QuantisedCase {
  std::unique_ptr<Quantiser> rule;
  std::vector<float> values;
  std::vector<std::byte> coded;

  void encode() {
    RandomStream random(1, Purpose::quantiser, 0, 0);
    rule->encode(std::span<const float>(values), random, coded);
  }
  void decode() { rule->decode(coded, std::span<float>(values)); }
};

std::shared_ptr<QuantisedCase> quantised_case(const Entry<Quantiser>& entry, std::size_t d) {
  auto one = std::make_shared<QuantisedCase>();
  one->rule = entry.make(example_section("quantiser", entry));
  one->values = gaussian_vector(d, 0);
  one->coded.resize(one->rule->packed_bytes(d, sizeof(float)));
  one->encode();
  return one;
}

/// Returns the least share of the copy's speed that is wanted. Encoding by the table has none: its
/// sums are taken in the order of the values, one addition after the other.
std::optional<double> target_of(std::string_view name, std::string_view what, std::size_t d) {
  if (d != kQuantisedSizes.back() || (name == "table" && what == "encode")) {
    return std::nullopt;
  }
  return name == "linear" || name == "table" || name == "terngrad" ? 0.4 : 0.5;
}

}  // namespace

void bench_quantisers(std::vector<Measure>& measures, const Options& /*options*/) {
  for (const std::size_t d : kQuantisedSizes) {
    const std::string copy = fmt::format("copy/{}", d);
    add_benchmark(copy, [from = gaussian_vector(d, 0), to = std::vector<float>(d)]() mutable {
      std::copy(from.begin(), from.end(), to.begin());
    });
    for (const auto& entry : quantisers()) {
      const auto one = quantised_case(entry, d);
      const auto add = [&](const char* what, const std::function<void()>& body) {
        const std::string name = fmt::format("{}-{}/{}", entry.name, what, d);
        add_benchmark(name, body);
        measures.push_back(
            {.id = "",
             .name = fmt::format("{} {}s {} values, against a copy of them", entry.name, what, d),
             .benchmark = name,
             .baseline = copy,
             .faster_than = true,
             .target = target_of(entry.name, what, d),
             .bytes = d * sizeof(float) + one->coded.size()});
      };
      add("encode", [one] { one->encode(); });
      add("decode", [one] { one->decode(); });
    }
  }
}

}  // namespace residuum
