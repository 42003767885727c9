"""numpy.linalg's factorisations: values, dtypes, layouts, batches, and what fails."""

import inspect
import io
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import heddle as hd

DTYPES = ["float32", "float64", "complex64", "complex128"]


def positive_definite(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.standard_normal(shape)
    product = values @ np.conj(np.swapaxes(values, -1, -2))
    return (product + shape[-1] * np.eye(shape[-1])).astype(dtype)


def close(actual, expected, n):
    """Within what a backward stable factorisation of a matrix of a small condition gives."""
    actual = np.asarray(actual)
    assert actual.dtype == expected.dtype and actual.shape == expected.shape
    eps = np.finfo(expected.dtype).eps
    scale = np.abs(expected).max(initial=0)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=8 * (n + 1) * eps * scale)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (7, 7), (64, 64), (300, 300), (3, 5, 5),
                                   (2, 3, 16, 16), (1000, 4, 4)])
def test_factors_are_numpys(dtype, upper, shape):
    a = positive_definite(shape, dtype)
    expected = np.linalg.cholesky(a)
    if upper:
        expected = np.conj(np.swapaxes(expected, -1, -2))
    close(hd.linalg.cholesky(hd.array(a), upper=upper), expected, shape[-1])


@pytest.mark.parametrize("dtype", DTYPES)
def test_layouts(dtype):
    a = positive_definite((6, 9, 9), dtype)
    x = hd.array(a)
    close(hd.linalg.cholesky(x[1]), np.linalg.cholesky(a[1]), 9)
    close(hd.linalg.cholesky(x[::2, 2:7, 2:7]), np.linalg.cholesky(a[::2, 2:7, 2:7]), 9)
    close(hd.linalg.cholesky(x[::-1]), np.linalg.cholesky(a[::-1]), 9)
    close(hd.linalg.cholesky(x.transpose(0, 2, 1)), np.linalg.cholesky(a.transpose(0, 2, 1)), 9)
    broadcast = np.broadcast_to(a[0], (3, 9, 9))
    close(hd.linalg.cholesky(hd.broadcast_to(x[0], (3, 9, 9))), np.linalg.cholesky(broadcast), 9)


@pytest.mark.parametrize("upper", [False, True])
def test_only_one_triangle_is_read(upper):
    a = positive_definite((5, 5), "float64")
    kept = np.triu(a) if upper else np.tril(a)
    other = kept + (np.tril(np.full((5, 5), np.nan), -1) if upper
                    else np.triu(np.full((5, 5), np.nan), 1))
    expected = np.linalg.cholesky(a).T if upper else np.linalg.cholesky(a)
    close(hd.linalg.cholesky(hd.array(other), upper=upper), expected, 5)


@pytest.mark.parametrize("shape", [(0, 0), (3, 0, 0), (0, 4, 4), (0, 0, 0)])
def test_empty(shape):
    result = hd.linalg.cholesky(hd.zeros(shape))
    assert result.shape == shape and result.dtype == hd.float64
    assert np.asarray(result).shape == shape


def test_other_dtypes():
    ints = np.array([[4, 2], [2, 3]])
    close(hd.linalg.cholesky(hd.array(ints)), np.linalg.cholesky(ints), 2)
    close(hd.linalg.cholesky(hd.eye(3, dtype=bool)), np.eye(3), 3)
    for dtype in ("float16", "bfloat16"):
        with pytest.raises(hd.DTypeError, match="linalg.cholesky.*float16|f16"):
            hd.linalg.cholesky(hd.eye(3, dtype=dtype))


def test_shapes_that_are_no_matrices():
    for shape in [(3,), (), (2, 3), (4, 3, 2)]:
        with pytest.raises(hd.ShapeError, match="linalg.cholesky"):
            hd.linalg.cholesky(hd.ones(shape))


def failing():
    a = np.stack([np.eye(3)] * 4)
    a[2, 1, 1] = -1
    return a


def test_failure_is_raised_where_it_stands():
    with pytest.raises(hd.LinAlgError) as failure:
        line = inspect.currentframe().f_lineno + 1
        hd.linalg.cholesky(hd.array(failing()))
    message = str(failure.value)
    assert "linalg.cholesky(float64[4,3,3]): matrix 2 is not positive definite" in message
    assert f"test_linalg.py:{line}" in message
    assert isinstance(failure.value, ValueError) and isinstance(failure.value, hd.Error)
    assert hd.linalg.LinAlgError is hd.LinAlgError
    # Everything goes on.
    close(hd.linalg.cholesky(hd.array(failing()[:2])), failing()[:2], 3)
    hd.synchronize()


