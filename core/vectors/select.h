#pragma once
// Selection of the entries of largest magnitude is exact. Ties go to the lower index; zeros are
// never selected. Total order: (|x_i| descending, i ascending).

#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "core/vectors/candidates.h"
#include "core/vectors/sparse_vector.h"

namespace residuum {

/// Holds what selection reuses from call to call.
struct SelectWorkspace {
  /// The candidates that a pass has found of the vector that is selected from next, one set per
  /// segment.
  std::vector<Candidates> parts = std::vector<Candidates>(1);
  std::size_t part = 0;  // the segment that is selected from now
  Candidates& found() { return parts[part]; }

  // The rest are buffers.
  std::vector<std::uint32_t> histogram;
  Candidates cold;  // what a selection has collected by itself
  std::vector<std::uint32_t> subset;
  /// Bits of magnitudes; the first vector serves float, the second double.
  std::tuple<std::vector<std::uint32_t>, std::vector<std::uint64_t>> magnitudes;
  std::tuple<std::vector<std::uint32_t>, std::vector<std::uint64_t>> bucket;
  std::vector<bool> taken;  // all false between selections
  /// The entries that were selected from one layer.
  std::tuple<SparseVector<float>, SparseVector<double>> layer_entries;
  /// The entries that were selected from one block of consecutive ones.
  std::tuple<SparseVector<float>, SparseVector<double>> block_entries;
  /// The candidates of a whole vector, while its blocks are selected from one after the other.
  Candidates of_all_blocks;
  std::vector<double> block_cuts;  // the smallest magnitude that was selected from each
};

/// selected := Top_k(x): the min(k, nnz(x)) entries that come first in the total order, by index. x
/// must be free of NaN and shorter than 2^32. Both this function and select_above use the
/// candidates of x once, and set the bound for the next pass.
template <class Real>
void select_top_k(std::span<const Real> x,
                  std::size_t k,
                  SelectWorkspace& workspace,
                  SparseVector<Real>& selected);

/// Notes the candidates of x that reach the bound of the last selection, as a pass would that forms
/// x. It serves vectors that are alike and selected from one after the other.
template <class Real>
void note_candidates(std::span<const Real> x, SelectWorkspace& workspace);

/// selected := {(i, x_i) : |x_i| >= threshold, x_i != 0}.
template <class Real>
void select_above(std::span<const Real> x,
                  Real threshold,
                  SelectWorkspace& workspace,
                  SparseVector<Real>& selected);

/// Returns how many entries select_above would select.
template <class Real>
std::size_t count_above(std::span<const Real> x, Real threshold, SelectWorkspace& workspace);

}  // namespace residuum
