"""PowerSGD of one worker (Vogels, Karimireddy and Jaggi, NeurIPS 2019): a step of the power method
from the factor of the step before, with error feedback. It projects, so no vector grows, but no
share of it is sure to be sent; the residual is therefore told:
residuum check --contraction 0 --memory --shape 6x10 -- python3 powersgd.py 2."""

import random
import struct
import sys

from frames import serve

rank = int(sys.argv[1])
residuals = {}
factors = {}


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def orthonormal(columns):
    basis = []
    for column in columns:
        size = dot(column, column) ** 0.5
        for other in basis:
            share = dot(column, other)
            column = [a - share * b for a, b in zip(column, other)]
        left = dot(column, column) ** 0.5
        # A column that the others span is rounding and no direction.
        scale = 1 / left if left > 1e-9 * size else 0.0
        basis.append([scale * a for a in column])
    return basis


def first_factor(columns):
    source = random.Random(1)
    return [[source.gauss(0, 1) for _ in range(columns)] for _ in range(rank)]


def compress(tensor, shape, x):
    rows, columns = shape
    residual = residuals.get(tensor, [0.0] * len(x))
    x = [a + e for a, e in zip(x, residual)]
    matrix = [x[r * columns : (r + 1) * columns] for r in range(rows)]
    factor = factors.get(tensor) or first_factor(columns)
    left = orthonormal([[dot(row, q) for row in matrix] for q in factor])
    right = [[dot(p, column) for column in zip(*matrix)] for p in left]
    output = [sum(p[r] * q[c] for p, q in zip(left, right)) for r in range(rows) for c in range(columns)]
    message = b"".join(struct.pack(f"<{len(part)}f", *part) for part in left + right)
    residuals[tensor] = [a - sent for a, sent in zip(x, output)]
    # A zero factor would project everything away from now on.
    factors[tensor] = right if all(dot(q, q) > 0 for q in right) else first_factor(columns)
    return {"output": output, "message": message, "residual": residuals[tensor]}


serve(compress)
