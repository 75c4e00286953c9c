#pragma once
// Compressors whose answers are those of a function, and which laws they break.

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "assumptions/testing/compressor_laws.h"
#include "core/random/random.h"

namespace residuum::laws {

using Floats = std::vector<float>;

/// A compressor whose answers are those of a function, with a memory by tensor that a restart
/// empties.
class FunctionCompressor : public Compressor {
 public:
  using Rule =
      std::function<CompressorAnswer(Floats& memory, const Floats& x, RandomStream& random)>;

  explicit FunctionCompressor(Rule rule, bool one_memory = false)
      : rule_(std::move(rule)), one_memory_(one_memory) {}

  CompressorAnswer compress(const Tensor& tensor, std::span<const float> x) override {
    Floats& memory = memories_[one_memory_ ? "all" : tensor.name];
    memory.resize(x.size());
    RandomStream random(5, Purpose::test, 0, calls_++);
    return rule_(memory, Floats(x.begin(), x.end()), random);
  }
  void restart() override { memories_.clear(); }

 private:
  Rule rule_;
  bool one_memory_;
  std::map<std::string, Floats> memories_;
  std::uint32_t calls_ = 0;
};

inline CompressorAnswer answer_of(Floats output) {
  CompressorAnswer answer;
  answer.output = std::move(output);
  return answer;
}

inline CompressorAnswer refusal() {
  CompressorAnswer answer;
  answer.refusal = "not finite";
  return answer;
}

inline bool is_finite(const Floats& x) {
  return std::all_of(x.begin(), x.end(), [](float value) { return std::isfinite(value); });
}

inline Floats six_largest(const Floats& x) {
  std::vector<std::size_t> order(x.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(
      order.begin(), order.end(), [&](auto a, auto b) { return std::abs(x[a]) > std::abs(x[b]); });
  Floats kept(x.size());
  for (std::size_t i = 0; i < 6; ++i) {
    kept[order[i]] = x[order[i]];
  }
  return kept;
}

inline FunctionCompressor::Rule stateless(const std::function<Floats(const Floats&)>& rule) {
  return [rule](Floats&, const Floats& x, RandomStream&) {
    return is_finite(x) ? answer_of(rule(x)) : refusal();
  };
}

inline std::vector<std::string> violated(const std::vector<LawFinding>& findings) {
  std::vector<std::string> names;
  for (const auto& finding : findings) {
    if (finding.holds == false) {
      names.push_back(finding.law);
    }
  }
  return names;
}

inline std::vector<std::string> violated_by(const FunctionCompressor::Rule& rule,
                                            const CompressorClaims& claims) {
  FunctionCompressor compressor(rule);
  return violated(check_compressor(compressor, claims));
}

inline std::string explanation_of(const std::vector<LawFinding>& findings, const std::string& law) {
  for (const auto& finding : findings) {
    if (finding.law == law) {
      return finding.explanation;
    }
  }
  return "no such law";
}

inline CompressorClaims top_six() {
  CompressorClaims claims;
  claims.k = 6;
  return claims;
}

}  // namespace residuum::laws
