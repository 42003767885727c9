"""Sparse matrices, with the names and the meaning of scipy.sparse.

A sparse matrix is a few Arrays: work on them is recorded, fuses, and runs on GPUs and CPUs. Where the
number of stored elements of a result depends on values, the function evaluates and waits for that
number; inside jit it raises TraceError. SciPy's matrices are taken wherever one is expected.
"""

from heddle.sparse._base import (issparse, isspmatrix, isspmatrix_bsr, isspmatrix_coo, isspmatrix_csc,
                                 isspmatrix_csr, isspmatrix_dia, sparray, spmatrix)
from heddle.sparse._compressed import csc_array, csc_matrix, csr_array, csr_matrix
from heddle.sparse._coo import coo_array, coo_matrix
from heddle.sparse._dia import dia_array, dia_matrix
