#include <utility>

#include "core/sparsifiers/sparsifier.h"

namespace residuum {

std::unique_ptr<Sparsifier> make_none_sparsifier(const Section& section);
std::unique_ptr<Sparsifier> make_top_k(const Section& section);
std::unique_ptr<Sparsifier> make_chunk_top_k(const Section& section);
std::unique_ptr<Sparsifier> make_rand_k(const Section& section);
std::unique_ptr<Sparsifier> make_r_top_k(const Section& section);
std::unique_ptr<Sparsifier> make_random_block(const Section& section);
std::unique_ptr<Sparsifier> make_hard_threshold(const Section& section);
std::unique_ptr<Sparsifier> make_reused_threshold(const Section& section);
std::unique_ptr<Sparsifier> make_gaussian_k(const Section& section);
std::unique_ptr<Sparsifier> make_exponential_k(const Section& section);
std::unique_ptr<Sparsifier> make_gamma_k(const Section& section);
std::unique_ptr<Sparsifier> make_pareto_k(const Section& section);

namespace {

constexpr auto kSparsifiers = std::to_array<Entry<Sparsifier>>({
    {"none", "send the whole accumulator", "dense S-SGD", "{}", make_none_sparsifier},
    {"top-k",
     "the k entries of largest magnitude, ties to the lower index",
     "Aji and Heafield, EMNLP 2017; Stich et al., NeurIPS 2018",
     R"({"k": 3})",
     make_top_k},
    {"chunk-top-k",
     "the largest entries of every block of consecutive ones, their indices told within the block",
     "selection by blocks as in layer-wise training: Shi et al., ECAI 2020",
     R"({"k": 3, "block": 2})",
     make_chunk_top_k},
    {"rand-k",
     "a uniformly random k-subset; one mask for all workers or one for each, scaled by d/k or not",
     "Stich et al., NeurIPS 2018",
     R"({"k": 3})",
     make_rand_k},
    {"r-top-k",
     "k entries drawn at random among the r = r_over_k times k of largest magnitude",
     "Barnes, Inan, Isik, Ozgur, IEEE JSAIT 2020",
     R"({"k": 3})",
     make_r_top_k},
    {"random-block",
     "whole blocks of consecutive entries, drawn at random; one mask or one for each, scaled or "
     "not",
     "rand-k over blocks: Stich et al., NeurIPS 2018",
     R"({"k": 3, "block": 2})",
     make_random_block},
    {"hard-threshold",
     "every entry of magnitude at least the threshold",
     "Sahu et al., NeurIPS 2021",
     R"({"threshold": 0.5})",
     make_hard_threshold},
    {"reused-threshold",
     "Top_k at every `period`-th message; in between every entry that reaches its threshold",
     "Li and Hoefler, PPoPP 2022 (Ok-Topk)",
     R"({"density": 0.1})",
     make_reused_threshold},
    {"gaussian-k",
     "about k entries: those that reach the quantile of a fitted normal law, corrected",
     "Shi, Chu, Cheung, See 2019 (GaussianK-SGD)",
     R"({"density": 0.1})",
     make_gaussian_k},
    {"exponential-k",
     "about k entries: those that reach the quantile of a fitted exponential law",
     "Abdelmoniem et al., MLSys 2021 (SIDCo)",
     R"({"density": 0.1})",
     make_exponential_k},
    {"gamma-k",
     "about k entries: those that reach the quantile of a fitted gamma law",
     "Abdelmoniem et al., MLSys 2021 (SIDCo)",
     R"({"density": 0.1})",
     make_gamma_k},
    {"pareto-k",
     "about k entries: those that reach the quantile of a fitted generalised Pareto law",
     "Abdelmoniem et al., MLSys 2021 (SIDCo)",
     R"({"density": 0.1})",
     make_pareto_k},
});

}  // namespace

std::span<const Entry<Sparsifier>> sparsifiers() { return registry_of<Sparsifier>(kSparsifiers); }

std::unique_ptr<Sparsifier> make_sparsifier(const Section& section) {
  return make_sparsifier(section, {});
}

std::unique_ptr<Sparsifier> make_sparsifier(const Section& section,
                                            std::span<const Segment> layers) {
  const bool by_layer = section.choice("scope", {"model", "layer"}, "model") == "layer";
  auto sparsifier = make_from(sparsifiers(), section);
  if (!by_layer) {
    return sparsifier;
  }
  require(!layers.empty(),
          "{}: these vectors have no layers; use scope \"model\"",
          section.where("scope"));
  return make_layered(std::move(sparsifier), {layers.begin(), layers.end()});
}

}  // namespace residuum