@pytest.mark.parametrize("cut", [0, 1, 2])
def test_symbolic_extents(cut):
    call = hd.jit(lambda a: hd.linalg.cholesky(a[cut:, cut:]), dynamic=[("n", "n")])
    for n in (2, 3, 5, 9, 40):
        a = positive_definite((n, n), "float64")
        close(call(hd.array(a)), np.linalg.cholesky(a[cut:, cut:]), n)
        hd.synchronize()
        if n - cut < 2:
            continue
        a[-1, cut] = np.nan
        assert np.isnan(np.asarray(ignoring(call, hd.array(a)))).all()


def ignoring(call, *arguments):
    with hd.errstate(linalg="ignore"):
        return call(*arguments)


def test_extents_that_change_at_one_line():
    for n in (4, 5, 6, 7, 9):
        a = positive_definite((n, n), "float64")
        close(hd.linalg.cholesky(hd.array(a)[2:, 2:]), np.linalg.cholesky(a[2:, 2:]), n)


def test_the_first_failure_of_a_batch_of_two_axes():
    a = np.stack([np.stack([np.eye(2)] * 3)] * 2)
    a[1, 0] *= -1
    a[1, 2] *= -1
    with pytest.raises(hd.LinAlgError, match=r"matrix \[1,0\] is not positive"):
        hd.linalg.cholesky(hd.array(a))
    with pytest.raises(hd.LinAlgError, match="the matrix is not positive"):
        hd.linalg.cholesky(hd.array(-np.eye(2)))


def test_ignored_failures_are_nan():
    with hd.errstate(linalg="ignore"):
        factors = np.asarray(hd.linalg.cholesky(hd.array(failing())))
    assert np.isnan(factors[2]).all()
    np.testing.assert_array_equal(factors[[0, 1, 3]], failing()[[0, 1, 3]])
    hd.synchronize()


def test_deferred_failures_are_raised_once_at_the_next_wait():
    with hd.errstate(linalg="defer"):
        factors = hd.linalg.cholesky(hd.array(failing())) + 1
    with pytest.raises(hd.LinAlgError, match="matrix 2"):
        hd.synchronize()
    assert np.isnan(np.asarray(factors)[2]).all()
    with hd.errstate(linalg="defer"):
        hd.linalg.cholesky(hd.array(failing()))
    with pytest.raises(hd.LinAlgError, match="matrix 2"):
        hd.arange(3).sum().item()
    assert hd.arange(3).sum().item() == 3


def test_every_deferred_failure_is_raised_and_one_that_stands_there_first():
    with hd.errstate(linalg="defer"):
        for bad in range(3):
            a = np.stack([np.eye(2)] * 3)
            a[bad] *= -1
            hd.linalg.cholesky(hd.array(a))
    # A call that raises where it stands looks at its own matrices only.
    np.testing.assert_array_equal(hd.linalg.cholesky(hd.eye(2)).shape, (2, 2))
    with pytest.raises(hd.LinAlgError, match="the matrix is"):
        hd.linalg.cholesky(-hd.eye(2))
    for bad in range(3):
        with pytest.raises(hd.LinAlgError, match=f"matrix {bad} is"):
            hd.synchronize()
    hd.synchronize()


def archive(folder):
    """A .npz file; an open one where Heddle finds no libzip."""
    path = str(folder / "x.npz")
    try:
        hd.savez(path, hd.eye(2))
    except hd.FileError:
        return io.BytesIO()
    return path


def test_failures_are_raised_where_arrays_leave(tmp_path):
    for leave in (lambda x: hd.save(str(tmp_path / "x.npy"), x), lambda x: x.__dlpack__(),
                  np.asarray, str,
                  lambda x: hd.savez(archive(tmp_path), x), lambda x: x.tolist()):
        with hd.errstate(linalg="defer"):
            factors = hd.linalg.cholesky(hd.array(failing()))
        with pytest.raises(hd.LinAlgError, match="matrix 2"):
            leave(factors)
        leave(factors)


