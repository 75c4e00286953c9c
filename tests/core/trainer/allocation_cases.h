#pragma once
// The components whose steady state is looked at for allocations, in every combination.

#include <vector>

#include "tests/core/support.h"

namespace residuum::test {

inline const std::vector<Json> kSparsifiers{
    {{"kind", "none"}},
    {{"kind", "top-k"}, {"k", 6}},
    {{"kind", "rand-k"}, {"k", 6}},
    {{"kind", "r-top-k"}, {"k", 6}},
    {{"kind", "rand-k"}, {"density", 0.7}, {"mask", "shared"}, {"scaled", true}},
    {{"kind", "chunk-top-k"}, {"k", 6}, {"block", 16}},
    {{"kind", "random-block"}, {"density", 0.4}, {"block", 8}, {"mask", "per-worker"}},
    {{"kind", "hard-threshold"}, {"threshold", 0.1}},
    {{"kind", "reused-threshold"}, {"k", 6}, {"period", 7}},
    {{"kind", "gaussian-k"}, {"density", 0.1}},
    {{"kind", "exponential-k"}, {"density", 0.1}, {"stages", 2}},
    {{"kind", "gamma-k"}, {"density", 0.1}, {"stages", 2}},
    {{"kind", "pareto-k"}, {"density", 0.1}, {"stages", 2}}};
inline const std::vector<Json> kAggregators{
    {{"kind", "dense"}},
    {{"kind", "dense"}, {"reduction", "fast"}},
    {{"kind", "dense"}, {"algorithm", "ring"}},
    {{"kind", "dense"}, {"algorithm", "tree"}},
    {{"kind", "dense"}, {"algorithm", "recursive-doubling"}},
    {{"kind", "allgather"}},
    {{"kind", "gtopk-exact"}},
    {{"kind", "gtopk-tree"}},
    {{"kind", "gtopk-mask"}},
    {{"kind", "gtopk-doubling"}},
    {{"kind", "sparse-reduce-scatter"}},
    {{"kind", "ok-topk"}, {"period", 3}, {"region_period", 5}},
    {{"kind", "parameter-server"}},
    {{"kind", "parameter-server"}, {"down", "top-k"}},
    {{"kind", "powersgd"}},
    {{"kind", "arc-top-k"}},
    {{"kind", "quantised-ring"}},
    {{"kind", "quantised-ring"}, {"rotate", true}}};
inline const std::vector<Json> kFeedbacks{{{"kind", "none"}},
                                          {{"kind", "ef14"}},
                                          {{"kind", "ef14"}, {"putback", "published"}},
                                          {{"kind", "ef14"}, {"putback", "discard"}},
                                          {{"kind", "ef21"}},
                                          {{"kind", "ef21-sgdm"}},
                                          {{"kind", "econtrol"}},
                                          {{"kind", "dgc"}}};

}  // namespace residuum::test
