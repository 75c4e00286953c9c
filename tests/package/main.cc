// The program with this project's components beside its own.

#include "experiments/program/program.h"

int main(int argc, char** argv) { return residuum::residuum_main(argc, argv); }
