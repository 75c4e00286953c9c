#include "experiments/program/runs/provenance.h"

#include <Eigen/Core>
#include <boost/version.hpp>
#include <fmt/format.h>

#include <CLI/Version.hpp>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <string_view>
#include <sys/utsname.h>
#include <thread>
#include <unistd.h>
#include <zlib.h>

#include "core/cluster/mpi_world.h"
#include "core/text.h"
#include "core/vectors/cuda/device.h"
#include "core/vectors/kernels.h"
#include "objectives/network_module.h"
#include "residuum_build.h"

#include <toml++/toml.h>

namespace residuum {
namespace {

/// Only these are recorded: everything else in an environment may be secret.
constexpr std::array<std::string_view, 6> kAllowed{
    "OMP_", "OMPI_COMM_WORLD_", "OPENBLAS_", "SLURM_JOB_", "SLURM_N", "NCCL_"};
constexpr std::string_view kAllowedWhole = "CUDA_VISIBLE_DEVICES";

// Names of lines that together say which build it is.
constexpr const char* kReleaseKey = "residuum";
constexpr const char* kCompilerKey = "compiler";

bool is_allowed(std::string_view name) {
  const auto matches = [name](std::string_view prefix) {
    return name.substr(0, prefix.size()) == prefix;
  };
  return name == kAllowedWhole || std::any_of(kAllowed.begin(), kAllowed.end(), matches);
}

nlohmann::json allowed_environment() {
  auto allowed = nlohmann::json::object();
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (equals != std::string_view::npos && is_allowed(text.substr(0, equals))) {
      allowed[std::string(text.substr(0, equals))] = std::string(text.substr(equals + 1));
    }
  }
  return allowed;
}

/// The value of the first line "name : value" in a file of /proc.
std::string proc_value(const char* file, std::string_view name) {
  std::ifstream lines(file);
  std::string line;
  while (std::getline(lines, line)) {
    const auto colon = line.find(':');
    if (line.rfind(name, 0) == 0 && colon != std::string::npos) {
      const auto value = line.find_first_not_of(" \t", colon + 1);
      return value == std::string::npos ? std::string() : line.substr(value);
    }
  }
  return "unknown";
}

/// The shared library that this process takes matrix products from.
std::string blas_library() {
  void* const symbol = dlsym(RTLD_DEFAULT, "sgemm_");
  Dl_info info{};
  if (symbol == nullptr || dladdr(symbol, &info) == 0 || info.dli_fname == nullptr) {
    return "none";
  }
  std::error_code error;
  const auto path = std::filesystem::canonical(info.dli_fname, error);
  return error ? std::string(info.dli_fname) : path.string();
}

/// Returns in words whether libtorch is loaded, which only networks do.
std::string torch_state() {
  const NetworkModule* const module = loaded_network_module();
  if (module == nullptr) {
    return "not loaded";
  }
  const int devices = module->cuda_devices();
  return devices == 0 ? "CPU only"
                      : fmt::format("{} CUDA device{}", devices, devices == 1 ? "" : "s");
}

/// Writes a device as "cuda:1 (NVIDIA H100)"; without a name in a build without CUDA of our own.
std::string cuda_text(int index) {
  const std::string name = cuda::name(index);
  return fmt::format("cuda:{}{}", index, name.empty() ? "" : " (" + name + ")");
}

bool is_shell_safe(const std::string& argument) {
  constexpr std::string_view kSafe =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+./:,@%";
  return !argument.empty() && argument.find_first_not_of(kSafe) == std::string::npos;
}

/// Quotes by bash's $'...', which writes bytes that a terminal would obey as numbers.
std::string escaped(const std::string& argument) {
  std::string text = "$'";
  for (const char c : argument) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f || c == '\'' || c == '\\') {
      text += fmt::format("\\x{:02x}", byte);
    } else {
      text += c;
    }
  }
  return text + "'";
}

std::string quoted(const std::string& argument) {
  if (is_shell_safe(argument)) {
    return argument;
  }
  if (harmless(argument) != argument) {
    return escaped(argument);
  }
  std::string text = "'";
  for (const char c : argument) {
    text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return text + "'";
}

std::string own_release() { return fmt::format("{} ({})", kBuildVersion, kBuildRevision); }

std::string own_compiler() {
  return fmt::format("{}, {} {}", kBuildCompiler, kBuildType, kBuildFlags);
}

std::string build_text(const std::string& release, const std::string& compiler) {
  return fmt::format("{}, {}", release, compiler);
}

}  // namespace

