"""0-d results stand where NumPy has scalars: immutable numbers, not variables that others see change."""

import operator

import numpy as np
import pytest

import heddle as hd

IN_PLACE = [operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv,
            operator.imod, operator.ipow]

# What gives a scalar in NumPy, of a vector.
SCALARS = {
    "sum": lambda xp, x: x.sum(), "max": lambda xp, x: xp.max(x), "element": lambda xp, x: x[1],
    "last": lambda xp, x: x[-1], "ufunc": lambda xp, x: xp.multiply(x[0], 2), "dot": lambda xp, x: x @ x,
    "operator": lambda xp, x: x[0] + x[1], "mean": lambda xp, x: xp.mean(x), "dtype": lambda xp, x: xp.float32(3),
    "reduce": lambda xp, x: xp.add.reduce(x)}


@pytest.mark.parametrize("update", IN_PLACE)
@pytest.mark.parametrize("name", SCALARS)
def test_in_place_operators_leave_other_names_unchanged(name, update):
    for xp in (np, hd):
        x = xp.arange(1, 5)
        first = same = SCALARS[name](xp, x)
        before = float(first)
        first = update(first, 2)
        assert float(same) == before
        assert float(first) == float(update(before, 2))
        assert x.tolist() == [1, 2, 3, 4]


def test_a_list_of_running_totals():
    for xp in (np, hd):
        total, totals = 0, []
        for _ in range(3):
            total += xp.arange(4).sum()
            totals.append(total)
        assert [int(each) for each in totals] == [6, 12, 18]


def test_a_scalar_takes_the_dtype_of_what_is_added():
    for xp in (np, hd):
        x = xp.asarray([1, 2]).sum()
        x += 0.5
        assert str(x.dtype) == "float64"
        assert float(x) == 3.5


@pytest.mark.parametrize("make", [
    lambda xp: xp.array(3.0), lambda xp: xp.zeros(()), lambda xp: xp.full((), 2.0), lambda xp: xp.ones(())])
def test_0d_arrays_that_are_created_are_variables(make):
    for xp in (np, hd):
        x = same = make(xp)
        before = float(x)
        x += 1
        assert x is same
        assert float(same) == before + 1


def test_asarray_of_a_scalar_does_not_make_it_a_variable():
    x = same = hd.arange(3).sum()
    hd.asarray(x)
    x += 1
    assert int(same) == 3


def test_in_place_operators_on_elements_and_views_write_the_array():
    for xp in (np, hd):
        x = xp.arange(4)
        x[1] += 5
        view = x[2:3]
        view += 1
        assert x.tolist() == [0, 6, 3, 3]


@pytest.mark.parametrize("sequence", [[0], (1, 2), "ab", b"x", [None, "a"]])
def test_sequences_are_repeated_by_integers(sequence):
    for xp in (np, hd):
        count = xp.array([3, 1]).max()
        assert sequence * count == sequence * 3
        assert count * sequence == sequence * 3


def test_floats_and_arrays_do_not_repeat_lists():
    for xp in (np, hd):
        with pytest.raises(TypeError):
            xp.array([2.0]).max() * [1, 2]
        assert (xp.array(2.0) * [1, 2]).tolist() == [2, 4]
        assert (xp.arange(2) * [1, 2]).tolist() == [0, 2]


@pytest.mark.parametrize("other", [None, "a", b"a"])
def test_none_and_text_are_unequal_to_every_element(other):
    for xp in (np, hd):
        x = xp.arange(6).reshape(2, 3)
        assert (x == other).tolist() == [[False] * 3] * 2
        assert (x != other).tolist() == [[True] * 3] * 2
        assert x[x != other].shape == (6,)
        assert not bool(x.sum() == other)


@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64", "float16", "float32", "float64", "complex64",
                                   "bool_"])
@pytest.mark.parametrize("value", [1, 0, True, 1.0, [1, 0], np.int8(1), np.array([0, 1])])
def test_dtypes_convert(dtype, value):
    ours, numpys = getattr(hd, dtype)(value), getattr(np, dtype)(value)
    assert np.asarray(ours).tolist() == numpys.tolist()
    if dtype != "bool_":
        assert str(ours.dtype) == str(numpys.dtype)


def test_dtypes_read_text():
    assert float(hd.float64("2.5")) == 2.5
    assert int(hd.int32("12")) == 12
    with pytest.raises(ValueError, match="could not convert"):
        hd.float32("a")


