"""References in float64, and the errors of results."""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

EXACT = {"f": np.float64, "c": np.complex128}


def exact_dtype(dtype):
    """The dtype in which a reference computes with the dtype: the widest of its kind. bfloat16 is not
    of NumPy's own kinds."""
    dtype = np.dtype(dtype)
    return np.float64 if dtype.name == "bfloat16" else EXACT.get(dtype.kind, dtype)


class Exact:
    """NumPy, except that conversions to floating-point dtypes keep all digits."""

    @staticmethod
    def astype(x, dtype):
        return x.astype(np.float64 if dtype == "bfloat16" else exact_dtype(dtype))

    def __getattr__(self, name):
        return getattr(np, name)


def in_pieces(count, pieces, function):
    """Calls function(begin, end) for pieces of [0, count) on threads. NumPy releases the GIL."""
    step = max(1, -(-count // pieces))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        begins = range(0, count, step)
        return list(pool.map(lambda begin: function(begin, min(count, begin + step)), begins))


def reference_of(program, inputs):
    """The same expression in NumPy, in float64 or complex128. Computed in parallel pieces along rows
    that are independent."""

    def of_rows(begin, end):
        cut = [x[begin:end + program.halo] if i in program.rows else x
               for i, x in enumerate(inputs)]
        with np.errstate(all="ignore"):
            return np.asarray(program.function(
                Exact(), *(x.astype(exact_dtype(x.dtype), copy=False) for x in cut)))

    count = inputs[program.rows[0]].shape[0] - program.halo if program.rows else 1
    if count < 2:
        return of_rows(0, count)
    return np.concatenate(in_pieces(count, 4 * os.cpu_count(), of_rows))


def worst_error(result, reference, floor):
    """The largest error of all elements, relative to the larger of `floor` and the value; NaN if only
    one of result and reference is NaN."""
    if result.shape != reference.shape:
        raise ValueError(f"a result of shape {result.shape} instead of {reference.shape}")
    flat, wanted = result.reshape(-1), reference.reshape(-1)
    exact = np.complex128 if reference.dtype.kind == "c" else np.float64

    def of_piece(begin, end):
        want, got = (x[begin:end].astype(exact, copy=False) for x in (wanted, flat))
        with np.errstate(all="ignore"):
            error = np.abs(got - want) / np.maximum(np.abs(want), floor)
        # Compared in their own dtypes: float64 has not every whole number.
        same = (flat[begin:end] == wanted[begin:end]) | np.isnan(want) & np.isnan(got)
        return float(np.max(np.where(same, 0, np.maximum(error, np.finfo(float).tiny))))

    return float(np.max(in_pieces(flat.size, max(1, flat.size >> 18), of_piece)))