def join(worker):
    """Until the system's thread has ended: before Python 3.13 `join` returns a moment earlier."""
    worker.join()
    while os.path.exists(f"/proc/self/task/{worker.native_id}"):
        time.sleep(0.001)


def test_another_thread_meets_the_failure_where_it_reads_the_result():
    call = hd.jit(lambda a: hd.linalg.cholesky(a) * 2)
    call(hd.eye(3))
    hd.synchronize()
    gate = threading.Event()

    def make(results):
        results.append(call(hd.array(failing())))
        gate.wait()

    results = []
    worker = threading.Thread(target=make, args=(results,))
    worker.start()
    try:
        while not results:
            time.sleep(0.001)
        hd.synchronize()  # waits for this thread's own work
        with pytest.raises(hd.LinAlgError, match="matrix 2"):
            np.asarray(results[0])
        assert np.isnan(np.asarray(results[0])[2]).all()
    finally:
        gate.set()
        worker.join()
    # What a thread that has ended left behind is for everybody.
    worker = threading.Thread(target=make, args=([],))
    worker.start()
    join(worker)
    with pytest.raises(hd.LinAlgError, match="matrix 2"):
        hd.synchronize()
    hd.synchronize()


def test_a_loop_that_never_waits_keeps_few_statuses():
    call = hd.jit(lambda a: hd.linalg.cholesky(a))
    call(hd.array(failing()))
    good = hd.eye(3)
    for _ in range(3000):
        call(good)
    with pytest.raises(hd.LinAlgError, match="matrix 2"):
        hd.synchronize()
    hd.synchronize()


def test_failures_are_raised_in_the_order_of_the_calls():
    call = hd.jit(lambda a: hd.linalg.cholesky(a))
    good = hd.array(np.stack([np.eye(3)] * 4))
    other = failing()
    other[0] *= -1
    # The first status is read ahead, the second is not.
    for i in range(1100):
        call(hd.array(failing()) if i == 0 else hd.array(other) if i == 700 else good)
    with pytest.raises(hd.LinAlgError, match="matrix 2"):
        hd.synchronize()
    with pytest.raises(hd.LinAlgError, match="matrix 0"):
        hd.synchronize()
    hd.synchronize()


