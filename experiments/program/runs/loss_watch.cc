#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <span>
#include <string>
#include <thread>

#include "core/cluster/mpi_world.h"
#include "experiments/program/console/streams.h"
#include "experiments/program/runs/provenance.h"
#include "experiments/program/runs/run_maker.h"

namespace residuum {
namespace {

/// A process waits so long for each lower one to speak and to end the job, and then itself speaks.
constexpr std::chrono::milliseconds kTimeToSpeak{2000};
/// A line needs some time to leave the process.
constexpr std::chrono::milliseconds kTimeToPrint{100};

/// How often the mailbox is polled: it takes no time from the runs, and a sign is sent much more
/// seldom.
constexpr std::chrono::milliseconds kSeldom{50};
constexpr std::chrono::milliseconds kAsNeeded{0};

/// Returns the names of the machines of all processes, by rank. Collective.
std::vector<std::string> hosts_of(World& group) {
  const std::string own = host_name();
  Gathered all;
  group.all_gather(std::as_bytes(std::span(own)), all);
  std::vector<std::string> hosts;
  for (std::size_t rank = 0; rank < all.parts(); ++rank) {
    std::string& host = hosts.emplace_back(all.part(rank).size(), '\0');
    std::memcpy(host.data(), all.part(rank).data(), host.size());
  }
  return hosts;
}

std::string workers_in_words(const Cluster& cluster, int rank) {
  int first = 0;
  while (cluster.host(first) != rank) {
    ++first;
  }
  int last = first;
  while (last + 1 < cluster.workers() && cluster.host(last + 1) == rank) {
    ++last;
  }
  return first == last ? fmt::format("worker {}", first)
                       : fmt::format("workers {} to {}", first, last);
}

}  // namespace

LossWatch::LossWatch(const World& job, World& group, Use use)
    : group_(group), first_rank_(job.rank() - group.rank()), use_(use), hosts_(hosts_of(group)) {
  open();
}

void LossWatch::open() {
  const bool is_for_messages = use_ == Use::messages;
  if (group_.size() == 1 || (!is_for_messages && !mpi_serves_threads())) {
    mailbox_ = make_single_mailbox();
    return;
  }
  mailbox_ = make_mpi_mailbox(group_,
                              {.first_rank = first_rank_,
                               .last_resort = [this](const LostPeer& lost) { end_job(lost); },
                               .look_every = is_for_messages ? kAsNeeded : kSeldom});
}

void LossWatch::close() {
  try {
    mailbox_->close();
  } catch (const LostPeer& lost) {
    end_job(lost);
  }
}

void LossWatch::renew() {
  mailbox_->close();
  mailbox_.reset();
  open();
}

void LossWatch::set_cluster(const std::optional<Cluster>& cluster) {
  const std::lock_guard lock(mutex_);
  cluster_ = cluster;
}

void LossWatch::end_job(const LostPeer& lost) {
  std::call_once(ending_, [&] {
    const int own = group_.rank();
    const int before = own - (lost.rank() < own ? 1 : 0);
    std::this_thread::sleep_for(before * kTimeToSpeak);
    say(lost);
    std::this_thread::sleep_for(kTimeToPrint);
    group_.abort(ExitCode::resource);
  });
}

void LossWatch::say(const LostPeer& lost) {
  const std::lock_guard lock(mutex_);
  std::string hosted;
  if (cluster_) {
    hosted =
        fmt::format(". It hosted {}",
                    lost.rank() == 0 ? "the server" : workers_in_words(*cluster_, lost.rank()));
  }
  residuum::say(fmt::format("{}. It ran on {}{}. The same command goes on from the last checkpoint",
                            lost.what(),
                            hosts_[static_cast<std::size_t>(lost.rank())],
                            hosted));
}

}  // namespace residuum
