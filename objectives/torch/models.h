#pragma once
// These functions make the networks that a study can name, from its section or from data in memory.

#include <cstdint>
#include <memory>
#include <vector>

#include "core/config/section.h"
#include "core/objective.h"
#include "objectives/torch/network_objective.h"

namespace residuum {

struct ObjectiveContext;

// All networks have the keys device, data, train_samples, evaluate_samples, evaluate_precision,
// test_samples; those that take images also augment, and rows and data_seed of synthetic images.

/// An MLP also has the key `hidden`, the width of each hidden layer, a number or a list.
std::unique_ptr<Objective> make_mlp(const Section& section, const ObjectiveContext& context);
std::unique_ptr<Objective> make_lenet(const Section& section, const ObjectiveContext& context);
std::unique_ptr<Objective> make_resnet20(const Section& section, const ObjectiveContext& context);
/// A ResNet also has the key `depth`, 6 n + 2 for n blocks in each stage.
std::unique_ptr<Objective> make_resnet(const Section& section, const ObjectiveContext& context);
std::unique_ptr<Objective> make_vgg16(const Section& section, const ObjectiveContext& context);
std::unique_ptr<Objective> make_alexnet(const Section& section, const ObjectiveContext& context);
/// An LSTM also has the keys level (word, character), sequence, embedding, hidden, layers, and
/// characters and data_seed of synthetic text.
std::unique_ptr<Objective> make_lstm(const Section& section, const ObjectiveContext& context);

/// A GPT also has the keys level, sequence (its context), width, heads, layers, and characters and
/// data_seed of synthetic text.
std::unique_ptr<Objective> make_gpt(const Section& section, const ObjectiveContext& context);

/// A module of PyTorch from a TorchScript file also has the keys model, loss, labels, test_data and
/// test_labels; the last three only where data is a .npy file. Its file is executed.
std::unique_ptr<Objective> make_torchscript(const Section& section,
                                            const ObjectiveContext& context);

/// An MLP has fully connected layers with ReLU between them; without a hidden layer it is softmax
/// regression.
Networks mlp(const ImageShape& shape, const std::vector<std::int64_t>& hidden);

/// LeNet-5, as commonly trained on MNIST, takes 1x28x28 images in 10 classes.
Networks lenet();

/// The networks for CIFAR-10 take 3x32x32 images in 10 classes.
Networks resnet(std::int64_t depth);
Networks vgg16();
Networks alexnet();

struct LstmSizes {
  std::int64_t vocabulary = 0;
  std::int64_t sequence = 0;
  std::int64_t embedding = 0;
  std::int64_t hidden = 0;
  std::int64_t layers = 0;
};

/// The language model has an embedding, LSTM layers, and a linear layer to logits; every sequence
/// begins from a zero state.
Networks lstm(const LstmSizes& sizes);

struct GptSizes {
  std::int64_t vocabulary = 0;
  std::int64_t sequence = 0;
  std::int64_t width = 0;  ///< A multiple of heads.
  std::int64_t heads = 0;
  std::int64_t layers = 0;
};

/// The transformer is GPT-2's decoder without biases and dropout, and with tied embeddings.
Networks gpt(const GptSizes& sizes);

}  // namespace residuum