def test_waiting_can_be_forbidden():
    program = """
import heddle as hd
with hd.errstate(linalg="defer"):
    hd.linalg.cholesky(-hd.eye(2))
try:
    hd.linalg.cholesky(hd.eye(2))
except hd.ValueError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          env={**os.environ, "HEDDLE_NO_SYNC": "1"}, check=True)
    assert done.stdout.startswith("linalg.cholesky waits for the device, which HEDDLE_NO_SYNC=1")


def test_deferred_factors_fuse_with_what_follows():
    a = positive_definite((4, 8, 8), "float64")
    x = hd.array(a)
    evaluations = {}
    for mode in ("raise", "defer"):
        before = hd.statistics()["evaluations"]
        with hd.errstate(linalg=mode):
            values = np.asarray(hd.exp(hd.linalg.cholesky(x + 0) * 0.5))
        evaluations[mode] = hd.statistics()["evaluations"] - before
    assert evaluations == {"raise": 2, "defer": 1}
    close(values, np.exp(np.linalg.cholesky(a) * 0.5), 8)


def test_in_a_traced_function():
    calls = hd.jit(lambda a: hd.linalg.cholesky(a) * 2)
    good = positive_definite((4, 3, 3), "float64")
    close(calls(hd.array(good)), 2 * np.linalg.cholesky(good), 3)
    result = calls(hd.array(failing()))
    with pytest.raises(hd.LinAlgError, match="matrix 2 is not positive definite") as failure:
        np.asarray(result)
    assert "test_linalg.py" in str(failure.value)
    assert np.isnan(np.asarray(result)[2]).all()
    close(calls(hd.array(good)), 2 * np.linalg.cholesky(good), 3)


def test_ignored_in_a_traced_function():
    def ignoring(a):
        with hd.errstate(linalg="ignore"):
            return hd.linalg.cholesky(a)

    assert np.isnan(np.asarray(hd.jit(ignoring)(hd.array(failing())))[2]).all()


def test_a_traced_function_is_traced_anew_where_failures_are_ignored():
    call = hd.jit(lambda a: hd.linalg.cholesky(a))
    bad = hd.array(failing())
    for _ in range(2):
        with hd.errstate(linalg="ignore"):
            assert np.isnan(np.asarray(call(bad))[2]).all()
        result = call(bad)
        with pytest.raises(hd.LinAlgError, match="matrix 2"):
            np.asarray(result)


def test_batches_of_any_extents():
    call = hd.jit(lambda a: hd.linalg.cholesky(a), dynamic=[("n", "m", None, None)])
    for shape in [(2, 3, 4, 4), (5, 7, 4, 4), (0, 3, 4, 4), (1, 1, 4, 4)]:
        a = positive_definite(shape, "float64")
        close(call(hd.array(a)), np.linalg.cholesky(a), 4)
    a[0, 0] *= -1
    bad = np.concatenate([positive_definite((2, 3, 4, 4), "float64")] * 2)
    bad[1, 2] *= -1
    with pytest.raises(hd.LinAlgError, match=r"matrix 5 of \[\w+,\w+\] is not positive"):
        np.asarray(call(hd.array(bad)))


def test_matrices_made_of_numbers():
    for number in (4.0, 9.0, 25.0):
        scalar = hd.full((), number)
        assert np.asarray(hd.linalg.cholesky(scalar.reshape(1, 1))) == [[number ** 0.5]]
        call = hd.jit(lambda s: hd.linalg.cholesky(hd.reshape(s, (1, 1))))
        assert np.asarray(call(number)) == [[number ** 0.5]]
        call = hd.jit(lambda s: hd.linalg.cholesky(hd.atleast_2d(s * 1.0)))
        assert np.asarray(call(number)) == [[number ** 0.5]]
    call = hd.jit(lambda s, x: hd.searchsorted(s.reshape(1), x))
    np.testing.assert_array_equal(call(hd.array(2.5), hd.array([1.0, 3.0])), [0, 1])
    call = hd.jit(lambda s, x: (hd.searchsorted(hd.reshape(s, (1,)), x),
                                hd.reshape(s, (1, 1)) @ x.reshape(1, 2),
                                hd.sort(hd.reshape(s, (1,)))))
    for number in (0.5, 2.5):
        found, product, sorted_ = call(number, hd.array([1.0, 3.0]))
        np.testing.assert_array_equal(found, np.searchsorted([number], [1.0, 3.0]))
        np.testing.assert_array_equal(product, [[number, 3 * number]])
        np.testing.assert_array_equal(sorted_, [number])


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_nan_that_is_read_is_a_failure(dtype):
    a = positive_definite((3, 3), dtype)
    a[1, 0] = np.nan
    with pytest.raises(hd.LinAlgError, match="not positive definite"):
        hd.linalg.cholesky(hd.array(a))
    close(hd.linalg.cholesky(hd.array(a), upper=True),
          np.linalg.cholesky(np.conj(np.triu(a).T) + np.triu(a, 1)).conj().T, 3)


def test_along_an_axis_each_line_fails_by_itself():
    lines = np.array([[4.0, 0, 0, 9.0], [1.0, 0, 0, -1.0]])

    def factor(line):
        return hd.linalg.cholesky(line.reshape(2, 2)).reshape(4)

    np.testing.assert_allclose(np.asarray(hd.apply_along_axis(factor, 1, hd.array(lines[:1]))),
                               [[2, 0, 0, 3]])
    with pytest.raises(hd.LinAlgError):
        hd.apply_along_axis(factor, 1, hd.array(lines))


def test_errstate_nests_and_refuses_other_names():
    with pytest.raises(hd.ValueError, match="'raise', 'defer' or 'ignore', not 'warn'"):
        with hd.errstate(linalg="warn"):
            pass
    with hd.errstate(linalg="ignore"):
        with hd.errstate(linalg="raise"):
            with pytest.raises(hd.LinAlgError):
                hd.linalg.cholesky(hd.array(-np.eye(2)))
        hd.linalg.cholesky(hd.array(-np.eye(2)))
    with pytest.raises(hd.LinAlgError):
        hd.linalg.cholesky(hd.array(-np.eye(2)))


def test_solving_with_a_factor():
    a = positive_definite((50, 50), "float64")
    factor = hd.linalg.cholesky(hd.array(a))
    np.testing.assert_allclose(np.asarray(factor @ factor.T), a, rtol=1e-12, atol=1e-10)
