"""Top-k without the absolute value, as in apple/pfl-research #65: it never sends large negative
entries. residuum check --k 6 -- python3 top_k_signed.py 6 finds it."""

import struct
import sys

from frames import serve

k = int(sys.argv[1])


def compress(tensor, shape, x):
    largest = sorted(range(len(x)), key=lambda i: -x[i])[:k]
    message = b"".join(struct.pack("<If", i, x[i]) for i in largest)
    output = [0.0] * len(x)
    for i, value in struct.iter_unpack("<If", message):
        output[i] = value
    return {"output": output, "message": message}


serve(compress)
