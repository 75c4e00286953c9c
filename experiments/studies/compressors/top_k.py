"""Top-k, ties to the lower index. `memory` adds error feedback of its own, which a study does not
need:
residuum check --k 6 --memory -- python3 top_k.py 6 memory."""

import sys

import numpy
from frames_numpy import Answer, serve

k = int(sys.argv[1])
remembers = "memory" in sys.argv[2:]
residuals = {}


def kth(sizes):
    return numpy.partition(sizes, sizes.size - k)[sizes.size - k]


def largest(x):
    """The indices of the k entries of largest magnitude, rising."""
    if k >= x.size:
        return numpy.arange(x.size)
    sizes = abs(x)
    # The k-th largest of the maxima of some entries each is a lower bound, and much quicker to find.
    maxima = sizes[: x.size // 16 * 16].reshape(-1, 16).max(axis=1)
    candidates = numpy.flatnonzero(sizes >= (kth(maxima) if k <= maxima.size else 0))
    least = kth(sizes[candidates])
    above = numpy.flatnonzero(sizes > least)
    ties = numpy.flatnonzero(sizes == least)[: k - above.size]
    return numpy.sort(numpy.concatenate((above, ties)))


def top_k(x, tensor):
    if remembers:
        x = x + residuals.get(tensor, 0)
    kept = largest(x)
    output = numpy.zeros_like(x)
    output[kept] = x[kept]
    if not remembers:
        return output
    residuals[tensor] = x - output
    message = kept[x[kept] != 0]
    return Answer(output, message.astype("<u4").tobytes() + x[message].tobytes())


serve(top_k)
