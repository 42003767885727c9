"""PyTorch's functions under NumPy's names. A module, because torch.compile needs the fewest guards
for one."""

import torch
from torch import (abs, conj, cos, exp, fft, floor, linalg, log, log1p,  # noqa: F401
                   matmul, minimum, round, searchsorted, sign, sin, sqrt, tanh, where)
from torch.nn.functional import scaled_dot_product_attention  # noqa: F401

DEVICE = "cpu"  # where new tensors are made


def astype(x, dtype):
    return x.to(getattr(torch, dtype))


def arange(*bounds):
    return torch.arange(*bounds, device=DEVICE)


def eye(count, dtype):
    return torch.eye(count, dtype=dtype, device=DEVICE)


def sum(x, axis=None, keepdims=False):
    return torch.sum(x, dim=axis, keepdim=keepdims)


def mean(x, axis=None, keepdims=False):
    return torch.mean(x, dim=axis, keepdim=keepdims)


def max(x, axis=(), keepdims=False):
    return torch.amax(x, dim=axis, keepdim=keepdims)


def min(x, axis=(), keepdims=False):
    return torch.amin(x, dim=axis, keepdim=keepdims)


def argmax(x, axis):
    return torch.argmax(x, dim=axis)


def argmin(x, axis):
    return torch.argmin(x, dim=axis)


def maximum(x, other):
    return torch.maximum(x, other) if isinstance(other, torch.Tensor) else torch.clamp_min(x, other)


def clip(x, low, high):
    return torch.clamp(x, low, high)


def cumsum(x, axis, dtype=None):
    return torch.cumsum(x, dim=axis, dtype=dtype and getattr(torch, dtype))


def sort(x, axis):
    return torch.sort(x, dim=axis)[0]


def argsort(x, axis):
    return torch.argsort(x, dim=axis)


def roll(x, shift, axis):
    return torch.roll(x, shift, axis)


def flip(x, axis):
    return torch.flip(x, (axis,))


def concatenate(pieces, axis):
    return torch.cat(pieces, dim=axis)


def stack(pieces, axis):
    return torch.stack(pieces, dim=axis)


def take_along_axis(x, index, axis):
    return torch.take_along_dim(x, index, dim=axis)


def swapaxes(x, one, other):
    return torch.swapaxes(x, one, other)


def transpose(x, axes):
    return torch.permute(x, axes)


def ascontiguousarray(x):
    return x.contiguous()
