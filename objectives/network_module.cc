#include "objectives/network_module.h"

#include <fmt/format.h>

#include <array>
#include <dlfcn.h>
#include <filesystem>
#include <string>
#include <system_error>

#include "core/error.h"
#include "core/text.h"

namespace residuum {
namespace {

/// The module once it is loaded.
const NetworkModule*& loaded_module() {
  static const NetworkModule* loaded = nullptr;
  return loaded;
}

/// Looks for the module beside the program, then where the installation or the build has put it
/// (the program's run path).
void* open_module() {
  std::error_code ignored;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const auto beside = program.parent_path() / RESIDUUM_NETWORK_MODULE;
  const bool is_beside = std::filesystem::is_regular_file(beside, ignored);
  const std::string name = is_beside ? beside.string() : std::string(RESIDUUM_NETWORK_MODULE);
  // RTLD_GLOBAL makes its libraries visible to all, as if the program had been linked with them.
  return ::dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL);
}

constexpr auto kNetworks = std::to_array<ObjectiveEntry>(
    {{.name = "mlp",
      .summary = "a network of fully connected layers, cross-entropy",
      .source = "Rumelhart, Hinton, Williams 1986",
      .example = R"({"data": "synthetic-images", "rows": 600, "hidden": 32})",
      .make =
          [](const Section& section, const ObjectiveContext& context) {
            return network_module().make("mlp", section, context);
          }},
     {.name = "lenet",
      .summary = "LeNet-5: two convolutions, three fully connected layers",
      .source = "LeCun, Bottou, Bengio, Haffner 1998",
      .example = R"({"data": "synthetic-images", "rows": 600})",
      .make =
          [](const Section& section, const ObjectiveContext& context) {
            return network_module().make("lenet", section, context);
          }},
     {.name = "resnet20",
      .summary = "residual network for CIFAR-10, 269 722 parameters, batch normalised",
      .source = "He, Zhang, Ren, Sun 2016",
      .example = R"({"data": "synthetic-images", "rows": 64})",
      .make =
          [](const Section& section, const ObjectiveContext& context) {
            return network_module().make("resnet20", section, context);
          }},
     {.name = "vgg16",
      .summary = "VGG-16 for CIFAR-10, 14 728 266 parameters, batch normalised",
      .source = "Simonyan, Zisserman 2015",
      .example = R"({"data": "synthetic-images", "rows": 16})",
      .make =
          [](const Section& section, const ObjectiveContext& context) {
            return network_module().make("vgg16", section, context);
          }},
     {.name = "alexnet",
      .summary = "AlexNet for CIFAR-10, 2 472 266 parameters",
      .source = "Krizhevsky, Sutskever, Hinton 2012",
      .example = R"({"data": "synthetic-images", "rows": 64})",
      .make =
          [](const Section& section, const ObjectiveContext& context) {
            return network_module().make("alexnet", section, context);
          }},
     {.name = "lstm",
      .summary = "LSTM language model, of words or of characters, on sequences of text",
      .source = "Hochreiter, Schmidhuber 1997; Zaremba, Sutskever, Vinyals 2014",
      .example = R"({"data": "synthetic-text", "hidden": 16, "embedding": 8})",
      .make = [](const Section& section, const ObjectiveContext& context) {
        return network_module().make("lstm", section, context);
      }}});

}  // namespace

const NetworkModule& network_module() {
  const NetworkModule*& loaded = loaded_module();
  if (loaded != nullptr) {
    return *loaded;
  }
  using EntryPoint = const NetworkModule* (*)();
  void* const module = open_module();
  void* const entry = module == nullptr ? nullptr : ::dlsym(module, RESIDUUM_NETWORK_ENTRY);
  if (entry == nullptr) {
    const char* const why = ::dlerror();
    resource_error(
        "networks and libtorch's baselines need {}, which cannot be loaded ({}); install "
        "libtorch, and keep the library beside the program or where it was installed",
        RESIDUUM_NETWORK_MODULE,
        why == nullptr ? "it is of another version" : harmless(why));
  }
  // dlsym returns a pointer without a type.
  loaded = reinterpret_cast<EntryPoint>(entry)();  // NOLINT(*-reinterpret-cast)
  return *loaded;
}

const NetworkModule* loaded_network_module() { return loaded_module(); }

std::span<const ObjectiveEntry> network_objectives() { return kNetworks; }

}  // namespace residuum
