/* The C interface of libresiduum_live.so: a study of Residuum measures a training of yours while it
 * runs. residuum.py is the same for PyTorch.
 *
 * Every process of the training calls the functions in the same order. Functions that return int
 * return 0, or the exit code of the error that residuum_last_error() explains. They are called by
 * one thread; the transport is called by threads of the library, one at a time.
 */
#ifndef RESIDUUM_LIVE_H
#define RESIDUUM_LIVE_H

#include <stddef.h>
#include <stdint.h>

/* NOLINTBEGIN: this is C, and these are its names. */
#ifdef __cplusplus
extern "C" {
#endif

typedef struct residuum_monitor residuum_monitor;

/* Carries bytes between the processes of the training; null functions where there is one process.
 * Both return 0, or another number if it failed. `send` must not wait for the receiver: it takes a
 * copy of the bytes. Messages from one process to another arrive in their order. */
typedef struct residuum_transport {
  void* context;
  int rank;
  int size;
  int (*send)(void* context, int to, const void* bytes, size_t size);
  int (*receive)(void* context, int from, void* bytes, size_t size);
} residuum_transport;

/* A named part of a gradient. Parts follow each other without gaps. */
typedef struct residuum_layer {
  const char* name;
  const int64_t* shape;
  int dimensions;
} residuum_layer;

/* Where gradients are, in the words of DLPack: the type is kDLCPU (1), kDLCUDA (2) or kDLExtDev
 * (12), which is Residuum's stand-in of a device in the host's memory, for tests. */
typedef struct residuum_device {
  int type;
  int id; /* of a CUDA device, as this process numbers them */
} residuum_device;

/* Reads the study, a text in TOML of which `file` is the name in messages, and begins the folder
 * `out`. In every step each process hands over the gradients of `workers_here` workers. If
 * `applies_update` is not 0 the study must have one run, whose update residuum_step returns.
 * `device` says where the training has its gradients; null: on the host. Returns null if that
 * fails. */
residuum_monitor* residuum_open(const char* study,
                                const char* file,
                                const char* out,
                                const residuum_transport* transport,
                                const residuum_layer* layers,
                                size_t layer_count,
                                int workers_here,
                                int applies_update,
                                const residuum_device* device);

/* Returns 1 if residuum_step takes addresses on that device, because a run of the study keeps its
 * memories there ([workers] device = "auto"). Returns 0 if it takes addresses on the host. */
int residuum_takes_device_memory(residuum_monitor* monitor);

/* Does one iteration of each run. `gradients` has workers_here pointers to d float32 each. On a
 * device they are multiples of 16 bytes, and what writes the gradients has been waited for, or was
 * queued on CUDA's legacy default stream. `learning_rate` is not negative. `update` takes d
 * float32, (w_t - w_{t+1}) over the step size, or is null where the update is not applied; then the
 * call returns before the iteration is done, and the gradients must stay unchanged until the next
 * residuum_step, residuum_save or residuum_close has returned: two buffers in turn do. A monitor
 * that is abandoned may read them until the process ends. */
int residuum_step(residuum_monitor* monitor,
                  const float* const* gradients,
                  double learning_rate,
                  float* update);

/* Adds the loss of the last step to training.csv in the folder of results. */
int residuum_note(residuum_monitor* monitor, double loss);

/* Saves the memories of all runs as files in `folder`, written by rank 0, and goes on from them; an
 * empty folder is no state. A state is loaded before the first step, with the folder of results
 * that it was saved with. */
int residuum_save(residuum_monitor* monitor, const char* folder);
int residuum_load(residuum_monitor* monitor, const char* folder);

/* Ends the runs, writes the tables and frees the monitor. It fails, after that, if no run has gone
 * on to the end, as after a last gradient that was not finite. If `abandon` is not 0 it leaves the
 * folder as it is, without a message to other processes: for a training that has failed. */
int residuum_close(residuum_monitor* monitor, int abandon);

/* Returns what went wrong in the last call of this thread that failed. */
const char* residuum_last_error(void);

#ifdef __cplusplus
}
#endif
/* NOLINTEND */

#endif
