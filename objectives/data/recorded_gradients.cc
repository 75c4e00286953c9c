#include "objectives/data/recorded_gradients.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <fcntl.h>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <vector>

#include "core/error.h"
#include "core/fnv1a.h"
#include "core/random/random.h"
#include "core/text.h"
#include "objectives/data/npy.h"

namespace residuum {
namespace {

namespace fs = std::filesystem;

/// Bytes that are read at once, a multiple of every width.
constexpr std::size_t kChunkBytes = std::size_t{1} << 18U;

/// Says which file it is, whatever its name, and when it was last written.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  std::size_t size = 0;  // bytes
  std::int64_t written_s = 0;
  std::int64_t written_ns = 0;
};

/// A file that is open for reading, with messages that name it.
class InputFile {
 public:
  explicit InputFile(const fs::path& path)
      : name_(path.string()), descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    require(descriptor_ >= 0, "{}: {}", name_, std::generic_category().message(errno));
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  InputFile(InputFile&&) = delete;
  InputFile& operator=(InputFile&&) = delete;
  ~InputFile() { close(descriptor_); }

  FileIdentity identity() const {
    struct stat status {};
    const bool is_file = fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode);
    require(is_file, "{}: is no file of numbers", name_);
    return {.device = status.st_dev,
            .inode = status.st_ino,
            .size = static_cast<std::size_t>(status.st_size),
            .written_s = status.st_mtim.tv_sec,
            .written_ns = status.st_mtim.tv_nsec};
  }

  /// Throws a usage error unless this is the file that was opened before.
  void require_same(const FileIdentity& before) const {
    const FileIdentity now = identity();
    require(now.device == before.device && now.inode == before.inode,
            "{}: was replaced by another file while it was in use; start again",
            name_);
    require(now.size == before.size,
            "{}: has {} bytes in place of {} since it was opened: the file was cut off, or written "
            "to; start again",
            name_,
            now.size,
            before.size);
    require(now.written_s == before.written_s && now.written_ns == before.written_ns,
            "{}: was written to while it was in use; start again",
            name_);
  }

  /// Returns the whole file.
  std::string read_all() const {
    std::string bytes(identity().size, '\0');
    read_at(0, bytes);
    return bytes;
  }

  /// Fills `bytes` from this place on.
  void read_at(std::size_t place, std::span<char> bytes) const {
    while (!bytes.empty()) {
      const auto count = pread(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(place));
      if (count < 0 && errno == EINTR) {
        continue;
      }
      require(count > 0,
              "{}: no bytes at {}: {}",
              name_,
              place,
              count == 0 ? "the file was cut off" : std::generic_category().message(errno));
      bytes = bytes.subspan(static_cast<std::size_t>(count));
      place += static_cast<std::size_t>(count);
    }
  }

 private:
  std::string name_;
  int descriptor_;
};

/// The layout of an array in its file: the number at (t, w, i) is t step + w worker + i entry
/// numbers behind the byte `start`.
struct Places {
  std::size_t start = 0;
  std::size_t step = 0;
  std::size_t worker = 0;
  std::size_t entry = 1;
};

/// An array of gradients in a file, as the head of the file describes it.
struct RecordedArray {
  NpyType type = NpyType::float32;
  RecordedShape shape;
  Places places;
  FileIdentity identity;
};

/// In Fortran order the first index changes fastest.
Places places_of(const RecordedShape& shape, bool by_column, std::size_t start) {
  if (by_column) {
    return {.start = start, .step = 1, .worker = shape.steps, .entry = shape.steps * shape.workers};
  }
  return {.start = start,
          .step = shape.workers * shape.dimension,
          .worker = shape.dimension,
          .entry = 1};
}

