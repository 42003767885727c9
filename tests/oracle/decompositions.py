"""Decompositions whose results are not unique: QR factors, singular vectors, eigenvectors.

An implementation may give any results that belong to the operand, so that only what does not depend
on the choice can be compared: the product of all factors, sums over eigenvalues. Hence every run of
evaluate.py makes a choice of its own, the same one for all results of a call: other factors of
absolute value 1 of vectors, another order of eigenvalues. What depends on it has no tolerance.

By the theory of backward errors the results are those of A + E for a small E (Higham, Accuracy and
Stability of Numerical Algorithms, theorem 19.4 for QR; Golub and Van Loan, Matrix Computations,
sections 7.5, 8.3 and 8.6), so that every run also has another E, which all results of a call share.
"""

import numpy as np

import dtypes
import linalg


def wide(x):
    return x.astype(np.complex128 if np.iscomplexobj(x) else np.float64)


def transposed(x):
    return np.swapaxes(x, -1, -2)


def norms(matrices):
    """Frobenius norms of the matrices that are finite, 0 of others: [..., 1, 1]."""
    finite = np.isfinite(matrices).all(axis=(-1, -2), keepdims=True)
    squares = np.abs(np.where(finite, matrices, 0)) ** 2
    return np.sqrt(squares.sum(axis=(-1, -2), keepdims=True))


def moved(matrices, kind, rng):
    """The matrices, off by what roundings in a backward stable algorithm amount to."""
    size = 4 * np.sqrt(max(*matrices.shape[-2:], 1)) * dtypes.epsilon(kind) * norms(matrices)
    return matrices + size * random_numbers(rng, matrices)


def random_numbers(rng, like):
    if not np.iscomplexobj(like):
        return rng.uniform(-1, 1, like.shape)
    return rng.uniform(-1, 1, like.shape) + 1j * rng.uniform(-1, 1, like.shape)


def units(rng, shape, is_complex):
    """Numbers of absolute value 1, at random; 1 without a generator."""
    if rng is None:
        return np.ones(shape)
    return np.exp(2j * np.pi * rng.random(shape)) if is_complex else rng.choice([-1.0, 1.0], shape)


# A function of matrices in float64 or complex128, a node, and the random generator of a run gives
# all results of the call.

def reflectors(node, a, rng):
    """Of matrices that are given transposed."""
    h, tau = np.linalg.qr(transposed(a), mode="raw")
    return h, tau


def status_of(a, failed):
    return np.where(failed, -4, np.zeros(a.shape[:-2], np.int64))


def clean(a):
    """The matrices that are finite, 0 for the others, and which are."""
    finite = np.isfinite(a).all(axis=(-1, -2))
    return np.where(finite[..., None, None], a, 0), finite


def nan_unless(finite, value):
    return np.where(finite.reshape(finite.shape + (1,) * (value.ndim - finite.ndim)), value, np.nan)


def svd(node, a, rng):
    matrices, finite = clean(a)
    full = node.attributes.get("full_matrices", True)
    u, s, vh = np.linalg.svd(matrices, full_matrices=full)
    count = max(*a.shape[-2:])
    phases = units(rng, a.shape[:-2] + (count,), np.iscomplexobj(a))
    u = u * phases[..., None, :u.shape[-1]]
    vh = vh * phases.conj()[..., :vh.shape[-2], None]
    status = status_of(a, np.isnan(a).any(axis=(-1, -2)))
    return nan_unless(finite, u), nan_unless(finite, s), nan_unless(finite, vh), status


def svd_jacobi(node, a, rng):
    u, s, vh, status = svd(node, a, rng)
    return transposed(u).conj(), s, vh, status


def eigh(node, a, rng):
    """Rows are conjugates of eigenvectors."""
    matrices, finite = clean(a)
    values, vectors = np.linalg.eigh(matrices)
    rows = transposed(vectors).conj() * units(rng, values.shape, np.iscomplexobj(a))[..., None]
    status = np.zeros(a.shape[:-2], np.int64)
    return nan_unless(finite, values), nan_unless(finite, rows), status


