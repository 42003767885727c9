"""Views that write through: parts of complex numbers and broadcasts; and those that refuse to."""

import numpy as np
import pytest
from conftest import check

import heddle as hd

Z = np.array([[1 + 2j, 3 - 4j, 5j], [7, -8 + 9j, 10j]])


def part_item(xp, x):
    x.real[0] = 9
    x.imag[1, 1:] = [5, 6]


def part_function(xp, x):
    xp.real(x)[:, 0] = 9
    xp.imag(x)[..., ::2] += 1


def part_of_view(xp, x):
    x.T[1:].real[0] = 9
    x[::-1].imag.reshape(-1)[2] = 7
    xp.ravel(x)[1:4].real *= 2


def part_of_part(xp, x):
    x.real.real[0, 0] = 4
    x.imag.real[0, 1] = 4


def part_assigned(xp, x):
    x.real = 5
    x.imag = [1, 2, 3]
    x.real += 1
    x[0].imag -= 0.5


def part_after_write(xp, x):
    part = x.real
    x[0] = 100
    part[0] += 1
    x[...] = x + part


def part_by_mask(xp, x):
    x.real[x.real > 2] = 0
    x.imag[xp.asarray([0, 1]), xp.asarray([1, 1])] = 3


def same_shape(xp, x):
    xp.broadcast_arrays(x)[0][0] = 9
    xp.broadcast_arrays(x, x[0])[0][1] += 1


WRITES = [part_item, part_function, part_of_view, part_of_part, part_assigned, part_after_write,
          part_by_mask, same_shape]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("write", WRITES)
def test_writes_reach_the_array(write, dtype):
    a = Z.astype(dtype)
    x = hd.asarray(a)
    write(np, a)
    write(hd, x)
    check(x, a)


def test_writes_inside_jit():
    @hd.jit
    def function(x):
        x = hd.copy(x)
        x.real[0] = 9
        x.imag += 1
        return x

    a = Z.copy()
    a.real[0] = 9
    a.imag += 1
    for _ in range(3):
        check(function(hd.asarray(Z)), a)


def test_real_numbers_are_their_own_real_part():
    a, x = np.array([1.0, 2.0]), hd.asarray([1.0, 2.0])
    for xp, v in ((np, a), (hd, x)):
        v.real[0] = 9
        xp.real(v)[1] += 1
        v.real = v.real * 2
    check(x, a)


def test_shared_memory_of_parts():
    x = hd.asarray(Z, device="cpu")
    for part, want in ((x.real, Z.real), (x.imag, Z.imag), (x[:, 1:].T.imag, Z[:, 1:].T.imag)):
        assert part.strides == want.strides
        shared = np.from_dlpack(part)
        np.testing.assert_array_equal(shared, want)
    x.imag[0, 0] = 77
    assert np.from_dlpack(x)[0, 0] == 1 + 77j


@pytest.mark.parametrize("view", [
    lambda xp, x: xp.imag(x), lambda xp, x: x.imag, lambda xp, x: xp.diagonal(x),
    lambda xp, x: x.diagonal(1), lambda xp, x: xp.diag(x), lambda xp, x: xp.broadcast_to(x, x.shape),
    lambda xp, x: xp.broadcast_to(x[0], (2, 3)), lambda xp, x: xp.diagonal(x.T)])
def test_read_only_views(view):
    a, x = np.arange(6.0).reshape(2, 3), hd.reshape(hd.arange(6.0), (2, 3))
    for xp, v in ((np, a), (hd, x)):
        with pytest.raises(ValueError, match="read-only"):
            view(xp, v)[0] = 9
        with pytest.raises(ValueError, match="read-only"):
            view(xp, v)[...] += 1
    check(view(hd, x), view(np, a))
    check(x, a)


def test_what_is_broadcast_refuses_writes():
    # NumPy lets one write to all places of an element; a value that is lost would be worse.
    x, y = hd.asarray([1.0, 2.0]), hd.zeros((2, 2))
    for view in (hd.broadcast_arrays(x, y)[0], hd.meshgrid(x, x, copy=False)[0],
                 hd.sliding_window_view(x, 2)):
        with pytest.raises(hd.ValueError, match="read-only"):
            view[0] = 9
    hd.meshgrid(x, x)[0][0] = 9  # a copy
    check(x, [1.0, 2.0])


def test_a_diagonal_follows_its_array():
    a, x = np.arange(9.0).reshape(3, 3), hd.reshape(hd.arange(9.0), (3, 3))
    ours, theirs = hd.diagonal(x), np.diagonal(a)
    a[1, 1] = x[1, 1] = 50
    check(ours, theirs)


@pytest.mark.parametrize("subscripts", ["ii->i", "ij->ji", "ij", "ji"])
def test_einsum_of_one_operand_is_a_view(subscripts):
    a, x = np.zeros((3, 3)), hd.zeros((3, 3))
    for xp, v in ((np, a), (hd, x)):
        view = xp.einsum(subscripts, v)
        view[1] = 5
        assert xp.shares_memory(view, v)
    check(x, a)
    assert not hd.shares_memory(hd.einsum("ij->i", x), x)


def test_shares_memory():
    for xp in (np, hd):
        x = xp.zeros((4, 6))
        for view in (x, x[1:], x.T, x[:, ::2], x.reshape(24), xp.diagonal(x), x.view("int64")):
            assert xp.shares_memory(x, view) and xp.may_share_memory(view, x)
        assert not xp.shares_memory(x[:, ::2], x[:, 1::2])
        assert not xp.shares_memory(x[:2], x.view("int64")[2:])
        assert not xp.shares_memory(x, x.copy())
        assert not xp.shares_memory(x, x + 0)
        z = xp.zeros(3, dtype=complex)
        assert xp.shares_memory(z.real, z) and not xp.shares_memory(z.real, z.imag)
    host = np.zeros(5)
    assert np.shares_memory(x, x[2:]) and not hd.shares_memory(x, host)


def test_shares_memory_of_other_libraries():
    host = np.zeros(5)
    x, y = (hd.from_dlpack(host) for _ in range(2))
    assert hd.shares_memory(x, y[1:]) == (x.device == "cpu")
    assert not hd.shares_memory(x[:2], y[2:])
