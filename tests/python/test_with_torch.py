"""PyTorch on the CPU: tensors and Arrays share memory by DLPack."""

import gc

import numpy as np
import pytest
from conftest import DTYPES, check

import heddle as hd

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.usefixtures("on_host")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype(dtype):
    tensor = torch.ones(3).to(getattr(torch, str(dtype)))
    for x in (hd.from_dlpack(tensor), hd.asarray(tensor)):
        assert x.dtype == dtype
        assert torch.equal(torch.from_dlpack(x), tensor)


def test_writes_are_seen_on_both_sides():
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


def test_layouts():
    tensor = torch.arange(12.0).reshape(3, 4)
    for view in (tensor.t(), tensor[1:], tensor[:, ::2], tensor[:1].expand(3, 4), tensor[:0], tensor.sum()):
        check(hd.from_dlpack(view), view.numpy())
    x = hd.from_dlpack(tensor, copy=True)
    x += 1
    assert float(tensor[0, 0]) == 0


def test_memory_lives_as_long_as_it_is_shared():
    tensor, x = torch.from_dlpack(hd.arange(1000.0)), hd.from_dlpack(torch.arange(1000.0))
    gc.collect()
    assert float(tensor.sum()) == float(hd.sum(x)) == 499500


def test_layers_and_gradients():
    layer = torch.nn.Linear(3, 2, dtype=torch.float64)
    x = hd.arange(6.0).reshape(2, 3)
    result = layer(torch.from_dlpack(x))
    with pytest.raises(BufferError, match="detach"):
        hd.from_dlpack(result)
    weight, bias = (hd.from_dlpack(each.detach()) for each in layer.parameters())
    np.testing.assert_allclose((x @ weight.T + bias).get(), result.detach().numpy())


def test_tensors_are_converted_by_name():
    for mixed in (lambda t: hd.ones(3) + t, lambda t: t + hd.ones(3), lambda t: hd.sin(t)):
        with pytest.raises(TypeError, match="heddle.asarray"):
            mixed(torch.ones(3))
    with pytest.raises(IndexError, match="heddle.asarray"):
        hd.arange(3)[torch.tensor([0, 2])]
    assert int(hd.arange(3)[torch.tensor(2)]) == 2


def test_a_jitted_function_does_not_keep_the_elements_of_a_tensor():
    tensor, twice = torch.ones(3), hd.jit(lambda v: hd.asarray(v) * 2)
    with pytest.raises(TypeError, match="heddle.asarray"):
        twice(tensor)
    x = hd.from_dlpack(tensor)
    for expected in (2, 4):
        check(twice(x), np.full(3, expected, "float32"))
        tensor += 1
