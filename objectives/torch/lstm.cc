// The language model is the embedding of a token, layers of LSTM (Hochreiter and Schmidhuber 1997),
// linear layer to the logits of the next token (the shape of Zaremba, Sutskever and Vinyals 2014,
// without dropout).
//
// Back-propagation through time is truncated at the sequence, and every sequence begins from a zero
// state, so that samples are independent and f is a finite sum: the mean over the sequences of the
// text of the mean cross-entropy of their tokens. Training code that hands the state on from one
// sequence to the next minimises something else, which is no function of w alone.

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "objectives/registry.h"
#include "objectives/torch/models.h"
#include "objectives/torch/network_options.h"
#include "objectives/torch/texts.h"
#include "objectives/torch/torch_network.h"

namespace residuum {
namespace {

namespace nn = torch::nn;

constexpr std::int64_t kWidestState = 65536;
constexpr std::int64_t kMostLayers = 16;

/// This LSTM returns its outputs and drops its last state.
class SequenceLstmImpl : public nn::LSTMImpl {
 public:
  using nn::LSTMImpl::LSTMImpl;
  torch::Tensor forward(const torch::Tensor& x) { return std::get<0>(nn::LSTMImpl::forward(x)); }
};
TORCH_MODULE(SequenceLstm);

nn::Sequential build_lstm(const LstmSizes& sizes) {
  nn::Sequential net;
  net->push_back("embedding", nn::Embedding(sizes.vocabulary, sizes.embedding));
  net->push_back("lstm",
                 SequenceLstm(nn::LSTMOptions(sizes.embedding, sizes.hidden)
                                  .num_layers(sizes.layers)
                                  .batch_first(true)));
  net->push_back("flatten", nn::Flatten(nn::FlattenOptions().start_dim(0).end_dim(1)));
  net->push_back("decoder", nn::Linear(sizes.hidden, sizes.vocabulary));
  return net;
}

/// Starts as torch does by default: embeddings are standard normal, all else is uniform in
/// +-1/sqrt(hidden). Weights and biases of an LSTM have four rows per hidden unit.
Start start_of(const Layer& layer, std::int64_t fan_in) {
  if (layer.name.starts_with("embedding")) {
    return {.law = Start::Law::normal, .scale = 1};
  }
  if (layer.name.starts_with("lstm")) {
    return torch_start(layer, layer.shape[0] / 4);
  }
  return torch_start(layer, fan_in);
}

void check_size(const LstmSizes& sizes) {
  const auto hidden = static_cast<double>(sizes.hidden);
  const auto embedding = static_cast<double>(sizes.embedding);
  const auto words = static_cast<double>(sizes.vocabulary);
  check_parameters(words * (embedding + hidden + 1) + 4 * hidden * (embedding + hidden + 2) +
                       static_cast<double>(sizes.layers - 1) * 8 * hidden * (hidden + 1),
                   fmt::format("an lstm of {} words, embedding {}, {} layers of {}",
                               sizes.vocabulary,
                               sizes.embedding,
                               sizes.layers,
                               sizes.hidden));
}

}  // namespace

Networks lstm(const LstmSizes& sizes) {
  check_size(sizes);
  return make_networks(
      {.channels = 1,
       .height = 1,
       .width = static_cast<std::size_t>(sizes.sequence),
       .classes = static_cast<int>(sizes.vocabulary)},
      [sizes] { return build_lstm(sizes); },
      start_of);
}

std::unique_ptr<Objective> make_lstm(const Section& section, const ObjectiveContext& context) {
  LstmSizes sizes;
  sizes.sequence = read_size(section, "sequence", 32, 1'000'000);
  sizes.embedding = read_size(section, "embedding", 64, kWidestState);
  sizes.hidden = read_size(section, "hidden", 128, kWidestState);
  sizes.layers = read_size(section, "layers", 2, kMostLayers);
  const NetworkOptions options = read_network_options(section, context, EvaluatePrecision::float32);
  NetworkData data = load_text_data(section, context, static_cast<std::size_t>(sizes.sequence));
  sizes.vocabulary = data.shape.classes;
  return std::make_unique<NetworkObjective>(std::move(data), lstm(sizes), options);
}

}  // namespace residuum
