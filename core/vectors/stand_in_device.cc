#include "core/vectors/stand_in_device.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/vectors/dense.h"
#include "core/vectors/select.h"

namespace residuum {

/// The device and its vectors share this.
struct StandInDevice::Shared {
  std::size_t free = 0;
  std::size_t made = 0;  // vectors, each time they were made
  Watch watch = {};
};

namespace {

constexpr std::size_t kPairBytes = sizeof(std::uint32_t) + sizeof(float);

/// Takes bytes of the device for as long as it lives.
template <class Shared>
class Share {
 public:
  Share(std::shared_ptr<Shared> shared, std::size_t bytes)
      : shared_(std::move(shared)), bytes_(bytes) {
    shared_->free -= bytes_;
  }
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;
  Share(Share&&) = delete;
  Share& operator=(Share&&) = delete;
  ~Share() { shared_->free += bytes_; }

  Shared& device() const { return *shared_; }

 private:
  std::shared_ptr<Shared> shared_;
  std::size_t bytes_;
};

/// On a device such a call would read what is not there yet, or change what is being read.
void require_order(bool is_right, const char* mistake) {
  if (!is_right) {
    throw std::logic_error(std::string("vectors of a device: ") + mistake);
  }
}

template <class Shared>
class StandInVectors final : public DeviceVectors {
 public:
  using Event = StandInDevice::Event;

  StandInVectors(std::shared_ptr<Crossed> crossed,
                 std::shared_ptr<Shared> shared,
                 std::size_t count,
                 std::size_t d)
      : DeviceVectors(std::move(crossed)),
        share_(std::move(shared), count * d * sizeof(float)),
        serial_(share_.device().made++),
        d_(d),
        numbers_(count * d) {}

  std::size_t dimension() const override { return d_; }
  DeviceRoom vector(std::size_t number) override {
    changes(number);
    return {.data = of(number).data(), .size = d_};
  }

  void set(std::size_t number, std::span<const float> values) override {
    assert(values.size() == d_);
    changes(number);
    std::copy(values.begin(), values.end(), of(number).begin());
    count_to_device(values.size_bytes());
  }
  void get(std::size_t number, std::span<float> values) const override {
    assert(values.size() == d_);
    const auto from = of(number);
    std::copy(from.begin(), from.end(), values.begin());
    count_to_host(values.size_bytes());
  }

  void start_accumulate(DeviceSpan gradient,
                        float scale,
                        std::span<const Segment> segments) override {
    start_pass();
    norms_ = residuum::accumulate<float>(of(0), numbers_at(gradient), scale, pass_over(segments));
  }
  void start_subtract(DeviceSpan gradient, std::span<const Segment> segments) override {
    start_pass();
    norms_ = residuum::subtract<float>(of(0), numbers_at(gradient), of(1), pass_over(segments));
  }
  PassNorms take_norms() override {
    require_order(norms_.has_value(), "norms are taken, and no pass was started");
    tell(Event::take_norms);
    constexpr std::size_t kNorms = 3;
    count_to_host(kNorms * sizeof(double));
    const PassNorms norms = *std::exchange(norms_, std::nullopt);
    if (!std::isfinite(norms.accumulator_sq)) {
      parts_.reset();
    }
    return norms;
  }

  void start_select(std::span<const SelectionPart> parts) override {
    require_order(!parts_, "a selection is started before the last one was taken");
    tell(Event::start_selection);
    parts_.emplace(parts.begin(), parts.end());
  }
  void take_selected(SparseVector<float>& selected) override {
    require_order(parts_.has_value(), "a selection is taken, and none was started");
    require_order(!norms_, "a selection is taken before the norms");
    tell(Event::take_selection);
    select_parts(*parts_, selected);
    parts_.reset();
  }

  MagnitudeMoments moments(const Segment& of, bool with_logarithms) const override {
    count_to_host(sizeof(MagnitudeMoments));
    return magnitude_moments<float>(part(of), with_logarithms);
  }
  MagnitudeMoments excess_moments(const Segment& of,
                                  double threshold,
                                  bool with_logarithms) const override {
    count_to_host(sizeof(MagnitudeMoments));
    return residuum::excess_moments<float>(part(of), threshold, with_logarithms);
  }
  std::size_t count(const Segment& of, float least) override {
    count_to_host(sizeof(std::size_t));
    workspace_.found().bound = 0;
    return count_above<float>(part(of), least, workspace_);
  }

  void clear(std::size_t number) override {
    changes(number);
    const auto values = of(number);
    std::fill(values.begin(), values.end(), 0.0F);
  }
  void scale(std::size_t number, float factor) override {
    changes(number);
    for (float& value : of(number)) {
      value *= factor;
    }
  }
  void add(std::size_t number, const SparseVector<float>& list, float sign) override {
    changes(number);
    const auto values = of(number);
    for (std::size_t i = 0; i < list.size(); ++i) {
      values[list.indices[i]] += sign * list.values[i];
    }
    count_to_device(list.size() * kPairBytes);
  }
  void assign(std::size_t number, const SparseVector<float>& list) override {
    changes(number);
    const auto values = of(number);
    for (std::size_t i = 0; i < list.size(); ++i) {
      values[list.indices[i]] = list.values[i];
    }
    count_to_device(list.size() * kPairBytes);
  }
  void add_vector(std::size_t to, std::size_t from) override {
    changes(to);
    const auto source = of(from);
    const auto target = of(to);
    for (std::size_t i = 0; i < d_; ++i) {
      target[i] += source[i];
    }
  }

