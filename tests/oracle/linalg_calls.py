"""Calls on LU, QR and triangular matrices, in float64 and complex128, and what roundings may change.

Bounds are those of a backward stable algorithm to first order: a computed result is that of a matrix
whose elements are off by some units, times the condition of the problem (Higham, Accuracy and
Stability of Numerical Algorithms, chapters 8, 9 and 19).
"""

import numpy as np

import decompositions
import dtypes
import linalg


def widen(x):
    return x.astype(np.complex128 if np.iscomplexobj(x) else np.float64)


def transposed(x):
    return np.swapaxes(x, -1, -2)


def items(*stacks):
    """The items of stacks of equal batch axes; the first is one of matrices."""
    for place in np.ndindex(stacks[0].shape[:-2]):
        yield place, *(stack[place] for stack in stacks)


def condition(a):
    """In the 2-norm; infinite for a matrix that is not finite."""
    return np.linalg.cond(a) if a.size and np.isfinite(a).all() else (np.inf if a.size else 1.0)


# LU.

def eliminate(a):
    """Packed LU factors, pivots counted from 1, the status, and whether a pivot was nearly another.

    Complex numbers are compared by the sum of the absolute values of their parts, as in LAPACK.
    """
    a, (m, n) = a.copy(), a.shape
    pivots, status, tie = np.arange(1, min(m, n) + 1), 0, False
    for j in range(min(m, n)):
        sizes = np.abs(a[j:, j].real) + np.abs(a[j:, j].imag)
        pivot = j + int(np.argmax(sizes))
        pivots[j] = pivot + 1
        others = np.delete(sizes, pivot - j)
        tie |= bool((others >= sizes[pivot - j] * (1 - 1e-3)).any())
        if a[pivot, j] == 0:
            status = status or j + 1
            continue
        a[[j, pivot]] = a[[pivot, j]]
        a[j + 1:, j] /= a[j, j]
        a[j + 1:, j + 1:] -= np.outer(a[j + 1:, j], a[j, j + 1:])
    return a, pivots, status, tie


def has_zero_column(a, status):
    """Whether the first pivot that is 0 is that of a column of zeros, so that roundings cannot change it."""
    column = status - 1
    return bool(status) and not a[:, column].any() and condition(a[:, :column]) < 1e3


def lu(node, operand):
    wide = widen(operand)
    shape = wide.shape[:-2]
    results = (np.empty_like(wide), np.zeros(shape + (min(wide.shape[-2:]),), np.int64),
               np.zeros(shape, np.int64))
    for place, a in items(transposed(wide)):
        packed, results[1][place], results[2][place], _ = eliminate(a)
        results[0][place] = packed.T
    return results[node.attributes["result"]]


def lu_error(node, operands, kind):
    wide = transposed(widen(operands[0]))
    error = np.zeros(node.shape)
    for place, a in items(wide):
        packed, _, status, tie = eliminate(a)
        bound = factors_error(packed, kind) if not status else None
        is_open = tie or bound is None or not np.isfinite(bound).all()
        if node.attributes["result"] == 2 and has_zero_column(a, status):
            error[place] = 0
        elif node.attributes["result"] != 0:
            error[place] = np.inf if is_open else 0
        else:
            error[place] = np.inf if is_open else bound.T
    return error


def factors_error(packed, kind):
    """Computed factors are those of a matrix that is off by |E| <= 2 (k + 2) eps |L||U| (Higham,
    theorem 9.3; twice as much for complex numbers). To first order E moves the factors L and U of
    the leading rows and columns by L low(L^-1 E U^-1) and up(L^-1 E U^-1) U, and then the rows and
    columns beyond. Infinite where the first order does not suffice."""
    (m, n), k = packed.shape, min(packed.shape)
    lower = np.tril(packed, -1)[:, :k] + np.eye(m, k)
    upper = np.triu(packed)[:k]
    sizes = 2 * (k + 2) * dtypes.epsilon(kind) * (np.abs(lower) @ np.abs(upper))
    below, right = np.abs(np.linalg.inv(lower[:k])), np.abs(np.linalg.inv(upper[:, :k]))
    relative = below @ sizes[:k, :k] @ right
    if not (relative < 0.1).all():
        return np.full(packed.shape, np.inf)
    of_lower, of_upper = np.zeros((m, k)), np.zeros((k, n))
    of_lower[:k] = np.abs(lower[:k]) @ np.tril(relative, -1)
    of_upper[:, :k] = np.triu(relative) @ np.abs(upper[:, :k])
    of_lower[k:] = (sizes[k:, :k] + np.abs(lower[k:]) @ of_upper[:, :k]) @ right
    of_upper[:, k:] = below @ (sizes[:k, k:] + of_lower[:k] @ np.abs(upper[:, k:]))
    error = np.zeros((m, n))
    error[:, :k] = np.tril(of_lower, -1)
    error[:k] += np.triu(of_upper)
    return 2 * error


# Solutions.

def solve(node, a, b):
    result = node.attributes["result"]
    matrices, sides = widen(a), widen(b)
    if not node.attributes.get("transposed"):
        matrices = transposed(matrices)
    x = np.full(sides.shape, np.nan, np.result_type(matrices, sides))
    status = np.zeros(a.shape[:-2], np.int64)
    for place, matrix, side in items(transposed(matrices), sides):
        status[place] = eliminate(matrix)[2] if not np.isnan(matrix).any() else 0
        if status[place] == 0:
            x[place] = np.linalg.solve(matrix, side.T).T
    if result == 1 or result == 2:
        return np.zeros(node.shape)  # workspace
    return x if result == 0 else status


