#include "core/cluster/mpi_gather.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/cluster/mpi_world.h"

namespace residuum {
namespace {

constexpr int kGatherTag = 2;
constexpr std::size_t kLengthOfPart = sizeof(std::uint64_t);

}  // namespace

void MpiGather::take(MPI_Comm comm, std::span<const std::byte> mine, Gathered& all) {
  int rank = 0;
  int processes = 1;
  check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(comm, &processes), "MPI_Comm_size");
  if (mine.size() + kLengthOfPart >
      std::numeric_limits<int>::max() / static_cast<std::size_t>(processes)) {
    resource_error("a message of {} bytes is too long to be gathered from {} processes",
                   mine.size(),
                   processes);
  }
  hold(mine);
  for (int distance = 1; distance < processes; distance *= 2) {
    const int parts = std::min(distance, processes - distance);
    exchange(comm,
             (rank + processes - distance) % processes,
             ends_[static_cast<std::size_t>(parts) - 1],
             (rank + distance) % processes);
    find_parts();
  }
  put_in_order(rank, all);
}

void MpiGather::hold(std::span<const std::byte> mine) {
  const std::uint64_t length = mine.size();
  used_ = kLengthOfPart + mine.size();
  held_.resize(std::max(held_.size(), used_));
  std::memcpy(held_.data(), &length, kLengthOfPart);
  std::copy(mine.begin(), mine.end(), held_.begin() + kLengthOfPart);
  ends_.assign(1, used_);
}

/// Sends the first `sent` bytes, and appends what the process `from` sends.
void MpiGather::exchange(MPI_Comm comm, int to, std::size_t sent, int from) {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(
      MPI_Isend(held_.data(), static_cast<int>(sent), MPI_BYTE, to, kGatherTag, comm, &request),
      "MPI_Isend");
  MPI_Status status;
  check_mpi(MPI_Probe(from, kGatherTag, comm, &status), "MPI_Probe");
  int length = 0;
  check_mpi(MPI_Get_count(&status, MPI_BYTE, &length), "MPI_Get_count");
  const std::size_t needed = used_ + static_cast<std::size_t>(length);
  if (held_.size() < needed) {
    Bytes larger(2 * needed);
    std::copy_n(held_.begin(), used_, larger.begin());
    outgrown_ = std::move(held_);
    held_ = std::move(larger);
  }
  check_mpi(
      MPI_Recv(held_.data() + used_, length, MPI_BYTE, from, kGatherTag, comm, MPI_STATUS_IGNORE),
      "MPI_Recv");
  used_ = needed;
  check_mpi(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
  outgrown_ = Bytes();
}

/// Notes where the parts end that have come.
void MpiGather::find_parts() {
  while (ends_.back() < used_) {
    std::uint64_t length = 0;
    std::memcpy(&length, held_.data() + ends_.back(), kLengthOfPart);
    ends_.push_back(ends_.back() + kLengthOfPart + length);
  }
}

void MpiGather::put_in_order(int rank, Gathered& all) const {
  const std::size_t processes = ends_.size();
  const auto first = static_cast<std::size_t>(rank);
  all.bytes.resize(used_ - processes * kLengthOfPart);
  all.begins.assign(1, 0);
  for (std::size_t process = 0; process < processes; ++process) {
    const std::size_t part = (process + processes - first) % processes;
    const std::size_t begin = (part == 0 ? 0 : ends_[part - 1]) + kLengthOfPart;
    const std::size_t length = ends_[part] - begin;
    if (length > 0) {  // nobody may have sent anything: then there is no memory to copy to
      std::memcpy(all.bytes.data() + all.begins.back(), held_.data() + begin, length);
    }
    all.begins.push_back(all.begins.back() + length);
  }
}

}  // namespace residuum
