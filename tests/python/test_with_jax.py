"""JAX on the CPU: elements cross by DLPack, and JAX's arrays are never written."""

import gc

import numpy as np
import pytest
from conftest import DTYPES, check

import heddle as hd

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)
jnp = jax.numpy
pytestmark = pytest.mark.usefixtures("on_host")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype(dtype):
    theirs = jnp.ones(3, dtype=str(dtype))
    check(hd.from_dlpack(theirs), np.asarray(theirs))
    check(hd.asarray(theirs), np.asarray(theirs))
    for back in (jnp.from_dlpack(hd.ones(3, dtype=dtype)), jnp.asarray(hd.ones(3, dtype=dtype))):
        assert str(back.dtype) == str(dtype)
        assert bool((back == theirs).all())


def test_jaxs_arrays_are_not_written():
    theirs = jnp.arange(8.0)
    x = hd.from_dlpack(theirs)
    assert not x.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        x += 1
    with pytest.raises(ValueError, match="read-only"):
        x[0] = 5
    check(x + 1, np.arange(1.0, 9.0))
    for own in (hd.from_dlpack(theirs, copy=True), hd.asarray(theirs), x.copy()):
        own += 1
        check(own, np.arange(1.0, 9.0))
    np.testing.assert_array_equal(theirs, np.arange(8.0))


def test_what_jax_copies_does_not_follow_writes():
    x = hd.arange(8.0)
    copy = jnp.asarray(x)
    x += 1
    np.testing.assert_array_equal(copy, np.arange(8.0))


def test_shapes():
    a = np.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(jnp.from_dlpack(hd.asarray(a).T), a.T)
    assert hd.from_dlpack(jnp.ones((0, 3))).shape == jnp.from_dlpack(hd.zeros((0, 3))).shape == (0, 3)
    assert float(jnp.from_dlpack(hd.sum(hd.asarray(a)))) == 66


def test_memory_lives_as_long_as_it_is_shared():
    theirs, ours = jnp.from_dlpack(hd.arange(100000.0)), hd.from_dlpack(jnp.arange(100000.0))
    gc.collect()
    assert float(theirs.sum()) == float(hd.sum(ours)) == 4999950000


def test_gradients_and_callbacks():
    gradient = jax.grad(lambda v: (v ** 2).sum())(jnp.from_dlpack(hd.arange(3.0)))
    check(hd.from_dlpack(gradient), np.array([0.0, 2.0, 4.0]))

    @jax.jit
    def called(v):
        return jax.pure_callback(lambda host: hd.asarray(np.asarray(host) * 2).get(),
                                 jax.ShapeDtypeStruct((3,), jnp.float64), v)

    np.testing.assert_array_equal(called(jnp.arange(3.0)), [0.0, 2.0, 4.0])


def test_arrays_of_jax_are_converted_by_name():
    for mixed in (lambda: hd.ones(3) + jnp.ones(3), lambda: jnp.ones(3) + hd.ones(3),
                  lambda: hd.jit(hd.sin)(jnp.ones(3))):
        with pytest.raises(TypeError, match="heddle.asarray"):
            mixed()
