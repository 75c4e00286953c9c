#include "experiments/program/commands/reference.h"

#include <fmt/format.h>

#include <algorithm>

namespace residuum {
namespace {

/// A cell of a table ends at a bar, and Markdown takes what looks like a tag for one.
std::string cell(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '|') {
      safe += "\\|";
    } else if (c == '<') {
      safe += "&lt;";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string code(const std::string& text) {
  return text.empty() ? text : fmt::format("`{}`", text);
}

std::string table_of(const ReferenceGroup& group, const std::vector<std::string>& heads) {
  const bool has_source = std::any_of(group.lines.begin(), group.lines.end(), [](const auto& line) {
    return !line.source.empty();
  });
  std::string text =
      has_source ? fmt::format("| {} | {} | {} |\n|---|---|---|\n", heads[0], heads[1], heads[2])
                 : fmt::format("| {} | {} |\n|---|---|\n", heads[0], heads[2]);
  for (const auto& line : group.lines) {
    text += has_source
                ? fmt::format(
                      "| {} | {} | {} |\n", code(line.name), cell(line.source), cell(line.summary))
                : fmt::format("| {} | {} |\n", code(line.name), cell(line.summary));
  }
  return text;
}

/// Returns the text below a table: a section of its own for each line with a longer description.
std::string sections_of(const ReferenceGroup& group) {
  std::string text;
  for (const auto& line : group.lines) {
    if (line.parts.empty()) {
      continue;
    }
    text += fmt::format("\n{} {}\n", group.title.empty() ? "##" : "###", code(line.name));
    for (const auto& part : line.parts) {
      if (part.in_one_line) {
        text += fmt::format(
            "\n{}: {}\n", part.head, cell(fmt::to_string(fmt::join(part.points, ", "))));
        continue;
      }
      text += fmt::format("\n{}:\n\n", part.head);
      for (const auto& point : part.points) {
        text += fmt::format("- {}\n", cell(point));
      }
    }
  }
  return text;
}

}  // namespace

std::string as_markdown(const Reference& reference) {
  std::string page = fmt::format(
      "# {}\n\nThis page is made by `residuum list {} --format markdown`; do not edit it.\n",
      reference.title,
      reference.name);
  page += reference.text.empty() ? "" : fmt::format("\n{}\n", reference.text);
  for (const auto& group : reference.groups) {
    page += group.title.empty() ? "" : fmt::format("\n## {}\n", group.title);
    page += group.text.empty() ? "" : fmt::format("\n{}\n", cell(group.text));
    page += group.lines.empty() ? "" : "\n" + table_of(group, reference.heads);
    page += sections_of(group);
  }
  return page;
}

}  // namespace residuum
