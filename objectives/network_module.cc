#include "objectives/network_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <dlfcn.h>
#include <elf.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
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

/// Returns whether the file ends before the last part that its ELF header names. The loader does
/// not look: it would map the file, and the first access beyond its end would be a bus error.
bool is_truncated(const std::filesystem::path& file) {
  std::error_code failed;
  const std::uint64_t size = std::filesystem::file_size(file, failed);
  Elf64_Ehdr header{};
  std::ifstream in(file, std::ios::binary);
  // The header is read as bytes.
  in.read(reinterpret_cast<char*>(&header), sizeof(header));  // NOLINT(*-reinterpret-cast)
  const std::string_view magic(ELFMAG, SELFMAG);
  if (failed || !in || !std::equal(magic.begin(), magic.end(), std::begin(header.e_ident))) {
    return false;  // the loader says what is wrong with it
  }
  const std::uint64_t sections = std::uint64_t{header.e_shnum} * header.e_shentsize;
  return header.e_shoff > size || sections > size - header.e_shoff;
}

/// Looks for the module beside the program, then where the installation or the build has put it
/// (the program's run path).
void* open_module() {
  std::error_code ignored;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const auto beside = program.parent_path() / RESIDUUM_NETWORK_MODULE;
  const bool is_beside = std::filesystem::is_regular_file(beside, ignored);
  const std::string name = is_beside ? beside.string() : std::string(RESIDUUM_NETWORK_MODULE);
  if (is_beside && is_truncated(beside)) {
    resource_error("{} is truncated; build or install it again", beside.string());
  }
  // RTLD_GLOBAL makes its libraries visible to all, as if the program had been linked with them.
  return ::dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL);
}

template <const std::string_view& kName>
std::unique_ptr<Objective> make_network(const Section& section, const ObjectiveContext& context) {
  require_torch(fmt::format("the network '{}'", kName));
  return network_module().make(kName, section, context);
}

constexpr std::string_view kMlp = "mlp";
constexpr std::string_view kLenet = "lenet";
constexpr std::string_view kResnet20 = "resnet20";
constexpr std::string_view kResnet = "resnet";
constexpr std::string_view kVgg16 = "vgg16";
constexpr std::string_view kAlexnet = "alexnet";
constexpr std::string_view kLstm = "lstm";
constexpr std::string_view kGpt = "gpt";
constexpr std::string_view kTorchscript = "torchscript";

constexpr auto kNetworks = std::to_array<ObjectiveEntry>(
    {{.name = kMlp,
      .summary = "a network of fully connected layers, cross-entropy",
      .source = "Rumelhart, Hinton, Williams 1986",
      .example = R"({"data": "synthetic-images", "rows": 600, "hidden": 32})",
      .make = make_network<kMlp>},
     {.name = kLenet,
      .summary = "LeNet-5: two convolutions, three fully connected layers",
      .source = "LeCun, Bottou, Bengio, Haffner 1998",
      .example = R"({"data": "synthetic-images", "rows": 600})",
      .make = make_network<kLenet>},
     {.name = kResnet20,
      .summary = "residual network for CIFAR-10, 269 722 parameters, batch normalised",
      .source = "He, Zhang, Ren, Sun 2016",
      .example = R"({"data": "synthetic-images", "rows": 64})",
      .make = make_network<kResnet20>},
     {.name = kResnet,
      .summary = "residual network for CIFAR-10 of any depth 6 n + 2, batch normalised",
      .source = "He, Zhang, Ren, Sun 2016",
      .example = R"({"data": "synthetic-images", "rows": 64, "depth": 8})",
      .make = make_network<kResnet>},
     {.name = kVgg16,
      .summary = "VGG-16 for CIFAR-10, 14 728 266 parameters, batch normalised",
      .source = "Simonyan, Zisserman 2015",
      .example = R"({"data": "synthetic-images", "rows": 16})",
      .make = make_network<kVgg16>},
     {.name = kAlexnet,
      .summary = "AlexNet for CIFAR-10, 2 472 266 parameters",
      .source = "Krizhevsky, Sutskever, Hinton 2012",
      .example = R"({"data": "synthetic-images", "rows": 64})",
      .make = make_network<kAlexnet>},
     {.name = kLstm,
      .summary = "LSTM language model, of words or of characters, on sequences of text",
      .source = "Hochreiter, Schmidhuber 1997; Zaremba, Sutskever, Vinyals 2014",
      .example = R"({"data": "synthetic-text", "hidden": 16, "embedding": 8})",
      .make = make_network<kLstm>},
     {.name = kGpt,
      .summary = "GPT language model: a transformer without biases, of characters or of words",
      .source = "Vaswani et al. 2017; Radford et al. 2019",
      .example = R"({"data": "synthetic-text", "width": 16, "heads": 2, "layers": 1})",
      .make = make_network<kGpt>},
     {.name = kTorchscript,
      .summary = "a module of PyTorch, from the file that torch.jit.script(module).save writes",
      .source = "Paszke et al. 2019",
      .example = R"({"model": "model.pt", "data": "synthetic-images", "rows": 64})",
      .make = make_network<kTorchscript>,
      .foreign_code = "model"}});

}  // namespace

bool networks_are_built() {
#ifdef RESIDUUM_WITHOUT_TORCH
  return false;
#else
  return true;
#endif
}

void require_torch(std::string_view what) {
  if (!networks_are_built()) {
    resource_error(
        "{} needs libtorch, which this program was built without; build it with "
        "-DRESIDUUM_TORCH=ON",
        what);
  }
}

void require_built_network(std::string_view kind) {
  const auto networks = network_objectives();
  if (std::any_of(networks.begin(), networks.end(), [kind](const ObjectiveEntry& entry) {
        return entry.name == kind;
      })) {
    require_torch(fmt::format("the network '{}'", kind));
  }
}

const NetworkModule& network_module() {
  const NetworkModule*& loaded = loaded_module();
  if (loaded != nullptr) {
    return *loaded;
  }
  require_torch("a network");
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
