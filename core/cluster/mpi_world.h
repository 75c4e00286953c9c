#pragma once
// MPI is behind this: the World of the processes that mpirun or srun started.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/cluster/message_queue.h"
#include "core/cluster/world.h"

namespace residuum {

/// Initialises MPI, which the World finalises when it is destroyed; a program makes one. Messages
/// are sent in pieces of `piece` bytes, because MPI counts in int. MPI is asked to let several
/// threads call it, for the thread of a message queue (make_mpi_message_queue).
std::unique_ptr<World> make_mpi_world(std::size_t piece = std::size_t{1} << 30);

/// Returns the World of this process's group, whose ranks begin at 0. Groups are consecutive ranks:
/// group i begins at rank floor(i R / groups), so that sizes differ by at most one. `all` comes
/// from make_mpi_world or make_single_process and must outlive the result; more groups than it has
/// processes are a usage error. `abort` ends all groups. The call is collective over `all`.
std::unique_ptr<World> make_group_world(World& all, int groups);

/// Returns the communicator of the World as MPI's Fortran handle, which needs no header of MPI, or
/// nothing if the World is not one of MPI.
std::optional<int> mpi_communicator(const World& world);

/// Throws an Error with MPI's own reason if a call of MPI has not returned MPI_SUCCESS.
void check_mpi(int code, std::string_view call);

/// Throws a usage error if this process is alone in MPI though its launcher has started several: a
/// launcher of another MPI library does so.
void check_launcher(const World& world);

/// True if a launcher (mpirun, srun) started this process, also if it started only one; else MPI
/// need not be initialised. The environment tells: Open MPI, Hydra, PMIx and Slurm each set a
/// variable, whose value does not matter.
bool started_by_launcher();

/// Returns name and version of the MPI library without initialising it.
std::string mpi_library_version();

/// True if MPI says that it takes addresses of CUDA devices (MPIX_Query_cuda_support). MPI must be
/// initialised. Messages are those of the host all the same: what is exchanged of them is merged
/// there.
bool mpi_takes_device_memory();

/// Returns the words that start a program on `processes` processes by the launcher of the MPI
/// library of this build, also on fewer cores: {"mpirun", "-n", "4", ...}.
std::vector<std::string> launch_words(int processes);

// The message queue between the processes that mpirun or srun started.

/// Returns whether MPI lets several threads call it, as a message queue between processes needs.
bool mpi_serves_threads();

/// Returns a message queue between the processes of the World, which has messages of its own and
/// must outlive it. A World without MPI gives the message queue of a process that is alone.
/// Messages are sent in pieces of `piece` bytes, because MPI counts in int. Reports an error if MPI
/// does not let several threads call it. The call is collective.
std::unique_ptr<MessageQueue> make_mpi_message_queue(const World& world,
                                                     MessageQueueOptions options = {},
                                                     std::size_t piece = std::size_t{1} << 30);

}  // namespace residuum
