"""Top-k with values of 4 bits and error feedback. The residual is what was not sent ("sent"), or,
wrongly, what was not selected ("selected"), which forgets the error of the 4 bits:
residuum check --k 6 --contraction 0.09 --memory -- python3 top_k_4bit.py 6 selected."""

import sys

import numpy
from frames_numpy import Answer, serve

k = int(sys.argv[1])
remembers = sys.argv[2]
residuals = {}


def compress(x, tensor):
    x = x + residuals.get(tensor, 0)
    chosen = numpy.argsort(-abs(x), kind="stable")[:k]
    scale = abs(x).max()
    levels = numpy.rint(7 * (x[chosen] / scale)) if scale > 0 else numpy.zeros(len(chosen), "f4")
    # A pair of values shares a byte; every index takes four.
    signs = numpy.append(levels + 8, [8] * (k % 2)).astype("u1")
    message = scale.tobytes() + chosen.astype("<u4").tobytes()
    message += (signs[::2] << 4 | signs[1::2]).tobytes()
    output = numpy.zeros_like(x)
    output[chosen] = levels * (scale / numpy.float32(7))
    kept = output.copy()
    if remembers == "selected":
        kept[chosen] = x[chosen]
    residuals[tensor] = x - kept
    return Answer(output, message)


serve(compress)
