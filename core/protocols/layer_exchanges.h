#pragma once
// Layer exchanges divide the exchange of a version by the layers of the model, for virtual time:
// into one for each layer, or into one for each group of layers that are merged.

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "core/protocols/actors/actor_state.h"
#include "core/protocols/network_clocks.h"
#include "core/training/training.h"

namespace residuum {

/// A layer of an exchange. Layers are listed as back-propagation has them: with `ready` increasing.
struct ExchangedLayer {
  double ready = 1;         // fraction of the gradient's time
  std::size_t numbers = 0;  // that are exchanged
};

/// ExpectedTimes are means over all gradients so far.
class ExpectedTimes {
 public:
  void take(const LocalTimes& local);
  double compute_s() const { return compute_s_; }
  double select_s() const { return select_s_; }
  void save_or_load(ActorState& state);

 private:
  double count_ = 0;
  double compute_s_ = 0;
  double select_s_ = 0;
};

/// Groups of layers that follow one another, each by its end: the number of layers up to and with
/// its last.
using GroupEnds = std::vector<std::size_t>;

/// Returns the groups of MG-WFBP (Shi, Chu, Li, INFOCOM 2019, algorithm 1): layers wait for the
/// next one if its gradient is ready before their exchange could have begun and passed its start-up
/// time, which a merged exchange saves. That is never slower than one exchange for each layer, or
/// one for all, where exchanges take a + b n seconds; it need not be the fastest of all ways to
/// group. `seconds_of(share)` is the time of a share of the exchange; its start-up time is that of
/// nothing.
GroupEnds merged_groups(std::span<const ExchangedLayer> layers,
                        const ExpectedTimes& expected,
                        const std::function<double(double share)>& seconds_of);

/// Returns the parts of an exchange that these groups are. The seconds of the selection, too, are
/// divided as the numbers are.
std::vector<ExchangePart> parts_of(std::span<const ExchangedLayer> layers, const GroupEnds& groups);

class LayerExchanges {
 public:
  /// Takes the fractions of the layers' gradients from the training, or measures them on the root.
  /// The call is collective; the fractions are kept on the root.
  explicit LayerExchanges(const Training& training);

  /// Returns the layers of the exchange of this version.
  std::vector<ExchangedLayer> layers(std::uint64_t version) const;
  /// Divides the exchange of this version as the training's rule says.
  std::vector<ExchangePart> parts(std::uint64_t version,
                                  const ExpectedTimes& expected,
                                  const std::function<double(double share)>& seconds_of) const;

  /// Returns the fractions in the order of the model; none but on the root.
  std::span<const double> ready() const { return ready_; }
  bool is_measured() const { return training_.overlap.ready.empty(); }
  void save_or_load(ActorState& state) { state.row(ready_); }

 private:
  const Training& training_;
  std::vector<double> ready_;  // in the order of the model
};

}  // namespace residuum
