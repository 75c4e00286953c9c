// `residuum bench merge` times what one edge of the tree of gTop-k does with two lists of k
// entries: it makes their sum, cut to k entries, and the entries cut. The baseline is the
// textbook's merge, one that branches on which index is lower, and std::nth_element over all
// magnitudes.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>

#include "core/quantisers/quantiser.h"
#include "core/random/random.h"
#include "core/vectors/merge.h"
#include "experiments/benchmarks/bench.h"

namespace residuum {
namespace {

using List = SparseVector<float>;

/// Makes k entries like the largest of 1000 k Gaussian numbers: indices at gaps of 1000 on average,
/// magnitudes with the tail that the normal law has beyond 3.29 deviations.
List tail_list(std::size_t k, std::uint32_t number) {
  constexpr double kThreshold = 3.29;
  RandomStream random(1, Purpose::test, number, 0);
  List list;
  std::uint32_t index = 0;
  for (std::size_t i = 0; i < k; ++i) {
    index += 1 + random.below(1999);
    const double excess = -std::log(1 - random.uniform()) / kThreshold;
    const double sign = random.below(2) == 0 ? 1 : -1;
    list.push_back(index, static_cast<float>(sign * (kThreshold + excess)));
  }
  return list;
}

class TextbookMerge {
 public:
  void operator()(const List& a, const List& b, std::size_t k, List& kept, List& cut) {
    merge(a, b);
    magnitudes_.clear();
    for (const float value : sum_.values) {
      magnitudes_.push_back(std::abs(value));
    }
    const auto kth = magnitudes_.begin() + static_cast<std::ptrdiff_t>(k - 1);
    std::nth_element(magnitudes_.begin(), kth, magnitudes_.end(), std::greater<>());
    kept.clear();
    cut.clear();
    for (std::size_t i = 0; i < sum_.size(); ++i) {
      List& target = std::abs(sum_.values[i]) >= *kth ? kept : cut;
      target.push_back(sum_.indices[i], sum_.values[i]);
    }
  }

 private:
  void merge(const List& a, const List& b) {
    sum_.clear();
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < a.size() || j < b.size()) {
      if (j == b.size() || (i < a.size() && a.indices[i] < b.indices[j])) {
        sum_.push_back(a.indices[i], a.values[i]);
        ++i;
      } else if (i == a.size() || b.indices[j] < a.indices[i]) {
        sum_.push_back(b.indices[j], b.values[j]);
        ++j;
      } else {
        sum_.push_back(a.indices[i], a.values[i] + b.values[j]);
        ++i;
        ++j;
      }
    }
  }

  List sum_;
  std::vector<float> magnitudes_;
};

}  // namespace

void bench_merge(std::vector<Measure>& measures, const Options& /*options*/) {
  // A branch predictor adapts to a short list that repeats, so many different lists take turns.
  constexpr std::size_t kEntries = 100'000;
  for (const std::size_t k : {std::size_t{1000}, std::size_t{25'000}, std::size_t{1'000'000}}) {
    const auto lists = std::make_shared<std::vector<List>>();
    for (std::uint32_t number = 0; number < std::max<std::size_t>(2, kEntries / k); ++number) {
      lists->push_back(tail_list(k, number));
    }
    const auto time = [&](const std::string& name, auto merge) {
      add_benchmark(
          name, [lists, k, merge, kept = List(), cut = List(), next = std::size_t{0}]() mutable {
            const std::size_t first = next++ % lists->size();
            const std::size_t second = next % lists->size();
            merge((*lists)[first], (*lists)[second], k, kept, cut);
          });
    };
    const std::string name = fmt::format("merge/{}", k);
    const std::string baseline = fmt::format("textbook-merge/{}", k);
    time(
        name,
        [workspace = SplitWorkspace<float>()](
            const List& a, const List& b, std::size_t kept_entries, List& kept, List& cut) mutable {
          merge_top_k(a, b, kept_entries, workspace, kept, cut);
        });
    time(baseline, TextbookMerge());
    measures.push_back(
        {.id = "",
         .name = fmt::format("merge of two lists and cut to k = {}, faster than the textbook's", k),
         .benchmark = name,
         .baseline = baseline,
         .faster_than = true,
         .target = std::nullopt,
         .bytes = 4 * k * (sizeof(std::uint32_t) + sizeof(float))});
  }
}

// `residuum bench quantisers` times the packed forms of quantisers against a copy of the values.

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

/// Returns the least share of the copy's speed that is wanted.
std::optional<double> target_of(std::string_view name, std::size_t d) {
  if (d != kQuantisedSizes.back()) {
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
             .target = target_of(entry.name, d),
             .bytes = d * sizeof(float) + one->coded.size()});
      };
      add("encode", [one] { one->encode(); });
      add("decode", [one] { one->decode(); });
    }
  }
}

}  // namespace residuum
