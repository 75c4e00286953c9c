#pragma once
// The methods that tests over "all methods" go through: sparsifier, aggregator and feedback that
// fit together.

#include <vector>

#include "tests/core/tiny_training.h"

namespace residuum::test {

/// Methods of gradient estimates, which know no units.
inline std::vector<Recipe> methods_of_estimates() {
  std::vector<Recipe> all;
  for (const Json& feedback : {Json{{"kind", "ef21"}},
                               Json{{"kind", "ef21-sgdm"}, {"averaging", 0.25}},
                               Json{{"kind", "econtrol"}, {"error_weight", 0.25}}}) {
    for (const char* aggregator : {"allgather", "gtopk-tree"}) {
      all.push_back({.sparsifier = {{"kind", "top-k"}, {"k", 2}},
                     .aggregator = {{"kind", aggregator}},
                     .feedback = feedback});
    }
  }
  return all;
}

/// d is at least 4.
inline std::vector<Recipe> methods() {
  const Json top{{"kind", "top-k"}, {"k", 2}};
  std::vector<Recipe> all;
  all.push_back({});
  all.push_back({.sparsifier = top, .aggregator = {{"kind", "dense"}}});
  all.push_back({.sparsifier = top, .aggregator = {{"kind", "sparse-reduce-scatter"}}});
  all.push_back({.sparsifier = top,
                 .aggregator = {{"kind", "ok-topk"}, {"period", 3}, {"region_period", 5}}});
  all.push_back({.sparsifier = {{"kind", "reused-threshold"}, {"k", 2}, {"period", 3}},
                 .aggregator = {{"kind", "ok-topk"}, {"k", 2}, {"period", 4}}});
  all.push_back(
      {.sparsifier = top,
       .aggregator = {{"kind", "allgather"}, {"weighting", "senders"}, {"clip", "median-norm"}}});
  all.push_back({.sparsifier = top,
                 .aggregator = {{"kind", "allgather"}},
                 .feedback = {{"kind", "ef14"}, {"decay", 0.75}}});
  for (const char* algorithm : {"ring", "tree", "recursive-doubling"}) {
    all.push_back({.sparsifier = top, .aggregator = {{"kind", "dense"}, {"algorithm", algorithm}}});
  }
  for (const char* down : {"whole", "top-k"}) {
    all.push_back(
        {.sparsifier = top, .aggregator = {{"kind", "parameter-server"}, {"down", down}}});
  }
  all.push_back({.sparsifier = top,
                 .aggregator = {{"kind", "parameter-server"}, {"down", "ef21-p"}, {"k", 3}}});
  for (const Json& selection :
       {top,
        Json{{"kind", "rand-k"}, {"k", 2}},
        Json{{"kind", "rand-k"}, {"k", 2}, {"mask", "per-worker"}},
        Json{{"kind", "r-top-k"}, {"k", 2}},
        Json{{"kind", "rand-k"}, {"density", 0.75}, {"scaled", true}},
        Json{{"kind", "chunk-top-k"}, {"k", 3}, {"block", 3}},
        Json{{"kind", "random-block"}, {"k", 4}, {"block", 3}},
        Json{{"kind", "random-block"}, {"k", 4}, {"block", 3}, {"mask", "per-worker"}},
        Json{{"kind", "random-block"}, {"density", 0.75}, {"block", 2}, {"scaled", true}},
        Json{{"kind", "gaussian-k"}, {"k", 2}},
        Json{{"kind", "pareto-k"}, {"k", 2}, {"stages", 2}},
        Json{{"kind", "reused-threshold"}, {"k", 2}, {"period", 3}},
        Json{{"kind", "hard-threshold"}, {"threshold", 0.05}},
        Json{{"kind", "hard-threshold"}, {"threshold", 0.5}, {"rule", "eta-scaled"}}}) {
    all.push_back({.sparsifier = selection, .aggregator = {{"kind", "allgather"}}});
  }
  for (const char* aggregator : {"gtopk-exact", "gtopk-tree", "gtopk-mask", "gtopk-doubling"}) {
    for (const char* putback : {"captured", "published", "discard"}) {
      all.push_back({.sparsifier = top,
                     .aggregator = {{"kind", aggregator}},
                     .feedback = {{"kind", "ef14"}, {"putback", putback}}});
    }
  }
  all.push_back({.sparsifier = {{"kind", "rand-k"}, {"k", 3}, {"mask", "per-worker"}},
                 .aggregator = {{"kind", "gtopk-tree"}}});
  for (const char* aggregator :
       {"dense", "gtopk-exact", "gtopk-tree", "gtopk-mask", "sparse-reduce-scatter"}) {
    for (const char* kind : {"chunk-top-k", "random-block"}) {
      all.push_back({.sparsifier = {{"kind", kind}, {"k", 4}, {"block", 3}},
                     .aggregator = {{"kind", aggregator}}});
    }
  }
  all.push_back(
      {.sparsifier = top, .aggregator = {{"kind", "allgather"}}, .feedback = {{"kind", "none"}}});
  all.push_back({.sparsifier = top,
                 .aggregator = {{"kind", "gtopk-tree"}},
                 .feedback = {{"kind", "dgc"}, {"momentum", 0.5}}});
  all.push_back({.sparsifier = top,
                 .aggregator = {{"kind", "allgather"}},
                 .feedback = {{"kind", "dgc"}, {"momentum", 0.5}, {"masking", false}}});
  all.push_back({.sparsifier = {{"kind", "top-k"},
                                {"k", 1},
                                {"schedule", {0.5, 0.25}},
                                {"schedule_iterations", 2}},
                 .aggregator = {{"kind", "gtopk-tree"}}});
  all.push_back({.sparsifier = top,
                 .aggregator = {{"kind", "gtopk-tree"}},
                 .weight_decay = 0.25,
                 .clip = Clip::update,
                 .clip_norm = 0.5});
  all.push_back({.sparsifier = top,
                 .aggregator = {{"kind", "gtopk-exact"}},
                 .weight_decay = 0.25,
                 .clip = Clip::worker,
                 .clip_norm = 1});
  return all;
}

/// Methods whose values are quantised: each quantiser on kept values and on all, and each feedback.
inline std::vector<Recipe> quantised_methods() {
  const Json top{{"kind", "top-k"}, {"k", 4}};
  std::vector<Recipe> all;
  for (const Json& quantiser : {Json{{"kind", "sign"}},
                                Json{{"kind", "qsgd"}, {"bits", 4}, {"bucket", 5}},
                                Json{{"kind", "terngrad"}, {"shrink", true}},
                                Json{{"kind", "natural"}},
                                Json{{"kind", "linear"}, {"bits", 3}},
                                Json{{"kind", "table"}}}) {
    for (const Json& sparsifier :
         {Json{{"kind", "none"}},
          top,
          Json{{"kind", "chunk-top-k"}, {"k", 4}, {"block", 3}},
          Json{{"kind", "random-block"}, {"k", 4}, {"block", 3}},
          Json{{"kind", "random-block"}, {"k", 4}, {"block", 3}, {"mask", "per-worker"}}}) {
      all.push_back({.sparsifier = sparsifier,
                     .aggregator = {{"kind", "allgather"}},
                     .quantiser = quantiser});
    }
  }
  for (const Json& feedback : {Json{{"kind", "ef14"}, {"putback", "published"}},
                               Json{{"kind", "none"}},
                               Json{{"kind", "dgc"}, {"momentum", 0.5}},
                               Json{{"kind", "ef21"}},
                               Json{{"kind", "ef21-sgdm"}, {"averaging", 0.25}},
                               Json{{"kind", "econtrol"}, {"error_weight", 0.25}}}) {
    for (const char* aggregator : {"allgather", "gtopk-exact", "parameter-server"}) {
      for (const char* quantiser : {"table", "natural"}) {
        all.push_back({.sparsifier = top,
                       .aggregator = {{"kind", aggregator}},
                       .feedback = feedback,
                       .quantiser = {{"kind", quantiser}}});
      }
    }
  }
  for (const char* quantiser : {"table", "sign", "terngrad"}) {
    all.push_back({.sparsifier = {{"kind", "top-k"}, {"k", 4}},
                   .aggregator = {{"kind", "allgather"}},
                   .quantiser = {{"kind", quantiser}},
                   .quantised_layers = {{.begin = 0, .size = 5}, {.begin = 5, .size = 7}}});
  }
  for (const Json& sparsifier : {top, Json{{"kind", "none"}}}) {
    all.push_back({.sparsifier = sparsifier,
                   .aggregator = {{"kind", "allgather"}},
                   .feedback = {{"kind", "ef14"}, {"clears", "selected"}},
                   .quantiser = {{"kind", "table"}}});
  }
  return all;
}

inline std::string name_of(const Recipe& recipe) {
  return recipe.sparsifier.dump() + recipe.quantiser.dump() + recipe.aggregator.dump() +
         recipe.feedback.dump();
}

/// Returns those of the methods that the protocol can work with on 12 numbers.
inline std::vector<Recipe> methods_for(const Protocol& protocol, int workers) {
  std::vector<Recipe> fitting;
  for (const Recipe& recipe : methods()) {
    try {
      protocol.check(method_of(recipe, 12), 12, workers);
      fitting.push_back(recipe);
    } catch (const Error&) {  // it is refused, with a reason
    }
  }
  return fitting;
}

}  // namespace residuum::test
