"""Arnoldi iterations, for operators that are not Hermitian."""

import heddle as hd
from heddle.sparse.linalg._restarts import Wanted

# Names of SciPy -> how much a value is wanted. Values of real operators come in conjugate pairs; of
# these, LI and SI take the size of the imaginary part.
_KEYS = {"LM": hd.abs, "SM": lambda values: -hd.abs(values), "LR": hd.real,
         "SR": lambda values: -hd.real(values), "LI": hd.imag, "SI": lambda values: -hd.imag(values)}
WHICH = tuple(_KEYS)


def _key(which, is_real):
    if which in ("LI", "SI") and is_real:
        return lambda values: (1 if which == "LI" else -1) * hd.abs(hd.imag(values))
    return _KEYS[which]


class Arnoldi:
    """The method of _restarts.py for operators of any kind, in complex numbers. The Ritz vectors that
    a restart keeps are made orthonormal, after Krylov and Schur (Stewart 2001): they span an invariant
    subspace of the matrix, so the basis stays one of a Krylov space."""

    def __init__(self, k, which, tol, dtype, is_real):
        self.k, self.value_dtype = k, dtype
        self.wanted = Wanted(k, _key(which, is_real), tol, dtype)

    def with_products(self, matrix, j, along, after, locked):
        """The matrix with the products of vector j and the basis."""
        below = hd.where(hd.arange(along.shape[0]) == j + 1, after, hd.zeros_like(after))
        return hd.dynamic_update_index_in_dim(matrix, along + below.astype(along.dtype), j, 1)

    def solved(self, matrix, locked):
        """Ritz values and vectors, and which of them count as locked: none."""
        values, vectors = hd.linalg.eig(matrix)
        return values, vectors, hd.zeros(values.shape, dtype=hd.bool)

    def projected(self, state, keep):
        """Coefficients [ncv, keep] of a basis of the best Ritz vectors, and the operator in it."""
        turn, _ = hd.linalg.qr(state["vectors"][:, :keep])
        return turn, hd.conj(turn.T) @ state["matrix"] @ turn
