// The transformer is the decoder of GPT-2 (Radford et al. 2019) without biases and dropout, as
// nanoGPT (Karpathy) has it: x = wte(token) + wpe(position), then in each layer
//   x <- x + proj(softmax((q k' + mask)/sqrt(width/heads)) v) with q, k, v = attn(norm(x)),
//   x <- x + proj(gelu(fc(norm(x)))),
// and the logits are wte norm(x), with the same wte as below. Parameters have nanoGPT's names.
//
// Every sequence is a sample of its own, so that f is a finite sum (see text_samples).

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string>

#include "core/error.h"
#include "objectives/registry.h"
#include "objectives/torch/models.h"
#include "objectives/torch/network_options.h"
#include "objectives/torch/texts.h"
#include "objectives/torch/torch_network.h"

namespace residuum {
namespace {

namespace nn = torch::nn;

constexpr std::int64_t kLongestContext = 8192;
constexpr std::int64_t kWidestModel = 16384;
constexpr std::int64_t kDeepestModel = 256;
constexpr double kStartDeviation = 0.02;

nn::Linear weights(std::int64_t inputs, std::int64_t outputs) {
  return nn::Linear(nn::LinearOptions(inputs, outputs).bias(false));
}

/// Torch's own LayerNorm of this version cannot have a weight without a bias.
class NormImpl : public nn::Module {
 public:
  explicit NormImpl(std::int64_t width)
      : weight_(register_parameter("weight", torch::ones({width}))) {}
  torch::Tensor forward(const torch::Tensor& x) {
    return torch::layer_norm(x, weight_.sizes(), weight_);
  }

 private:
  torch::Tensor weight_;
};
TORCH_MODULE(Norm);

/// Takes rows of all tokens of all sequences, (batch * sequence, width), and returns as many.
class AttentionImpl : public nn::Module {
 public:
  explicit AttentionImpl(const GptSizes& sizes)
      : sizes_(sizes),
        c_attn_(register_module("c_attn", weights(sizes.width, 3 * sizes.width))),
        c_proj_(register_module("c_proj", weights(sizes.width, sizes.width))) {}

  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& mask) {
    const std::int64_t heads = sizes_.heads;
    const std::int64_t length = sizes_.sequence;
    const std::int64_t depth = sizes_.width / heads;
    const std::int64_t batch = x.size(0) / length;
    const auto parts = c_attn_->forward(x)
                           .view({batch, length, 3, heads, depth})
                           .permute({2, 0, 3, 1, 4})
                           .reshape({3, batch * heads, length, depth})
                           .unbind();
    const double scale = 1 / std::sqrt(static_cast<double>(depth));
    const auto scores = torch::baddbmm(mask, parts[0], parts[1].transpose(1, 2), 1, scale);
    const auto mixed = torch::bmm(torch::softmax(scores, 2), parts[2])
                           .view({batch, heads, length, depth})
                           .transpose(1, 2)
                           .reshape({batch * length, sizes_.width});
    return c_proj_->forward(mixed);
  }

 private:
  GptSizes sizes_;
  nn::Linear c_attn_;
  nn::Linear c_proj_;
};
TORCH_MODULE(Attention);

class PerceptronImpl : public nn::Module {
 public:
  explicit PerceptronImpl(std::int64_t width)
      : c_fc_(register_module("c_fc", weights(width, 4 * width))),
        c_proj_(register_module("c_proj", weights(4 * width, width))) {}
  torch::Tensor forward(const torch::Tensor& x) {
    return c_proj_->forward(torch::gelu(c_fc_->forward(x)));
  }

 private:
  nn::Linear c_fc_;
  nn::Linear c_proj_;
};
TORCH_MODULE(Perceptron);

class TransformerLayerImpl : public nn::Module {
 public:
  explicit TransformerLayerImpl(const GptSizes& sizes)
      : ln_1_(register_module("ln_1", Norm(sizes.width))),
        attn_(register_module("attn", Attention(sizes))),
        ln_2_(register_module("ln_2", Norm(sizes.width))),
        mlp_(register_module("mlp", Perceptron(sizes.width))) {}
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& mask) {
    const auto attended = x + attn_->forward(ln_1_->forward(x), mask);
    return attended + mlp_->forward(ln_2_->forward(attended));
  }

