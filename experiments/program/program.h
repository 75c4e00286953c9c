#pragma once
// This is the whole program as a function. A program with further components takes three lines:
// include this, call it, link the components (core/config/registry.h).

namespace residuum {

/// Takes and returns what `main` does.
int residuum_main(int argc, char** argv);

}  // namespace residuum
