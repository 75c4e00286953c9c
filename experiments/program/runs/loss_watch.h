#pragma once
// A LossWatch sees to it that a study over several processes ends when one of them is lost. Its
// mailbox gives signs of life from before the first run to after the last, also where processes
// wait for each other in collective calls.

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/cluster/mailbox.h"

namespace residuum {

class LossWatch {
 public:
  /// What the mailbox is for: messages of real runs, or nothing but signs of life. Without messages
  /// it is polled seldom, and an MPI library that serves one thread alone has no watch.
  enum class Use { messages, signs };

  /// Watches the processes of a group, which is a part of the job. Collective in the group.
  LossWatch(const World& job, World& group, Use use);

  /// Returns the mailbox between the processes of the group.
  Mailbox& mailbox() { return *mailbox_; }
  /// Ends the watch; the job is ended where a process was lost before that. Collective.
  void close();
  /// Makes the mailbox anew after an error that all processes of the group have met. Collective.
  void renew();

  /// Says where the workers of the run are, or that no run is being done.
  void set_cluster(const std::optional<Cluster>& cluster);

  /// Says which process is lost and what it hosted, and ends the job: the others cannot speak to
  /// the World any more. The lowest process that is left speaks; the others wait for it first.
  void end_job(const LostPeer& lost);

 private:
  void open();
  void say(const LostPeer& lost);

  World& group_;
  int first_rank_;  // of the group, in the job
  Use use_;
  std::vector<std::string> hosts_;  // by rank
  std::once_flag ending_;
  std::mutex mutex_;
  std::optional<Cluster> cluster_;
  std::unique_ptr<Mailbox> mailbox_;
};

}  // namespace residuum