 private:
  Norm ln_1_;
  Attention attn_;
  Norm ln_2_;
  Perceptron mlp_;
};
TORCH_MODULE(TransformerLayer);

class TransformerImpl : public nn::Module {
 public:
  explicit TransformerImpl(const GptSizes& sizes)
      : width_(sizes.width),
        wte_(register_module("wte", nn::Embedding(sizes.vocabulary, sizes.width))),
        wpe_(register_module("wpe", nn::Embedding(sizes.sequence, sizes.width))),
        h_(register_module("h", nn::ModuleList())),
        ln_f_(register_module("ln_f", Norm(sizes.width))) {
    for (std::int64_t layer = 0; layer < sizes.layers; ++layer) {
      h_->push_back(TransformerLayer(sizes));
    }
    const auto future = torch::ones({sizes.sequence, sizes.sequence}, torch::kBool).triu(1);
    const auto nothing = torch::zeros({1, sizes.sequence, sizes.sequence});
    mask_ = register_buffer("mask",
                            nothing.masked_fill(future, -std::numeric_limits<double>::infinity()));
  }

  torch::Tensor forward(const torch::Tensor& tokens) {
    auto x = (wte_->forward(tokens) + wpe_->weight).view({-1, width_});
    for (const auto& layer : *h_) {
      x = layer->as<TransformerLayer>()->forward(x, mask_);
    }
    return torch::linear(ln_f_->forward(x), wte_->weight);
  }

 private:
  std::int64_t width_;
  nn::Embedding wte_;
  nn::Embedding wpe_;
  nn::ModuleList h_;
  Norm ln_f_;
  torch::Tensor mask_;  // -inf where a token would look at a later one
};
TORCH_MODULE(Transformer);

/// Starts as nanoGPT does: weights are normal with deviation 0.02, those of the two layers that add
/// to x smaller by the root of how many there are, and the weights of norms are 1.
StartRule start_rule(std::int64_t layers) {
  const double added = kStartDeviation / std::sqrt(2 * static_cast<double>(layers));
  return [added](const Layer& layer, std::int64_t /*fan_in*/) -> Start {
    if (layer.shape.size() == 1) {
      return {.law = Start::Law::constant, .scale = 1};
    }
    const bool is_added = layer.name.ends_with("c_proj.weight");
    return {.law = Start::Law::normal, .scale = is_added ? added : kStartDeviation};
  };
}

void check_size(const GptSizes& sizes) {
  const auto width = static_cast<double>(sizes.width);
  const auto rows = static_cast<double>(sizes.vocabulary + sizes.sequence);
  const auto layers = static_cast<double>(sizes.layers);
  check_parameters(width * (rows + 1 + layers * (12 * width + 2)),
                   fmt::format("a gpt of {} words, context {}, {} layers of width {}",
                               sizes.vocabulary,
                               sizes.sequence,
                               sizes.layers,
                               sizes.width));
}

}  // namespace

Networks gpt(const GptSizes& sizes) {
  check_size(sizes);
  return make_networks(
      {.channels = 1,
       .height = 1,
       .width = static_cast<std::size_t>(sizes.sequence),
       .classes = static_cast<int>(sizes.vocabulary)},
      [sizes] {
        nn::Sequential net;
        net->push_back("transformer", Transformer(sizes));
        return net;
      },
      start_rule(sizes.layers));
}

std::unique_ptr<Objective> make_gpt(const Section& section, const ObjectiveContext& context) {
  GptSizes sizes;
  sizes.sequence = read_size(section, "sequence", 64, kLongestContext);
  sizes.width = read_size(section, "width", 128, kWidestModel);
  sizes.heads = read_size(section, "heads", 4, kWidestModel);
  sizes.layers = read_size(section, "layers", 4, kDeepestModel);
  require(sizes.width % sizes.heads == 0,
          "{} must be a multiple of 'objective.heads', got {} and {}",
          section.where("width"),
          sizes.width,
          sizes.heads);
  const NetworkOptions options = read_network_options(section, context, EvaluatePrecision::float32);
  NetworkData data = load_text_data(
      section, context, static_cast<std::size_t>(sizes.sequence), UnknownWord::where_needed);
  sizes.vocabulary = data.shape.classes;
  return std::make_unique<NetworkObjective>(std::move(data), gpt(sizes), options);
}

}  // namespace residuum
