#pragma once
// The whole program as a function, so that one with further components is three lines of its own:
// include this, call it, link the components (core/config/registry.h).

namespace residuum {

/// What `main` gets and returns.
int residuum_main(int argc, char** argv);

}  // namespace residuum
