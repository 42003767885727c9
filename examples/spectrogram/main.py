"""The spectrogram of a noisy signal: three steady tones, and a chirp that rises through them.

What cuts the signal into windows, transforms them and takes their levels in decibels is one kernel.
"""

import argparse

import heddle as hd

RATE, WINDOW, HOP = 8192, 512, 128  # samples a second, in a window, and between two windows


def noise(count):
    """Numbers from -0.2 to 0.2 that look random, and are equal wherever they are made."""
    mixed = hd.arange(count)
    for _ in range(2):
        mixed = (mixed ^ (mixed >> 15)) * 73244475 % 2**32
    return mixed / 2**32 * 0.4 - 0.2


def signal(count):
    t = hd.arange(count) / RATE
    seconds = count / RATE
    tones = [(440, 0.5), (1234.5, 0.25), (2500, 0.1)]
    chirp = hd.sin(2 * hd.pi * (200 * t + 1700 / seconds * t * t))  # from 200 to 3600 Hz
    steady = sum(level * hd.sin(2 * hd.pi * frequency * t) for frequency, level in tones)
    return (steady + chirp + noise(count)).astype(hd.float32)


@hd.jit
def spectrogram(x):
    """Levels in dB, [windows, WINDOW // 2 + 1]; a sine of amplitude 1 has 0."""
    window = hd.hanning(WINDOW + 1)[:-1].astype(hd.float32)
    windows = hd.sliding_window_view(x, WINDOW)[::HOP]
    spectrum = hd.fft.rfft(windows * window) * (4 / WINDOW)
    return 10 * hd.log10(spectrum.real**2 + spectrum.imag**2 + 1e-12)


@hd.jit
def peaks(levels):
    """Of frequencies 1 to n - 1: whether a steady tone is there, its frequency in Hz, its level."""
    steady = hd.median(levels, axis=0)  # the chirp is soon gone
    floor = hd.median(steady)
    below, here, above = steady[:-2], steady[1:-1], steady[2:]
    found = (here > below) & (here > above) & (here > floor + 12)
    # The vertex of the parabola through three levels.
    offset = (below - above) / (2 * (below - 2 * here + above))
    place = hd.arange(1, levels.shape[1] - 1) + offset
    return found, place * (RATE / WINDOW), here - (below - above) * offset / 4


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=65536)
    parser.add_argument("--out")
    options = parser.parse_args()

    levels = spectrogram(signal(options.size))
    found, frequencies, heights = peaks(levels)
    print(f"{options.size} samples, {levels.shape[0]} windows, {levels.shape[1]} frequencies")
    print(f"levels: median {hd.median(levels).item():.2f} dB, highest {levels.max().item():.2f} dB")
    for place in hd.flatnonzero(found).tolist():
        print(f"tone: {frequencies[place].item():.1f} Hz, {heights[place].item():.2f} dB")
    chirp = levels.argmax(axis=1).eval()
    for part in (1, 2, 3):
        place = levels.shape[0] * part // 4
        print(f"loudest in window {place}: {chirp[place].item() * RATE // WINDOW} Hz")
    if options.out:
        hd.save(options.out, levels)


if __name__ == "__main__":
    main()
