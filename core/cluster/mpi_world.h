#pragma once
// The processes that mpirun or srun started.

#include <memory>
#include <string>

#include "core/cluster/world.h"

namespace residuum {

/// Initialises MPI; the World finalises it when it goes. One per program. Messages go in pieces of
/// so many bytes: MPI counts in int.
std::unique_ptr<World> make_mpi_world(std::size_t piece = std::size_t{1} << 30);

/// Groups of consecutive ranks, group i those from floor(i R / groups) on, so that sizes differ by
/// at most one: the World of this process's group, whose ranks begin at 0. A usage error for more
/// groups than there are processes in `all`, which is to outlive it and is one that was made above,
/// or a single process. An `abort` ends all groups. Collective over `all`.
std::unique_ptr<World> make_group_world(World& all, int groups);

/// True if this process was started by a launcher (mpirun, srun), so that MPI is worth starting: if
/// Open MPI's, Hydra's, PMIx's or Slurm's variable for such processes exists, whatever its value.
/// One process that mpirun started is one too.
bool started_by_launcher();

/// Name and version of the MPI library, without initialising it.
std::string mpi_library_version();

}  // namespace residuum
