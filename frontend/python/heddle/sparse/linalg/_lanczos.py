"""Lanczos iterations, for Hermitian operators."""

import heddle as hd
from heddle.sparse.linalg._restarts import Wanted

# Names of SciPy -> how much a value is wanted.
_KEYS = {"LM": hd.abs, "SM": lambda values: -hd.abs(values), "LA": lambda values: values,
         "SA": lambda values: -values, "BE": lambda values: values}
WHICH = tuple(_KEYS)


class Lanczos:
    """The method of _restarts.py for Hermitian operators. Of `matrix` the lower triangle is kept. Vectors
    that have converged are locked: the matrix has their values only, so that they do not mix with other
    vectors of the same value."""

    def __init__(self, k, which, tol, dtype):
        self.k, self.value_dtype = k, hd.finfo(dtype).dtype
        self.wanted = Wanted(k, _KEYS[which], tol, dtype, which == "BE")

    def with_products(self, matrix, j, along, after, locked):
        """The matrix with the products of vector j and the basis."""
        along = hd.where(locked, hd.zeros_like(along), along)
        return hd.dynamic_update_index_in_dim(matrix, hd.conj(along), j, 0)

    def solved(self, matrix, locked):
        """Ritz values and vectors, and which of them are locked."""
        values, vectors = hd.linalg.eigh(matrix)
        part = hd.sum(hd.where(locked[:, None], hd.abs(vectors) ** 2, hd.zeros_like(values)), axis=0)
        return values, vectors, part > 0.5

    def projected(self, state, keep):
        """Coefficients [ncv, keep] of a basis of the best Ritz vectors, and the operator in it."""
        return state["vectors"][:, :keep], hd.diag(state["values"][:keep].astype(state["matrix"].dtype))
