"""PyTorch, JAX and Numba on the CPU, where they are installed: memory that is shared both ways."""

import gc
import subprocess
import sys

import numpy as np
import pytest
from conftest import DTYPES, check

import heddle as hd

pytestmark = pytest.mark.usefixtures("on_host")


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


@pytest.fixture
def jax():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    return jax


@pytest.fixture
def numba():
    return pytest.importorskip("numba")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_torch_every_dtype(torch, dtype):
    tensor = torch.ones(3).to(getattr(torch, str(dtype)))
    for x in (hd.from_dlpack(tensor), hd.asarray(tensor)):
        assert x.dtype == dtype
        assert torch.equal(torch.from_dlpack(x), tensor)


def test_torch_writes_are_seen_on_both_sides(torch):
    tensor = torch.arange(6.0).reshape(2, 3)
    x = hd.from_dlpack(tensor)
    before = x * 1
    x += 1
    tensor[0, 0] = 9
    check(x, np.array([[9, 2, 3], [4, 5, 6]], "float32"))
    check(before, np.arange(6, dtype="float32").reshape(2, 3))
    assert torch.from_dlpack(x).data_ptr() == tensor.data_ptr()
    y = hd.arange(12.0).reshape(3, 4)
    torch.from_dlpack(y.T[1:]).add_(100)
    check(y, np.arange(12.0).reshape(3, 4) + [0, 100, 100, 100])


def test_torch_layouts(torch):
    tensor = torch.arange(12.0).reshape(3, 4)
    for view in (tensor.t(), tensor[1:], tensor[:, ::2], tensor[:1].expand(3, 4), tensor[:0], tensor.sum()):
        check(hd.from_dlpack(view), view.numpy())
    x = hd.from_dlpack(tensor, copy=True)
    x += 1
    assert float(tensor[0, 0]) == 0


def test_torch_memory_lives_as_long_as_it_is_shared(torch):
    tensor, x = torch.from_dlpack(hd.arange(1000.0)), hd.from_dlpack(torch.arange(1000.0))
    gc.collect()
    assert float(tensor.sum()) == float(hd.sum(x)) == 499500


def test_torch_layers_and_gradients(torch):
    layer = torch.nn.Linear(3, 2, dtype=torch.float64)
    x = hd.arange(6.0).reshape(2, 3)
    result = layer(torch.from_dlpack(x))
    with pytest.raises(BufferError, match="detach"):
        hd.from_dlpack(result)
    weight, bias = (hd.from_dlpack(each.detach()) for each in layer.parameters())
    np.testing.assert_allclose((x @ weight.T + bias).get(), result.detach().numpy())


def test_torch_tensors_are_converted_by_name(torch):
    for mixed in (lambda t: hd.ones(3) + t, lambda t: t + hd.ones(3)):
        with pytest.raises(TypeError, match="heddle.asarray"):
            mixed(torch.ones(3))
    with pytest.raises(IndexError, match="heddle.asarray"):
        hd.arange(3)[torch.tensor([0, 2])]
    assert int(hd.arange(3)[torch.tensor(2)]) == 2


def test_torch_functions_take_tensors(torch):
    tensor = torch.arange(6.0).reshape(2, 3)
    x = hd.ones(3, dtype=hd.float32)
    made = [hd.sin(tensor), hd.add(tensor, x), hd.matmul(tensor.t(), tensor), hd.sum(tensor[:, ::2], axis=1)]
    wanted = [torch.sin(tensor), tensor + 1, tensor.t() @ tensor, tensor[:, ::2].sum(1)]
    tensor.fill_(-1)  # what was made before does not follow
    for got, want in zip(made, wanted, strict=True):
        np.testing.assert_allclose(hd.asnumpy(got), want.numpy(), rtol=1e-6)
    with pytest.raises((BufferError, RuntimeError), match="grad"):
        hd.sin(torch.ones(3, requires_grad=True))


def test_torch_a_jitted_function_does_not_keep_the_elements_of_a_tensor(torch):
    tensor, twice = torch.ones(3), hd.jit(lambda v: hd.asarray(v) * 2)
    with pytest.raises(TypeError, match="heddle.asarray"):
        twice(tensor)
    x = hd.from_dlpack(tensor)
    for expected in (2, 4):
        check(twice(x), np.full(3, expected, "float32"))
        tensor += 1


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_jax_every_dtype(jax, dtype):
    theirs = jax.numpy.ones(3, dtype=str(dtype))
    check(hd.from_dlpack(theirs), np.asarray(theirs))
    check(hd.asarray(theirs), np.asarray(theirs))
    for back in (jax.numpy.from_dlpack(hd.ones(3, dtype=dtype)), jax.numpy.asarray(hd.ones(3, dtype=dtype))):
        assert str(back.dtype) == str(dtype)
        assert bool((back == theirs).all())


