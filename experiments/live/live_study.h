#pragma once
// A live study is attached to a training of somebody else: in every step it takes the gradients of
// the training and does one iteration of each of its runs. The folder of results is that of
// `residuum run`.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/cluster/callback_world.h"
#include "core/objective.h"

namespace residuum {

/// The description that the training gives of itself. All its processes have the same workers and
/// layers.
struct LiveTraining {
  Transport transport;          // between its processes
  int workers_here = 1;         // gradients that each process hands over in a step; P is their sum
  std::vector<Layer> layers;    // the named parts of a gradient, in their order
  bool applies_update = false;  // it asks for the update of the study's only run
  Place place = {};             // where it has its gradients; processes may differ in the index
};

class LiveStudy {
 public:
  /// Reads the study, prepares its runs and begins the folder `out`. Messages name the study
  /// `file`. If the study gives no 'workers.count', it is P. Collective. Errors are usage errors
  /// with their place; a program can have one live study at a time.
  LiveStudy(const std::string& text,
            const std::string& file,
            const std::filesystem::path& out,
            LiveTraining training);
  LiveStudy(const LiveStudy&) = delete;
  LiveStudy& operator=(const LiveStudy&) = delete;
  LiveStudy(LiveStudy&&) = delete;
  LiveStudy& operator=(LiveStudy&&) = delete;
  /// Abandons a study that was not closed.
  ~LiveStudy();

  std::size_t dimension() const;  // d

  /// Returns where `step` takes the gradients from: where the training has them if that is a device
  /// and a run keeps its memories there, else the host.
  Place place() const;

  /// Does one iteration of every run with the gradients of this process's workers, d numbers each
  /// at `place`, taken at a learning rate. An address on a device is one of core/vectors/device.h.
  /// A step at rate 0 is left out where the rate is the step of a run. Without `update` the call
  /// waits for the iteration before it, whose error is thrown here, and returns while its own is
  /// done: the gradients must stay unchanged until the next step, save or close has returned, and
  /// where `abandon` ended the study to the end of the process. With it, d numbers, the call waits
  /// and sets `update` to (w_t - w_{t+1}) / learning rate of the run, or of its step size where
  /// that is its own. Throws when no run goes on, and says why. Collective.
  void step(std::span<const float* const> gradients, double rate, std::span<float> update);

  /// Adds a row (step, learning rate, loss) to training.csv; the root alone writes.
  void note(double loss);

  /// Saves what the runs need to go on, in files of `folder` that the root writes. Collective.
  void save(const std::filesystem::path& folder);
  /// Goes on from what `save` has written; of the root an empty folder is refused. It must come
  /// before the first step, and the folder of results must be the one of then. Collective.
  void load(const std::filesystem::path& folder);

  /// Ends all runs and writes the tables. Collective; later calls do nothing.
  void close();
  /// Leaves the folder as it is; nothing of it is collective.
  void abandon();

 private:
  class Runs;
  std::unique_ptr<Runs> runs_;
};

}  // namespace residuum
