#include "objectives/data/vocabulary_cache.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <utility>

#include "core/notes.h"
#include "objectives/data/cache_file.h"
#include "objectives/data/dataset.h"

namespace residuum {
namespace {

std::string header(const std::string& print, std::size_t words) {
  return fmt::format("residuum vocabulary 1 {} {}", print, words);
}

/// Returns the lines of `content`, or none if it does not end with the hash of all that precedes
/// it.
std::vector<std::string> checked_lines(std::string_view content) {
  constexpr std::size_t kSeal = 17;  // 16 digits and a line break
  if (content.size() < kSeal) {
    return {};
  }
  std::string_view body = content.substr(0, content.size() - kSeal);
  if (content.substr(body.size()) != fingerprint(body) + '\n') {
    return {};
  }
  std::vector<std::string> lines;
  while (!body.empty()) {
    const std::size_t end = std::min(body.find('\n'), body.size() - 1);
    lines.emplace_back(body.substr(0, end));
    body.remove_prefix(end + 1);
  }
  return lines;
}

}  // namespace

std::filesystem::path vocabulary_file(const std::filesystem::path& cache_dir,
                                      const std::string& print) {
  return cache_dir / fmt::format("vocabulary-{}.txt", print);
}

std::optional<std::vector<std::string>> load_vocabulary(const std::filesystem::path& cache_dir,
                                                        const std::string& print) {
  if (cache_dir.empty()) {
    return std::nullopt;
  }
  const auto path = vocabulary_file(cache_dir, print);
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    return std::nullopt;  // a pipe would never answer
  }
  std::ifstream file(path, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::string> lines = checked_lines(content);
  if (lines.size() < 2 || lines.front() != header(print, lines.size() - 1)) {
    return std::nullopt;
  }
  lines.erase(lines.begin());
  return lines;
}

void store_vocabulary(const std::filesystem::path& cache_dir,
                      const std::string& print,
                      const std::vector<std::string>& words) {
  if (cache_dir.empty()) {
    return;
  }
  std::string body = header(print, words.size()) + '\n';
  for (const std::string& word : words) {
    body += word + '\n';
  }
  const auto path = vocabulary_file(cache_dir, print);
  if (!replace_file(path, body + fingerprint(body) + '\n')) {
    tell(NoteKind::warning,
         "the vocabulary is not kept for later runs: cannot write " + path.string());
  }
}

}  // namespace residuum
