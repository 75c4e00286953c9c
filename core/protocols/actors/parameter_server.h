#pragma once
// The parameter-server protocols ASP and SSP(s) make one version of every gradient that arrives.
//
//   Worker: READ the model; compute; push; repeat.
//   Server: answer a READ with the latest version as soon as the worker may start;
//           apply each push at once: x_{v+1} = x_v - eta G^p(x_u).
//
// In SSP a worker with n_p finished iterations may start the next iff n_p - min_q n_q <= s (Ho et
// al., NIPS 2013). Between a READ and its push the others push at most (2s+1)(P-1) times, and some
// schedule attains that (theory 11.2). In ASP a worker may always start, and no bound on the
// staleness holds (theory 11.3).
//
// The server answers a READ only once it has all earlier pushes of that worker: messages may
// overtake one another, but no worker misses its own updates. With one worker ASP is serial SGD.

#include <cstdint>

#include "core/protocols/actors/actor.h"

namespace residuum {

struct ParameterServerOptions {
  int workers = 1;                       // P
  std::uint64_t staleness = kUnlimited;  // s in finished iterations; unlimited is ASP
  std::uint64_t versions = 1;            // T, after which the server sends STOP
};

/// Returns the most versions that others can make between a READ and its push: (2s+1)(P-1) in SSP,
/// unlimited in ASP with more than one worker (theory 11.2 and 11.3).
std::uint64_t largest_staleness(const ParameterServerOptions& options);

/// Returns P workers and a server. Reports a usage error if an option is out of range.
Cast make_parameter_server(const ParameterServerOptions& options);

}  // namespace residuum
