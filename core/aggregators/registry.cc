#include "core/aggregators/aggregator.h"

namespace residuum {

std::unique_ptr<Aggregator> make_dense(const Section& section);
std::unique_ptr<Aggregator> make_allgather(const Section& section);
std::unique_ptr<Aggregator> make_gtopk_exact(const Section& section);
std::unique_ptr<Aggregator> make_gtopk_tree(const Section& section);
std::unique_ptr<Aggregator> make_gtopk_mask(const Section& section);
std::unique_ptr<Aggregator> make_gtopk_doubling(const Section& section);
std::unique_ptr<Aggregator> make_sparse_reduce_scatter(const Section& section);
std::unique_ptr<Aggregator> make_ok_topk(const Section& section);
std::unique_ptr<Aggregator> make_parameter_server(const Section& section);
std::unique_ptr<Aggregator> make_powersgd(const Section& section);
std::unique_ptr<Aggregator> make_arc_top_k(const Section& section);
std::unique_ptr<Aggregator> make_quantised_ring(const Section& section);

namespace {

constexpr auto kAggregators = std::to_array<Entry<Aggregator>>({
    {"dense",
     "the sum of all messages, exchanged as dense vectors",
     "dense S-SGD",
     "{}",
     make_dense},
    {"allgather",
     "the sum of all messages, each sent to every worker: up to kP entries",
     "Top-k S-SGD; Stich et al., NeurIPS 2018",
     "{}",
     make_allgather},
    {"gtopk-exact",
     "Top_k of the sum of all messages, from an all-gather: the oracle",
     "Shi et al., ICDCS 2019 (naive form)",
     "{}",
     make_gtopk_exact},
    {"gtopk-tree",
     "pairwise merge and cut to k along a binary tree of workers, then broadcast",
     "Shi et al., ICDCS 2019, gTopKAllReduce",
     "{}",
     make_gtopk_tree},
    {"gtopk-mask",
     "the tree only decides the support; the full accumulators are then summed on it",
     "this project",
     "{}",
     make_gtopk_mask},
    {"gtopk-doubling",
     "the merges of the tree at all workers at once; each keeps what is dropped on its own path",
     "recursive doubling; this project",
     "{}",
     make_gtopk_doubling},
    {"sparse-reduce-scatter",
     "the sum of all messages: each worker sums a region of the indices, then an all-gather",
     "a part of Ok-Topk, Li and Hoefler, PPoPP 2022",
     "{}",
     make_sparse_reduce_scatter},
    {"ok-topk",
     "the entries of the sum of all messages that reach a reused threshold, summed by regions",
     "Li and Hoefler, PPoPP 2022 (Ok-Topk)",
     "{}",
     make_ok_topk},
    {"parameter-server",
     "the sum of all messages, taken by a server on worker 0 and sent back, whole or its Top_k",
     "Li et al., OSDI 2014; down = \"top-k\": after Tang et al., ICML 2019 (DoubleSqueeze), "
     "\"ef21-p\": Gruntkowska, Tyurin, Richtarik, ICML 2023",
     "{}",
     make_parameter_server},
    {"powersgd",
     "the sum of whole accumulators, approximated layer by layer by matrices of low rank",
     "Vogels, Karimireddy, Jaggi, NeurIPS 2019",
     "{}",
     make_powersgd},
    {"arc-top-k",
     "the rows of each layer that a shared sketch of whole accumulators finds large, summed",
     "ARC-Top-K, arXiv 2510.26709",
     "{}",
     make_arc_top_k},
    {"quantised-ring",
     "the sum of whole accumulators by a ring whose messages are quantised anew at every hop",
     "low-precision ring all-reduce; `rotate`: Suresh, Yu, Kumar, McMahan, ICML 2017",
     "{}",
     make_quantised_ring},
});

}  // namespace

Reduction reduction_from(const Section& section) {
  const auto reduction = section.choice("reduction", {"ordered", "fast"}, "ordered");
  return reduction == "fast" ? Reduction::fast : Reduction::ordered;
}

std::span<const Entry<Aggregator>> aggregators() { return registry_of<Aggregator>(kAggregators); }

std::unique_ptr<Aggregator> make_aggregator(const Section& section) {
  return make_from(aggregators(), section);
}

}  // namespace residuum
