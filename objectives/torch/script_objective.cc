// A module of PyTorch is an objective without a line of C++: its TorchScript file, samples and a
// loss. The file does not tell how the module behaves, so the module is tried on two samples first.
// It is refused if its evaluation is random or if a sample's loss depends on the others of its
// batch. It is also refused if the same call gives another gradient.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "objectives/data/byte_stream.h"
#include "objectives/data/npy.h"
#include "objectives/registry.h"
#include "objectives/torch/images.h"
#include "objectives/torch/models.h"
#include "objectives/torch/network_options.h"
#include "objectives/torch/samples.h"
#include "objectives/torch/script_network.h"

namespace residuum {
namespace {

/// Inputs and, unless the module needs none, as many labels. They are not normalised.
struct SampleArrays {
  std::string name;
  NpyArray inputs;
  std::optional<NpyArray> labels;
};

class ArraySamples final : public SampleSource {
 public:
  ArraySamples(SampleArrays arrays, NetworkLoss loss, std::size_t kept)
      : arrays_(std::move(arrays)), loss_(loss), kept_(kept) {}

  std::size_t samples() const override { return kept_; }
  void assemble(std::span<const std::uint32_t> samples,
                RandomStream* /*augmentation*/,
                Batch<float>& batch) const override {
    fill(samples, batch);
  }
  void assemble(std::span<const std::uint32_t> samples,
                RandomStream* /*augmentation*/,
                Batch<double>& batch) const override {
    fill(samples, batch);
  }

 private:
  template <class Real>
  void fill(std::span<const std::uint32_t> samples, Batch<Real>& batch) const {
    batch.shape = arrays_.inputs.sample_shape();
    take(arrays_.inputs, samples, arrays_.inputs.is_whole(), batch.tokens, batch.pixels);
    if (!arrays_.labels) {
      return;
    }
    const NpyArray& labels = *arrays_.labels;
    const bool has_classes =
        loss_ != NetworkLoss::squared_error && (labels.is_whole() || labels.is_byte());
    batch.label_shape = labels.sample_shape();
    batch.labels_per_sample = labels.numbers_per_sample();
    take(labels, samples, has_classes, batch.labels, batch.targets);
  }

  /// Puts the samples of the array behind each other: as whole numbers, or as real ones.
  template <class Real>
  static void take(const NpyArray& array,
                   std::span<const std::uint32_t> samples,
                   bool as_whole,
                   std::vector<std::int64_t>& whole,
                   std::vector<Real>& real) {
    whole.clear();
    real.clear();
    const std::size_t count = array.numbers_per_sample();
    for (const std::uint32_t sample : samples) {
      for (std::size_t i = sample * count; i < (sample + std::size_t{1}) * count; ++i) {
        if (as_whole) {
          whole.push_back(array.whole_number(i));
        } else {
          real.push_back(static_cast<Real>(array.number(i)));
        }
      }
    }
  }