  void gather(std::size_t number,
              std::span<const std::uint32_t> indices,
              std::span<float> values) const override {
    const auto from = of(number);
    for (std::size_t i = 0; i < indices.size(); ++i) {
      values[i] = from[indices[i]];
    }
    count_to_device(indices.size_bytes());
    count_to_host(values.size_bytes());
  }
  double norm_sq(std::size_t number, std::span<const Segment> segments) const override {
    count_to_host(sizeof(double));
    return residuum::norm_sq<float>(of(number), segments);
  }
  float norm_inf(std::size_t number) const override {
    count_to_host(sizeof(float));
    return residuum::norm_inf<float>(of(number));
  }

 private:
  std::span<float> of(std::size_t number) { return std::span(numbers_).subspan(number * d_, d_); }
  std::span<const float> of(std::size_t number) const {
    return std::span(numbers_).subspan(number * d_, d_);
  }
  std::span<const float> part(const Segment& of_first) const {
    return of(0).subspan(of_first.begin, of_first.size);
  }
  std::span<const float> numbers_at(DeviceSpan gradient) const {
    assert(gradient.size == d_);
    return {gradient.data, gradient.size};
  }
  void select_parts(std::span<const SelectionPart> parts, SparseVector<float>& selected) {
    selected.clear();
    for (const SelectionPart& part : parts) {
      const auto values = this->part(part.at);
      if (part.least > 0 || part.most >= part.at.size) {
        require_order(part.most >= part.at.size, "a part has both a threshold and a number");
        select_above<float>(values, part.least, workspace_, of_part_);
      } else {
        select_top_k<float>(values, part.most, workspace_, of_part_);
      }
      workspace_.found().bound = 0;  // the next part is another vector
      selected.make_room(selected.size() + of_part_.size());
      for (std::size_t i = 0; i < of_part_.size(); ++i) {
        selected.push_back(static_cast<std::uint32_t>(part.at.begin + of_part_.indices[i]),
                           of_part_.values[i]);
      }
    }
    count_to_host(selected.size() * kPairBytes);
  }

  void start_pass() {
    require_order(!norms_, "a pass is started before the norms of the last one were taken");
    changes(0);
    tell(Event::start_pass);
  }
  void changes(std::size_t number) const {
    require_order(number != 0 || (!norms_ && !parts_),
                  "vector 0 changes before what was started has been taken");
  }
  void tell(Event event) const {
    if (const auto& watch = share_.device().watch) {
      watch(event, serial_);
    }
  }

  Pass pass_over(std::span<const Segment> segments) {
    unused_.resize(segments.size());
    return {.segments = segments, .candidates = unused_};
  }
  Share<Shared> share_;
  std::size_t serial_;
  std::size_t d_;
  std::vector<float> numbers_;
  std::vector<Candidates> unused_;  // a bound of 0 notes nothing
  SelectWorkspace workspace_;
  SparseVector<float> of_part_;
  std::optional<PassNorms> norms_;                   // to be taken
  std::optional<std::vector<SelectionPart>> parts_;  // of which the selection is to be taken
};

}  // namespace

StandInDevice::StandInDevice(std::size_t bytes)
    : shared_(std::make_shared<Shared>(Shared{.free = bytes})) {}

std::string StandInDevice::name() const { return "stand-in"; }
std::string StandInDevice::identity() const { return "stand-in"; }
void StandInDevice::watch(Watch watch) { shared_->watch = std::move(watch); }
void StandInDevice::read(DeviceSpan from, std::span<float> values) const {
  assert(values.size() == from.size);
  std::copy_n(from.data, from.size, values.begin());
  counter()->to_host += values.size_bytes();
}
std::size_t StandInDevice::free_bytes() const { return shared_->free; }

/// The host's kernels select into the host's own lists.
std::uint64_t StandInDevice::selection_bytes(std::size_t /*d*/,
                                             std::size_t /*k*/,
                                             std::size_t /*parts*/) const {
  return 0;
}

std::unique_ptr<DeviceVectors> StandInDevice::vectors(std::size_t count, std::size_t d) const {
  const std::size_t wanted = count * d * sizeof(float);
  if (wanted > shared_->free) {
    resource_error(
        "device {}: no room for {} bytes, {} are free: use a smaller model or fewer "
        "workers, or [workers] device = \"cpu\"",
        name(),
        wanted,
        shared_->free);
  }
  return std::make_unique<StandInVectors<Shared>>(counter(), shared_, count, d);
}

}  // namespace residuum