/// Reads the head of a file whose array has the sizes that `form` names, "(T, P, d)".
RecordedArray read_head(const fs::path& path, std::size_t sizes, const char* form) {
  constexpr std::size_t kLongestHead = std::size_t{1} << 16U;
  const std::string name = path.string();
  const InputFile file(path);
  const FileIdentity identity = file.identity();
  const std::size_t size = identity.size;
  std::string head(std::min(size, kLongestHead), '\0');
  file.read_at(0, head);
  const NpyHeader header = parse_npy_header(head, name);
  const auto type = npy_type(header.type);
  require(type && *type != NpyType::uint8,
          "{}: type {} is not supported; save float16, float32 or float64, little-endian",
          name,
          header.type);
  const auto shape = parse_npy_shape(header.shape);
  require(shape && shape->size() == sizes, "{}: shape {} is not {}", name, header.shape, form);
  require(npy_entries(*shape, npy_width(*type), size - header.size).has_value(),
          "{}: {} bytes of numbers do not make shape {}",
          name,
          size - header.size,
          header.shape);
  const RecordedShape all{.steps = sizes == 3 ? shape->front() : 1,
                          .workers = (*shape)[sizes - 2],
                          .dimension = shape->back()};
  return {.type = *type,
          .shape = all,
          .places = places_of(all, header.by_column, header.size),
          .identity = identity};
}

/// A file's name around the number whose digits come last in it, before its ending.
struct NumberedName {
  std::string before;
  std::string digits;
  std::string after;
};

NumberedName numbered_name(const fs::path& path) {
  const std::string stem = path.stem().string();
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  const auto last = std::find_if(stem.rbegin(), stem.rend(), is_digit);
  const auto before = std::find_if_not(last, stem.rend(), is_digit);
  return {.before = {stem.begin(), before.base()},
          .digits = {before.base(), last.base()},
          .after = std::string(last.base(), stem.end()) + path.extension().string()};
}

std::uint64_t step_number(const fs::path& path) {
  const auto number = parsed<std::uint64_t>(numbered_name(path).digits);
  require(
      number.has_value(), "{}: has no step number in its name, like step-12.npy", path.string());
  return *number;
}

/// Returns the name of the next step's file, with as many digits.
fs::path next_file(const fs::path& path) {
  const NumberedName name = numbered_name(path);
  return path.parent_path() /
         fmt::format(
             "{}{:0{}}{}", name.before, step_number(path) + 1, name.digits.size(), name.after);
}

bool is_archive(const fs::path& file) { return file.extension() == ".npz"; }

/// Returns the .npy or .npz files of a folder by their steps; no step is missing.
std::map<std::uint64_t, fs::path> step_files(const fs::path& folder) {
  std::map<std::uint64_t, fs::path> by_number;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const bool is_hidden = entry.path().filename().string().starts_with('.');
    if (is_hidden || (entry.path().extension() != ".npy" && !is_archive(entry.path()))) {
      continue;
    }
    const auto [place, is_new] = by_number.emplace(step_number(entry.path()), entry.path());
    require(is_new,
            "{} and {}: are both step {}",
            std::min(place->second, entry.path()).string(),
            std::max(place->second, entry.path()).string(),
            place->first);
  }
  require(!by_number.empty(), "{}: has no .npy files, one for each step", folder.string());
  const auto& first = by_number.begin()->second;
  for (const auto& [number, file] : by_number) {
    require(is_archive(file) == is_archive(first),
            "{} and {}: are of two kinds; all steps are .npy files, or all are .npz",
            first.string(),
            file.string());
  }
  for (auto before = by_number.begin(), one = std::next(before); one != by_number.end();
       before = one++) {
    require(one->first == before->first + 1,
            "{}: is missing, though there is {}",
            next_file(before->second).string(),
            one->second.filename().string());
  }
  return by_number;
}

class FileGradients final : public RecordedGradients {
 public:
  explicit FileGradients(const fs::path& path) {
    if (fs::is_directory(path)) {
      open_steps(path);
    } else {
      open_one(path);
    }
    look_at_all();
  }

  RecordedShape shape() const override { return shape_; }
  std::string fingerprint() const override { return fingerprint_; }

  void read(std::size_t step, std::size_t worker, std::span<float> gradient) const override {
    take(step, worker, gradient);
  }
  void read(std::size_t step, std::size_t worker, std::span<double> gradient) const override {
    take(step, worker, gradient);
  }

