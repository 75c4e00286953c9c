// Measures delta of gTop-k on the accumulators of two workers, four entries each.
#include <cstdio>
#include <vector>

#include "assumptions/one_step.h"

int main() {
  using namespace residuum;
  const Method method = one_step_method(
      Section("sparsifier", {{"kind", "top-k"}, {"k", 1}}), "gtopk-tree", "captured");
  const std::vector<double> accumulators{4, 1, 0, 0, 0, 3, 2, 0};  // worker 0, worker 1
  OneStep step(method, 2, 4);
  std::printf("delta = %.6f\n", *step.on(accumulators).get(Column::delta));
}
