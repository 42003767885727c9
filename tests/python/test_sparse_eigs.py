"""heddle.sparse.linalg.eigs, against NumPy's eigenvalues of the whole matrix."""

import numpy as np
import pytest

import heddle as hd
from sparse_cases import scipy_sparse, sparse

ours = sparse.linalg
N = 60
ORDERS = {"LM": lambda w: -abs(w), "SM": abs, "LR": lambda w: -w.real, "SR": lambda w: w.real,
          "LI": lambda w: -abs(w.imag), "SI": lambda w: abs(w.imag)}


def general(dtype="float64"):
    generator = np.random.default_rng(0)
    made = generator.standard_normal((N, N)) * (generator.random((N, N)) < 0.1)
    made = made * (1 + 0.5j) if np.dtype(dtype).kind == "c" else made
    return (made + np.diag(np.linspace(1, 8, N))).astype(dtype)


def check_pairs(matrix, w, x, factor=2e3):
    w, x = hd.asnumpy(w), hd.asnumpy(x)
    unit = factor * np.finfo(x.dtype).eps
    np.testing.assert_allclose(matrix @ x, x * w, atol=unit * 20)
    np.testing.assert_allclose(np.linalg.norm(x, axis=0), 1, rtol=unit)


@pytest.mark.parametrize("dtype, which", [("float64", "LM"), ("float64", "SR"), ("float64", "LI"),
                                          ("float32", "LR"), ("complex128", "LM"), ("complex64", "SR")])
def test_eigs(dtype, which):
    matrix = general(dtype)
    w, x = ours.eigs(sparse.csr_array(matrix), k=4, which=which)
    assert w.dtype == x.dtype == np.result_type(dtype, "complex64")
    check_pairs(matrix, w, x)
    values = np.linalg.eigvals(matrix.astype("complex128"))
    key = ORDERS[which]
    wanted = np.sort(key(values))[:4]
    np.testing.assert_allclose(key(hd.asnumpy(w)), wanted, rtol=5e3 * np.finfo(dtype).eps)


def test_values_next_to_sigma():
    matrix = general()
    for sigma in (4.1, 3 + 0.5j):
        w, x = ours.eigs(sparse.csr_array(matrix), k=3, sigma=sigma)
        check_pairs(matrix, w, x)
        values = np.linalg.eigvals(matrix)
        np.testing.assert_allclose(np.sort(abs(hd.asnumpy(w) - sigma)), np.sort(abs(values - sigma))[:3])


def test_copies_of_a_value():
    # Five times each, in a basis that is not orthogonal.
    turn = np.eye(N) + 0.2 * np.eye(N, k=1)
    matrix = turn @ np.diag(np.repeat(np.arange(1.0, 13), 5)) @ np.linalg.inv(turn)
    w, x = ours.eigs(sparse.csr_array(matrix), k=7)
    check_pairs(matrix, w, x, 1e4)
    np.testing.assert_allclose(hd.asnumpy(w), [12.0] * 5 + [11] * 2, rtol=1e-9)
    assert np.linalg.matrix_rank(hd.asnumpy(x), tol=1e-6) == 7


def test_rotation_has_conjugate_pairs():
    angles = np.linspace(0.1, 3, N // 2)
    matrix = scipy_sparse.block_diag([2 * i * np.array([[np.cos(i), -np.sin(i)], [np.sin(i), np.cos(i)]])
                                      for i in angles])
    w = ours.eigs(sparse.csr_array(matrix), k=4, return_eigenvectors=False)
    wanted = np.concatenate([2 * i * np.exp([1j * i, -1j * i]) for i in angles[-2:]])
    found = hd.asnumpy(w)
    np.testing.assert_allclose(found[np.argsort(found.imag)], wanted[np.argsort(wanted.imag)], rtol=1e-9)


def test_eigs_in_jit():
    function = hd.jit(lambda a: ours.eigs(a, k=2, which="LR", return_eigenvectors=False) * 2)
    values = np.linalg.eigvals(general())
    np.testing.assert_allclose(np.sort(hd.asnumpy(function(sparse.csr_array(general()))).real),
                               2 * np.sort(values.real)[-2:], rtol=1e-10)


def test_values_that_do_not_converge():
    with pytest.raises(ours.ArpackNoConvergence, match="eigs: . of 6"):
        ours.eigs(sparse.diags_array(np.linspace(1.0, 1.01, 400)), k=6, maxiter=1)


@pytest.mark.parametrize("function, error, message", [
    (lambda a: ours.eigs(a[:5], 2), ValueError, "A must be square"),
    (lambda a: ours.eigs(a, 0), ValueError, "k must be greater than 0"),
    (lambda a: ours.eigs(a, 9), TypeError, "less than 9"),
    (lambda a: ours.eigs(a, 2, which="LA"), ValueError, "which must be one of"),
    (lambda a: ours.eigs(a, 2, ncv=2), ValueError, "eigs: ncv must be greater than k"),
    (lambda a: ours.eigs(a, 2, tol=-1), ValueError, "tol is -1"),
    (lambda a: ours.eigs(a, 2, v0=np.ones(9)), ValueError, r"v0 has the shape \(9,\)"),
    (lambda a: ours.eigs(a, 2, M=a), NotImplementedError, "M"),
    (lambda a: ours.eigs(ours.aslinearoperator(a), 2, sigma=1.0), ValueError, "give OPinv"),
    (lambda a: ours.eigs(a, 2, OPinv=a), ValueError, "OPinv needs sigma")])
def test_failing_input(function, error, message):
    with pytest.raises(error, match=message):
        function(sparse.csr_array(np.diag(np.arange(1.0, 11))))