  SampleArrays arrays_;
  NetworkLoss loss_;
  std::size_t kept_;
};

NetworkLoss read_loss(const Section& section) {
  const std::string loss =
      section.choice("loss", {"cross-entropy", "mean-squared-error", "output"}, "cross-entropy");
  if (loss == "cross-entropy") {
    return NetworkLoss::cross_entropy;
  }
  return loss == "output" ? NetworkLoss::output : NetworkLoss::squared_error;
}

bool is_npy(const std::string& name) { return name.ends_with(".npy"); }

/// Reads the arrays that two keys name, if the first is given; a module that computes its own loss
/// may need no labels.
std::optional<SampleArrays> read_arrays(const Section& section,
                                        const ObjectiveContext& context,
                                        const char* inputs_key,
                                        const char* labels_key,
                                        NetworkLoss loss) {
  const bool has_labels = section.has(labels_key);
  if (!section.has(inputs_key)) {
    return std::nullopt;
  }
  const std::string inputs = section.text(inputs_key);
  SampleArrays arrays{
      .name = inputs, .inputs = read_npy_array(context.file_of(inputs)), .labels = std::nullopt};
  require(arrays.inputs.samples() <= std::numeric_limits<std::uint32_t>::max(),
          "{}: has {} samples, more than 32-bit numbers can name",
          inputs,
          arrays.inputs.samples());
  if (!has_labels) {
    require(loss == NetworkLoss::output,
            "section [objective] needs '{}', a .npy file of as many labels as '{}' has samples",
            labels_key,
            inputs);
    return arrays;
  }
  const std::string labels = section.text(labels_key);
  arrays.labels = read_npy_array(context.file_of(labels));
  require(arrays.labels->samples() == arrays.inputs.samples(),
          "{}: has {} labels, and {} has {} samples",
          labels,
          arrays.labels->samples(),
          inputs,
          arrays.inputs.samples());
  require(
      loss != NetworkLoss::cross_entropy || arrays.labels->is_whole() || arrays.labels->is_byte(),
      "{}: the labels of a cross-entropy are numbers of classes; save them as int64",
      labels);
  return arrays;
}

/// Returns the class of every sample, for partitions by label; none where samples have several.
std::vector<std::int32_t> classes_of(const SampleArrays& arrays,
                                     NetworkLoss loss,
                                     std::size_t kept) {
  std::vector<std::int32_t> classes;
  if (loss != NetworkLoss::cross_entropy || arrays.labels->numbers_per_sample() != 1) {
    return classes;
  }
  for (std::size_t i = 0; i < kept; ++i) {
    const std::int64_t label = arrays.labels->whole_number(i);
    const bool fits = label >= 0 && label <= std::numeric_limits<std::int32_t>::max();
    classes.push_back(fits ? static_cast<std::int32_t>(label) : -1);  // the trial refuses it
  }
  return classes;
}

std::string fingerprint_of(const SampleArrays& arrays) {
  return arrays.labels
             ? fingerprint_of_both(arrays.inputs.fingerprint(), arrays.labels->fingerprint())
             : arrays.inputs.fingerprint();
}

std::size_t read_kept(const Section& section, std::size_t samples, const std::string& name) {
  const std::int64_t count = section.integer("train_samples", 0);
  require(count >= 0 && static_cast<std::uint64_t>(count) <= samples,
          "{} must be between 1 and the {} samples of '{}', or 0 for all, got {}",
          section.where("train_samples"),
          samples,
          name,
          count);
  return count == 0 ? samples : static_cast<std::size_t>(count);
}

NetworkData load_arrays(const Section& section, const ObjectiveContext& context, NetworkLoss loss) {
  SampleArrays train = *read_arrays(section, context, "data", "labels", loss);
  const std::size_t kept = read_kept(section, train.inputs.samples(), train.name);
  NetworkData data{.info = {.name = train.name,
                            .samples = kept,
                            .features = train.inputs.numbers_per_sample(),
                            .fingerprint = fingerprint_of(train),
                            .note = fmt::format("samples of shape ({})",
                                                fmt::join(train.inputs.sample_shape(), ", "))},
                   .labels = classes_of(train, loss, kept),
                   .shape = {.height = 1, .width = train.inputs.numbers_per_sample(), .classes = 1},
                   .train = nullptr,
                   .test = nullptr};
  if (auto test = read_arrays(section, context, "test_data", "test_labels", loss)) {
    require(test->inputs.sample_shape() == train.inputs.sample_shape(),
            "{}: has samples of shape ({}), and {} of ({})",
            test->name,
            fmt::join(test->inputs.sample_shape(), ", "),
            train.name,
            fmt::join(train.inputs.sample_shape(), ", "));
    data.info.fingerprint = fingerprint_of_both(data.info.fingerprint, fingerprint_of(*test));
    const std::size_t samples = test->inputs.samples();
    data.test = std::make_unique<ArraySamples>(std::move(*test), loss, samples);
  }
  data.train = std::make_unique<ArraySamples>(std::move(train), loss, kept);
  return data;
}

NetworkData load_script_data(const Section& section,
                             const ObjectiveContext& context,
                             NetworkLoss loss) {
  if (section.has("data") && is_npy(section.text("data"))) {
    return load_arrays(section, context, loss);
  }
  for (const char* const key : {"labels", "test_data", "test_labels"}) {
    require(!section.has(key),
            "{}: this data set has labels and held-out samples of its own; leave it out, or give "
            "'objective.data' a .npy file",
            section.where(key));
  }
  require(loss != NetworkLoss::squared_error,
          "{}: the labels of images are classes; give 'objective.data' and 'objective.labels' .npy "
          "files",
          section.where("loss"));
  ImageData images = load_image_data(section, context);
  const ImageShape shape = shape_of(images.train);
  return image_samples(std::move(images), shape, section.flag("augment", false));
}

/// Batches of the trial.
template <class Real>
Batch<Real> batch_of(const SampleSource& source, const std::vector<std::uint32_t>& samples) {
  Batch<Real> batch;
  source.assemble(samples, nullptr, batch);
  return batch;
}

bool are_same_bits(std::span<const float> a, std::span<const float> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](float x, float y) {
    return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y);
  });
}