def eigen_of(a, rng):
    """The eigenvalues of one matrix, and eigenvectors as rows; of a real matrix those of a pair of
    conjugates as the real and the imaginary part of the first one."""
    values, vectors = (x.astype(np.complex128) for x in np.linalg.eig(a))
    n, is_complex = len(a), np.iscomplexobj(a)
    firsts = [j for j in range(n) if is_complex or values[j].imag >= 0]
    if rng is not None:
        firsts = rng.permutation(firsts)
    places, rows = [], np.empty((n, n), a.dtype)
    for j in firsts:
        paired = not is_complex and values[j].imag > 0
        row = vectors[:, j] * units(rng, (), is_complex or paired)
        rows[len(places)] = row if is_complex else row.real
        if paired:
            rows[len(places) + 1] = row.imag
        places += [j, j + 1] if paired else [j]
    return values[places], rows


def eig(node, a, rng):
    """Of matrices that are given transposed."""
    matrices, finite = clean(transposed(a))
    values = np.empty(a.shape[:-1], np.complex128)
    rows = np.empty_like(a)
    for place in np.ndindex(a.shape[:-2]):
        values[place], rows[place] = eigen_of(matrices[place], rng)
    return nan_unless(finite, values), nan_unless(finite, rows), status_of(a, ~finite)


def eigvals(node, a, rng):
    values, _, status = eig(node, a, rng)
    return values, status


# Of each op the function, and its results that are never unique.
OPS = {
    "linalg.geqrf": (reflectors, ()),
    "linalg.svd": (svd, (0, 2)),
    "linalg.svd_jacobi": (svd_jacobi, (0, 2)),
    "linalg.eigh": (eigh, (1,)),
    "linalg.eig": (eig, (0, 1)),
    "linalg.eigvals": (eigvals, (0,)),
}


def operand_of(node, operand):
    """What the op takes apart, in float64 or complex128."""
    return linalg.hermitian(node, operand) if node.op == "linalg.eigh" else wide(operand)


def result(node, operand):
    return OPS[node.op][0](node, operand_of(node, operand), None)[result_of(node)]


def result_of(node):
    return node.attributes.get("result", 0)


def other_result(node, operand, kind, run):
    """A result that an implementation may give as well, before its elements are rounded. Equal
    calls choose alike in a run."""
    matrices = operand_of(node, operand)
    matrices = moved(matrices, kind, np.random.default_rng([run, 0]))
    if node.op == "linalg.eigh":
        matrices = (matrices + transposed(matrices).conj()) / 2
    choice = np.random.default_rng([run, 1, *node.operands])
    return OPS[node.op][0](node, matrices, choice)[result_of(node)]


def open_places(node, operand, kind):
    """Where a result has no definite value: vectors; reflectors of columns that depend on others,
    after which every later row of R turns on roundings."""
    if node.op != "linalg.geqrf":
        return np.full(node.shape, result_of(node) in OPS[node.op][1])
    columns = transposed(wide(operand))[..., :min(operand.shape[-2:])]
    values = np.linalg.svd(columns, compute_uv=False)
    least = values.min(axis=-1, initial=np.inf)
    dependent = least < 1e3 * dtypes.epsilon(kind) * values.max(axis=-1, initial=0)
    zero = values.max(axis=-1, initial=0) == 0
    return np.broadcast_to((dependent & ~zero).reshape(
        dependent.shape + (1,) * (len(node.shape) - dependent.ndim)), node.shape)


def error(node, operands, kind):
    """What each result is off by itself, beside E: vectors are not quite orthogonal."""
    if not dtypes.is_inexact(node.dtype):
        return np.zeros(node.shape)
    unit = 8 * dtypes.epsilon(kind)
    sizes = norms(operand_of(node, operands[0]))
    if node.op != "linalg.geqrf":
        vectors = len(node.shape) == operands[0].ndim
        return np.full(node.shape, unit) if vectors else np.broadcast_to(unit * sizes[..., 0], node.shape)
    if result_of(node) == 1:
        return np.full(node.shape, unit)
    column, row = np.ogrid[:node.shape[-2], :node.shape[-1]]
    return np.broadcast_to(np.where(row <= column, unit * sizes, unit), node.shape)


CALLS = {name: (result, error) for name in OPS}
