"""PowerSGD of one worker (Vogels, Karimireddy and Jaggi, NeurIPS 2019): a step of the power method
from the factor of the step before, with error feedback. It projects, so no vector grows, but no
share of it is sure to be sent; the residual is therefore told:
residuum check --contraction 0 --memory --shape 6x10 -- python3 powersgd.py 2."""

import sys

import numpy
from frames_numpy import Answer, serve

rank = int(sys.argv[1])
residuals = {}
factors = {}


def orthonormal(columns):
    basis = []
    for column in columns:
        size = numpy.linalg.norm(column)
        for other in basis:
            column = column - (column @ other) * other
        left = numpy.linalg.norm(column)
        # A column that the others span is rounding and no direction.
        basis.append(column / left if left > 1e-9 * size else 0 * column)
    return numpy.array(basis)


def first_factor(columns):
    return numpy.random.default_rng(1).standard_normal((rank, columns))


def compress(x, tensor):
    matrix = x.astype("f8") + residuals.get(tensor, 0)
    factor = factors.get(tensor)
    if factor is None:
        factor = first_factor(matrix.shape[1])
    left = orthonormal(factor @ matrix.T)
    right = left @ matrix
    output = (left.T @ right).astype("f4")
    residuals[tensor] = matrix - output
    # A zero factor would project everything away from now on.
    factors[tensor] = right if (right * right).sum(axis=1).all() else first_factor(matrix.shape[1])
    message = left.astype("<f4").tobytes() + right.astype("<f4").tobytes()
    return Answer(output, message, residuals[tensor])


serve(compress)
