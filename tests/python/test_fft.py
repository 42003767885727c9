"""Fourier transforms, beside NumPy's: what the table of functions cannot say."""

import numpy as np
import pytest

import heddle as hd

DTYPES = ("complex64", "complex128")


def sample(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.standard_normal(shape)
    return x.astype(dtype)


def check(actual, expected, factor=8.0):
    """The error is measured as those of transforms are bounded: against the largest element."""
    actual = np.asarray(actual)
    assert actual.shape == expected.shape and actual.dtype == expected.dtype
    if expected.size == 0:
        return
    epsilon = np.finfo(expected.dtype).eps
    stages = 1 + np.log2(max(expected.shape[-1], 2))
    assert np.abs(actual - expected).max() <= factor * epsilon * stages * np.abs(expected).max()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 2, 7, 12, 17, 31, 97, 100, 1009, 1024, 5000, 6561, 8192, 10007, 14641, 30000, 65536,
                               98304, 100003])
def test_lengths(n, dtype):
    x = sample((2, n), dtype)
    check(hd.fft.fft(hd.array(x)), np.fft.fft(x))
    check(hd.fft.ifft(hd.array(x)), np.fft.ifft(x))
    real = np.ascontiguousarray(x.real)
    half = np.fft.rfft(real)
    check(hd.fft.rfft(hd.array(real)), half)
    check(hd.fft.irfft(hd.array(half), n), np.fft.irfft(half, n))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [300000, 354294, 524288])
