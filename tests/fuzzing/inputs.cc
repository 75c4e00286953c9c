#include "tests/fuzzing/inputs.h"

#include <fmt/format.h>

#include <cstddef>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <unistd.h>

namespace residuum::fuzzing {
namespace {

constexpr std::string_view kMark = "==> ";

/// Returns the position of the next line that begins with kMark, at `from` or later.
std::size_t find_mark(std::string_view bytes, std::size_t from) {
  for (std::size_t at = bytes.find(kMark, from); at != std::string_view::npos;
       at = bytes.find(kMark, at + 1)) {
    if (at == 0 || bytes[at - 1] == '\n') {
      return at;
    }
  }
  return std::string_view::npos;
}

}  // namespace

Scratch::Scratch()
    : path_(std::filesystem::temp_directory_path() / fmt::format("residuum-fuzz-{}", ::getpid())) {
  std::filesystem::create_directories(path_);
}

Scratch::~Scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path Scratch::write(const std::filesystem::path& name,
                                     std::string_view bytes) const {
  const auto file = path_ / name;
  std::ofstream stream(file, std::ios::binary | std::ios::trunc);
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  stream.close();
  expect(stream.good(), "the scratch folder can be written to");
  return file;
}

void Scratch::remove(const std::filesystem::path& name) const {
  std::error_code ignored;
  std::filesystem::remove(path_ / name, ignored);
}

const Scratch& scratch() {
  static const Scratch folder;
  return folder;
}

std::map<std::string_view, std::string_view> parts_of(std::string_view bytes) {
  std::map<std::string_view, std::string_view> parts;
  std::size_t mark = find_mark(bytes, 0);
  while (mark != std::string_view::npos) {
    const std::size_t line_end = bytes.find('\n', mark);
    if (line_end == std::string_view::npos) {
      break;
    }
    const std::size_t begin = line_end + 1;
    const std::size_t next = find_mark(bytes, begin);
    // An empty part has the next mark at once: there is no line end of its own to take away.
    const bool is_empty = next == begin;
    const std::size_t end =
        next == std::string_view::npos ? bytes.size() : next - (is_empty ? 0 : 1);
    const std::size_t name = mark + kMark.size();
    parts.insert_or_assign(bytes.substr(name, line_end - name), bytes.substr(begin, end - begin));
    mark = next;
  }
  return parts;
}

void expect(bool holds, const char* promise) {
  if (!holds) {
    throw std::logic_error(fmt::format("not kept: {}", promise));
  }
}

}  // namespace residuum::fuzzing
