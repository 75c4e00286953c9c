#include "assumptions/verdicts/ratios.h"

#include <algorithm>

namespace residuum {

double Ratios::sampling_error() const {
  if (values.empty() || rows >= iterations) {
    return 0;
  }
  const auto seeds = static_cast<double>(values.size());
  return std::abs(trend) / seeds + 2 * std::sqrt(variance) / seeds;
}

Ratios no_ratios(std::string why) {
  Ratios ratios;
  ratios.missing = std::move(why);
  return ratios;
}

SinglesOfSeeds no_singles(std::string why) {
  SinglesOfSeeds singles;
  singles.missing = std::move(why);
  return singles;
}

Ratios pooled_ratios(const Evidence& evidence,
                     std::string_view source,
                     HeldRatio SeedMeasures::*held,
                     const std::function<double(const SeedMeasures&)>& factor) {
  Ratios ratios = ratios_of_seeds(evidence, source, [&](const SeedMeasures& measures) {
    const auto value = (measures.*held).overall();
    return value ? std::optional<double>(*value * factor(measures)) : std::nullopt;
  });
  for (std::size_t i = 0; i < ratios.values.size(); ++i) {
    const SeedMeasures& measures = evidence.seeds()[i].measures();
    const HeldRatio& one = measures.*held;
    const auto error = one.sampling_error();
    const double times = factor(measures);
    ratios.trend += error.trend * times;
    ratios.variance += error.variance * times * times;
    ratios.rows += one.rows();
    ratios.iterations += evidence.seeds()[i].iterations();
    if (const auto quarters = one.windows().quarters()) {
      ratios.quarters.push_back(*quarters);
      std::for_each(ratios.quarters.back().begin(),
                    ratios.quarters.back().end(),
                    [times](double& ratio) { ratio *= times; });
    }
  }
  if (ratios.quarters.size() < ratios.values.size()) {
    ratios.quarters.clear();
  }
  return ratios;
}

SinglesOfSeeds singles_of_seeds(const Evidence& evidence,
                                std::string_view source,
                                Singles SeedMeasures::*member) {
  SinglesOfSeeds singles;
  bool any = false;
  for (const auto& seed : evidence.seeds()) {
    singles.seeds.push_back(seed.measures().*member);
    any = any || singles.seeds.back().measured > 0;
  }
  if (!any) {
    return no_singles(fmt::format("needs {}", source));
  }
  return singles;
}

}  // namespace residuum
