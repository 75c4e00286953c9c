"""The frames of `residuum check` and of a study's sparsifier "command", with PyTorch.

A compressor is a function of a tensor that returns C(x); serve() does the rest:

    import frames_torch

    frames_torch.serve(lambda x: x.sign() * x.abs().mean())

It is as in frames_numpy, which this module uses. A function that names `generator` gets a
torch.Generator of the message's seed, on the CPU."""

import frames_numpy
import numpy
import torch


class Answer(frames_numpy.Answer):
    """As in frames_numpy, of tensors; the message may be bytes."""


def _to_numpy(value):
    return value.detach().cpu().numpy() if isinstance(value, torch.Tensor) else value


def serve(compress):
    """Answers the requests on standard input until its end, on one thread, since the workers of a
    run share the cores."""
    torch.set_num_threads(1)

    def of_arrays(x, **given):
        with torch.no_grad():
            answer = compress(torch.from_numpy(numpy.asarray(x)), **given)
        if not isinstance(answer, frames_numpy.Answer):
            return _to_numpy(answer)
        return frames_numpy.Answer(*map(_to_numpy, (answer.output, answer.message, answer.residual)))

    of_arrays.__signature__ = frames_numpy.inspect.signature(compress)
    frames_numpy.serve(
        of_arrays, extras=lambda seed: {"generator": torch.Generator().manual_seed(seed)}
    )
