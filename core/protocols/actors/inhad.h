#pragma once
// InHAD aggregates gradients inside nodes and lets the server decide by iteration numbers when to
// pull the sums (theory 10.1 and 10.2; the abstract of InHAD gives the idea, the rules below are
// derived there).
//
//   Worker: READ u := m_n; compute; ADD it to the sum of its node; SEND IN(iterations, u_next).
//           It goes on while it has done fewer than h gradients at version m_n (u_next = m_n), else
//           it is idle (u_next = m_n + 1) until a newer model wakes it and it sends START.
//   Node:   on PULL, send the sum and go on with an empty one; on MODEL, keep the newest.
//   Server: when not pulling, send PULL as soon as
//             (T1) the gradients announced and not yet applied are >= C, and
//             (T2) u_w >= v + 1 - s for every worker w,
//           where u_w bounds the base of every gradient of w that is in no sum yet, and of its
//           next one; make version v + 1 of the sums of all nodes, then broadcast it.
//
// Guarantees (theory 10.3). S1: v - u <= s for a gradient of base u in the version v -> v + 1.
// S2: all T versions are made. S3: each gradient counts once, and those of a worker in their order.
//
// S2 needs C <= h M: idle workers have announced h gradients each. It needs s >= 1 or a finite h:
// with s = 0, T2 asks that all workers are idle at version v, and without a cap none ever is. (The
// theory asks for h = 1 at s = 0; any finite h will do: each worker becomes idle after h gradients,
// and then h M >= C gradients are announced. Such a version has exactly h gradients per worker.)

#include <cstdint>

#include "core/protocols/actors/actor.h"

namespace residuum {

/// The most gradients of one worker at one version, as many as a worker of `local` takes between
/// two exchanges.
inline constexpr std::uint64_t kMostGradientsAtAVersion = 10'000;

struct InhadOptions {
  int nodes = 1;                         // N, must divide the workers
  int workers = 1;                       // M
  std::uint64_t quota = 1;               // C, gradients announced before a pull
  std::uint64_t staleness = kUnlimited;  // s, in versions
  std::uint64_t cap = kUnlimited;        // h, gradients of one worker at one version
  std::uint64_t versions = 1;            // T, after which the server sends STOP
};

/// Returns M workers, N nodes and a server. Reports a usage error if an option is out of range or
/// the protocol could wait for ever.
Cast make_inhad(const InhadOptions& options);

}  // namespace residuum
