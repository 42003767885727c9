"""Fourier transforms, by numpy.fft in float64 and complex128."""

import numpy as np

import dtypes

OPS = {"fft.fft", "fft.rfft", "fft.irfft"}


def transform(node, operand):
    """What numpy.fft gives, without scaling."""
    if node.op == "fft.rfft":
        return np.fft.rfft(operand.astype(np.float64))
    wide = operand.astype(np.complex128)
    if node.op == "fft.irfft":
        return np.fft.irfft(wide, int(node.attributes["length"]), norm="forward")
    inverse = bool(node.attributes.get("inverse"))
    result = np.fft.ifft(wide, norm="forward") if inverse else np.fft.fft(wide)
    root = int(node.attributes.get("root", 0))
    if root == 0:
        return result
    exponents = np.outer(np.arange(wide.shape[-2]), np.arange(wide.shape[-1])) % root
    return result * np.exp((2j if inverse else -2j) * np.pi * exponents / root)


def error(node, operand, dtype):
    """What roundings may change. Each of about log2(n) stages adds an error of a few eps times the
    root of the sum of squares (Higham, Accuracy and Stability of Numerical Algorithms, theorem
    24.2, for random errors); a length with a large prime factor takes two transforms of up to four
    times its length."""
    n = max(operand.shape[-1], node.shape[-1])
    size = np.sqrt((np.abs(operand.astype(np.complex128)) ** 2).sum(axis=-1, keepdims=True))
    bound = 8 * dtypes.epsilon(dtype) * (2 + np.log2(n)) * size
    bound = np.where(np.isfinite(bound), bound, np.inf)
    return np.broadcast_to(bound, operand.shape[:-1] + (node.shape[-1],))
