// Every objective by name: those of convex.cc, then the networks.

#include "objectives/registry.h"

#include <string>
#include <vector>

namespace residuum {

std::unique_ptr<Objective> make_lenet(const Section& section, const ObjectiveContext& context);
std::unique_ptr<Objective> make_mlp(const Section& section, const ObjectiveContext& context);
std::unique_ptr<Objective> make_resnet20(const Section& section, const ObjectiveContext& context);
std::unique_ptr<Objective> make_vgg16(const Section& section, const ObjectiveContext& context);
std::unique_ptr<Objective> make_alexnet(const Section& section, const ObjectiveContext& context);
std::unique_ptr<Objective> make_lstm(const Section& section, const ObjectiveContext& context);

namespace {

std::vector<ObjectiveEntry> all_objectives() {
  const auto convex = convex_objectives();
  std::vector<ObjectiveEntry> all(convex.begin(), convex.end());
  all.push_back({.name = "mlp",
                 .summary = "a network of fully connected layers, cross-entropy",
                 .source = "Rumelhart, Hinton, Williams 1986",
                 .example = R"({"data": "synthetic-images", "rows": 600, "hidden": 32})",
                 .make = make_mlp});
  all.push_back({.name = "lenet",
                 .summary = "LeNet-5: two convolutions, three fully connected layers",
                 .source = "LeCun, Bottou, Bengio, Haffner 1998",
                 .example = R"({"data": "synthetic-images", "rows": 600})",
                 .make = make_lenet});
  all.push_back({.name = "resnet20",
                 .summary = "residual network for CIFAR-10, 269 722 parameters, batch normalised",
                 .source = "He, Zhang, Ren, Sun 2016",
                 .example = R"({"data": "synthetic-images", "rows": 64})",
                 .make = make_resnet20});
  all.push_back({.name = "vgg16",
                 .summary = "VGG-16 for CIFAR-10, 14 728 266 parameters, batch normalised",
                 .source = "Simonyan, Zisserman 2015",
                 .example = R"({"data": "synthetic-images", "rows": 16})",
                 .make = make_vgg16});
  all.push_back({.name = "alexnet",
                 .summary = "AlexNet for CIFAR-10, 2 472 266 parameters",
                 .source = "Krizhevsky, Sutskever, Hinton 2012",
                 .example = R"({"data": "synthetic-images", "rows": 64})",
                 .make = make_alexnet});
  all.push_back({.name = "lstm",
                 .summary = "LSTM language model, of words or of characters, on sequences of text",
                 .source = "Hochreiter, Schmidhuber 1997; Zaremba, Sutskever, Vinyals 2014",
                 .example = R"({"data": "synthetic-text", "hidden": 16, "embedding": 8})",
                 .make = make_lstm});
  return all;
}

}  // namespace

std::span<const ObjectiveEntry> objectives() {
  static const std::vector<ObjectiveEntry> all = all_objectives();
  return all;
}

std::unique_ptr<Objective> make_objective(const Section& section, const ObjectiveContext& context) {
  std::vector<std::string> names;
  for (const auto& entry : objectives()) {
    names.emplace_back(entry.name);
  }
  const std::string kind = section.choice("kind", names);
  for (const auto& entry : objectives()) {
    if (entry.name == kind) {
      return entry.make(section, context);
    }
  }
  return nullptr;  // not reached: `choice` has thrown
}

}  // namespace residuum
