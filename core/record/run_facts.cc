#include "core/record/run_facts.h"

#include <algorithm>
#include <concepts>

namespace residuum {
namespace {

template <class Number>
double number_of(Number value) {
  return static_cast<double>(value);
}
double number_of(const Known& known) { return known.value; }

// One function for each type of a field: it returns what two values of it both imply. A type takes
// only the ways that have a meaning for it.

bool of_both(bool a, bool b, Both both) { return both == Both::claim ? a && b : a || b; }

double of_both(double a, double /*b*/, Both /*same*/) { return a; }
template <std::integral Number>
Number of_both(Number a, Number b, Both both) {
  return both == Both::smaller ? std::min(a, b) : std::max(a, b);
}
Memory of_both(Memory a, Memory /*b*/, Both /*same*/) { return a; }
Synchrony of_both(Synchrony a, Synchrony /*b*/, Both /*same*/) { return a; }

std::string of_both(const std::string& a, const std::string& b, Both both) {
  return both == Both::words ? std::max(a, b) : a;
}

/// Returns the value that both seeds imply: true or false if they agree, false if one is false,
/// else unknown.
std::optional<bool> of_both(const std::optional<bool>& a,
                            const std::optional<bool>& b,
                            Both /*known*/) {
  if (a == b) {
    return a;
  }
  return a == false || b == false ? std::optional(false) : std::nullopt;
}

template <class Value>
std::optional<Value> of_both(const std::optional<Value>& a,
                             const std::optional<Value>& b,
                             Both both) {
  if (both == Both::same) {
    return a;
  }
  if (!a || !b) {
    return std::nullopt;
  }
  const bool is_smaller = number_of(*b) < number_of(*a);
  const bool is_larger = number_of(*b) > number_of(*a);
  return (both == Both::smaller ? is_smaller : is_larger) ? b : a;
}

}  // namespace

std::string_view memory_text(Memory memory) {
  switch (memory) {
    case Memory::residual:
      return "error feedback";
    case Memory::velocity:
      return "momentum correction";
    case Memory::control:
      return "gradient estimates with error control";
    case Memory::estimate:
      break;
  }
  return "gradient estimates";
}

RunFacts weaker_of(const RunFacts& a, const RunFacts& b) {
  RunFacts facts = a;
  if (!b.quantiser) {
    facts.quantiser.reset();
  }
  visit_fact_fields([&](const FactField& field, auto place) {
    if (auto* both = place(facts)) {
      *both = of_both(*place(a), *place(b), field.both);
    }
  });
  // Equality for the smaller of two shares would claim too much of the seed with the larger one.
  facts.sparsifier.exact =
      facts.sparsifier.exact && a.sparsifier.contraction == b.sparsifier.contraction && a.k == b.k;
  return facts;
}

}  // namespace residuum
