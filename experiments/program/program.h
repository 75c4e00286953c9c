#pragma once
// This is the whole program as a function. A program with further components takes three lines:
// include this, call it, link the components (core/config/registry.h).

namespace residuum {

enum class ExitCode : int;
struct Options;
class World;

using BenchCommand = ExitCode (*)(const Options& options, World& world);

/// Takes and returns what `main` does. Without `bench` the command of that name is left to the
/// program residuum-bench beside this one.
int residuum_main(int argc, char** argv, BenchCommand bench = nullptr);

}  // namespace residuum
