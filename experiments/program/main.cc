#include "experiments/program/program.h"

int main(int argc, char** argv) { return residuum::residuum_main(argc, argv); }