/// The module of a file on its first two samples, at the parameters that were saved.
class ScriptTrial {
 public:
  ScriptTrial(std::string file,
              Network<float>& network,
              const SampleSource& source,
              const std::vector<double>& start)
      : file_(std::move(file)),
        network_(network),
        source_(source),
        start_(start.begin(), start.end()),
        statistics_(network.statistics()),
        samples_(std::min<std::size_t>(2, source.samples())) {
    std::iota(samples_.begin(), samples_.end(), 0U);
  }

  /// Returns how many numbers the module gives for a label. Labels may be none of its classes yet.
  std::size_t outputs() {
    auto batch = batch_of<float>(source_, samples_);
    std::fill(batch.labels.begin(), batch.labels.end(), 0);
    prepare(1);
    return network_.loss(batch).outputs;
  }

  void evaluate() {
    const BatchLoss once = loss(samples_, 1);
    const BatchLoss again = loss(samples_, 2);
    require(once.sum == again.sum || !std::isfinite(once.sum),
            "{}: its evaluation is random; a module draws random numbers in training mode only, as "
            "torch.nn.Dropout does (torch.jit.trace keeps the mode of the call)",
            file_);
    double apart = 0;
    double scale = 0;
    for (const std::uint32_t sample : samples_) {
      const double one = loss({sample}, 1).sum;
      apart += one;
      scale += std::abs(one);
    }
    constexpr double kRounding = 1e-3;  // of sums in float32 that are taken in another order
    require(!std::isfinite(once.sum) || std::abs(once.sum - apart) <= kRounding * (scale + 1e-3),
            "{}: the loss of two samples is {}, and {} if each is a batch; use a mean loss, and "
            "batch normalisation with track_running_stats",
            file_,
            once.sum,
            apart);
  }

  /// Looks at gradients in training mode, and notes in `networks` what it sees.
  void train(Networks& networks) {
    const std::vector<float> once = gradient(Phase::training, 1);
    require(are_same_bits(once, gradient(Phase::training, 1)),
            "{}: the same samples give another gradient at the second call; the module keeps "
            "something between calls",
            file_);
    networks.is_random = !are_same_bits(once, gradient(Phase::training, 2));
    if (networks.is_random) {
      networks.training_bias = "random layers (dropout) in training mode";
    } else if (statistics_.empty() && !are_same_bits(once, gradient(Phase::evaluation, 1))) {
      networks.training_bias = "the module computes otherwise in training mode";
    }
  }

 private:
  void prepare(std::uint64_t seed) {
    network_.load(start_);
    network_.load_statistics(statistics_);
    network_.seed(seed);
  }

