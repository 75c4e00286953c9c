"""The frames of `residuum check` on standard input and output, without NumPy."""

import json
import math
import struct
import sys


def read_request():
    """Returns tensor, shape and numbers of the next request, None at the end."""
    line = sys.stdin.buffer.readline()
    if not line:
        return None
    request = json.loads(line)
    head = sys.stdin.buffer.read(10)
    sys.stdin.buffer.read(struct.unpack("<H", head[8:])[0])
    size = math.prod(request["shape"])
    numbers = struct.unpack(f"<{size}f", sys.stdin.buffer.read(4 * size))
    return request["tensor"], request["shape"], list(numbers)


def array(kind, shape, data):
    sizes = "".join(f"{size}, " for size in shape)
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({sizes[:-1]}), }}\n".encode()
    if len(shape) > 1:
        head = head.replace(b",), }", b"), }")
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + data


def singles(numbers):
    return struct.pack(f"<{len(numbers)}f", *numbers)


def as_single(number):
    """Rounds to float32, in which an answer travels."""
    return struct.unpack("<f", struct.pack("<f", number))[0]


def write_answer(output, shape, message, residual=None):
    """Answers with C(x), the message that carried it and, if given, the residual."""
    told = {"bytes": len(message), "message": True, "residual": residual is not None}
    frames = json.dumps(told).encode() + b"\n" + array("<f4", shape, singles(output))
    if residual is not None:
        frames += array("<f4", shape, singles(residual))
    sys.stdout.buffer.write(frames + array("|u1", [len(message)], message))
    sys.stdout.buffer.flush()


def refuse(reason):
    sys.stdout.buffer.write(json.dumps({"error": reason}).encode() + b"\n")
    sys.stdout.buffer.flush()


def serve(compress):
    """Answers each request with what `compress(tensor, shape, x)` returns for write_answer."""
    while (request := read_request()) is not None:
        tensor, shape, x = request
        if not all(map(math.isfinite, x)):
            refuse("not all numbers are finite")
            continue
        write_answer(shape=shape, **compress(tensor, shape, x))
