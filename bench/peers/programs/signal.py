"""Sound, radio and other series."""

import numpy as np

from peers.program import Input, Program, cast, line, rounding, side


def fir_filter(xp, x):
    """16 taps, by slices."""
    taps = [0.1 * (k + 1) if k < 8 else 0.1 * (16 - k) for k in range(16)]
    count = x.shape[0] - 15
    return sum(tap * x[k:count + k] for k, tap in enumerate(taps))


def power_spectrum(xp, frames, window):
    spectrum = xp.fft.rfft(frames * window)
    return xp.log(xp.abs(spectrum) ** 2 + 1e-2)


def filter_by_fourier(xp, x, response):
    return xp.fft.irfft(xp.fft.rfft(x) * response)


def mix_down(xp, x):
    """Shifts the frequency by a turn in 256 samples, and keeps the mean of every 8."""
    turn = cast(xp, xp.arange(x.shape[1]) % 256, "float32") * float(2 * np.pi / 256)
    shifted = x * xp.exp(-1j * turn)
    return xp.mean(shifted.reshape((x.shape[0], x.shape[1] // 8, 8)), axis=2)


def coherence(xp, x, y):
    return xp.abs(xp.mean(x * xp.conj(y), axis=0)) ** 2 / (
        xp.mean(xp.abs(x) ** 2, axis=0) * xp.mean(xp.abs(y) ** 2, axis=0))


def cross_spectrum(xp, x, y):
    return x * xp.conj(y) / (xp.abs(x) * xp.abs(y) + 1e-9)


def zero_crossings(xp, sound):
    return xp.sum((sound[:, 1:] >= 0) != (sound[:, :-1] >= 0), axis=1)


def mu_law(xp, sound):
    x = cast(xp, sound, "float32") * (1 / 32768)
    y = xp.sign(x) * xp.log1p(255.0 * xp.abs(x)) * (1 / 5.545177444479562)
    return cast(xp, (y + 1.0) * 127.5, "uint8")


def block_levels(xp, sound):
    x = cast(xp, sound, "float32").reshape((-1, 441))
    return xp.sqrt(xp.mean(x * x, axis=1))


def overlapping_frames(xp, x, window):
    """Frames of 512 samples, every 256, each times a window."""
    pieces = x.reshape((-1, 256))
    return xp.concatenate([pieces[:-1], pieces[1:]], axis=1) * window


def interpolate(xp, x, place):
    """Samples at places between those of each row, linearly."""
    floor = xp.floor(place)
    index = cast(xp, floor, "int32")
    part = place - floor
    return x[:, index] * (1.0 - part) + x[:, index + 1] * part


def signal(scale):
    sound = Input((line(4096, scale), 16001), -32768, 32768, "int16")
    complexes = Input((side(4096, scale), side(2048, scale)), -1, 1, "complex128")
    samples = line(2**25, scale)
    return [
        Program("FIR, 16 taps", fir_filter, (Input((samples * 2 + 1,), -1, 1),),
                tolerance=rounding("float32", 16), rows=(0,), halo=15),
        Program("power spectrum of frames", power_spectrum,
                (Input((line(32768, scale), 1024), -1, 1), Input((1024,))), kind="library",
                tolerance=rounding("float32", 200), rows=(0,)),
        Program("filter by Fourier transforms", filter_by_fourier,
                (Input((line(1024, scale), 16384), -1, 1), Input((8193,))), kind="library",
                tolerance=rounding("float32", 60), rows=(0,)),
        Program("mix down, complex64", mix_down,
                (Input((line(128, scale), 131072), -1, 1, "complex64"),),
                tolerance=rounding("float32", 8), rows=(0,)),
        Program("coherence, complex128", coherence, (complexes,) * 2,
                tolerance=rounding("float64", 20, side(4096, scale))),
        Program("cross spectrum, complex128", cross_spectrum, (complexes,) * 2,
                tolerance=rounding("float64", 20), rows=(0, 1)),
        Program("zero crossings, int16", zero_crossings, (sound,), tolerance=0, result="int64",
                rows=(0,)),
        Program("mu-law, int16", mu_law, (sound,), kind="arithmetic", floor=255, tolerance=1 / 255,
                result="uint8", rows=(0,)),
        Program("levels of blocks, int16", block_levels,
                (Input((line(2**17, scale) * 441,), -32768, 32768, "int16"),),
                tolerance=rounding("float32", 2, 441), result="float32"),
        Program("overlapping frames", overlapping_frames, (Input((samples,), -1, 1), Input((512,))),
                tolerance=rounding("float32", 1)),
        Program("interpolate rows", interpolate,
                (Input((line(4096, scale), 4099), -1, 1), Input((8191,), 0, 4097)),
                tolerance=rounding("float32", 4), rows=(0,)),
    ]