def test_long_inverses_of_real_numbers(n, dtype):
    half = sample((2, n // 2 + 1), dtype)
    half.imag[:, [0, -1]] = np.inf  # ignored
    check(hd.fft.irfft(hd.array(half), n), np.fft.irfft(half, n))


@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
def test_inverses(norm):
    x = sample((3, 24), "float64")
    back = hd.fft.irfft(hd.fft.rfft(hd.array(x), norm=norm), norm=norm)
    np.testing.assert_allclose(np.asarray(back), x, atol=1e-14)
    back = hd.fft.ifftn(hd.fft.fftn(hd.array(x), norm=norm), norm=norm)
    np.testing.assert_allclose(np.asarray(back).real, x, atol=1e-14)


def kernels_of(function, *arguments):
    report = hd.jit(function).lower(*arguments).explain()
    return [line for line in report.splitlines() if " kernel hd_" in line]


def test_elementwise_work_joins_the_kernel():
    x = hd.spec((64, 256), hd.float32)
    window = hd.spec((256,), hd.float32)
    assert len(kernels_of(lambda x, w: hd.abs(hd.fft.rfft(x * w)) ** 2, x, window)) == 1
    assert len(kernels_of(lambda x: hd.fft.fftshift(hd.fft.fft(x), axes=-1), x)) == 1
    assert len(kernels_of(lambda x: hd.fft.fft(x, 200), x)) == 1
    assert len(kernels_of(lambda x: hd.fft.fft(x, axis=0), x)) == 1


def test_a_convolution_is_one_kernel():
    x, kernel = hd.spec((64, 256), hd.float32), hd.spec((129,), hd.complex64)

    def convolve(x, kernel):
        return hd.fft.irfft(hd.fft.rfft(x) * kernel)
    assert len(kernels_of(convolve, x, kernel)) == 1
    values, factors = sample((64, 256), "float32"), sample((129,), "complex64")
    check(hd.jit(convolve)(hd.array(values), hd.array(factors)),
          np.fft.irfft(np.fft.rfft(values) * factors))


def test_what_others_need_stays():
    """Results and operands that are used elsewhere too are written to memory."""
    x = sample((5, 40), "complex128")

    @hd.jit
    def several(x):
        doubled = x * 2
        spectrum = hd.fft.fft(doubled)
        return doubled, spectrum, spectrum + 1, hd.fft.ifft(spectrum.conj()), spectrum.sum(axis=0)
    spectrum = np.fft.fft(x * 2)
    for actual, expected in zip(several(hd.array(x)),
                                (x * 2, spectrum, spectrum + 1, np.fft.ifft(spectrum.conj()),
                                 spectrum.sum(axis=0))):
        check(actual, expected)


def test_items_that_need_others_are_no_item():
    x = sample((6, 32), "complex64")

    @hd.jit
    def across(x, rows):
        spectrum = hd.fft.fft(x)
        return spectrum[::-1] + 0 * x, spectrum[rows] * 2, spectrum.T @ spectrum, spectrum.cumsum(0)
    rows = np.array([3, 3, 0])
    spectrum = np.fft.fft(x)
    for actual, expected in zip(across(hd.array(x), hd.array(rows)),
                                (spectrum[::-1], spectrum[rows] * 2, spectrum.T @ spectrum,
                                 spectrum.cumsum(0))):
        check(actual, expected, 32)


def test_in_place_writes_around_a_transform():
    x = sample((4, 16), "complex128")
    ours, theirs = hd.array(x), x.copy()
    for array, fft in ((ours, hd.fft.fft), (theirs, np.fft.fft)):
        result = fft(array * 3)
        array[1] = 0
        array[0] = result[2]
        array += result[::-1]
    check(ours, theirs)


@pytest.mark.parametrize("layout", ["transposed", "reversed", "strided", "broadcast", "offset"])
def test_layouts(layout):
    base = sample((12, 20), "float32")
    views = {"transposed": lambda a: a.T, "reversed": lambda a: a[::-1, ::-1],
             "strided": lambda a: a[::2, 1::3], "offset": lambda a: a[1:, 3:],
             "broadcast": lambda a: a[:1]}
    x = views[layout](base)
    ours = views[layout](hd.array(base))
    if layout == "broadcast":
        x, ours = np.broadcast_to(x, (7, 20)), hd.broadcast_to(ours, (7, 20))
    for axis in (0, 1):
        check(hd.fft.rfft(ours, axis=axis), np.fft.rfft(x, axis=axis))


def test_lengths_of_axes():
    p = sample((3, 4), "complex128")
    for name, s, axes in (("irfftn", (3, -1), (0, 1)), ("irfft2", (-1, -1), (-2, -1)),
                          ("rfftn", (-1, -1), (0, 1)), ("fftn", (-1, 6), None)):
        x = p.real if name == "rfftn" else p
        check(getattr(hd.fft, name)(hd.array(x), s, axes), getattr(np.fft, name)(x, s, axes or (0, 1)))


def test_dynamic_batches_keep_one_program():
    f = hd.jit(lambda x: hd.fft.fft(x) * 2, dynamic=[("rows", 12)])
    for rows in (3, 1, 8, 0):
        x = sample((rows, 12), "complex64")
        check(f(hd.array(x)), np.fft.fft(x) * 2)


def test_changing_lengths_outside_jit():
    for n in range(1, 40):
        x = sample(n, "float64", n)
        check(hd.fft.rfft(hd.array(x)), np.fft.rfft(x))


def test_functions_of_lines():
    x = sample((3, 4, 8), "complex64")
    check(hd.apply_along_axis(hd.fft.fft, 1, hd.array(x)), np.fft.fft(x, axis=1))


def test_errors_name_the_function_and_the_line():
    with pytest.raises(ValueError, match=r"fft\.fft: cannot transform 0 data points.*test_fft\.py"):
        hd.fft.fft(hd.ones(0))
    with pytest.raises(TypeError, match=r"fft\.rfft\(complex128\[3\]\): takes real numbers"):
        hd.fft.rfft(hd.ones(3) + 1j)
    with pytest.raises(ValueError, match="norm must be 'backward', 'ortho' or 'forward'"):
        hd.fft.fft(hd.ones(3), norm="both")
    with pytest.raises(ValueError, match="2 lengths for 1 axes"):
        hd.fft.fftn(hd.ones((3, 3)), (2, 2), (0,))
    with pytest.raises(hd.AxisError):
        hd.fft.fft(hd.ones(3), axis=1)


def test_out_and_numpy_dispatch():
    x = sample(10, "complex128")
    out = hd.zeros(10, dtype=hd.complex128)
    assert hd.fft.fft(hd.array(x), out=out) is out
    check(out, np.fft.fft(x))


def test_a_symbolic_axis_says_what_to_do_in_python():
    with pytest.raises(hd.ShapeError, match="in Python None"):
        hd.jit(hd.fft.fft).lower(hd.spec(("n",), hd.float32))
