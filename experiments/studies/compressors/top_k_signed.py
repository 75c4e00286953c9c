"""Top-k without the absolute value, as in apple/pfl-research #65: it never sends large negative
entries. residuum check --k 6 -- python3 top_k_signed.py 6 finds it."""

import sys

import numpy
from frames_numpy import Answer, serve

k = int(sys.argv[1])


def top_k(x):
    kept = numpy.argsort(-x, kind="stable")[:k]
    output = numpy.zeros_like(x)
    output[kept] = x[kept]
    return Answer(output, kept.astype("<u4").tobytes() + x[kept].tobytes())


serve(top_k)