std::string program_version() { return build_text(own_release(), own_compiler()); }

std::string program_version(const nlohmann::json& provenance) {
  const auto text = [&](const char* key) {
    const auto found = provenance.is_object() ? provenance.find(key) : provenance.end();
    return found != provenance.end() && found->is_string() ? found->get<std::string>()
                                                           : std::string();
  };
  const std::string release = text(kReleaseKey);
  return release.empty() ? release : build_text(release, text(kCompilerKey));
}

std::string host_name() {
  utsname names{};
  return uname(&names) == 0 ? std::string(names.nodename) : std::string("unknown");
}

std::string quoted_command(const std::vector<std::string>& command_line) {
  std::string text;
  for (const auto& argument : command_line) {
    text += (text.empty() ? "" : " ") + quoted(argument);
  }
  return text;
}

std::vector<std::pair<std::string, std::string>> versions() {
  const std::string blas = blas_library();
  std::vector<std::pair<std::string, std::string>> lines{
      {kReleaseKey, own_release()},
      {kCompilerKey, own_compiler()},
      {"MPI", mpi_library_version()},
      {"libtorch", fmt::format("{}, {}", kBuildTorch, torch_state())},
      {"BLAS", blas},
      {"Eigen",
       fmt::format("{}.{}.{}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION)},
      {"Boost",
       fmt::format(
           "{}.{}.{}", BOOST_VERSION / 100000, BOOST_VERSION / 100 % 1000, BOOST_VERSION % 100)},
      {"fmt",
       fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100)},
      {"CLI11", CLI11_VERSION},
      {"toml++", fmt::format("{}.{}.{}", TOML_LIB_MAJOR, TOML_LIB_MINOR, TOML_LIB_PATCH)},
      {"nlohmann-json",
       fmt::format("{}.{}.{}",
                   NLOHMANN_JSON_VERSION_MAJOR,
                   NLOHMANN_JSON_VERSION_MINOR,
                   NLOHMANN_JSON_VERSION_PATCH)},
      {"zlib", zlibVersion()},
      {"random streams", "Philox4x32-10 keyed by (seed, purpose, worker, iteration), version 1"},
      {"CPU", proc_value("/proc/cpuinfo", "model name")},
      {"SIMD", kernels::target_name()},
      {"cores", std::to_string(std::thread::hardware_concurrency())},
      {"memory", proc_value("/proc/meminfo", "MemTotal")},
      {"GPU", cuda::description()}};
  const bool is_slow =
      blas.find("openblas") == std::string::npos && blas.find("mkl") == std::string::npos;
  if (blas != "none" && is_slow) {  // none is loaded without the networks
    lines.emplace_back("warning",
                       "the reference BLAS is in use, about 80 times slower: install "
                       "libopenblas0-pthread");
  }
  return lines;
}

std::vector<std::string> network_devices(World& world, const std::string& device) {
  const NetworkModule* const module = loaded_network_module();
  std::string mine;
  if (module != nullptr) {
    const auto index = module->cuda_device(device, world.local_rank());
    mine = fmt::format("rank {} on {}: {}",
                       world.rank(),
                       host_name(),
                       index ? cuda_text(*index) : std::string("cpu"));
    // Indices are among these, and may be of other devices in another process.
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");  // NOLINT(concurrency-mt-unsafe)
    if (visible != nullptr) {
      mine += fmt::format(" of CUDA_VISIBLE_DEVICES={}", harmless(visible));
    }
  }
  Gathered all;
  world.all_gather(std::as_bytes(std::span(mine)), all);
  std::vector<std::string> devices;
  for (std::size_t rank = 0; rank < all.parts(); ++rank) {
    const auto part = all.part(rank);
    if (!part.empty()) {
      // A text is gathered as bytes.
      devices.emplace_back(
          reinterpret_cast<const char*>(part.data()),  // NOLINT(*-reinterpret-cast)
          part.size());
    }
  }
  return devices;
}

nlohmann::json provenance(const std::vector<std::string>& command_line, const World& world) {
  auto json = nlohmann::json::object();
  json["command"] = quoted_command(command_line);
  json["host"] = host_name();
  json["processes"] = world.description();
  for (const auto& [name, value] : versions()) {
    json[name] = value;
  }
  json["environment"] = allowed_environment();
  return json;
}

}  // namespace residuum