def test_ranges_and_reversed():
    x = hd.zeros(3)
    x[:] = range(3)
    assert (x + range(3)).tolist() == [0, 2, 4]
    assert [int(each) for each in reversed(x)] == [2, 1, 0]


def test_traced_functions_have_scalars_for_0d_arguments():
    def changed(s):
        t = s
        t += 1
        return s

    x = hd.arange(4.0).sum()
    assert float(changed(x)) == float(hd.jit(changed)(x)) == 6


def test_computed_scalars_can_be_assigned():
    """The array API standard's arrays can, of no axes too; NumPy's scalars cannot."""
    for make in (lambda x: x.sum(), lambda x: x.max(), lambda x: x @ x, lambda x: x[0] + x[1]):
        x = hd.arange(3)
        made = same = make(x)
        own = hd.asarray(made)
        before = int(made)
        made[...] = 5
        assert (int(made), int(same), int(own)) == (5, 5, before)
        made[made > 4] = 7
        made[()] += 1
        assert int(made) == 8
        made += 1  # makes another
        assert (int(made), int(same), x.tolist()) == (9, 8, [0, 1, 2])


@pytest.mark.parametrize("read", [
    lambda x: x[1], lambda x: x[-1], lambda x: next(iter(x)), lambda x: x.reshape(1, 3)[0, 2],
    lambda x: x[hd.asarray(1)], lambda x: x.flat[0]], ids=range(6))
def test_elements_that_were_read_are_not_written(read):
    x = hd.arange(3)
    with pytest.raises(TypeError, match="scalar"):
        read(x)[...] = 5
    own = hd.array(read(x))
    own[...] = 5
    assert (int(own), x.tolist()) == (5, [0, 1, 2])


def test_astype_of_a_0d_array_is_a_scalar():
    z = same = hd.zeros(()).astype("int32")
    z += 1
    assert int(same) == 1


def test_resize_without_arguments_changes_nothing():
    for xp in (np, hd):
        x = xp.arange(3)
        x.resize()
        assert x.tolist() == [0, 1, 2]


def test_reshaped_scalars_are_new_arrays():
    for xp in (np, hd):
        x = xp.arange(4.0).sum()
        for view in (x.reshape(1), x[None], xp.atleast_1d(x)):
            view[0] = 7
            assert (float(x), float(view[0])) == (6, 7)
        turned = same = x.T
        turned += 1
        assert (float(x), float(same), float(turned)) == (6, 6, 7)


@pytest.mark.parametrize("write", [
    lambda x: hd.add(1, 2, out=x), lambda x: hd.sum(hd.ones(3), out=x),
    lambda x: hd.modf(1.5, out=(x, None))])
def test_scalars_are_refused_as_out(write):
    x = hd.ones(2).sum()
    with pytest.raises(TypeError, match="scalar"):
        write(x)
    assert float(x) == 2


# What gives 0-d arrays in NumPy, where other functions give scalars.
VARIABLES = {
    "where": lambda xp, x: xp.where(True, x, 1), "isin": lambda xp, x: xp.isin(x, [2.0]),
    "block": lambda xp, x: xp.block(x), "cov": lambda xp, x: xp.cov(x, ddof=0),
    "i0": lambda xp, x: xp.i0(x), "unique": lambda xp, x: xp.unique(x, return_inverse=True)[1],
    "unique_inverse": lambda xp, x: xp.unique_inverse(x).inverse_indices,
    "unique_all": lambda xp, x: xp.unique_all(x).inverse_indices}


@pytest.mark.parametrize("name", VARIABLES)
def test_functions_that_give_0d_arrays(name):
    for xp in (np, hd):
        made = same = VARIABLES[name](xp, xp.asarray(2.0))
        assert made.ndim == 0
        made *= made
        assert made is same


@pytest.mark.parametrize("make", [lambda: hd.zeros(()), lambda: np.zeros(())])
def test_traced_functions_have_arrays_for_0d_arrays(make):
    def through_a_view(o):
        o = hd.asarray(o)
        view = o.reshape(1)
        view[0] = 9
        return o * 1

    def into(x, o):
        return hd.add(x.sum(), 1, out=hd.asarray(o)) * 1

    assert float(through_a_view(make())) == float(hd.jit(through_a_view)(make())) == 9
    assert float(hd.jit(into)(hd.ones(3), make())) == 4


def test_one_function_for_scalars_and_arrays():
    @hd.jit
    def changed(o):
        other = o
        other += 1
        return o * 1

    assert [float(changed(each)) for each in (hd.zeros(()), hd.zeros(2).sum(), hd.zeros(()), 0.0)] == [1, 0, 1, 0]
