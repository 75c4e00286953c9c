#pragma once
// These functions guard the program's standard streams: writing to them cannot fail unnoticed, nor
// break anything.

#include <fmt/format.h>

#include <filesystem>
#include <string_view>

#include "core/error.h"

namespace residuum {

/// Opens a replacement for a standard stream that the caller has closed, so that no file of ours
/// gets its number. Writes to the replacement of standard output fail.
void hold_standard_streams();

/// Prints a line for the user on stderr, made harmless to a terminal (core/text.h). If stderr
/// cannot be written, nobody reads it, and the work goes on.
void say(std::string_view text);

/// Prints the same without a line end, and with our own control sequences in it.
void say_raw(std::string_view text);

/// Makes a line of JSON for standard output, indented unless `indent` is negative. It is ASCII, so
/// that a terminal that shows it obeys nothing in it, whatever the texts are.
template <class Json>
void print_json(const Json& json, int indent = 2) {
  fmt::print("{}\n", json.dump(indent, ' ', true, Json::error_handler_t::replace));
}

/// Prints a path as a line on standard output. A program that reads it needs it as it is; on a
/// terminal it is made harmless.
void print_path(const std::filesystem::path& path);

/// Prints what the exception that is being handled means, as one line, and returns its exit code.
ExitCode say_what_was_caught();

/// Waits until standard output has all that was printed. If that fails, it says so, and a command
/// that was done has a resource error.
ExitCode flush_output(ExitCode code);

}  // namespace residuum
