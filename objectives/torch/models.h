#pragma once
// The networks that a study can name, and how to build them from data at hand.

#include <cstdint>
#include <memory>
#include <vector>

#include "core/config/section.h"
#include "core/objective.h"
#include "objectives/torch/network_objective.h"

namespace residuum {

struct ObjectiveContext;

// Keys of all: device, data, train_samples, evaluate_samples, evaluate_precision, test_samples; of
// those that take images: augment, and rows and data_seed of synthetic images.

/// Further key: `hidden`, the width of each hidden layer, a number or a list.
std::unique_ptr<Objective> make_mlp(const Section& section, const ObjectiveContext& context);
std::unique_ptr<Objective> make_lenet(const Section& section, const ObjectiveContext& context);
std::unique_ptr<Objective> make_resnet20(const Section& section, const ObjectiveContext& context);
std::unique_ptr<Objective> make_vgg16(const Section& section, const ObjectiveContext& context);
std::unique_ptr<Objective> make_alexnet(const Section& section, const ObjectiveContext& context);
/// Further keys: level (word, character), sequence, embedding, hidden, layers, and characters and
/// data_seed of synthetic text.
std::unique_ptr<Objective> make_lstm(const Section& section, const ObjectiveContext& context);

/// Fully connected layers with ReLU between them; no hidden layer is softmax regression.
Networks mlp(const ImageShape& shape, const std::vector<std::int64_t>& hidden);

/// LeNet-5 as commonly trained on MNIST; takes 1x28x28 images in 10 classes.
Networks lenet();

/// The networks for CIFAR-10; they take 3x32x32 images in 10 classes.
Networks resnet20();
Networks vgg16();
Networks alexnet();

struct LstmSizes {
  std::int64_t vocabulary = 0;
  std::int64_t sequence = 0;
  std::int64_t embedding = 0;
  std::int64_t hidden = 0;
  std::int64_t layers = 0;
};

/// Embedding, LSTM layers, a linear layer to logits; every sequence begins from a zero state.
Networks lstm(const LstmSizes& sizes);

}  // namespace residuum
