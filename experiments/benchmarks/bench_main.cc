// `residuum-bench` is the program with the benchmarks in it. `residuum bench` becomes it, so that a
// build for users need not compile them.

#include "experiments/benchmarks/bench.h"
#include "experiments/program/program.h"

int main(int argc, char** argv) {
  return residuum::residuum_main(argc, argv, residuum::bench_command);
}
