// No exception leaves the library.

#include "experiments/live/residuum_live.h"

#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "experiments/live/live_study.h"

struct residuum_monitor {
  std::optional<residuum::LiveStudy> study;
  int workers_here = 1;
};

namespace residuum {
namespace {

std::string& last_error() {
  thread_local std::string text;
  return text;
}

int failed(ExitCode code, const char* message) {
  last_error() = message;
  return static_cast<int>(code);
}

template <class Action>
int guarded(const Action& action) {
  try {
    action();
    return 0;
  } catch (const Error& error) {
    return failed(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return failed(ExitCode::resource, "out of memory");
  } catch (const std::exception& error) {
    return failed(ExitCode::internal, error.what());
  }
}

void require_carried(int code, const char* what, int peer) {
  if (code != 0) {
    resource_error("process {} of the training is lost, or its transport failed ({})", peer, what);
  }
}

Transport transport_of(const residuum_transport& given) {
  require(given.size >= 1 && given.rank >= 0 && given.rank < given.size,
          "a training has no process {} of {}",
          given.rank,
          given.size);
  require(given.size == 1 || (given.send != nullptr && given.receive != nullptr),
          "a training of {} processes needs functions that send and receive",
          given.size);
  return {.rank = given.rank,
          .size = given.size,
          .send =
              [given](int to, std::span<const std::byte> bytes) {
                require_carried(
                    given.send(given.context, to, bytes.data(), bytes.size()), "sending to it", to);
              },
          .receive =
              [given](int from, std::span<std::byte> bytes) {
                require_carried(given.receive(given.context, from, bytes.data(), bytes.size()),
                                "receiving from it",
                                from);
              }};
}

std::vector<Layer> layers_of(std::span<const residuum_layer> given) {
  std::vector<Layer> layers;
  std::size_t offset = 0;
  for (const residuum_layer& one : given) {
    require(
        one.name != nullptr && one.dimensions >= 0 && (one.dimensions == 0 || one.shape != nullptr),
        "a layer of the training has no name or no shape");
    Layer layer{.name = one.name,
                .shape = {one.shape, one.shape + one.dimensions},
                .offset = offset,
                .size = 1};
    for (const std::int64_t size : layer.shape) {
      require(size >= 1 && layer.size <= (std::size_t{1} << 32U) / static_cast<std::size_t>(size),
              "layer '{}' of the training has a size of {}, or is too large",
              layer.name,
              size);
      layer.size *= static_cast<std::size_t>(size);
    }
    offset += layer.size;
    layers.push_back(std::move(layer));
  }
  return layers;
}

Place place_of(const residuum_device* device) {
  constexpr int kDlCpu = 1;
  constexpr int kDlCuda = 2;
  constexpr int kDlExtDev = 12;
  if (device == nullptr || device->type == kDlCpu) {
    return {};
  }
  require((device->type == kDlCuda || device->type == kDlExtDev) && device->id >= 0,
          "gradients are on device {} of type {}, but they can be on the CPU or a CUDA device",
          device->id,
          device->type);
  return {.kind = device->type == kDlCuda ? Place::Kind::cuda : Place::Kind::stand_in,
          .index = device->type == kDlCuda ? device->id : 0};
}

LiveStudy& study_of(residuum_monitor* monitor) {
  require(monitor != nullptr && monitor->study, "the monitor is closed");
  return *monitor->study;
}

}  // namespace
}  // namespace residuum

using residuum::guarded;
using residuum::require;
using residuum::study_of;

residuum_monitor* residuum_open(const char* study,
                                const char* file,
                                const char* out,
                                const residuum_transport* transport,
                                const residuum_layer* layers,
                                size_t layer_count,
                                int workers_here,
                                int applies_update,
                                const residuum_device* device) {
  std::unique_ptr<residuum_monitor> monitor;
  const int code = guarded([&] {
    require(study != nullptr && file != nullptr && out != nullptr && transport != nullptr &&
                (layers != nullptr || layer_count == 0),
            "residuum_open got a null pointer");
    monitor = std::make_unique<residuum_monitor>();
    monitor->workers_here = workers_here;
    monitor->study.emplace(
        study,
        file,
        out,
        residuum::LiveTraining{.transport = residuum::transport_of(*transport),
                               .workers_here = workers_here,
                               .layers = residuum::layers_of(std::span(layers, layer_count)),
                               .applies_update = applies_update != 0,
                               .place = residuum::place_of(device)});
  });
  return code == 0 ? monitor.release() : nullptr;
}

int residuum_takes_device_memory(residuum_monitor* monitor) {
  return monitor != nullptr && monitor->study &&
                 monitor->study->place().kind != residuum::Place::Kind::host
             ? 1
             : 0;
}

int residuum_step(residuum_monitor* monitor,
                  const float* const* gradients,
                  double learning_rate,
                  float* update) {
  return guarded([&] {
    residuum::LiveStudy& study = study_of(monitor);
    const std::span given(gradients, static_cast<std::size_t>(monitor->workers_here));
    require(gradients != nullptr && std::find(given.begin(), given.end(), nullptr) == given.end(),
            "residuum_step got a null pointer");
    study.step(given,
               learning_rate,
               update == nullptr ? std::span<float>() : std::span(update, study.dimension()));
  });
}

int residuum_note(residuum_monitor* monitor, double loss) {
  return guarded([&] { study_of(monitor).note(loss); });
}

int residuum_save(residuum_monitor* monitor, const char* folder) {
  return guarded([&] {
    require(folder != nullptr, "residuum_save got a null pointer");
    study_of(monitor).save(folder);
  });
}

int residuum_load(residuum_monitor* monitor, const char* folder) {
  return guarded([&] {
    require(folder != nullptr, "residuum_load got a null pointer");
    study_of(monitor).load(folder);
  });
}

int residuum_close(residuum_monitor* monitor, int abandon) {
  if (monitor == nullptr) {
    return 0;
  }
  const std::unique_ptr<residuum_monitor> owned(monitor);
  return guarded([&] {
    if (abandon != 0) {
      owned->study->abandon();
    } else {
      owned->study->close();
    }
  });
}

const char* residuum_last_error(void) { return residuum::last_error().c_str(); }
