#include "core/sparsifiers/sparsifier.h"

namespace residuum {

std::unique_ptr<Sparsifier> make_none_sparsifier(const Section& section);
std::unique_ptr<Sparsifier> make_top_k(const Section& section);
std::unique_ptr<Sparsifier> make_rand_k(const Section& section);
std::unique_ptr<Sparsifier> make_hard_threshold(const Section& section);

namespace {

constexpr auto kEntries = std::to_array<Entry<Sparsifier>>({
    {"none", "send the whole accumulator", "dense S-SGD", "{}", make_none_sparsifier},
    {"top-k",
     "the k entries of largest magnitude, ties to the lower index",
     "Aji and Heafield, EMNLP 2017; Stich et al., NeurIPS 2018",
     R"({"k": 3})",
     make_top_k},
    {"rand-k",
     "a uniformly random k-subset, unscaled; one mask for all workers, or one for each",
     "Stich et al., NeurIPS 2018",
     R"({"k": 3})",
     make_rand_k},
    {"hard-threshold",
     "every entry of magnitude at least the threshold",
     "Sahu et al., NeurIPS 2021",
     R"({"threshold": 0.5})",
     make_hard_threshold},
});

}  // namespace

std::span<const Entry<Sparsifier>> sparsifiers() { return registry_of<Sparsifier>(kEntries); }

std::unique_ptr<Sparsifier> make_sparsifier(const Section& section) {
  // Selection over single layers is not built yet; the key of the contract has one value so far.
  section.choice("scope", {"model"}, "model");
  return make_from(sparsifiers(), section);
}

}  // namespace residuum
