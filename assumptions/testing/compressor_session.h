#pragma once
// The laws of compressors share a session: a compressor at work on tensors of one shape, and the
// vectors that are shown to it.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assumptions/testing/compressor_laws.h"

namespace residuum::laws {

/// |C(x) - x|^2/|x|^2 of a C(x) that was rounded to float32 may be larger by less than this.
constexpr double kSingleRounding = 4 * 0x1p-24;

struct NamedSingles {
  std::string name;
  std::vector<float> values;
};

/// accumulators() in float32, and two that are very small and very large.
std::vector<NamedSingles> single_accumulators(std::size_t d);

/// N(0, 1), the same for the same number.
std::vector<float> normal_singles(std::size_t d, std::uint32_t number);

std::size_t entries_of(std::span<const std::size_t> shape);
double norm_sq_of(std::span<const float> x);
/// |x - y|^2; x and y have one length.
double distance_sq(std::span<const float> x, std::span<const float> y);
bool same_bits(std::span<const float> x, std::span<const float> y);
/// Returns the first entry in which they differ; both have one length and do differ.
std::size_t first_difference(std::span<const float> x, std::span<const float> y);

class CompressorSession {
 public:
  /// Begins anew.
  CompressorSession(Compressor& compressor, const CompressorCases& cases);

  std::size_t dimension() const { return dimension_; }
  const std::vector<std::size_t>& shape() const { return cases_.shape; }
  std::size_t draws() const { return cases_.draws; }
  const std::vector<std::size_t>& lengths() const { return cases_.lengths; }
  void restart() { compressor_.restart(); }

  /// Compresses a vector of finite numbers that `name` describes; a refusal is a usage error.
  CompressorAnswer ask(const std::string& tensor,
                       std::span<const float> x,
                       const std::string& name);
  CompressorAnswer ask(const Tensor& tensor, std::span<const float> x, const std::string& name);
  /// The same with a tensor that was never seen before, which therefore has no memory.
  CompressorAnswer ask_fresh(std::span<const float> x, const std::string& name);
  /// Compresses any vector.
  CompressorAnswer try_fresh(std::span<const float> x) { return compressor_.compress(fresh(), x); }

 private:
  Tensor fresh();

  Compressor& compressor_;
  const CompressorCases& cases_;
  std::size_t dimension_;
  std::size_t fresh_ = 0;
};

/// Makes "vector 'normal 1' of 60 entries".
std::string vector_words(const std::string& name, std::size_t d);

LawFinding not_looked_at(std::string law, std::string why);

/// One function for each law or family of laws.
std::vector<LawFinding> expectation_findings(CompressorSession& session,
                                             const CompressorClaims& claims);
LawFinding conservation_finding(CompressorSession& session, const CompressorClaims& claims);
LawFinding sparsity_finding(CompressorSession& session, const CompressorClaims& claims);
LawFinding zero_finding(CompressorSession& session);
LawFinding finite_finding(CompressorSession& session);
LawFinding determinism_finding(CompressorSession& session, const CompressorClaims& claims);
LawFinding stateless_finding(CompressorSession& session, const CompressorClaims& claims);
LawFinding tensors_finding(CompressorSession& session, const CompressorClaims& claims);
LawFinding bytes_finding(CompressorSession& session, const CompressorClaims& claims);

}  // namespace residuum::laws
