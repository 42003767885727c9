"""Dask: arrays whose chunks are Arrays."""

import numpy as np
import pytest
from conftest import neighbour

import heddle as hd

da = neighbour("dask.array")
pytestmark = pytest.mark.usefixtures("on_host")
VALUES = np.random.default_rng(0).random((8, 6))


def chunked(values=VALUES):
    return da.from_array(hd.asarray(values), chunks=(4, 3), asarray=False)


def check(array, expected):
    """The chunks, their meta and the result are Arrays, and the elements are right."""
    assert isinstance(array._meta, hd.Array)
    result = array.compute(scheduler="synchronous")
    assert isinstance(result, hd.Array)
    np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-12)


def test_chunks_are_arrays():
    array = chunked()
    check(array, VALUES)
    assert "chunktype=heddle.Array" in repr(array)
    assert isinstance(array.blocks[0, 0].compute(), hd.Array)
    seen = set()
    array.map_blocks(lambda block: seen.add(type(block)) or block, dtype=float).compute(
        scheduler="synchronous")
    assert seen == {hd.Array}
    check(da.from_array(hd.asarray(VALUES), chunks=(4, 3), meta=hd.empty((0, 0))), VALUES)


SAME = {
    "sum": lambda xp, x: x.sum(), "sum0": lambda xp, x: x.sum(axis=0), "mean": lambda xp, x: x.mean(axis=1),
    "std": lambda xp, x: x.std(), "var": lambda xp, x: x.var(axis=0), "max": lambda xp, x: x.max(axis=0),
    "any": lambda xp, x: (x > 0.5).any(axis=0), "prod": lambda xp, x: x.prod(axis=0),
    "cumsum": lambda xp, x: x.cumsum(axis=0), "nansum": lambda xp, x: xp.nansum(x, axis=0),
    "median": lambda xp, x: xp.median(x, axis=0), "cov": lambda xp, x: xp.cov(x),
    "arithmetic": lambda xp, x: (x + 1) * x, "ufunc": lambda xp, x: np.sin(x), "clip": lambda xp, x: x.clip(0.2, 0.8),
    "where": lambda xp, x: xp.where(x > 0.5, x, 0), "slice": lambda xp, x: x[1:5, ::2],
    "list": lambda xp, x: x[[0, 5, 3]], "mask": lambda xp, x: x[x[:, 0] > 0.5],
    "transpose": lambda xp, x: x.T, "reshape": lambda xp, x: x.reshape(-1), "matmul": lambda xp, x: x @ x.T,
    "tensordot": lambda xp, x: xp.tensordot(x, x, axes=((1,), (1,))),
    "einsum": lambda xp, x: xp.einsum("ij,kj->ik", x, x), "norm": lambda xp, x: xp.linalg.norm(x),
    "concatenate": lambda xp, x: xp.concatenate([x, x]), "stack": lambda xp, x: xp.stack([x, x]),
    "roll": lambda xp, x: xp.roll(x, 1, axis=0), "pad": lambda xp, x: xp.pad(x, 1), "tril": lambda xp, x: xp.tril(x),
    "bincount": lambda xp, x: xp.bincount((x[:, 0] * 4).astype(int), minlength=5)}


@pytest.mark.parametrize("name", SAME)
def test_functions(name):
    check(SAME[name](da, chunked()), SAME[name](np, VALUES))


@pytest.mark.parametrize("function", [lambda block: hd.sin(block) * 2, hd.jit(lambda block: hd.sin(block) * 2)])
def test_map_blocks(function):
    check(chunked().map_blocks(function, dtype=float, meta=hd.empty((0, 0))), np.sin(VALUES) * 2)


def test_blocks_of_numpy_become_arrays():
    array = da.from_array(VALUES, chunks=4).map_blocks(hd.asarray, meta=hd.empty((0, 0)))
    check(array.sum(axis=0), VALUES.sum(axis=0))
    check(chunked().map_overlap(lambda block: block * 2, depth=1, boundary="reflect"), VALUES * 2)
    check(da.apply_gufunc(lambda v: v.sum(axis=-1), "(i)->()", chunked().rechunk((4, 6)), output_dtypes=float),
          VALUES.sum(axis=-1))


def test_decompositions():
    tall = chunked().rechunk((4, 6))
    q, r = da.linalg.qr(tall)
    check(q @ r, VALUES)
    check(da.linalg.svd(tall)[1], np.linalg.svd(VALUES)[1])


def test_threads():
    array = chunked()
    total = (array @ array.T).sum().compute(scheduler="threads", num_workers=2)
    np.testing.assert_allclose(float(total), (VALUES @ VALUES.T).sum())


def test_assignment_and_storing():
    array = chunked()
    array[array > 0.5] = 0
    check(array, np.where(VALUES > 0.5, 0, VALUES))
    out = hd.zeros((8, 6))
    da.store(chunked() + 1, out)
    np.testing.assert_array_equal(np.asarray(out), VALUES + 1)


def test_arrays_and_chunked_arrays_together():
    x = hd.asarray(VALUES)
    kinds = da.chunk_types._HANDLED_CHUNK_TYPES
    before = list(kinds)
    try:
        da.register_chunk_type(hd.Array)
        check(x + chunked(), VALUES * 2)
        check(chunked() + x, VALUES * 2)
    finally:
        kinds[:] = before
    assert isinstance(hd.asarray(chunked()), hd.Array)


def test_tokens_follow_the_elements():
    from dask.base import tokenize
    x = hd.asarray(VALUES)
    assert tokenize(x) == tokenize(hd.asarray(VALUES)) != tokenize(x + 1)
