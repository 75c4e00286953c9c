"""The frames of `residuum check` and of a study's sparsifier "command", with NumPy.

A compressor is a function of an array that returns C(x); serve() does the rest:

    import numpy, frames_numpy

    def signs(x):
        return numpy.sign(x) * abs(x).mean(dtype="f4")

    frames_numpy.serve(signs)

x is float32, of the tensor's shape, and the function may change it. A function gets what else it
names among its parameters: `tensor`, the tensor's name; `seed`, a whole number that differs from
message to message and is the same in every repetition of a run; `rng`, a numpy generator of it. It
may return Answer(output, message=..., residual=...) to show the bytes of the message as well, or
what it remembers of the tensor."""

import ctypes
import inspect
import json
import struct
import sys

import numpy


class Answer:
    """C(x) with the message that carried it (bytes, or an array that is sent as it lies in memory)
    and the residual of the tensor after this step, both optional."""

    def __init__(self, output, message=None, residual=None):
        self.output = output
        self.message = message
        self.residual = residual


def _read_request(stream):
    line = stream.readline()
    if not line:
        return None
    request = json.loads(line)
    head = stream.read(10)
    stream.read(struct.unpack("<H", head[8:])[0])
    x = numpy.empty(request["shape"], "<f4")
    if stream.readinto(x.reshape(-1).view("u1")) != x.nbytes:
        return None
    return request, x


def _head(array):
    sizes = "".join(f"{size}, " for size in array.shape)
    kind = "<f4" if array.dtype == "f4" else "|u1"
    shape = f"({sizes[:-1]})" if array.ndim == 1 else f"({sizes[:-2]})"
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


def _write(stream, arrays):
    for array in arrays:
        stream.write(_head(array))
        stream.write(array.reshape(-1).view("u1"))


def _singles(array):
    return numpy.ascontiguousarray(array, "<f4")


def _bytes(message):
    if isinstance(message, (bytes, bytearray)):
        return numpy.frombuffer(message, "u1")
    return numpy.ascontiguousarray(message).reshape(-1).view("u1")


def _reply(stream, answer):
    if not isinstance(answer, Answer):
        answer = Answer(answer)
    arrays = [_singles(answer.output)]
    told = {}
    if answer.residual is not None:
        told["residual"] = True
        arrays.append(_singles(answer.residual))
    if answer.message is not None:
        message = _bytes(answer.message)
        told.update(bytes=len(message), message=True)
        arrays.append(message)
    if told:
        stream.write(json.dumps(told).encode() + b"\n")
    _write(stream, arrays)
    stream.flush()


def _keep_freed_memory():
    """Lets the C library keep what arrays have freed: fresh pages cost more than a Top-k does."""
    trim_threshold, mmap_threshold = -1, -3  # malloc.h
    try:
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(trim_threshold, 1 << 30)
        mallopt(mmap_threshold, 1 << 25)
    except (AttributeError, OSError):
        pass  # another C library


def serve(compress, extras=lambda seed: {"rng": numpy.random.default_rng(seed)}):
    """Answers the requests on standard input until its end. Vectors with numbers that are not
    finite are refused. What the compressor prints goes to standard error."""
    _keep_freed_memory()
    answers, sys.stdout = sys.stdout.buffer, sys.stderr
    wanted = set(inspect.signature(compress).parameters)
    drawn = wanted & set(extras(0))
    while (found := _read_request(sys.stdin.buffer)) is not None:
        request, x = found
        if not numpy.isfinite(x).all():
            answers.write(json.dumps({"error": "not all numbers are finite"}).encode() + b"\n")
            answers.flush()
            continue
        given = {name: request[name] for name in ("tensor", "seed") if name in wanted}
        if drawn:
            given.update({name: made for name, made in extras(request["seed"]).items() if name in drawn})
        _reply(answers, compress(x, **given))
