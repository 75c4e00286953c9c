#pragma once
// The inputs that targets make of their bytes: files to read from, and several files out of one
// input.

#include <filesystem>
#include <map>
#include <string_view>

namespace residuum::fuzzing {

/// A folder of this process, gone when the process ends in order. tests/fuzz has TMPDIR lie in
/// memory: a million files a minute are nothing for a disk.
class Scratch {
 public:
  Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  Scratch(Scratch&&) = delete;
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch();

  const std::filesystem::path& path() const { return path_; }
  /// The file now holds these bytes and no others.
  std::filesystem::path write(const std::filesystem::path& name, std::string_view bytes) const;
  void remove(const std::filesystem::path& name) const;

 private:
  std::filesystem::path path_;
};

const Scratch& scratch();

/// An input that is several files: each begins after a line "==> NAME" and ends before the line end
/// in front of the next one. Bytes before the first such line belong to no file.
std::map<std::string_view, std::string_view> parts_of(std::string_view bytes);

/// A promise of the reader's that does not hold is a find.
void expect(bool holds, const char* promise);

}  // namespace residuum::fuzzing
