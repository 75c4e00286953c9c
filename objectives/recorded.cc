// Recorded gradients are a frozen sequence: iteration t gives worker w the gradient [t, w, :] of
// the recording, whatever the model is. Nothing is known of an f, so there is no loss, no gradient
// of it, no smoothness and no noise of a batch; everything that is made of gradients and messages
// can be measured.

#include <algorithm>
#include <memory>
#include <vector>

#include "objectives/data/recorded_gradients.h"
#include "objectives/registry.h"
#include "objectives/without_function.h"

namespace residuum {
namespace {

constexpr const char* kDrawnData = "synthetic-gradients";

class Recorded final : public WithoutFunction<Recorded> {
 public:
  Recorded(std::string name,
           std::unique_ptr<RecordedGradients> gradients,
           std::vector<Layer> layers)
      : name_(std::move(name)), gradients_(std::move(gradients)), layers_(std::move(layers)) {}

  std::optional<std::uint64_t> recorded_steps() const override { return gradients_->shape().steps; }

  std::size_t dimension() const override { return gradients_->shape().dimension; }
  std::vector<Layer> layers() const override {
    if (!layers_.empty()) {
      return layers_;
    }
    const auto named = gradients_->layers();
    return named.empty() ? Objective::layers() : named;
  }
  DataInfo data() const override {
    const RecordedShape shape = gradients_->shape();
    return {
        .name = name_,
        .samples = 0,
        .features = shape.dimension,
        .fingerprint = gradients_->fingerprint(),
        .note = fmt::format(
            "recorded gradients of {} steps and {} workers", shape.steps, shape.workers),
        .gradients_of = "recorded gradients, whatever the methods would have done to the model"};
  }

  Facts facts() const override {
    Facts facts;
    facts.gradient_bias =
        "the gradients are recorded and their f is unknown, so that their bias cannot be tested";
    return facts;
  }

  template <class Real>
  void take(const Draw& draw, std::span<Real> gradient) const {
    const RecordedShape shape = gradients_->shape();
    require(draw.iteration < shape.steps,
            "worker {} is at gradient {}, but {} has {} steps; give fewer 'budget.iterations'",
            draw.worker,
            draw.iteration + 1,
            name_,
            shape.steps);
    gradients_->read(draw.iteration, static_cast<std::size_t>(draw.worker), gradient);
  }

 private:
  std::string name_;
  std::unique_ptr<RecordedGradients> gradients_;
  std::vector<Layer> layers_;
};

/// Reads the sizes of one tensor, {"name": "conv1", "shape": [16, 3, 3, 3]} or with "size": 432.
std::vector<std::int64_t> read_layer_shape(const nlohmann::json& given, const std::string& where) {
  const bool has_one = given.is_object() && given.size() == 2 && given.contains("name") &&
                       given["name"].is_string() &&
                       given.contains("size") != given.contains("shape");
  require(has_one,
          "{}: a layer is {{ name = \"conv1\", size = 432 }}, or with shape = [16, 27]; got {}",
          where,
          given.dump());
  const nlohmann::json sizes =
      given.contains("size") ? nlohmann::json::array({given["size"]}) : given["shape"];
  require(sizes.is_array() && !sizes.empty(), "{}: a shape is a list of sizes", where);
  std::vector<std::int64_t> shape;
  for (const auto& size : sizes) {
    require(size.is_number_integer() && size >= 1 && size < std::int64_t{1} << 32,
            "{}: layer {} has a size of {}, but sizes are whole numbers from 1 up",
            where,
            given["name"].dump(),
            size.dump());
    shape.push_back(size.get<std::int64_t>());
  }
  return shape;
}

/// Reads the tensors in the order of their entries; together they are the whole gradient.
std::vector<Layer> read_layers(const Section& section, std::size_t dimension) {
  if (!section.has("layers")) {
    return {};
  }
  const auto given = section.any("layers");
  const std::string where = section.where("layers");
  require(given.is_array() && !given.empty(), "{} must be a list of layers", where);
  std::vector<Layer> layers;
  std::size_t offset = 0;
  for (const auto& one : given) {
    Layer layer{.name = {}, .shape = read_layer_shape(one, where), .offset = offset, .size = 1};
    layer.name = one["name"].get<std::string>();
    for (const std::int64_t size : layer.shape) {
      const auto factor = static_cast<std::size_t>(size);
      require(layer.size <= (dimension - offset) / factor,
              "{}: layer '{}' ends behind the {} entries of a gradient",
              where,
              layer.name,
              dimension);
      layer.size *= factor;
    }
    const bool is_new = std::none_of(
        layers.begin(), layers.end(), [&](const Layer& other) { return other.name == layer.name; });
    require(is_new && !layer.name.empty(),
            "{}: '{}' is no name of a layer of its own",
            where,
            layer.name);
    offset += layer.size;
    layers.push_back(std::move(layer));
  }
  require(offset == dimension,
          "{}: the layers have {} entries, but a gradient has {}",
          where,
          offset,
          dimension);
  return layers;
}

/// Reads the keys steps (20), dimension (50) and data_seed (1) of gradients that are drawn.
std::unique_ptr<RecordedGradients> read_drawn(const Section& section, int workers) {
  const auto whole = [&](const char* key, std::int64_t fallback) {
    const auto value = section.integer(key, fallback);
    require(value >= 1 && value < std::int64_t{1} << 32,
            "{} must be from 1 to 2^32 - 1, got {}",
            section.where(key),
            value);
    return static_cast<std::size_t>(value);
  };
  return draw_recorded_gradients({.steps = whole("steps", 20),
                                  .workers = static_cast<std::size_t>(workers),
                                  .dimension = whole("dimension", 50)},
                                 whole("data_seed", 1));
}

}  // namespace

/// Reads the keys data, a file or folder, or "synthetic-gradients", and layers.
std::unique_ptr<Objective> make_recorded(const Section& section, const ObjectiveContext& context) {
  const std::string data = section.text("data");
  auto gradients = data == kDrawnData ? read_drawn(section, context.workers.get())
                                      : open_recorded_gradients(context.file_of(data));
  const RecordedShape shape = gradients->shape();
  require(shape.workers == static_cast<std::size_t>(context.workers.get()),
          "{}: the recording has {} workers, but the study has {}; give 'workers.count' = {}",
          section.where("data"),
          shape.workers,
          context.workers.get(),
          shape.workers);
  auto layers = read_layers(section, shape.dimension);
  return std::make_unique<Recorded>(data, std::move(gradients), std::move(layers));
}

}  // namespace residuum
