#pragma once
// The processes that mpirun or srun started.

#include <memory>
#include <string>

#include "core/cluster/world.h"

namespace residuum {

/// Initialises MPI; the World finalises it when it goes. One per program.
std::unique_ptr<World> make_mpi_world();

/// True if this process was started by a launcher (mpirun, srun), so that MPI is worth starting.
bool started_by_launcher();

/// Name and version of the MPI library, without initialising it.
std::string mpi_library_version();

}  // namespace residuum
