"""Matplotlib, which draws Arrays without a window."""

import numpy as np
import pytest
from conftest import neighbour

import heddle as hd

matplotlib = neighbour("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

pytestmark = pytest.mark.usefixtures("on_host")


@pytest.fixture
def axes():
    figure, axes = plt.subplots(figsize=(2, 2))
    yield axes
    figure.canvas.draw()
    plt.close(figure)


def curve():
    x = hd.linspace(0.0, 1.0, 20)
    return x, hd.sin(x * 6)


def test_plot(axes):
    x, y = curve()
    line, = axes.plot(x, y)
    np.testing.assert_array_equal(line.get_xydata(), np.stack([x.get(), y.get()], axis=1))
    assert len(axes.plot(x, hd.stack([x, y], axis=1))) == 2
    line.set_data(y, x)
    np.testing.assert_array_equal(line.get_xdata(), y.get())
    axes.plot("a", "b", "", data={"a": x, "b": y})


@pytest.mark.parametrize("dtype", ["uint8", "bool", "int64", "float16", "float32", "float64"])
def test_imshow(axes, dtype):
    image = hd.arange(12.0).reshape(3, 4).astype(dtype)
    drawn = axes.imshow(image, vmin=hd.min(image), vmax=hd.max(image))
    np.testing.assert_array_equal(drawn.get_array(), image.get())
    drawn.set_data(image)
    axes.imshow(hd.ones((3, 4, 3)) * 0.5)


def test_scatter(axes):
    x, y = curve()
    points = axes.scatter(x, y, c=y, s=x * 10)
    np.testing.assert_array_equal(points.get_offsets(), np.stack([x.get(), y.get()], axis=1))
    np.testing.assert_array_equal(points.get_array(), y.get())
    np.testing.assert_array_equal(points.get_sizes(), (x * 10).get())


def test_hist(axes):
    x, y = curve()
    edges = hd.linspace(-1.0, 1.0, 5)
    counts, found, _ = axes.hist(y, bins=edges)
    expected = np.histogram(y.get(), edges.get())
    np.testing.assert_array_equal(counts, expected[0])
    np.testing.assert_array_equal(found, expected[1])
    assert np.sum(axes.hist([x, y], bins=3)[0]) == 40
    assert np.sum(axes.hist2d(x, y, bins=3)[0]) == 20


def test_bars_and_limits(axes):
    x, y = curve()
    assert [bar.get_height() for bar in axes.bar(hd.arange(3), hd.asarray([1.0, 2.0, 3.0]))] == [1, 2, 3]
    axes.errorbar(x, y, yerr=hd.abs(y))
    axes.fill_between(x, y, hd.zeros(20), where=y > 0)
    axes.set_xlim(hd.min(x), hd.max(x))
    assert axes.get_xlim() == (0, 1)
    axes.axhline(hd.mean(y))
    axes.set_xticks(x[::5])
    np.testing.assert_array_equal(axes.get_xticks(), x.get()[::5])


def test_fields(axes):
    columns, rows = hd.meshgrid(hd.arange(4.0), hd.arange(3.0))
    field = hd.sin(columns) + rows
    mesh = axes.pcolormesh(columns, rows, field)
    np.testing.assert_array_equal(np.ravel(mesh.get_array()), field.get().ravel())
    levels = axes.contourf(columns, rows, field, levels=hd.linspace(-1.0, 3.0, 4)).levels
    np.testing.assert_array_equal(levels, np.linspace(-1, 3, 4))
    axes.quiver(columns, rows, field, field)


def test_boxes(axes):
    _, y = curve()
    drawn = axes.boxplot(y)
    assert drawn["medians"][0].get_ydata()[0] == np.median(y.get())


def test_image_files(tmp_path):
    path = tmp_path / "image.png"
    image = hd.arange(12, dtype=hd.uint8).reshape(2, 2, 3) * 20
    plt.imsave(path, image)
    np.testing.assert_array_equal(np.round(plt.imread(path)[:, :, :3] * 255), image.get())
