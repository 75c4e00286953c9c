#pragma once
// The mailbox between the processes that mpirun or srun started.

#include <cstddef>
#include <memory>

#include "core/cluster/mailbox.h"
#include "core/cluster/world.h"

namespace residuum {

/// Returns whether MPI lets several threads call it, as a mailbox between processes needs.
bool mpi_serves_threads();

/// Returns a mailbox between the processes of the World, which has messages of its own and must
/// outlive it. A World without MPI gives the mailbox of a process that is alone. Messages are sent
/// in pieces of `piece` bytes, because MPI counts in int. Reports an error if MPI does not let
/// several threads call it. The call is collective.
std::unique_ptr<Mailbox> make_mpi_mailbox(const World& world,
                                          MailboxOptions options = {},
                                          std::size_t piece = std::size_t{1} << 30);

}  // namespace residuum