 private:
  void open_one(const fs::path& path) {
    const RecordedArray array = read_head(path, 3, "(T, P, d)");
    shape_ = array.shape;
    type_ = array.type;
    steps_per_file_ = shape_.steps;
    files_ = {path};
    places_ = {array.places};
    identities_ = {array.identity};
  }

  void open_steps(const fs::path& folder) {
    const auto by_number = step_files(folder);
    first_number_ = by_number.begin()->first;
    for (const auto& [number, file] : by_number) {
      files_.push_back(file);
    }
    for (const auto& file : files_) {
      const RecordedArray array = read_head(file, 2, "(P, d)");
      const RecordedShape& own = array.shape;
      if (places_.empty()) {
        shape_ = own;
        shape_.steps = files_.size();
        type_ = array.type;
      }
      require(own.workers == shape_.workers && own.dimension == shape_.dimension,
              "{}: has {} workers of {} numbers, but {} has {} of {}",
              file.string(),
              own.workers,
              own.dimension,
              files_.front().string(),
              shape_.workers,
              shape_.dimension);
      require(array.type == type_,
              "{}: has another type of numbers than {}",
              file.string(),
              files_.front().string());
      places_.push_back(array.places);
      identities_.push_back(array.identity);
    }
  }

  std::size_t file_of(std::size_t step) const { return step / steps_per_file_; }

  /// Calls `use` with the number of the first entry and the bytes of every part of a gradient.
  template <class Use>
  void for_parts(std::size_t step, std::size_t worker, const Use& use) const {
    const std::size_t at = file_of(step);
    const Places& places = places_[at];
    const std::size_t width = npy_width(type_);
    const InputFile file(files_[at]);
    file.require_same(identities_[at]);
    const std::size_t start =
        places.start +
        ((step - at * steps_per_file_) * places.step + worker * places.worker) * width;
    const std::size_t stride = places.entry * width;
    const std::size_t per_part = std::max<std::size_t>(1, kChunkBytes / stride);
    std::vector<char> bytes;
    for (std::size_t first = 0; first < shape_.dimension; first += per_part) {
      const std::size_t count = std::min(per_part, shape_.dimension - first);
      bytes.resize((count - 1) * stride + width);
      file.read_at(start + first * stride, bytes);
      for (std::size_t i = 1; i < count && stride > width; ++i) {
        std::copy_n(&bytes[i * stride], width, &bytes[i * width]);
      }
      use(first, std::string_view(bytes.data(), count * width));
    }
  }

  template <class Real>
  void take(std::size_t step, std::size_t worker, std::span<Real> gradient) const {
    for_parts(step, worker, [&](std::size_t first, std::string_view bytes) {
      const std::size_t count = bytes.size() / npy_width(type_);
      for (std::size_t i = 0; i < count; ++i) {
        gradient[first + i] = static_cast<Real>(npy_number(type_, bytes, i));
      }
    });
  }

  /// Hashes all numbers and refuses those that are not finite.
  void look_at_all() {
    Fnv1a hash;
    hash.add(fmt::format("{} {} {} ", shape_.steps, shape_.workers, shape_.dimension));
    for (std::size_t step = 0; step < shape_.steps; ++step) {
      for (std::size_t worker = 0; worker < shape_.workers; ++worker) {
        for_parts(step, worker, [&](std::size_t first, std::string_view bytes) {
          hash.add(bytes);
          for (std::size_t i = 0; i < bytes.size() / npy_width(type_); ++i) {
            const double number = npy_number(type_, bytes, i);
            require(std::isfinite(number),
                    "{}: the gradient of step {}, worker {} is {} at index {}",
                    files_[file_of(step)].string(),
                    first_number_ + step,
                    worker,
                    number,
                    first + i);
          }
        });
      }
    }
    fingerprint_ = fmt::format("{:016x}", hash.value());
  }

