#pragma once
// These functions check what a component must do to be covered by the proofs, in anybody's tests.
// They look at generated cases and say what they found. matchers.h has them for GoogleTest. The
// same call looks at the same cases in every run.

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/sparsifiers/sparsifier.h"
#include "core/trainer/trainer.h"

namespace residuum::laws {

/// One accumulator per worker.
using Vectors = std::vector<std::vector<double>>;

/// A Finding says whether a law was seen to hold. The explanation names the case that violates the
/// law, or the cases that were tested.
struct Finding {
  bool holds = true;
  std::string explanation;
};

/// Checks that E|a - C(a)|^2 <= (1 - alpha) |a|^2 on accumulators of `dimension` entries of many
/// kinds, in both precisions. For a sparsifier that draws at random the expectation is a mean of
/// 2000 draws, which must exceed the bound by more than the empirical Bernstein bound (Maurer and
/// Pontil, COLT 2009) at a risk of 1e-9.
Finding is_contractive(const Sparsifier& sparsifier, double alpha, std::size_t dimension = 60);

/// Checks that messages are sorted, without zeros, within k, and the same for the same context, and
/// that all that the sparsifier claims in `law` holds. Expectations are looked at as above, and
/// entry by entry within six standard errors of 2000 draws.
Finding keeps_its_law(const Sparsifier& sparsifier, std::size_t dimension = 60);

/// Checks that sum_p e^p_{t+1} + g_t = sum_p a^p_t and w - z = mean residual, up to rounding, in
/// noisy trainings of 1 to 9 workers in both precisions. `dimension` must take the sparsifier's k.
Finding conserves_mass(const Method& method, std::size_t dimension = 24);

/// Sections of a study.
struct MethodSections {
  nlohmann::json sparsifier;
  nlohmann::json aggregator;
  nlohmann::json feedback = {{"kind", "ef14"}};
  nlohmann::json quantiser = {{"kind", "none"}};
};

/// The method that the sections name, with a constant step of 0.1; unknown keys are usage errors.
Method method_of(const MethodSections& sections);

/// Checks that delta <= 1 for one aggregation step of Top_k messages on these accumulators.
Finding satisfies_gtopk_assumption(const Vectors& accumulators,
                                   const std::string& aggregator,
                                   std::int64_t k);

/// Checks that nothing is lost in one aggregation step of Top_k messages, with the put-back
/// "captured", "published" or "discard".
Finding has_no_lost_mass(const Vectors& accumulators,
                         const std::string& aggregator,
                         std::int64_t k,
                         const std::string& put_back);

struct NamedVector {
  std::string name;
  std::vector<double> values;
};

/// Accumulators that strain different rules: energy spread evenly, on one entry, in a tail.
std::vector<NamedVector> accumulators(std::size_t d);

}  // namespace residuum::laws
