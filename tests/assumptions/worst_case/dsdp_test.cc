// The programme of the worst rate, solved by DSDP (Benson, Ye, Zhang, SIAM J. Optim. 2000): another
// method, by other people. Just above the rate DSDP must find a proof, just below none.

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "assumptions/worst_case/worst_rate.h"

#ifdef RESIDUUM_HAS_DSDP
#include <dsdp5.h>
#endif

namespace residuum {
namespace {

#ifdef RESIDUUM_HAS_DSDP

/// A matrix or column without its zeros. DSDP reads the arrays until it is destroyed.
struct Sparse {
  std::vector<int> places;
  std::vector<double> values;

  void add(std::size_t place, double value) {
    if (value != 0) {
      places.push_back(static_cast<int>(place));
      values.push_back(value);
    }
  }
};

/// The largest t for which all blocks are at least t I, with norm.y <= 1.
struct Widest {
  double t = 0;
  std::vector<double> y;
};

/// DSDP maximises b.y with C - sum_i y_i A_i in the cone. Its last variable is t.
class Dsdp {
 public:
  Dsdp(const RateProgram& program, double rate)
      : program_(program), rate_(rate), unknowns_(program.norm.size()) {
    must(DSDPCreate(static_cast<int>(unknowns_ + 1), &dsdp_));
    must(DSDPSetDualObjective(dsdp_, static_cast<int>(unknowns_ + 1), 1));
    must(DSDPCreateSDPCone(dsdp_, static_cast<int>(program.blocks.size()), &blocks_));
    matrices_.reserve(program.blocks.size() * (unknowns_ + 1));
    for (std::size_t b = 0; b < program.blocks.size(); ++b) {
      set_block(b);
    }
    set_rows();
  }
  Dsdp(const Dsdp&) = delete;
  Dsdp& operator=(const Dsdp&) = delete;
  Dsdp(Dsdp&&) = delete;
  Dsdp& operator=(Dsdp&&) = delete;
  ~Dsdp() { DSDPDestroy(dsdp_); }

  /// DSDP begins with the multiple r0 of the identity added to the blocks, or with one of its own.
  Widest solve(std::optional<double> r0) {
    if (r0) {
      must(DSDPSetR0(dsdp_, *r0));
    }
    constexpr double kGap = 1e-13;
    constexpr int kMostIterations = 500;
    must(DSDPSetGapTolerance(dsdp_, kGap));
    must(DSDPSetMaxIts(dsdp_, kMostIterations));
    must(DSDPSetup(dsdp_));
    must(DSDPSolve(dsdp_));
    Widest widest;
    widest.y.resize(unknowns_ + 1);
    must(DSDPGetY(dsdp_, widest.y.data(), static_cast<int>(widest.y.size())));
    widest.t = widest.y.back();
    widest.y.pop_back();
    return widest;
  }

 private:
  static void must(int code) { EXPECT_EQ(code, 0); }

  void set_block(std::size_t b) {
    const auto& block = program_.blocks[b];
    const auto size = static_cast<int>(block.size);
    must(SDPConeSetBlockSize(blocks_, static_cast<int>(b), size));
    for (std::size_t i = 0; i <= unknowns_; ++i) {
      Sparse matrix;
      for (std::size_t row = 0, at = 0; row < block.size; ++row) {
        for (std::size_t column = 0; column <= row; ++column, ++at) {
          const double of_t = row == column ? 1 : 0;
          matrix.add(at, i < unknowns_ ? -value(block.fixed[i][at], block.per_rate[i][at]) : of_t);
        }
      }
      matrices_.push_back(std::move(matrix));
      const Sparse& kept = matrices_.back();
      must(SDPConeSetASparseVecMat(blocks_,
                                   static_cast<int>(b),
                                   static_cast<int>(i + 1),
                                   size,
                                   1,
                                   0,
                                   kept.places.data(),
                                   kept.values.data(),
                                   static_cast<int>(kept.values.size())));
    }
  }