  RecordedShape shape_;
  NpyType type_ = NpyType::float32;
  std::size_t steps_per_file_ = 1;
  std::uint64_t first_number_ = 0;  // of the first step's file
  std::vector<fs::path> files_;
  std::vector<Places> places_;  // of every file
  std::vector<FileIdentity> identities_;
  std::string fingerprint_;
};

/// The gradients of one .npz file: of all steps, or of one.
struct UnpackedGradients {
  RecordedShape shape;
  std::vector<Layer> layers;
  std::vector<double> numbers;  // of steps, their workers, and their entries, layer after layer
};

/// Reads arrays of shape (T, P, ...), or without steps (P, ...), all of as many steps and workers.
// NOLINTNEXTLINE(readability-function-cognitive-complexity): one sentence for each fault
UnpackedGradients unpack_gradients(std::string_view bytes,
                                   const std::string& file,
                                   bool has_steps) {
  const std::size_t own = has_steps ? 2 : 1;  // dimensions before those of a layer
  UnpackedGradients all;
  std::vector<NpyArray> arrays;
  for (NpzMember& member : read_npz(bytes, file)) {
    const std::string name = fmt::format("{}, array '{}'", file, member.name);
    arrays.emplace_back(std::move(member.bytes), name);
    const std::vector<std::size_t>& shape = arrays.back().shape();
    require(!arrays.back().is_whole() && !arrays.back().is_byte() && shape.size() >= own,
            "{}: shape ({}) is not {} of floating-point numbers",
            name,
            fmt::join(shape, ", "),
            has_steps ? "(T, P, ...)" : "(P, ...)");
    const RecordedShape of_array{.steps = has_steps ? shape.front() : 1, .workers = shape[own - 1]};
    if (all.layers.empty()) {
      all.shape = of_array;
    }
    const std::string& first = all.layers.empty() ? member.name : all.layers.front().name;
    require(of_array.steps == all.shape.steps && of_array.workers == all.shape.workers,
            "{}: has {} steps and {} workers, and array '{}' has {} and {}",
            name,
            of_array.steps,
            of_array.workers,
            first,
            all.shape.steps,
            all.shape.workers);
    Layer layer{.name = member.name, .shape = {}, .offset = all.shape.dimension, .size = 1};
    for (auto size = shape.begin() + static_cast<std::ptrdiff_t>(own); size != shape.end();
         ++size) {
      layer.shape.push_back(static_cast<std::int64_t>(*size));
      layer.size *= *size;
    }
    if (layer.shape.empty()) {
      layer.shape = {1};
    }
    all.shape.dimension += layer.size;
    all.layers.push_back(std::move(layer));
  }
  all.numbers.resize(all.shape.steps * all.shape.workers * all.shape.dimension);
  double* place = all.numbers.data();
  for (std::size_t row = 0; row < all.shape.steps * all.shape.workers; ++row) {
    for (std::size_t l = 0; l < arrays.size(); ++l) {
      const std::size_t size = all.layers[l].size;
      for (std::size_t i = 0; i < size; ++i) {
        *place++ = arrays[l].number(row * size + i);
      }
    }
  }
  return all;
}

bool is_same(const std::vector<Layer>& a, const std::vector<Layer>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Layer& x, const Layer& y) {
    return x.name == y.name && x.shape == y.shape;
  });
}

class ArchivedGradients final : public RecordedGradients {
 public:
  explicit ArchivedGradients(const fs::path& path) : has_steps_(!fs::is_directory(path)) {
    if (has_steps_) {
      files_ = {path};
    } else {
      for (const auto& [number, file] : step_files(path)) {
        files_.push_back(file);
      }
    }
    Fnv1a hash;
    for (std::size_t at = 0; at < files_.size(); ++at) {
      identities_.push_back(InputFile(files_[at]).identity());
      const UnpackedGradients& own = file(at);
      if (at == 0) {
        shape_ = own.shape;
        layers_ = own.layers;
      }
      require(own.shape.workers == shape_.workers && is_same(own.layers, layers_),
              "{}: has other workers or arrays than {}",
              files_[at].string(),
              files_.front().string());
      for (const double number : own.numbers) {
        const auto bytes = std::bit_cast<std::array<char, sizeof(number)>>(number);
        hash.add(std::string_view(bytes.data(), bytes.size()));
      }
    }
    shape_.steps = has_steps_ ? shape_.steps : files_.size();
    for (const Layer& layer : layers_) {
      hash.add(fmt::format("{} {} ", layer.name, fmt::join(layer.shape, "x")));
    }
    hash.add(fmt::format("{} {} {}", shape_.steps, shape_.workers, shape_.dimension));
    fingerprint_ = fmt::format("{:016x}", hash.value());
  }

