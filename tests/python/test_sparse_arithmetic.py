"""heddle.sparse: sums, elementwise products, comparisons and functions of values, against SciPy."""

import warnings

import numpy as np
import pytest

import heddle as hd
from sparse_cases import (DTYPES, FORMATS, KINDS, MATRICES, SOME_DTYPES, both, numbers, same,
                          scipy_sparse, sparse, untidy)


@pytest.fixture(autouse=True)
def quiet():
    """SciPy warns of comparisons that fill a matrix, and of divisions by 0."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


OF_TWO = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a.multiply(b),
    "maximum": lambda a, b: a.maximum(b),
    "minimum": lambda a, b: a.minimum(b),
    "not equal": lambda a, b: a != b,
    "equal": lambda a, b: a == b,
    "less": lambda a, b: a < b,
    "greater": lambda a, b: a > b,
    "less or equal": lambda a, b: a <= b,
    "greater or equal": lambda a, b: a >= b,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("function", OF_TWO.values(), ids=OF_TWO)
def test_two_matrices(function, format, kind):
    a, b = numbers((4, 6)), numbers((4, 6), seed=1)
    expected = function(both(format, kind, a)[0], both(format, kind, b)[0])
    same(function(both(format, kind, a)[1], both(format, kind, b)[1]), expected,
         classes=format != "dia")


@pytest.mark.parametrize("dtype", SOME_DTYPES)
@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "maximum", "not equal"])
def test_dtypes_of_two_matrices(name, dtype):
    a, b = numbers((4, 6), dtype), numbers((4, 6), dtype, 1)
    expected = OF_TWO[name](both("csr", "array", a)[0], both("csr", "array", b)[0])
    same(OF_TWO[name](both("csr", "array", a)[1], both("csr", "array", b)[1]), expected)


@pytest.mark.parametrize("first", DTYPES)
@pytest.mark.parametrize("second", ["float32", "int32"])
def test_dtypes_promote(first, second):
    a, b = (both("csr", "array", numbers((4, 6), dtype, seed))
            for seed, dtype in ((0, first), (1, second)))
    same(a[1] + b[1], a[0] + b[0])


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("function", ["add", "multiply", "maximum"])
def test_kinds_of_two_matrices(name, function):
    dense = MATRICES[name]("float64")
    other = MATRICES["random"]("float64")[:dense.shape[0], :dense.shape[1]]
    a, b = both("csr", "array", dense), both("csr", "array", other)
    same(OF_TWO[function](a[1], b[1]), OF_TWO[function](a[0], b[0]))
    same(OF_TWO[function](b[1], a[1]), OF_TWO[function](b[0], a[0]))


@pytest.mark.parametrize("function", ["add", "subtract", "multiply", "maximum", "not equal"])
def test_two_untidy_matrices(function):
    arrays, shape = untidy("csr")
    expected, got = (module.csr_array(arrays, shape=shape) for module in (scipy_sparse, sparse))
    other = both("csr", "array", numbers((4, 6)))
    same(OF_TWO[function](got, other[1]), OF_TWO[function](expected, other[0]))
    assert got.nnz == 8  # the operand is as it was


WITH_NUMBERS = {
    "twice": lambda a: a * 2,
    "from the left": lambda a: 2 * a,
    "float": lambda a: a * 0.5,
    "halves": lambda a: a / 2,
    "equal to 1": lambda a: a == 1,
    "not equal to 1": lambda a: a != 1,
    "equal to 0": lambda a: a == 0,
    "not equal to 0": lambda a: a != 0,
    "positive": lambda a: a > 0,
    "below 1": lambda a: a < 1,
    "at least 1": lambda a: a >= 1,
    "at most 0": lambda a: a <= 0,
    "maximum of 1": lambda a: a.maximum(1),
    "minimum of 0": lambda a: a.minimum(0),
    "plus 0": lambda a: a + 0,
    "negative": lambda a: -a,
    "absolute": abs,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("function", WITH_NUMBERS.values(), ids=WITH_NUMBERS)
def test_numbers(function, format, kind):
    expected, got = both(format, kind, numbers((4, 6)))
    same(function(got), function(expected), classes=format != "dia")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["twice", "float", "halves", "not equal to 0"])
def test_dtypes_with_numbers(name, dtype):
    expected, got = both("csr", "array", numbers((4, 6), dtype))
    same(WITH_NUMBERS[name](got), WITH_NUMBERS[name](expected))


WITH_DENSE = {
    "add": lambda a, b: a + b,
    "add to": lambda a, b: b + a,
    "subtract": lambda a, b: a - b,
    "subtract from": lambda a, b: b - a,
    "multiply": lambda a, b: a.multiply(b),
    "by a row": lambda a, b: a.multiply(b[:1]),
    "by a column": lambda a, b: a.multiply(b[:, :1]),
    "by a vector": lambda a, b: a.multiply(b[0]),
    "divide": lambda a, b: a / (b + 9),
    "maximum": lambda a, b: a.maximum(b),
    "less": lambda a, b: a < b,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
@pytest.mark.parametrize("function", WITH_DENSE.values(), ids=WITH_DENSE)
def test_dense_operands(function, format, kind):
    expected, got = both(format, kind, numbers((4, 6)))
    dense = numbers((4, 6), seed=1)
    same(function(got, dense), function(expected, dense), 2)
    same(function(got, hd.asarray(dense)), function(expected, dense), 2)


def test_sparse_operands_broadcast():
    expected, got = both("csr", "array", numbers((4, 6)))
    for part in (lambda x: x[:1], lambda x: x[:, :1]):
        same(got.multiply(part(got)), expected.multiply(part(expected)), classes=False)
        same(part(got).multiply(got), part(expected).multiply(expected), classes=False)


def test_divided_by_sparse():
    expected, got = both("csr", "array", numbers((4, 6)))
    same(got / got, expected / expected)


FUNCTIONS = ["arcsin", "arcsinh", "arctan", "arctanh", "ceil", "deg2rad", "expm1", "floor", "log1p",
             "rad2deg", "rint", "sign", "sin", "sinh", "sqrt", "tan", "tanh", "trunc"]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_values(name, format):
    expected, got = both(format, "array", np.abs(numbers((4, 6))) / 4)
    same(getattr(got, name)(), getattr(expected, name)(), 8)


@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
def test_functions_add_duplicates_first(format):
    arrays, shape = untidy(format)
    expected, got = (getattr(module, format + "_array")(arrays, shape=shape)
                     for module in (scipy_sparse, sparse))
    same(got.sqrt(), expected.sqrt(), 2)
    same(got.power(2), expected.power(2))


@pytest.mark.parametrize("dtype", DTYPES)
def test_parts_and_powers(dtype):
    expected, got = both("csr", "array", numbers((4, 6), dtype))
    for function in (lambda x: x.real, lambda x: x.imag, lambda x: x.conj(), lambda x: x.power(2),
                     lambda x: x.power(3), lambda x: x.astype("complex64"), lambda x: x.astype("bool"),
                     lambda x: x.copy(), abs):
        same(function(got), function(expected), 4)
    assert got.count_nonzero() == expected.count_nonzero()
    for found, right in zip(got.nonzero(), expected.nonzero()):
        np.testing.assert_array_equal(hd.asnumpy(found), right)


@pytest.mark.parametrize("function, error", [
    (lambda a: a + sparse.csr_array((4, 4)), ValueError), (lambda a: a + 1, NotImplementedError),
    (lambda a: a.multiply(sparse.csr_array((3, 3))), ValueError), (lambda a: 1 / a, TypeError),
    (lambda a: a < sparse.csr_array((3, 3)), ValueError), (lambda a: a + "text", TypeError),
    (lambda a: a.power(0), NotImplementedError), (lambda a: a.power([2]), NotImplementedError),
    (lambda a: -a.astype("bool"), NotImplementedError), (lambda a: hash(a), TypeError)])
def test_operands_that_do_not_fit(function, error):
    with pytest.raises(error):
        function(sparse.csr_array(numbers((4, 6))))
