"""Draws the pictures of the gallery again. It needs matplotlib:

    main.py --out heat.npy
    draw.py heat heat.npy        writes examples/heat/heat.png
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402


def image(axes, pixels, **how):
    axes.imshow(pixels, **how)
    axes.axis("off")


def filters(axes, data):
    half = data.shape[1] // 2  # a quarter of each, so that pixels can be seen
    original, gaussian, sobel, median = data[:, :half, :half]
    image(axes, np.block([[original, gaussian], [sobel / sobel.max(), median]]), cmap="gray")


def kmeans(axes, data):
    some = data[::41]
    axes.scatter(some[:, 0], some[:, 1], c=some[:, 2], s=1.5, cmap="Set1")
    axes.set_aspect("equal")


def mandelbrot(axes, data):
    inside = data == data.max()
    image(axes, np.where(inside, np.nan, np.log(data + 1.0)), cmap="magma")


def heat(axes, data):
    image(axes, data, cmap="inferno")


def nbody(axes, data):
    axes.scatter(data[0], data[1], c=np.hypot(data[3], data[4]), s=2, cmap="viridis", vmax=3)
    axes.set(aspect="equal", xlim=(-1.1, 1.1), ylim=(-1.1, 1.1))


def pricing(axes, data):
    strikes, exact, european, error, asian = data
    axes.plot(strikes, exact, color="gray", label="Black-Scholes")
    axes.errorbar(strikes, european, 3 * error, fmt=".", markersize=4, label="Monte Carlo")
    axes.plot(strikes, asian, label="on the mean price")
    axes.set(xlabel="strike", ylabel="price")
    axes.legend()


def logistic(axes, data):
    shown = axes.imshow(data, extent=(-2, 2, -2, 2), origin="lower", cmap="RdBu", vmin=0, vmax=1)
    axes.figure.colorbar(shown, label="probability")


def life(axes, data):
    image(axes, data, cmap="gnuplot2")


def raymarch(axes, data):
    image(axes, data)


def shipping(axes, data):
    image(axes, data, cmap="Blues", vmin=-0.8, vmax=0.8)


def inspect(axes, data):
    axes.barh(np.arange(data.size), data / 2**20)
    axes.invert_yaxis()
    axes.set(xlabel="MiB moved", ylabel="step of the program", yticks=np.arange(data.size))


def spectrogram(axes, data):
    axes.imshow(data.T, origin="lower", aspect="auto", cmap="magma", vmin=-60, vmax=0,
                extent=(0, (len(data) * 128 + 384) / 8192, 0, 4.096))
    axes.set(xlabel="seconds", ylabel="kHz")


def pagerank(axes, data):
    axes.loglog(np.arange(1, data.size + 1), data * data.size)
    axes.set(xlabel="page, by rank", ylabel="rank times the number of pages")


def poisson(axes, data):
    most = np.abs(data).max()
    axes.contour(data, levels=12, colors="black", linewidths=0.5)
    image(axes, data, cmap="RdBu_r", vmin=-most, vmax=most)


def main():
    name, path = sys.argv[1:]
    figure, axes = plt.subplots(figsize=(4, 4), layout="constrained")
    globals()[name](axes, np.load(path))
    figure.savefig(Path(__file__).resolve().parent / name / f"{name}.png", dpi=80)


if __name__ == "__main__":
    main()
