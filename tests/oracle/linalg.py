"""Factorisations of matrices, by numpy.linalg in float64 and complex128."""

import numpy as np

import dtypes


def conjugate_transpose(matrices):
    return matrices.conj().swapaxes(-1, -2)


def lower_triangles(node, operand):
    """What a call factorises: an upper triangle as the lower one that stands for the same matrix."""
    wide = operand.astype(np.complex128 if np.iscomplexobj(operand) else np.float64)
    if node.attributes.get("upper"):
        wide = conjugate_transpose(wide)
    wide = np.tril(wide)
    places = np.arange(wide.shape[-1])
    wide[..., places, places] = wide[..., places, places].real
    return wide


def factorize(matrices):
    """The lower factors, and the orders of the first leading minors that are not positive, or NaN,
    where the factors are NaN."""
    orders = np.zeros(matrices.shape[:-2], np.int64)
    factors = np.full(matrices.shape, np.nan, matrices.dtype)
    rows_of_nan = np.isnan(matrices).any(axis=-1)
    if not rows_of_nan.any():
        try:
            return np.linalg.cholesky(matrices), orders
        except np.linalg.LinAlgError:
            pass
    if matrices.ndim > 2:
        for place in np.ndindex(orders.shape):
            factors[place], orders[place] = factorize(matrices[place])
        return factors, orders
    if rows_of_nan.any():
        row = rows_of_nan.argmax()
        order = factorize(matrices[:row, :row])[1]
        return factors, np.array(order if order > 0 else row + 1)
    for order in range(1, len(matrices) + 1):
        try:
            np.linalg.cholesky(matrices[:order, :order])
        except np.linalg.LinAlgError:
            break
    return factors, np.array(order)


def cholesky(node, operand):
    factors, orders = factorize(lower_triangles(node, operand))
    if node.attributes["result"] == 1:
        return orders
    return conjugate_transpose(factors) if node.attributes.get("upper") else factors


def cholesky_error(node, operand, dtype):
    """What roundings may change of a result, infinite where they decide whether there is a factor.

    A computed factor is that of A + E with |E[i,j]| <= (n + 1) eps sqrt(A[i,i] A[j,j]) (Higham,
    Accuracy and Stability of Numerical Algorithms, theorem 10.3). Hence A + E lies between
    A - D and A + D for D = n (n + 1) eps diag(A): where both end alike, A + E ends so too. E moves
    the factor L by L low(L^-1 E L^-H) to first order. Of its terms the squares are added, as their
    signs are at random, and E grows with the root of n: 4 times what LAPACK was seen to be off by.
    """
    matrices = lower_triangles(node, operand)
    n, epsilon = matrices.shape[-1], dtypes.epsilon(dtype)
    eye = np.eye(n)
    is_open = np.isinf(matrices).any(axis=(-1, -2))
    finite = np.where(is_open[..., None, None], eye, matrices)
    margin = np.where(eye > 0, n * (n + 1) * epsilon * np.abs(finite), 0)
    is_open |= factorize(finite - margin)[1] != factorize(finite + margin)[1]
    if node.attributes["result"] == 1:
        return np.where(is_open, np.inf, 0.0)

    factors, orders = factorize(finite)
    factors = np.where((is_open | (orders > 0))[..., None, None], eye, factors)
    squares, inverses = np.abs(factors) ** 2, np.abs(np.linalg.inv(factors)) ** 2
    sizes = inverses @ squares.sum(axis=-1, keepdims=True)
    error = (2 + np.sqrt(n)) * epsilon * np.sqrt(squares @ np.tril(sizes @ sizes.swapaxes(-1, -2)))
    error = np.where((orders > 0)[..., None, None], 0.0, error)  # NaN
    error = np.where(is_open[..., None, None] | ~np.isfinite(error), np.inf, error)
    return error.swapaxes(-1, -2) if node.attributes.get("upper") else error


def hermitian(node, operand):
    """The Hermitian matrices of which a call reads one triangle."""
    lower = lower_triangles(node, operand)
    places = np.arange(lower.shape[-1])
    both = lower + conjugate_transpose(lower)
    both[..., places, places] /= 2
    return both


def wide_matrices(node, operand):
    """What svdvals and eigvalsh take apart, in float64 or complex128."""
    if node.op == "linalg.eigvalsh":
        return hermitian(node, operand)
    return operand.astype(np.complex128 if np.iscomplexobj(operand) else np.float64)


def spectrum(node, operand):
    """The singular values, or the eigenvalues of Hermitian matrices; or what became of them."""
    matrices = wide_matrices(node, operand)
    finite = np.isfinite(matrices).all(axis=(-1, -2))
    of_hermitian = node.op == "linalg.eigvalsh"
    if node.attributes["result"] == 1:
        failed = ~finite if of_hermitian else np.isnan(matrices).any(axis=(-1, -2))
        return np.where(failed, -4, 0)
    clean = np.where(finite[..., None, None], matrices, 0)
    values = np.linalg.eigvalsh(clean) if of_hermitian else np.linalg.svd(clean, compute_uv=False)
    return np.where(finite[..., None], values, np.nan)


def spectrum_error(node, operand, dtype):
    """A computed value is that of A + E, where |E| is a few eps |A| times the extent; by Weyl's
    inequality it is as far off as that."""
    matrices = wide_matrices(node, operand)
    finite = np.isfinite(matrices).all(axis=(-1, -2), keepdims=True)
    sizes = np.sqrt((np.abs(np.where(finite, matrices, 0)) ** 2).sum(axis=(-1, -2)))
    error = 4 * sum(matrices.shape[-2:]) * dtypes.epsilon(dtype) * sizes
    return np.broadcast_to(error[..., None], node.shape)
