#pragma once
// A sparsifier selects the part of its accumulator that a worker sends. Each has its own file and a
// line in registry.cc.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/config/registry.h"
#include "core/config/section.h"
#include "core/messages/laws.h"
#include "core/messages/message.h"
#include "core/random/random.h"
#include "core/vectors/device.h"
#include "core/vectors/select.h"

namespace residuum {

/// The context says which worker selects, at which iteration and step size; it is the key of the
/// random streams.
struct SelectionContext {
  std::uint64_t seed = 0;
  int worker = 0;
  std::uint64_t iteration = 0;
  double step_size = 1;
  /// The messages of the worker before this one; absent: one in each iteration.
  std::optional<std::uint64_t> messages = std::nullopt;

  std::uint64_t messages_before() const { return messages.value_or(iteration); }
};

/// Returns the claims that both laws imply, with the weaker constants.
SparsifierLaw weaker_of(const SparsifierLaw& a, const SparsifierLaw& b);

/// Describes a threshold that depends on the training itself, so that pilot runs of the same
/// training have to find it.
struct Pilot {
  enum class Rule {
    matched_budget,   // the threshold with which a run sends k entries per worker and iteration
    order_statistic,  // the K-th largest entry of all accumulators of a Top-k run, K its budget
  };
  Rule rule = Rule::matched_budget;
  std::size_t k = 0;
  bool eta_scaled = false;  // the threshold is in gradient units

  friend bool operator==(const Pilot&, const Pilot&) = default;
};

/// Says where a run is done, for a sparsifier that starts processes.
struct RunPlace {
  int first = 0;  // the workers of this process are first, ..., first + count - 1
  int count = 0;
  std::filesystem::path vectors;  // begins the names of files with vectors that break a claim
};

/// A device plan is how a message is selected of an accumulator on a device.
struct DevicePlan {
  bool is_made = false;
  bool everything = false;
  std::vector<SelectionPart> parts;  // otherwise
};

/// The form of a sparsifier for accumulators on a device: it says what to select, and gets the bits
/// of the sparsifier on the host.
class DeviceSparsifier {
 public:
  DeviceSparsifier() = default;
  DeviceSparsifier(const DeviceSparsifier&) = delete;
  DeviceSparsifier& operator=(const DeviceSparsifier&) = delete;
  DeviceSparsifier(DeviceSparsifier&&) = delete;
  DeviceSparsifier& operator=(DeviceSparsifier&&) = delete;
  virtual ~DeviceSparsifier() = default;

  /// Adds to the plan what is selected of the segment of vector 0, which is a whole accumulator or
  /// a layer.
  virtual void plan_there(DeviceVectors& memory,
                          const Segment& of,
                          const SelectionContext& context,
                          DevicePlan& plan) const = 0;
  /// Returns of how many parts the plan of a segment is.
  virtual std::size_t parts_there(const Segment& /*of*/) const { return 1; }
  /// True if it must know numbers of the vector for that, so that the host waits for the vector.
  virtual bool plans_by_numbers() const { return false; }
};

class Sparsifier {
 public:
  Sparsifier() = default;
  Sparsifier(const Sparsifier&) = delete;
  Sparsifier& operator=(const Sparsifier&) = delete;
  Sparsifier(Sparsifier&&) = delete;
  Sparsifier& operator=(Sparsifier&&) = delete;
  virtual ~Sparsifier() = default;

  /// message := C(accumulator). The workspace may hold candidates that a pass has found in this
  /// accumulator; the call leaves the bounds for the worker's next pass in it.
  virtual void select(std::span<const float> accumulator,
                      const SelectionContext& context,
                      SelectWorkspace& workspace,
                      Message<float>& message) const = 0;
  virtual void select(std::span<const double> accumulator,
                      const SelectionContext& context,
                      SelectWorkspace& workspace,
                      Message<double>& message) const = 0;

  /// Returns k, how many of d entries a worker may send; absent where the data decide (thresholds).
  /// A k above d is a usage error.
  virtual std::optional<std::size_t> k(std::size_t dimension) const = 0;
  virtual SparsifierLaw law(std::size_t dimension, double step_size) const = 0;