  BatchLoss loss(const std::vector<std::uint32_t>& samples, std::uint64_t seed) {
    auto batch = batch_of<float>(source_, samples);
    prepare(seed);
    return network_.loss(batch);
  }

  std::vector<float> gradient(Phase phase, std::uint64_t seed) {
    auto batch = batch_of<float>(source_, samples_);
    prepare(seed);
    network_.add_gradient(batch, 1 / static_cast<float>(samples_.size()), phase);
    const auto gradient = network_.gradient();
    return {gradient.begin(), gradient.end()};
  }

  std::string file_;
  Network<float>& network_;
  const SampleSource& source_;
  std::vector<float> start_;
  std::vector<double> statistics_;
  std::vector<std::uint32_t> samples_;
};

/// Refuses labels that are none of the module's classes.
void check_classes(const SampleSource& source, std::size_t classes, const std::string& data) {
  constexpr std::size_t kAtOnce = 64;
  for (std::size_t first = 0; first < source.samples(); first += kAtOnce) {
    std::vector<std::uint32_t> samples(std::min(kAtOnce, source.samples() - first));
    std::iota(samples.begin(), samples.end(), static_cast<std::uint32_t>(first));
    const auto batch = batch_of<float>(source, samples);
    for (std::size_t i = 0; i < batch.labels.size(); ++i) {
      require(batch.labels[i] >= 0 && static_cast<std::uint64_t>(batch.labels[i]) < classes,
              "'{}': sample {} has label {}, and the module has logits of {} classes, from 0 on",
              data,
              first + i / batch.labels_per_sample,
              batch.labels[i],
              classes);
    }
  }
}

/// Tries the module, and fills in what only a look at samples shows.
void complete(const std::string& file,
              NetworkData& data,
              NetworkLoss loss,
              const NetworkOptions& options,
              Networks& networks) {
  const auto first = batch_of<float>(*data.train, {0});
  std::size_t outputs = 1;
  try {
    const auto network = networks.make_single(options.device);
    ScriptTrial trial(file, *network, *data.train, networks.saved_start);
    outputs = trial.outputs();
    if (loss == NetworkLoss::cross_entropy) {
      check_classes(*data.train, outputs, data.info.name);
      if (data.test) {
        check_classes(*data.test, outputs, data.info.name + " (held out)");
      }
    }
    trial.evaluate();
    trial.train(networks);
    if (!options.evaluate_in_float) {
      auto batch = batch_of<double>(*data.train, {0});
      const auto in_double = networks.make_double(options.device);
      in_double->load(networks.saved_start);
      in_double->loss(batch);
    }
  } catch (const Error& error) {
    throw Error(error.code(),
                fmt::format("{}; samples of '{}' have shape ({})",
                            error.what(),
                            data.info.name,
                            fmt::join(first.shape, ", ")));
  }
  constexpr std::size_t kMostOutputs = std::numeric_limits<int>::max();
  data.shape.classes = static_cast<int>(std::clamp<std::size_t>(outputs, 1, kMostOutputs));
  networks.shape = data.shape;
}

}  // namespace

std::unique_ptr<Objective> make_torchscript(const Section& section,
                                            const ObjectiveContext& context) {
  const std::string model = section.text("model");
  const NetworkLoss loss = read_loss(section);
  const NetworkOptions options = read_network_options(section, context, EvaluatePrecision::float32);
  auto file = std::make_shared<const ScriptFile>(
      ScriptFile{.name = model, .bytes = read_bytes(context.file_of(model))});
  NetworkData data = load_script_data(section, context, loss);
  const std::string print = fingerprint(std::string_view(file->bytes));
  Networks networks = script_networks(std::move(file), loss);
  complete(model, data, loss, options, networks);
  data.info.note += fmt::format("; the module of '{}', fingerprint {}", model, print);
  data.info.fingerprint = fingerprint_of_both(data.info.fingerprint, print);
  return std::make_unique<NetworkObjective>(std::move(data), std::move(networks), options);
}

}  // namespace residuum
