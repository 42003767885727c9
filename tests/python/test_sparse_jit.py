"""heddle.sparse inside jit and loops: what records, and what says that it has to count."""

import numpy as np
import pytest

import heddle as hd
from sparse_cases import numbers, sparse

DENSE = numbers((4, 6))


@pytest.mark.parametrize("function", [
    lambda a: a @ hd.ones(6), lambda a: hd.ones(4) @ a, lambda a: a @ hd.ones((6, 2)),
    lambda a: a.sum(axis=0), lambda a: a.sum(axis=1), lambda a: a.sum(), lambda a: a.toarray(),
    lambda a: a.T.toarray(), lambda a: (a * 2).toarray(), lambda a: a.conj().toarray(),
    lambda a: a.diagonal(1), lambda a: a.astype("float32").toarray(), lambda a: (-a).toarray()])
@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
def test_recorded(format, function):
    made = getattr(sparse, format + "_array")(DENSE)
    jitted = hd.jit(function)
    for _ in range(2):
        np.testing.assert_array_equal(hd.asnumpy(jitted(made)), hd.asnumpy(function(made)))
    np.testing.assert_array_equal(hd.asnumpy(hd.jit(lambda: function(made))()),
                                  hd.asnumpy(function(made)))


def test_diagonals():
    made = sparse.dia_array(DENSE)
    for function in (lambda a: a @ hd.ones(6), lambda a: a.toarray(), lambda a: a.T.toarray(),
                     lambda a: a.sum()):
        np.testing.assert_array_equal(hd.asnumpy(hd.jit(function)(made)), hd.asnumpy(function(made)))


def test_matrices_are_results():
    made = sparse.csr_array(DENSE)
    twice = hd.jit(lambda a: (a * 2, a.T))(made)
    assert isinstance(twice[0], sparse.csr_array) and isinstance(twice[1], sparse.csc_array)
    np.testing.assert_array_equal(hd.asnumpy(twice[0].toarray()), 2 * DENSE)
    np.testing.assert_array_equal(hd.asnumpy(twice[1].toarray()), DENSE.T)


def test_shapes_are_part_of_the_signature():
    product = hd.jit(lambda a: a.toarray())
    for shape in ((4, 6), (6, 4), (3, 8)):
        dense = np.reshape(DENSE, shape)
        np.testing.assert_array_equal(hd.asnumpy(product(sparse.csr_array(dense))), dense)


def test_values_are_arguments():
    made = sparse.csr_array(DENSE)
    product = hd.jit(lambda data, x: made._with_data(data) @ x)
    for scale in (1.0, 3.0):
        np.testing.assert_array_equal(hd.asnumpy(product(made.data * scale, hd.ones(6))),
                                      scale * DENSE.sum(axis=1))


def test_loops():
    made = sparse.csr_array(DENSE @ DENSE.T)
    got = hd.fori_loop(0, 3, lambda i, x: made @ x / 4, hd.ones(4))
    right = np.ones(4)
    for _ in range(3):
        right = made.get() @ right / 4
    np.testing.assert_allclose(hd.asnumpy(got), right, rtol=1e-12)


@pytest.mark.parametrize("function", [
    lambda a: a + a, lambda a: a @ a.T, lambda a: a.todia(), lambda a: a[0:2], lambda a: a > 0,
    lambda a: a.eliminate_zeros(), lambda a: sparse.csr_array(a.toarray()), lambda a: a[:, [1, 2]],
    lambda a: sparse.tril(a), lambda a: a.multiply(a), lambda a: a.maximum(a)])
def test_counts_are_refused(function):
    with pytest.raises(hd.TraceError):
        hd.jit(function)(sparse.csr_array(DENSE))
    a = sparse.csr_array(DENSE)
    function(a)  # and afterwards all is as it was
    np.testing.assert_array_equal(hd.asnumpy(a.toarray()), DENSE)