  /// Returns the form for accumulators on a device; null if it has none.
  virtual const DeviceSparsifier* on_device() const { return nullptr; }

  /// Returns how the indices of its messages of d entries travel to who gets them as they are.
  virtual IndexForm index_form(std::size_t /*dimension*/) const { return {}; }

  /// Returns the segments that are selected from separately; empty means the whole accumulator.
  virtual std::span<const Segment> segments() const { return {}; }
  /// Returns how many entries of a segment a worker may send; absent where the data decide.
  virtual std::optional<std::size_t> segment_k(std::size_t /*segment*/) const {
    return std::nullopt;
  }

  /// Returns what a pilot has to find first; absent if the sparsifier can select already.
  virtual std::optional<Pilot> pilot(std::size_t /*dimension*/) const { return std::nullopt; }
  /// Returns this sparsifier with the threshold that was found; null for one that needs none.
  virtual std::unique_ptr<Sparsifier> with_threshold(double /*threshold*/) const { return nullptr; }

  /// Returns this sparsifier with the processes that it selects by, which end with the object; null
  /// for one that needs none. A process that cannot be started is an Error.
  virtual std::unique_ptr<Sparsifier> started(const RunPlace& /*place*/) const { return nullptr; }
  /// True if `select` may throw an Error, and on one process alone.
  virtual bool can_fail() const { return false; }
};

/// Implements both overloads of `select` by a member template of that name of Derived, which finds
/// the form of its indices in the message.
template <class Derived>
class SparsifierFor : public Sparsifier {
 public:
  void select(std::span<const float> accumulator,
              const SelectionContext& context,
              SelectWorkspace& workspace,
              Message<float>& message) const final {
    message.form = index_form(accumulator.size());
    static_cast<const Derived&>(*this).template select<float>(
        accumulator, context, workspace, message);
  }
  void select(std::span<const double> accumulator,
              const SelectionContext& context,
              SelectWorkspace& workspace,
              Message<double>& message) const final {
    message.form = index_form(accumulator.size());
    static_cast<const Derived&>(*this).template select<double>(
        accumulator, context, workspace, message);
  }
};

std::span<const Entry<Sparsifier>> sparsifiers();

/// Builds what the section's `kind` names; with `scope` = "layer" it selects from each of the
/// `layers` separately. The caller finishes the section.
std::unique_ptr<Sparsifier> make_sparsifier(const Section& section,
                                            std::span<const Segment> layers);
/// Does the same for vectors without layers.
std::unique_ptr<Sparsifier> make_sparsifier(const Section& section);

/// Reads `block`, the entries in a block; the last block of a vector may have fewer.
inline std::uint32_t block_from(const Section& section, std::int64_t fallback) {
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
  const std::int64_t block = section.integer("block", fallback);
  require(block >= 1 && block <= kMost,
          "{} must lie between 1 and {}, got {}",
          section.where("block"),
          kMost,
          block);
  return static_cast<std::uint32_t>(block);
}

// Random sparsifiers share how they draw: from which stream, and how a subset comes of it.

/// Returns the stream of the context's iteration: one for all workers, or the worker's own.
RandomStream selection_stream(const SelectionContext& context, bool shared);

/// workspace.subset := a uniformly random k-subset of {0, ..., n-1}, increasing (Floyd; Bentley,
/// CACM 1987).
void draw_subset(std::size_t n, std::size_t k, RandomStream& random, SelectWorkspace& workspace);

/// With scope = "layer" a sparsifier is applied to every layer separately, with a k of its own, as
/// in layer-wise training (LAGS: Shi et al., ECAI 2020) and in most training code.
/// `layers` follow one another and cover the accumulator. The indices of the message are listed,
/// whatever form those of a layer have.
std::unique_ptr<Sparsifier> make_layered(std::unique_ptr<Sparsifier> inner,
                                         std::vector<Segment> layers);

}  // namespace residuum
