"""Sparse matrices, with the names and the meaning of scipy.sparse.

A sparse matrix is a few Arrays: work on them is recorded, fuses, and runs on GPUs and CPUs. Where the
number of stored elements of a result depends on values, the function evaluates and waits for that
number; inside jit it raises TraceError. SciPy's matrices are taken wherever one is expected.
"""

from heddle import _heddle
from heddle.sparse import csgraph, linalg
from heddle.sparse._base import (issparse, isspmatrix, isspmatrix_bsr, isspmatrix_coo, isspmatrix_csc,
                                 isspmatrix_csr, isspmatrix_dia, sparray, spmatrix)
from heddle.sparse._bsr import bsr_array, bsr_matrix
from heddle.sparse._compressed import csc_array, csc_matrix, csr_array, csr_matrix
from heddle.sparse._construct import (block_array, block_diag, bmat, diags, diags_array, eye, eye_array,
                                      find, hstack, identity, kron, kronsum, matrix_transpose,
                                      permute_dims, rand, random, random_array, spdiags, swapaxes,
                                      tril, triu, vstack)
from heddle.sparse._coo import coo_array, coo_matrix
from heddle.sparse._dia import dia_array, dia_matrix
from heddle.sparse._files import load_npz, save_npz

segment_sum = _heddle._sparse.segment_sum

_CHANGED_BY_ELEMENT = ("lil_array", "lil_matrix", "dok_array", "dok_matrix")


# Categories of warnings that SciPy's users filter; SciPy is not imported without need.
_WARNINGS = ("SparseEfficiencyWarning", "SparseWarning")


def __getattr__(name):
    if name in _WARNINGS:
        import scipy.sparse

        return getattr(scipy.sparse, name)
    if name in _CHANGED_BY_ELEMENT:
        raise AttributeError(
            f"hd.sparse has no {name}, whose elements are set one by one: make it with scipy.sparse.{name} "
            "and pass it to hd.sparse.csr_array, or collect (data, (row, col)) for hd.sparse.coo_array")
    raise AttributeError(f"module 'heddle.sparse' has no attribute '{name}'")


__all__ = ["block_array", "block_diag", "bmat", "bsr_array", "bsr_matrix", "coo_array", "coo_matrix",
           "csc_array", "csc_matrix", "csgraph", "csr_array", "csr_matrix", "dia_array", "dia_matrix",
           "diags", "diags_array", "eye", "eye_array", "find", "hstack", "identity", "issparse",
           "isspmatrix", "isspmatrix_bsr", "isspmatrix_coo", "isspmatrix_csc", "isspmatrix_csr",
           "isspmatrix_dia", "kron", "kronsum", "linalg", "load_npz", "matrix_transpose", "permute_dims",
           "rand", "random", "random_array", "save_npz", "segment_sum", "sparray", "spdiags", "spmatrix",
           "swapaxes", "tril", "triu", "vstack"]
