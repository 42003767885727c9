"""linalg.solve, inv, det, slogdet, and what is composed of them."""

import inspect

import numpy as np
import pytest

import heddle as hd
from linalg_cases import DTYPES, random, regular, same, small

SHAPES = [(1, 1), (2, 2), (7, 7), (64, 64), (200, 200), (3, 5, 5), (2, 3, 16, 16), (500, 4, 4)]
EMPTY = [(0, 0), (3, 0, 0), (0, 4, 4)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("columns", [1, 3])
def test_solutions(dtype, shape, columns):
    a, b = regular(shape, dtype), random(shape[:-1] + (columns,), dtype, 1)
    x = np.asarray(hd.linalg.solve(hd.array(a), hd.array(b)))
    assert x.dtype == a.dtype and x.shape == b.shape
    small(a @ x - b, a)
    same(x, np.linalg.solve(a, b))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_inverses(dtype, shape):
    a = regular(shape, dtype)
    x = np.asarray(hd.linalg.inv(hd.array(a)))
    assert x.dtype == a.dtype
    small(a @ x - np.eye(shape[-1]), a)
    small(x @ a - np.eye(shape[-1]), a)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_determinants(dtype, shape):
    a = random(shape, dtype)
    sign, logabsdet = hd.linalg.slogdet(hd.array(a))
    expected = np.linalg.slogdet(a)
    same(sign, np.asarray(expected.sign), 500)
    same(logabsdet, np.asarray(expected.logabsdet), 500)
    if shape[-1] < 100:
        det = np.asarray(hd.linalg.det(hd.array(a)))
        eps = np.finfo(a.dtype).eps
        np.testing.assert_allclose(det, np.linalg.det(a), rtol=5000 * shape[-1] * eps)
        assert det.dtype == a.dtype


@pytest.mark.parametrize("shape", EMPTY)
def test_empty(shape):
    a, x = np.zeros(shape), hd.zeros(shape)
    for name in ("inv", "det"):
        same(getattr(hd.linalg, name)(x), np.asarray(getattr(np.linalg, name)(a)))
    same(hd.linalg.slogdet(x).sign, np.asarray(np.linalg.slogdet(a).sign))
    b = np.zeros(shape[:-1] + (2,))
    same(hd.linalg.solve(x, hd.array(b)), np.linalg.solve(a, b))
    none = np.zeros((3, 5, 0))
    same(hd.linalg.solve(hd.array(regular((3, 5, 5))), hd.array(none)), none)


@pytest.mark.parametrize("a, b", [((4, 4), (4,)), ((2, 4, 4), (4,)), ((2, 4, 4), (4, 3)),
                                  ((2, 4, 4), (1, 4, 3)), ((4, 4), (5, 4, 3)),
                                  ((2, 1, 4, 4), (3, 4, 2)), ((1, 4, 4), (0, 4, 2))])
def test_batches_broadcast_and_a_vector_has_one_axis(a, b):
    matrices, sides = regular(a), random(b, seed=1)
    same(hd.linalg.solve(hd.array(matrices), hd.array(sides)), np.linalg.solve(matrices, sides))


@pytest.mark.parametrize("dtype", DTYPES)
def test_layouts(dtype):
    a, b = regular((6, 9, 9), dtype), random((6, 9, 4), dtype, 1)
    x, y = hd.array(a), hd.array(b)
    for of in (lambda m: m[::2, 2:7, 2:7], lambda m: m[::-1, 1:6, 1:6],
               lambda m: m.transpose(0, 2, 1)):
        same(hd.linalg.inv(of(x)), np.linalg.inv(of(a)))
        same(hd.linalg.det(of(x)), np.asarray(np.linalg.det(of(a))), 1000)
    same(hd.linalg.solve(x.transpose(0, 2, 1), y[:, ::-1, ::2]),
         np.linalg.solve(a.transpose(0, 2, 1), b[:, ::-1, ::2]))
    same(hd.linalg.solve(x, x), np.linalg.solve(a, a))
    same(x, a)


def test_promotion():
    a, b = np.array([[2, 1], [1, 3]]), np.array([1, 2], np.float32)
    for left, right in ((a, b), (b[0] * a, b), (a.astype(np.float32), b), (a, b.astype(np.complex64)),
                        (np.eye(2) == 1, a)):
        same(hd.linalg.solve(hd.array(left), hd.array(right)), np.linalg.solve(left, right))
    same(hd.linalg.inv(hd.array(a)), np.linalg.inv(a))
    same(hd.linalg.det([[2, 1], [1, 3]]), np.asarray(np.linalg.det(a)))


@pytest.mark.parametrize("name", ["inv", "det", "slogdet"])
def test_bad_operands(name):
    function = getattr(hd.linalg, name)
    for shape in [(3,), (), (2, 3), (4, 3, 2)]:
        with pytest.raises(hd.ShapeError, match=f"linalg.{name}"):
            function(hd.ones(shape))
    for dtype in ("float16", "bfloat16"):
        with pytest.raises(hd.DTypeError, match=f"linalg.{name}.*float16.*cast to float32"):
            function(hd.eye(3, dtype=dtype))


def test_bad_sides():
    a = hd.eye(3)
    with pytest.raises(hd.ShapeError, match="the matrices have 3 rows, b has 4"):
        hd.linalg.solve(a, hd.ones(4))
    with pytest.raises(hd.ShapeError, match="b must have at least 1 dimension"):
        hd.linalg.solve(a, 1.0)
    with pytest.raises(hd.ShapeError):
        hd.linalg.solve(hd.broadcast_to(a, (2, 3, 3)), hd.ones((3, 3, 1)))


def singular():
    a = np.stack([np.eye(3)] * 4)
    a[2, 1] = 0
    return a


def test_a_singular_matrix_is_raised_where_it_stands():
    for call, text in ((lambda a: hd.linalg.inv(a), "linalg.inv(float64[4,3,3])"),
                       (lambda a: hd.linalg.solve(a, hd.ones(3)),
                        "linalg.solve(float64[4,3,3], float64[3])")):
        with pytest.raises(hd.LinAlgError) as failure:
            call(hd.array(singular()))
        line = inspect.currentframe().f_lineno - 6
        assert f"{text}: matrix 2 is singular" in str(failure.value)
        assert "test_linalg_solve.py:" in str(failure.value) and line > 0
    with pytest.raises(hd.LinAlgError, match="the matrix is singular"):
        hd.linalg.inv(hd.ones((3, 3)))
    # Everything goes on.
    same(hd.linalg.inv(hd.array(singular()[:2])), singular()[:2])
    hd.synchronize()


def test_only_the_singular_matrix_is_nan():
    with hd.errstate(linalg="ignore"):
        inverse = np.asarray(hd.linalg.inv(hd.array(singular())))
        x = np.asarray(hd.linalg.solve(hd.array(singular()), hd.ones(3)))
    assert np.isnan(inverse[2]).all() and np.isnan(x[2]).all()
    same(inverse[[0, 1, 3]], singular()[[0, 1, 3]])
    same(x[[0, 1, 3]], np.ones((3, 3)))


def test_deferred_and_in_traced_functions():
    with hd.errstate(linalg="defer"):
        inverse = hd.linalg.inv(hd.array(singular()))
        with pytest.raises(hd.LinAlgError, match="matrix 2 is singular"):
            np.asarray(inverse)
    call = hd.jit(lambda a, b: hd.linalg.solve(a, b) + 1)
    a, b = regular((2, 5, 5)), random((2, 5, 2), seed=1)
    same(call(hd.array(a), hd.array(b)), np.linalg.solve(a, b) + 1)
    result = call(hd.array(singular()), hd.ones((4, 3, 1)))
    with pytest.raises(hd.LinAlgError, match="matrix 2 is singular"):
        np.asarray(result)


def test_a_singular_matrix_has_a_determinant():
    for dtype in DTYPES:
        a = np.stack([np.ones((3, 3)), np.eye(3), np.zeros((3, 3))]).astype(dtype)
        expected = np.linalg.slogdet(a)
        found = hd.linalg.slogdet(hd.array(a))
        np.testing.assert_array_equal(np.asarray(found.sign), expected.sign)
        np.testing.assert_array_equal(np.asarray(found.logabsdet), expected.logabsdet)
        np.testing.assert_array_equal(np.asarray(hd.linalg.det(hd.array(a))), [0, 1, 0])
    assert found._fields == ("sign", "logabsdet")


def test_nan_is_no_failure():
    a = np.eye(3)
    a[1, 2] = np.nan
    assert np.isnan(np.asarray(hd.linalg.solve(hd.array(a), hd.ones(3)))).any()
    a[0, 0] = np.nan
    assert np.isnan(np.asarray(hd.linalg.det(hd.array(a))))


def test_symbolic_extents():
    solve = hd.jit(lambda a, b: hd.linalg.solve(a, b), dynamic=[("n", "n"), ("n", "k")])
    det = hd.jit(lambda a: hd.linalg.det(a), dynamic=[("b", "n", "n")])
    for n, k in ((2, 1), (5, 3), (9, 4), (40, 1)):
        a, b = regular((n, n)), random((n, k), seed=1)
        same(solve(hd.array(a), hd.array(b)), np.linalg.solve(a, b))
        stack = regular((k, n, n)) / n
        np.testing.assert_allclose(np.asarray(det(hd.array(stack))), np.linalg.det(stack), rtol=1e-10)


def test_along_an_axis():
    lines = np.stack([np.arange(4.0) + i for i in range(3)])
    matrix = regular((4, 4))
    found = hd.apply_along_axis(lambda b: hd.linalg.solve(hd.array(matrix), b), 1, hd.array(lines))
    same(found, np.linalg.solve(matrix, lines.T).T)
    found = hd.apply_along_axis(lambda b: hd.linalg.det(hd.diag(b + 1)), 1, hd.array(lines))
    np.testing.assert_allclose(np.asarray(found), np.prod(lines + 1, axis=1))


@pytest.mark.parametrize("n", [-3, -1, 0, 1, 2, 3, 7, 10])
@pytest.mark.parametrize("dtype", DTYPES + ["int32", "int64", "bool"])
def test_powers(n, dtype):
    a = (regular((2, 3, 3), "float64") / 8).astype(dtype) if dtype in DTYPES else \
        np.array([[1, 1], [0, 1]], dtype)
    same(hd.linalg.matrix_power(hd.array(a), n), np.linalg.matrix_power(a, n), 200) \
        if dtype in DTYPES or n < 0 else \
        np.testing.assert_array_equal(np.asarray(hd.linalg.matrix_power(hd.array(a), n)),
                                      np.linalg.matrix_power(a, n))


def test_bad_powers():
    with pytest.raises(TypeError):
        hd.linalg.matrix_power(hd.eye(2), 0.5)
    with pytest.raises(hd.ShapeError, match="linalg.matrix_power"):
        hd.linalg.matrix_power(hd.ones((2, 3)), 2)
    with pytest.raises(hd.LinAlgError):
        hd.linalg.matrix_power(hd.ones((2, 2)), -1)


def test_tensors():
    a, b = random((6, 4, 2, 3, 4)), random((6, 4), seed=1)
    same(hd.linalg.tensorsolve(hd.array(a), hd.array(b)), np.linalg.tensorsolve(a, b), 500)
    moved = np.moveaxis(a, 2, 0)
    same(hd.linalg.tensorsolve(hd.array(moved), hd.array(b), axes=(0,)),
         np.linalg.tensorsolve(moved, b, axes=(0,)), 500)
    same(hd.linalg.tensorinv(hd.array(random((4, 6, 8, 3)))), np.linalg.tensorinv(random((4, 6, 8, 3))),
         2000)
    same(hd.linalg.tensorinv(hd.array(random((24, 8, 3))), ind=1),
         np.linalg.tensorinv(random((24, 8, 3)), ind=1), 2000)
    with pytest.raises(ValueError, match="ind"):
        hd.linalg.tensorinv(hd.ones((4, 4)), ind=0)
    with pytest.raises(hd.ShapeError, match="linalg.tensorsolve"):
        hd.linalg.tensorsolve(hd.ones((2, 3, 4)), hd.ones((2, 3)))


def test_chains():
    shapes = [(10, 100), (100, 5), (5, 50), (50, 1)]
    arrays = [random(shape, seed=i) for i, shape in enumerate(shapes)]
    same(hd.linalg.multi_dot([hd.array(a) for a in arrays]), np.linalg.multi_dot(arrays))
    vectors = [arrays[0][0], *arrays[1:3], random(50)]
    same(hd.linalg.multi_dot([hd.array(a) for a in vectors]), np.asarray(np.linalg.multi_dot(vectors)))
    with pytest.raises(ValueError, match="at least two"):
        hd.linalg.multi_dot([hd.eye(2)])
    with pytest.raises(hd.ShapeError, match="array 1"):
        hd.linalg.multi_dot([hd.eye(2), hd.ones(2), hd.eye(2)])


def test_a_chain_is_multiplied_in_the_cheapest_order():
    arrays = [hd.zeros(shape) for shape in [(2, 500), (500, 500), (500, 500), (500, 1)]]
    lowered = hd.jit(lambda *a: hd.linalg.multi_dot(list(a))).lower(*arrays)
    # From the right, every product is one of a matrix and a vector.
    products = [line for line in lowered.ir().splitlines() if "call matmul" in line]
    assert [line.rsplit(" : ", 1)[1] for line in products] == ["f64[500,1]", "f64[500,1]", "f64[2,1]"]
