#pragma once
// The processes that mpirun or srun started.

#include <memory>
#include <string>

#include "core/cluster/world.h"

namespace residuum {

/// Initialises MPI; the World finalises it when it goes. One per program. Messages go in pieces of
/// so many bytes: MPI counts in int.
std::unique_ptr<World> make_mpi_world(std::size_t piece = std::size_t{1} << 30);

/// True if this process was started by a launcher (mpirun, srun), so that MPI is worth starting.
bool started_by_launcher();

/// Name and version of the MPI library, without initialising it.
std::string mpi_library_version();

}  // namespace residuum
