"""Linear algebra with sparse matrices and linear operators, with the names of scipy.sparse.linalg.

Iterative solvers and eigenvalues are loops on the device: they wait once, at the end, however many
steps they take. With a callback they wait in each step.
"""

from heddle.sparse.linalg._augmented import gcrotmk, lgmres
from heddle.sparse.linalg._biorthogonal import bicg, qmr, tfqmr
from heddle.sparse.linalg._eigen import ArpackError, ArpackNoConvergence, eigsh, svds
from heddle.sparse.linalg._eigs import eigs
from heddle.sparse.linalg._expm import expm_multiply
from heddle.sparse.linalg._factors import SuperLU, factorized, spilu, splu, spsolve
from heddle.sparse.linalg._functions import expm, inv, matrix_power
from heddle.sparse.linalg._gmres import gmres
from heddle.sparse.linalg._krylov import bicgstab, cg, cgs
from heddle.sparse.linalg._least_squares import lsmr, lsqr
from heddle.sparse.linalg._lobpcg import lobpcg
from heddle.sparse.linalg._minres import minres
from heddle.sparse.linalg._norm import norm
from heddle.sparse.linalg._operators import LinearOperator, aslinearoperator
from heddle.sparse.linalg._structure import is_sptriangular, onenormest, spbandwidth
from heddle.sparse.linalg._triangular import spsolve_triangular

__all__ = ["ArpackError", "ArpackNoConvergence", "LinearOperator", "SuperLU", "aslinearoperator",
           "bicg", "bicgstab", "cg", "cgs", "eigs", "eigsh", "expm", "expm_multiply", "factorized",
           "gcrotmk", "gmres", "inv", "is_sptriangular", "lgmres", "lobpcg", "lsmr", "lsqr",
           "matrix_power", "minres", "norm", "onenormest", "qmr", "spbandwidth", "spilu", "splu",
           "spsolve", "spsolve_triangular", "svds", "tfqmr"]


def __getattr__(name):
    # Categories of warnings that SciPy's users filter; SciPy is not imported without need.
    if name == "MatrixRankWarning":
        from scipy.sparse.linalg import MatrixRankWarning

        return MatrixRankWarning
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