def test_jax_jaxs_arrays_are_not_written(jax):
    theirs = jax.numpy.arange(8.0)
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


def test_jax_what_jax_copies_does_not_follow_writes(jax):
    x = hd.arange(8.0)
    copy = jax.numpy.asarray(x)
    x += 1
    np.testing.assert_array_equal(copy, np.arange(8.0))


@pytest.mark.parametrize("peer", ["torch", "jax", "cupy", "numba"])
def test_peers_load_after_heddle(peer):
    pytest.importorskip(peer)
    program = f"import heddle, {peer}; print(float(heddle.ones(3).sum()))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=200, check=False)
    assert (done.returncode, done.stdout) == (0, "3.0\n"), done.stderr


def test_jax_shapes(jax):
    a = np.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(jax.numpy.from_dlpack(hd.asarray(a).T), a.T)
    assert hd.from_dlpack(jax.numpy.ones((0, 3))).shape == jax.numpy.from_dlpack(hd.zeros((0, 3))).shape == (0, 3)
    assert float(jax.numpy.from_dlpack(hd.sum(hd.asarray(a)))) == 66


def test_jax_memory_lives_as_long_as_it_is_shared(jax):
    theirs, ours = jax.numpy.from_dlpack(hd.arange(100000.0)), hd.from_dlpack(jax.numpy.arange(100000.0))
    gc.collect()
    assert float(theirs.sum()) == float(hd.sum(ours)) == 4999950000


def test_jax_gradients_and_callbacks(jax):
    gradient = jax.grad(lambda v: (v ** 2).sum())(jax.numpy.from_dlpack(hd.arange(3.0)))
    check(hd.from_dlpack(gradient), np.array([0.0, 2.0, 4.0]))

    @jax.jit
    def called(v):
        return jax.pure_callback(lambda host: hd.asarray(np.asarray(host) * 2).get(),
                                 jax.ShapeDtypeStruct((3,), jax.numpy.float64), v)

    np.testing.assert_array_equal(called(jax.numpy.arange(3.0)), [0.0, 2.0, 4.0])


def test_jax_arrays_of_jax_are_converted_by_name(jax):
    for mixed in (lambda: hd.ones(3) + jax.numpy.ones(3), lambda: jax.numpy.ones(3) + hd.ones(3),
                  lambda: hd.jit(hd.sin)(jax.numpy.ones(3))):
        with pytest.raises(TypeError, match="heddle.asarray"):
            mixed()


def test_jax_functions_take_arrays_of_jax(jax):
    a = jax.numpy.arange(6.0).reshape(2, 3)
    check(hd.add(a, hd.ones(3)), np.asarray(a) + 1)
    check(hd.sum(a, axis=0), np.asarray(a).sum(0))
    check(hd.concatenate([a, hd.ones((1, 3))]), np.concatenate([np.asarray(a), np.ones((1, 3))]))


def total(values):
    result = 0.0
    for row in range(values.shape[0]):
        for column in range(values.shape[1]):
            result += values[row, column]
    return result


def increment(values):
    for i in range(values.shape[0]):
        values[i] += 1


def test_numba_elements_are_read_where_they_are(numba):
    compiled, x = numba.njit(total), hd.arange(6.0).reshape(2, 3)
    assert compiled(np.asarray(x)) == compiled(memoryview(x)) == 15
    assert compiled(np.asarray(x.T)) == 15
    assert np.asarray(x).ctypes.data == np.asarray(memoryview(x)).ctypes.data


def test_numba_elements_are_written(numba):
    compiled, x = numba.njit(increment), hd.arange(4.0)
    before = x * 1
    compiled(np.from_dlpack(x))
    assert x.tolist() == [1, 2, 3, 4]
    assert before.tolist() == [0, 1, 2, 3]
    with pytest.raises(Exception, match="(?i)read.?only|Cannot modify"):
        compiled(np.asarray(x))
    assert x.tolist() == [1, 2, 3, 4]


def test_numba_ufuncs_of_numba_take_arrays(numba):
    @numba.vectorize
    def twice(a, b):
        return 2 * a + b

    x = hd.arange(3.0)
    result = twice(x, x)
    assert isinstance(result, np.ndarray)
    assert result.tolist() == [0, 3, 6]