  RecordedShape shape() const override { return shape_; }
  std::vector<Layer> layers() const override { return layers_; }
  std::string fingerprint() const override { return fingerprint_; }

  void read(std::size_t step, std::size_t worker, std::span<float> gradient) const override {
    take(step, worker, gradient);
  }
  void read(std::size_t step, std::size_t worker, std::span<double> gradient) const override {
    take(step, worker, gradient);
  }

 private:
  /// Returns the gradients of a file; the last one stays unpacked. The caller holds the guard, or
  /// no other thread knows the object yet.
  const UnpackedGradients& file(std::size_t at) const {
    const InputFile open(files_[at]);
    open.require_same(identities_[at]);
    if (unpacked_at_ != at) {
      unpacked_ = unpack_gradients(open.read_all(), files_[at].string(), has_steps_);
      unpacked_at_ = at;
    }
    return unpacked_;
  }

  template <class Real>
  void take(std::size_t step, std::size_t worker, std::span<Real> gradient) const {
    const std::lock_guard lock(guard_);
    const UnpackedGradients& own = file(has_steps_ ? 0 : step);
    const std::size_t row = (has_steps_ ? step * shape_.workers : 0) + worker;
    const double* const begin = own.numbers.data() + row * shape_.dimension;
    std::transform(begin, begin + shape_.dimension, gradient.begin(), [](double number) {
      return static_cast<Real>(number);
    });
  }

  bool has_steps_;  // one file of all steps
  RecordedShape shape_;
  std::vector<Layer> layers_;
  std::vector<fs::path> files_;
  std::vector<FileIdentity> identities_;
  std::string fingerprint_;
  mutable std::mutex guard_;
  mutable std::optional<std::size_t> unpacked_at_;
  mutable UnpackedGradients unpacked_;
};

/// True for a .npz file, and for a folder of them.
bool is_archived(const fs::path& path) {
  return fs::is_directory(path) ? is_archive(step_files(path).begin()->second) : is_archive(path);
}

class DrawnGradients final : public RecordedGradients {
 public:
  DrawnGradients(const RecordedShape& shape, std::uint64_t seed) : shape_(shape), seed_(seed) {}

  RecordedShape shape() const override { return shape_; }
  std::string fingerprint() const override { return ""; }

  void read(std::size_t step, std::size_t worker, std::span<float> gradient) const override {
    draw(step, worker, gradient);
  }
  void read(std::size_t step, std::size_t worker, std::span<double> gradient) const override {
    draw(step, worker, gradient);
  }

 private:
  template <class Real>
  void draw(std::size_t step, std::size_t worker, std::span<Real> gradient) const {
    RandomStream random(seed_,
                        Purpose::synthetic,
                        static_cast<std::uint32_t>(worker),
                        static_cast<std::uint32_t>(step));
    std::generate(
        gradient.begin(), gradient.end(), [&] { return static_cast<Real>(random.normal()); });
  }

  RecordedShape shape_;
  std::uint64_t seed_;
};

}  // namespace

std::unique_ptr<RecordedGradients> open_recorded_gradients(const std::filesystem::path& path) {
  if (is_archived(path)) {
    return std::make_unique<ArchivedGradients>(path);
  }
  return std::make_unique<FileGradients>(path);
}

std::unique_ptr<RecordedGradients> draw_recorded_gradients(const RecordedShape& shape,
                                                           std::uint64_t seed) {
  return std::make_unique<DrawnGradients>(shape, seed);
}

}  // namespace residuum
