#pragma once
// Streams of their own let the vectors of several workers be worked on at the same time. They do
// not wait for the legacy default stream, on which libtorch works, nor does that one for them: who
// needs an order says so.

#include <cuda_runtime.h>

#include "core/vectors/cuda/buffer.cuh"

namespace residuum::cuda {

/// An event marks what is queued on a stream at a time.
class Event {
 public:
  Event() {
    check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { cudaEventDestroy(event_); }

  void record(cudaStream_t stream) { check(cudaEventRecord(event_, stream), "cudaEventRecord"); }
  /// Lets the stream wait for the event before it does what is queued from now on.
  void hold(cudaStream_t stream) const {
    check(cudaStreamWaitEvent(stream, event_, 0), "cudaStreamWaitEvent");
  }
  /// Lets the host wait.
  void wait() const { check(cudaEventSynchronize(event_), "the work on the device"); }

 private:
  cudaEvent_t event_ = nullptr;
};

class Stream {
 public:
  Stream() {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { cudaStreamDestroy(stream_); }

  cudaStream_t get() const { return stream_; }
  /// Lets the host wait.
  void wait() const { check(cudaStreamSynchronize(stream_), "the work on the device"); }

  /// Lets work that is queued here from now on wait for the work on the default stream.
  void follow_default() {
    of_default_.record(cudaStreamLegacy);
    of_default_.hold(stream_);
  }
  /// Lets work that is queued on the default stream from now on wait for the work here.
  void lead_default() {
    of_this_.record(stream_);
    of_this_.hold(cudaStreamLegacy);
  }

 private:
  cudaStream_t stream_ = nullptr;
  Event of_default_;
  Event of_this_;
};

}  // namespace residuum::cuda