def solve_error(node, operands, kind):
    result = node.attributes["result"]
    if result in (1, 2):
        return np.full(node.shape, np.inf)
    matrices, sides = widen(operands[0]), widen(operands[1])
    if not node.attributes.get("transposed"):
        matrices = transposed(matrices)
    error = np.zeros(node.shape)
    for place, matrix, side in items(transposed(matrices), sides):
        n, epsilon = len(matrix), dtypes.epsilon(kind)
        bound = 4 * (n + 2) * epsilon * condition(matrix)
        if has_zero_column(matrix, eliminate(matrix)[2]):
            error[place] = 0
        elif result == 3:
            error[place] = np.inf if bound > 0.1 else 0
        elif bound > 0.1:
            error[place] = np.inf
        else:
            x = np.abs(np.linalg.solve(matrix, side.T))
            error[place] = bound * x.max(axis=0, initial=0)[:, None]
    return error


# Determinants.

def slogdet(node, a):
    return np.asarray(np.linalg.slogdet(widen(a))[node.attributes["result"]])


def slogdet_error(node, operands, kind):
    """Of the logarithm, and of the phase of a complex number: the relative error of the determinant."""
    matrices = widen(operands[0])
    error = np.zeros(node.shape)
    for place, a in items(matrices):
        n = len(a)
        status = eliminate(a.T)[2]
        size = np.abs(np.linalg.slogdet(a)[1]) if n and not status else 0
        bound = 8 * (n + 2) * dtypes.epsilon(kind) * max(condition(a) * n, 1)
        if has_zero_column(a.T, status):
            error[place] = 0
        elif not bound < 0.1:
            error[place] = np.inf
        elif node.attributes["result"] == 0:
            error[place] = bound if np.iscomplexobj(a) else 0
        else:
            error[place] = bound + 8 * (n + 2) * dtypes.epsilon(kind) * (size + n)
    return error


def triangles(node, a):
    wide = widen(a)
    wide = np.tril(wide) if node.attributes.get("lower") else np.triu(wide)
    if node.attributes.get("unit"):
        n = wide.shape[-1]
        wide[..., range(n), range(n)] = 1
    transpose = node.attributes.get("transpose", "none")
    if transpose == "none":
        return wide
    return transposed(wide) if transpose == "transpose" else np.conj(transposed(wide))


def solve_triangular(node, a, b):
    return np.linalg.solve(triangles(node, a), widen(b))


def solve_triangular_error(node, operands, kind):
    matrices, x = triangles(node, operands[0]), None
    x = np.abs(np.linalg.solve(matrices, widen(operands[1])))
    amplified = np.abs(np.linalg.inv(matrices)) @ (np.abs(matrices) @ x)
    return 4 * (matrices.shape[-1] + 2) * dtypes.epsilon(kind) * amplified


# QR; decompositions.py has the factorisation.

def householder_product(node, reflectors, tau):
    vectors, factors = transposed(widen(reflectors)), widen(tau)
    m, columns = vectors.shape[-2:]
    q = np.broadcast_to(np.eye(m, columns), vectors.shape).astype(vectors.dtype)
    for j in reversed(range(factors.shape[-1])):
        v = np.where(np.arange(m) < j, 0, vectors[..., j])
        v[..., j] = 1
        row = np.conj(v)[..., None, :] @ q
        q = q - factors[..., j, None, None] * v[..., None] * row
    return transposed(q)


def householder_product_error(node, operands, kind):
    return np.full(node.shape, 8 * (node.shape[-1] + 1) * dtypes.epsilon(kind)) * \
        np.maximum(np.abs(householder_product(node, *operands)).max(initial=0), 1)


def permutation_of_pivots(node, pivots):
    order = np.broadcast_to(np.arange(pivots.shape[-1]), pivots.shape).copy()
    for place in np.ndindex(pivots.shape[:-1]):
        for i, pivot in enumerate(pivots[place]):
            if 1 <= pivot <= pivots.shape[-1]:
                order[place][[i, pivot - 1]] = order[place][[pivot - 1, i]]
    return order


def cholesky_error(node, operands, kind):
    return linalg.cholesky_error(node, operands[0], kind)


def spectrum_error(node, operands, kind):
    if node.attributes["result"] == 1:
        return np.zeros(node.shape)
    return linalg.spectrum_error(node, operands[0], kind)


# For each call op its values, and the error that an implementation is allowed; None for exact ones.
CALLS = {
    "linalg.cholesky": (linalg.cholesky, cholesky_error),
    "linalg.lu": (lu, lu_error),
    "linalg.solve": (solve, solve_error),
    "linalg.slogdet": (slogdet, slogdet_error),
    "linalg.solve_triangular": (solve_triangular, solve_triangular_error),
    "linalg.householder_product": (householder_product, householder_product_error),
    "linalg.permutation_of_pivots": (permutation_of_pivots, None),
    "linalg.svdvals": (linalg.spectrum, spectrum_error),
    "linalg.eigvalsh": (linalg.spectrum, spectrum_error),
    **decompositions.CALLS,
}
