"""Rand-k times d/k, which is unbiased:
residuum check --k 6 --unbiased --omega 9 -- python3 rand_k.py 6."""

import random
import struct
import sys

from frames import serve

k = int(sys.argv[1])
source = random.Random(1)


def compress(tensor, shape, x):
    chosen = source.sample(range(len(x)), min(k, len(x)))
    message = b"".join(struct.pack("<If", i, x[i] * len(x) / k) for i in chosen)
    output = [0.0] * len(x)
    for i, value in struct.iter_unpack("<If", message):
        output[i] = value
    return {"output": output, "message": message}


serve(compress)
