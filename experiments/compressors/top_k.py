"""Top-k with error feedback: residuum check --k 6 --memory -- python3 top_k.py 6."""

import struct
import sys

from frames import serve

k = int(sys.argv[1])
residuals = {}


def compress(tensor, shape, x):
    residual = residuals.get(tensor, [0.0] * len(x))
    x = [a + e for a, e in zip(x, residual)]
    largest = sorted(range(len(x)), key=lambda i: -abs(x[i]))[:k]
    message = b"".join(struct.pack("<If", i, x[i]) for i in largest if x[i] != 0)
    output = [0.0] * len(x)
    for i, value in struct.iter_unpack("<If", message):
        output[i] = value
    residuals[tensor] = [a - sent for a, sent in zip(x, output)]
    return {"output": output, "message": message}


serve(compress)