  /// Rows -a.y <= 0, and norm.y <= 1 as the last. Columns: the right side, the unknowns, t.
  void set_rows() {
    const std::size_t last = program_.rows.size();
    columns_.add(last, 1);
    starts_ = {0, 1};
    for (std::size_t i = 0; i < unknowns_; ++i) {
      for (std::size_t row = 0; row < last; ++row) {
        columns_.add(row, -value(program_.rows[row].fixed[i], program_.rows[row].per_rate[i]));
      }
      columns_.add(last, static_cast<double>(program_.norm[i]));
      starts_.push_back(static_cast<int>(columns_.values.size()));
    }
    starts_.push_back(starts_.back());
    LPCone rows = nullptr;
    must(DSDPCreateLPCone(dsdp_, &rows));
    must(LPConeSetData(rows,
                       static_cast<int>(last + 1),
                       starts_.data(),
                       columns_.places.data(),
                       columns_.values.data()));
  }

  double value(long double fixed, long double per_rate) const {
    return static_cast<double>(fixed + static_cast<long double>(rate_) * per_rate);
  }

  const RateProgram& program_;
  double rate_;
  std::size_t unknowns_;
  DSDP dsdp_ = nullptr;
  SDPCone blocks_ = nullptr;
  std::vector<Sparse> matrices_;
  Sparse columns_;
  std::vector<int> starts_;
};

/// The widest that DSDP finds. From some starts it stops before it is feasible, with t below 0;
/// which ones differs between builds of LAPACK.
Widest widest_of(const RateProgram& program, double rate) {
  Widest best = Dsdp(program, rate).solve(std::nullopt);
  for (const double r0 : {1.0, 100.0, 1e4}) {
    const Widest found = Dsdp(program, rate).solve(r0);
    best = found.t > best.t ? found : best;
  }
  return best;
}

/// At these constants DSDP's doubles suffice. If there is no proof, y = 0 has the largest t, 0.
void expect_agreement(const WorstRateQuestion& question) {
  const auto found = worst_rate(question);
  ASSERT_TRUE(found.has_value());
  const auto program = rate_program(question);
  const double digit = 1e-5 * (1 - found->rate);

  const double above = found->rate + digit;
  const Widest proof = widest_of(program, above);
  const Widest none = widest_of(program, found->rate - digit);

  EXPECT_GT(proof.t, 1e-10);
  EXPECT_TRUE(is_proof(question, proof.y, above));
  EXPECT_LT(none.t, 1e-11);
  EXPECT_FALSE(is_proof(question, none.y, found->rate - digit));
}

WorstRateQuestion question_at(DescentMethod method,
                              double condition,
                              double multiple,
                              int workers) {
  WorstRateQuestion question{
      .method = method,
      .problem = {.smoothness = 1, .strong_convexity = 1 / condition, .contraction = 0.5},
      .workers = workers};
  question.step = multiple * tight_step(question.problem);
  return question;
}

TEST(Dsdp, FindsTheSameWorstRates) {
  for (const double condition : {2.0, 20.0}) {
    for (const double multiple : {0.5, 1.0}) {
      expect_agreement(question_at(DescentMethod::ef14, condition, multiple, 1));
    }
  }
  expect_agreement(question_at(DescentMethod::ef21, 2, 1, 1));
  expect_agreement(question_at(DescentMethod::ef14, 2, 1, 3));
  expect_agreement(question_at(DescentMethod::memoryless, 20, 1, 1));
}

TEST(Dsdp, FindsTheSameWorstRatesOfMomentumLocalStepsAndEControl) {
  auto question = question_at(DescentMethod::ef14, 2, 0.5, 1);
  question.local_steps = 2;
  expect_agreement(question);
  question = question_at(DescentMethod::econtrol, 2, 0.5, 1);
  question.error_weight = 0.1;
  expect_agreement(question);
  question = question_at(DescentMethod::dense, 10, 1, 1);
  question.step = 1.3;
  for (const double momentum : {0.1, 0.5}) {  // where quadratics are the worst, and where not
    question.momentum = momentum;
    expect_agreement(question);
  }
}

#else

TEST(Dsdp, FindsTheSameWorstRates) {
  GTEST_SKIP() << "DSDP was not found at configuration (Debian's libdsdp-dev)";
}

TEST(Dsdp, FindsTheSameWorstRatesOfMomentumLocalStepsAndEControl) {
  GTEST_SKIP() << "DSDP was not found at configuration (Debian's libdsdp-dev)";
}

#endif

}  // namespace
}  // namespace residuum
