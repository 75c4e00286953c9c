"""Rand-k times d/k, which is unbiased. It draws by the seed of the request, so that a study repeats
its bits:
residuum check --k 6 --unbiased --omega 9 -- python3 rand_k.py 6."""

import sys

import numpy
from frames_numpy import Answer, serve

k = int(sys.argv[1])


def rand_k(x, rng):
    chosen = numpy.sort(rng.choice(x.size, min(k, x.size), replace=False))
    output = numpy.zeros_like(x)
    output[chosen] = x[chosen] * numpy.float32(x.size / k)
    return Answer(output, chosen.astype("<u4").tobytes() + output[chosen].tobytes())


serve(rand_k)
