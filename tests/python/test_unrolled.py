"""Loops that a trace unrolls: few kernels, the same bits as with a kernel for each step, and NumPy's values."""

import subprocess
import sys

import numpy as np
import pytest

import heddle as hd
from conftest import ON_CPU

N = 40


def triangular(x, y):
    x = x.copy()
    for i in range(N):
        x[i + 1:, 0] -= x[i, 0] * y[i + 1:, i]
    return x


def elimination(x, y):
    x = x.copy()
    for k in range(N - 1):
        x[k + 1:, k] /= x[k, k]
        x[k + 1:, k + 1:] -= x[k + 1:, k:k + 1] * x[k:k + 1, k + 1:]
    return x


def gram_schmidt(x, y):
    q = x.copy()
    for k in range(12):
        q[:, k] = q[:, k] / (q[:, k] * q[:, k]).sum() ** 0.5
        for j in range(k + 1, 12):
            q[:, j] -= q[:, k] * (q[:, k] * q[:, j]).sum()
    return q


def cholesky(x, y):
    a = x.copy()
    for i in range(12):
        for j in range(i):
            a[i, j] -= (a[i, :j] * a[j, :j]).sum()
            a[i, j] /= a[j, j]
        a[i, i] = (a[i, i] - (a[i, :i] * a[i, :i]).sum()) ** 0.5
    return a


def constants(x, y):
    for i in range(20):
        x = (x * (1 + i / 64) - y / (i + 2)).cumsum(axis=1) * 0.125
    return x


def columns(x, y):
    x = x.copy()
    for i in range(N - 1):
        x[0, i:] = (x[i + 1:, i:] * y[i + 1:, i:]).sum(axis=0)
    return x


def rows(x, y):
    x = x.copy()
    for i in range(N - 1):
        x[i:, 0] = (x[i:, i + 1:] - y[i:, i + 1:]).sum(axis=1)
    return x


def turned(x, y):
    x = x.copy()
    for i in range(20):
        x[i:, i:] = x[i:, i:].T + y[i:, i:].cumsum(axis=0) * (i + 0.5)
    return x


def strided(x, y):
    x = x.copy()
    for i in range(1, 16):
        x[i::2, ::3] = -x[i::2, ::3] + y[i::2, ::3].max()
        x[:, ::-1][i:, :i] *= 1 + 1 / i
    return x


LOOPS = [triangular, elimination, gram_schmidt, cholesky, constants, columns, rows, turned, strided]


def operands(dtype):
    random = np.random.default_rng(3)
    x = random.random((N, N)) - 0.25 + N * np.eye(N)
    return x.astype(dtype), (random.random((N, N)) / N).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
def test_shared_kernels_change_no_bit(loop, dtype):
    if dtype == "complex64" and loop is strided:
        pytest.skip("its max is of real numbers")
    x, y = operands(dtype)
    # Otherwise a compiler may fuse a product and a sum in one kernel and not in another.
    own = hd.jit(loop, strict=True, disable=["shared_kernels"])(hd.array(x), hd.array(y))
    shared = hd.jit(loop, strict=True)(hd.array(x), hd.array(y))
    assert hd.asnumpy(own).tobytes() == hd.asnumpy(shared).tobytes()
    tolerance = 1e-10 if dtype == "float64" else 2e-3
    np.testing.assert_allclose(hd.asnumpy(shared), loop(x, y), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", ["float16", "int32", "bool"])
def test_shared_constants_of_narrow_types_change_no_bit(dtype):
    def loop(x):
        for i in range(12):
            x = hd.cumsum(hd.where(x > i % 2, x + i, x * (i + 1)), axis=1).astype(dtype)
        return x

    x = hd.array((np.arange(12 * 20).reshape(12, 20) % 5).astype(dtype))
    own = hd.jit(loop, strict=True, disable=["shared_kernels"])(x)
    shared = hd.jit(loop, strict=True)(x)
    assert hd.asnumpy(own).tobytes() == hd.asnumpy(shared).tobytes()


def kernel_names(function, *specs, **options):
    report = hd.jit(function, **options).lower(*specs).explain()
    kernels = report.split("\nkernels\n")[1].split("\nsteps\n")[0]
    return {line.split(":")[0].strip() for line in kernels.splitlines() if line.startswith("  hd_")}


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
def test_unrolled_loops_have_few_kernels(loop):
    x = hd.spec((N, N), hd.float32)
    names = kernel_names(loop, x, x)
    # On a GPU, kernels also differ in how their slices are aligned to vectors.
    assert 0 < len(names) <= (24 if ON_CPU else 40), sorted(names)


SYMBOLIC = [loop for loop in LOOPS if loop not in (turned, strided)]


@pytest.mark.parametrize("loop", SYMBOLIC, ids=lambda loop: loop.__name__)
def test_loops_over_symbolic_extents_share_kernels(loop):
    dynamic = [("n", "m"), ("n", "m")]
    x, y = operands("float64")
    symbolic, constant = hd.jit(loop, strict=True, dynamic=dynamic), hd.jit(loop, strict=True)
    for rows, columns in ((N, N), (N + 7, N + 24)):
        wider = [np.pad(value, ((0, rows - N), (0, columns - N)), "reflect") for value in (x, y)]
        results = [hd.asnumpy(function(*map(hd.array, wider))) for function in (constant, symbolic)]
        # On a GPU, the order of a sum also depends on how its slices are aligned to vectors.
        assert not ON_CPU or results[0].tobytes() == results[1].tobytes()
        np.testing.assert_allclose(results[1], loop(*wider), rtol=1e-10, atol=1e-10)
    names = kernel_names(loop, hd.array(x), hd.array(y), strict=True, dynamic=dynamic)
    assert 0 < len(names) <= (10 if ON_CPU else 40), sorted(names)


def test_thousands_of_operations_of_five_bodies_have_few_kernels():
    def body(x):
        for i in range(2500):
            bodies = [x * (1 + i / 4096), x - i / 8, hd.maximum(x, i / 2), hd.abs(x + i), x / (i + 3)]
            x = bodies[i % 5].cumsum() / 1024
        return x

    names = kernel_names(body, hd.spec((100,), hd.float64))
    assert 0 < len(names) <= 8, names


def test_explain_shows_the_arguments_of_shared_kernels():
    x = hd.spec((N, N), hd.float32)
    text = hd.jit(constants).lower(x, x).explain()
    assert "shared by" in text, text


def test_a_large_program_says_so_once_with_the_line_of_the_loop(tmp_path):
    script = tmp_path / "loop.py"
    script.write_text("import heddle as hd\n"
                      "def f(x):\n"
                      "    for i in range(6000):\n"
                      "        x = x + i ** 0.5\n"
                      "    return x\n"
                      "g = hd.jit(f)\n"
                      "hd.eval(g(hd.zeros(4)))\n"
                      "hd.eval(g(hd.zeros(5)))\n"
                      "hd.eval(hd.jit(lambda x: x + 1)(hd.zeros(4)))\n")
    ended = subprocess.run([sys.executable, str(script)], text=True, capture_output=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.count("is a program of") == 1, ended.stderr
    assert f"recorded at {script}:4" in ended.stderr
    assert "fori_loop" in ended.stderr
