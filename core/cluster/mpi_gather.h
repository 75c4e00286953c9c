#pragma once
// MpiGather collects what every process has, of any length, by Bruck's algorithm (Bruck, Ho,
// Kipnis, Upfal, Weathersby, IEEE TPDS 1997): in the round r = 0, 1, ... a process sends the first
// 2^r parts that it holds to the process 2^r before it, so that ceil(log2 R) rounds suffice.
// MPI_Allgatherv wants all lengths on every process, which takes as many rounds more; here a part
// carries its length.

#include <mpi.h>

#include "core/cluster/world.h"

namespace residuum {

class MpiGather {
 public:
  /// all := what each process of the communicator gives as `mine`, in rank order. Collective.
  void take(MPI_Comm comm, std::span<const std::byte> mine, Gathered& all);

 private:
  void hold(std::span<const std::byte> mine);
  void exchange(MPI_Comm comm, int to, std::size_t sent, int from);
  void find_parts();
  void put_in_order(int rank, Gathered& all) const;

  Bytes held_;                     // the parts of this process and those behind it, in turn
  Bytes outgrown_;                 // what a message still goes out of
  std::size_t used_ = 0;           // bytes of held_
  std::vector<std::size_t> ends_;  // of the parts in held_
};

}  // namespace residuum
