#pragma once
// A partition says which worker holds which samples. Every sample belongs to exactly one worker,
// and every worker has at least one.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace residuum {

/// Throws a usage error, which begins with the place of the key, unless `kind` is one of those
/// below: a study can be refused before data is read.
void check_partition(const std::string& kind, const std::string& place);

/// Returns the shards: shard p holds the samples of worker p, increasing.
///   iid              a random permutation, cut into parts whose sizes differ by at most one
///   contiguous       the same cuts of the samples in file order
///   by-label         the same cuts after a stable sort by label: the most unequal workers
///   dirichlet:ALPHA  each class is spread over the workers in proportions from Dirichlet(ALPHA)
///                    (Hsu, Qi and Brown 2019); small ALPHA is unequal, large is nearly iid. A
///                    worker left with nothing takes a sample from the one that then has most.
/// `labels` has one entry per sample, or is empty where the data has no classes.
std::vector<std::vector<std::uint32_t>> make_partition(const std::string& kind,
                                                       std::size_t samples,
                                                       int workers,
                                                       std::span<const std::int32_t> labels,
                                                       std::uint64_t seed);

}  // namespace residuum
