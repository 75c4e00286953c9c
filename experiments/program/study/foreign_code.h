#pragma once
// A study may name code of its author's, such as the program of a sparsifier of kind "command". A
// study that came from elsewhere must not execute it unasked: what executes it asks for the flag
// --allow-commands each time, also where a run is resumed.

#include <string>
#include <vector>

#include "experiments/program/study/study.h"

namespace residuum {

struct ForeignCode {
  std::string text;     // the program with its arguments, or what else the key names
  std::string where;    // 'sparsifier.command' at s.toml:14:3
  std::string program;  // the one that is started; empty where none is
};

/// Returns what the runs of the study execute, each once: the values of the keys that the
/// registries of components and of objectives name (`foreign_code`). It looks at words alone, and
/// executes nothing.
std::vector<ForeignCode> foreign_code(const Study& study);

/// Says in a line what a run executes and which flag it asks for; empty where it executes nothing.
std::string foreign_code_note(const Study& study);

/// Throws a usage error where the study executes code and that is not `allowed`, or where a program
/// that it starts cannot be found.
void require_allowed(const Study& study, bool allowed);

}  // namespace residuum
