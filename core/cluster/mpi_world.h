#pragma once
// MPI is behind this: the World of the processes that mpirun or srun started.

#include <memory>
#include <string>

#include "core/cluster/world.h"

namespace residuum {

/// Initialises MPI, which the World finalises when it is destroyed; a program makes one. Messages
/// are sent in pieces of `piece` bytes, because MPI counts in int.
std::unique_ptr<World> make_mpi_world(std::size_t piece = std::size_t{1} << 30);

/// Returns the World of this process's group, whose ranks begin at 0. Groups are consecutive ranks:
/// group i begins at rank floor(i R / groups), so that sizes differ by at most one. `all` comes
/// from make_mpi_world or make_single_process and must outlive the result; more groups than it has
/// processes are a usage error. `abort` ends all groups. The call is collective over `all`.
std::unique_ptr<World> make_group_world(World& all, int groups);

/// True if a launcher (mpirun, srun) started this process, also if it started only one; else MPI
/// need not be initialised. The environment tells: Open MPI, Hydra, PMIx and Slurm each set a
/// variable, whose value does not matter.
bool started_by_launcher();

/// Returns name and version of the MPI library without initialising it.
std::string mpi_library_version();

}  // namespace residuum
