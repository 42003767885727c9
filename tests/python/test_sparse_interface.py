"""What a matrix of heddle.sparse does in place, and extremes of stored elements, against SciPy."""

import numpy as np
import pytest

import heddle as hd
from sparse_cases import FORMATS, SOME_DTYPES, both, numbers, same, scipy_sparse, sparse, untidy


@pytest.mark.parametrize("dtype", ["float32", "int64", "complex128"])
@pytest.mark.parametrize("format", FORMATS)
def test_resize(format, dtype):
    """Smaller, larger, and back: what was dropped does not come again."""
    for shape in ((2, 3), (7, 9), (2, 9), (7, 2), (4, 6), (0, 6), (1, 1)):
        theirs, ours = both(format, "array", numbers((4, 6), dtype, 3))
        theirs.resize(shape), ours.resize(*shape)
        same(ours, theirs)
        theirs.resize((5, 8)), ours.resize((5, 8))
        same(ours, theirs)
        same(ours @ np.ones(8, dtype), theirs @ np.ones(8, dtype))


def test_resize_of_untidy_and_flat():
    for format in ("csr", "csc", "coo"):
        parts, shape = untidy(format)
        theirs = getattr(scipy_sparse, format + "_array")(parts, shape=shape)
        ours = getattr(sparse, format + "_array")(parts, shape=shape)
        theirs.resize((3, 5)), ours.resize((3, 5))
        same(ours.toarray(), theirs.toarray())
    line = sparse.coo_array(np.array([1.0, 0, 2, 3]))
    line.resize(3)
    assert hd.asnumpy(line.toarray()).tolist() == [1, 0, 2]
    for bad in ((2, 2), (-1,)):
        with pytest.raises(ValueError):
            line.resize(bad)
    with pytest.raises(ValueError):
        sparse.csr_array((2, 2)).resize(3)


@pytest.mark.parametrize("dtype", ["float64", "int32", "bool"])
@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
def test_extremes_of_stored_elements(format, dtype):
    dense = numbers((6, 5), dtype, 4, 0.6)
    dense[2] = 0
    dense[:, 3] = 0
    for kind in ("array", "matrix"):
        theirs, ours = both(format, kind, dense)
        for axis in (0, 1, -1):
            for name in ("min", "max", "argmin", "argmax"):
                got, wanted = (getattr(each, name)(axis=axis, explicit=True) for each in (ours, theirs))
                if name.startswith("arg"):
                    np.testing.assert_array_equal(hd.asnumpy(got), np.asarray(wanted))
                else:
                    np.testing.assert_array_equal(hd.asnumpy(got.toarray()), wanted.toarray())
                    assert got.format == "coo" and got.shape == wanted.shape


def test_stored_zeros_and_nan_are_extremes():
    data, index = [-2.0, 0, -1, np.nan, 3, 0], ([0, 0, 1, 1, 3, 3], [1, 3, 0, 2, 2, 1])
    theirs = scipy_sparse.csr_array((data, index), shape=(4, 4))
    ours = sparse.csr_array((data, index), shape=(4, 4))
    for name in ("min", "max", "nanmin", "nanmax", "argmin", "argmax"):
        for axis in (0, 1):
            got, wanted = (getattr(each, name)(axis=axis, explicit=True) for each in (ours, theirs))
            got, wanted = (each.toarray() if hasattr(each, "toarray") else each for each in (got, wanted))
            np.testing.assert_array_equal(hd.asnumpy(got), wanted)
    # Of all elements: the index in the matrix; SciPy's is that among the stored ones.
    full = sparse.csr_array(np.array([[1.0, 5], [7, -2]]))
    assert full.argmax(explicit=True) == 2 and full.argmin(explicit=True) == 3
    assert (-1.0 * sparse.coo_array(([5.0, 2], ([1, 2], [3, 0])), shape=(4, 4))).argmax(explicit=True) == 8
    for name in ("argmin", "argmax"):
        with pytest.raises(ValueError, match="explicit"):
            getattr(sparse.csr_array((3, 3)), name)(explicit=True)


KEYS = [(0, 1), (2, -1), 0, -2, (slice(None), 1), (slice(1, None), slice(0, 3)), ([0, 2], [1, 3]),
        (slice(None, None, 2), slice(None, None, -2)), ([[0], [2]], [1, 3]), np.array([True, False, True, True])]


@pytest.mark.parametrize("dtype", SOME_DTYPES)
def test_assignments_to_coordinates(dtype):
    for key in KEYS:
        for value in (3, "array"):
            theirs, ours = both("coo", "array", numbers((4, 6), dtype, 5))
            if value == "array":
                value = np.ones_like(numbers((4, 6), dtype)[key])
            theirs[key] = value
            ours[key] = value
            assert ours.format == "coo"
            np.testing.assert_array_equal(hd.asnumpy(ours.toarray()), theirs.toarray())
    theirs, ours = both("coo", "array", numbers((6,), dtype, 5))
    theirs[2], ours[2] = 1, 1
    assert ours.shape == (6,)
    np.testing.assert_array_equal(hd.asnumpy(ours.toarray()), theirs.toarray())


def test_assignments_that_do_not_fit():
    for format in ("csr", "csc", "coo"):
        ours = sparse.csr_array(np.eye(3)).asformat(format)
        for key, value, error in (((0, 0), 1j, TypeError), ((3, 0), 1, IndexError), ((0,), [1.0, 2], ValueError)):
            with pytest.raises(error):
                ours[key] = value
        np.testing.assert_array_equal(hd.asnumpy(ours.toarray()), np.eye(3))


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_in_place_operators_with_numbers(format, kind):
    """They write to the values themselves, so another name of the matrix sees it."""
    theirs, ours = both(format, kind, numbers((4, 6)))
    other = ours
    for each in (theirs, ours):
        each *= 3
        each /= 2
    assert other is ours
    same(ours, theirs)
    for value in (1j, np.complex128(2)):
        with pytest.raises(TypeError):
            ours *= value
    whole = sparse.csr_array(np.eye(2, dtype="int32")).asformat(format)
    with pytest.raises(TypeError):
        whole *= 0.5
    ours *= np.float32(2)
    theirs *= np.float32(2)
    same(ours, theirs)


@pytest.mark.parametrize("format", ["csr", "csc"])
def test_new_axes(format):
    theirs, ours = both(format, "array", numbers((4, 6)))
    for key in ((0, None), (None, 1), (None, slice(None), 2), (slice(None), 2, None), (slice(None), None, 3),
                (-1, slice(1, 4), None)):
        got = ours[key]
        np.testing.assert_array_equal(hd.asnumpy(got.toarray()), theirs.toarray()[key])
        assert got.format == format
    for key in (None, (None, None, 0), (slice(None), None), (0, 0, None)):
        with pytest.raises(IndexError):
            ours[key]
