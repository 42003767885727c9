"""The programs of examples/ in NumPy: what they print, as lines. None is a line that only Heddle can say."""

import math
import time

import numpy as np

GOLDEN_X, GOLDEN_Y = 0.7548776662466927, 0.5698402909980532


def line_of_places(start, stop, size):
    return np.linspace(start, stop, size).astype(np.float32)


def filters(size, steps):
    place = line_of_places(0, 1, size)
    x, y = place[None, :], place[:, None]
    stripes = np.float32(0.5) + np.float32(0.25) * np.sin(40 * x * (x + y))
    discs = np.hypot((3 * x) % 1 - np.float32(0.5), (3 * y) % 1 - np.float32(0.5)) < 0.3
    image = np.where(discs, np.float32(0.9) - np.float32(0.5) * y, stripes)
    index = np.arange(size)
    mixed = (index[:, None] * 73856093) ^ (index[None, :] * 19349663)
    mixed = (mixed ^ (mixed >> 13)) % 64
    image = np.where(mixed == 0, np.float32(0), np.where(mixed == 1, np.float32(1), image))

    weights = [math.exp(-k * k / 8) for k in range(-6, 7)]
    weights = [weight / sum(weights) for weight in weights]

    def blur_columns(x):
        padded = np.pad(x, [(6, 6), (0, 0)], mode="reflect")
        return sum(weight * padded[k:k + len(x)] for k, weight in enumerate(weights))

    smooth = blur_columns(blur_columns(image).T).T
    p = np.pad(image, 1, mode="edge")
    windows = [p[i:i + size, j:j + size] for i in range(3) for j in range(3)]
    clean = np.median(np.stack(windows), axis=0)
    p = np.pad(clean, 1, mode="edge")
    right, down = p[:, 2:] - p[:, :-2], p[2:, :] - p[:-2, :]
    edges = np.hypot(right[:-2] + 2 * right[1:-1] + right[2:],
                     down[:, :-2] + 2 * down[:, 1:-1] + down[:, 2:]) / 4
    changed = np.count_nonzero(np.abs(clean - image) > 0.25)
    return [f"image: mean {image.mean():.5f}, deviation {image.std():.5f}",
            f"gaussian: mean {smooth.mean():.5f}, deviation {smooth.std():.5f}",
            f"sobel: mean {edges.mean():.5f}, highest {edges.max():.5f}",
            f"median: mean {clean.mean():.5f}, {changed} pixels changed by over 0.25"]


def kmeans(size, steps):
    i = np.arange(size)
    cloud = i % 6
    radius = (0.15 + 0.04 * cloud) * ((i * GOLDEN_X) % 1)
    turn = 2 * math.pi * ((i * GOLDEN_Y) % 1)
    around = 2 * math.pi / 6 * cloud
    points = np.stack([0.6 * np.cos(around) + radius * np.cos(turn),
                       0.6 * np.sin(around) + radius * np.sin(turn)], axis=-1).astype(np.float32)
    centers = points[:18:3]
    spreads = []
    for _ in range(steps):
        away = points[:, None, :] - centers[None, :, :]
        distance2 = np.sum(away * away, axis=-1)
        labels = np.argmin(distance2, axis=-1)
        spreads.append(np.min(distance2, axis=-1).mean())
        counts = np.bincount(labels, minlength=6)
        member = labels[:, None] == np.arange(6)
        sums = np.sum(np.where(member[:, :, None], points[:, None, :], np.float32(0)), axis=0)
        means = (sums / np.maximum(counts, 1)[:, None]).astype(np.float32)
        centers = np.where(counts[:, None] > 0, means, centers)
    return [f"first step: mean square distance {spreads[0]:.5f}",
            f"step {steps}: mean square distance {spreads[-1]:.5f}",
            "sizes: " + " ".join(map(str, counts))]


def mandelbrot(size, steps):
    c = (line_of_places(-0.755, -0.735, size)[None, :]
         + np.complex64(1j) * line_of_places(0.1, 0.12, size)[:, None])
    z, count = np.zeros_like(c), np.zeros(c.shape, np.int32)
    for _ in range(steps):
        z = z * z + c
        bounded = z.real * z.real + z.imag * z.imag <= 4
        z = np.where(bounded, z, np.complex64(4))
        count += bounded
    inside = np.count_nonzero(count == steps)
    return [f"{size}x{size} points, {steps} iterations",
            f"inside: {100 * inside / c.size:.2f}%, mean count {count.mean():.3f}"]


def heat(size, steps):
    place = line_of_places(-1, 1, size)
    x, y = place[None, :], place[:, None]
    ring = np.abs(np.hypot(x, y) - np.float32(0.6)) < np.float32(0.1)
    bar = (np.abs(x) < np.float32(0.35)) & (np.abs(y) < np.float32(0.05))
    u = (ring | bar).astype(np.float32)
    lines = [f"before: mean {u.mean():.5f}, highest {u.max():.5f}"]
    for i in range(steps):
        rate = np.float32(0.1 if i < 100 else 0.24)
        inner = u[1:-1, 1:-1]
        laplacian = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * inner
        u[1:-1, 1:-1] = inner + rate * laplacian
    return lines + [f"after {steps} steps: mean {u.mean():.5f}, highest {u.max():.5f}, "
                    f"in the middle {u[size // 2, size // 2]:.5f}"]


def nbody(size, steps):
    i = np.arange(size, dtype=float)
    radius = 0.2 + 0.8 * np.sqrt(i / size)
    angle = i * (math.pi * (3 - math.sqrt(5)))
    x, y, z = radius * np.cos(angle), radius * np.sin(angle), 0.05 * np.sin(7 * angle)
    speed = np.sqrt((1 + 0.3 * radius**2) / radius)
    position = np.where(i == 0, 0.0, np.stack([x, y, z]))
    velocity = np.where(i == 0, 0.0, np.stack([-speed * y / radius, speed * x / radius, 0 * x]))
    mass = np.where(i == 0, 1.0, 0.3 / size)

    def pairs():
        away = position[:, None, :] - position[:, :, None]
        return away, np.sum(away**2, axis=0) + 0.05**2

    def acceleration():
        away, distance2 = pairs()
        return np.sum(mass / (distance2 * np.sqrt(distance2)) * away, axis=-1)

    def energy():
        potential = mass[:, None] * mass[None, :] / np.sqrt(pairs()[1])
        return (0.5 * np.sum(mass * velocity**2)
                - 0.5 * (np.sum(potential) - np.sum(mass**2) / 0.05))

    lines = [f"{size} bodies, energy {energy():.6f}"]
    for _ in range(steps):
        velocity = velocity + 0.005 * acceleration()
        position = position + 0.01 * velocity
        velocity = velocity + 0.005 * acceleration()
    spread = np.sqrt(np.mean(np.sum(position**2, axis=0)))
    return lines + [f"after {steps} steps: energy {energy():.6f}, mean distance {spread:.5f}"]


def pricing(size, steps):
    """The numbers are NumPy's own, so only the formula's price is comparable."""
    def normal_cdf(x):
        return 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))

    strikes = np.linspace(60, 140, 33)
    d1 = (np.log(100 / strikes) + 0.03 + 0.25**2 / 2) / 0.25
    exact = 100 * normal_cdf(d1) - strikes * math.exp(-0.03) * normal_cdf(d1 - 0.25)
    rng = np.random.default_rng(1)
    price, total, dt = np.full(size, 100.0), np.zeros(size), 1 / steps
    for _ in range(steps):
        noise = rng.standard_normal(size)
        price = price * np.exp((0.03 - 0.25**2 / 2) * dt + 0.25 * math.sqrt(dt) * noise)
        total += price
    means = []
    for value in (price, total / steps):
        payoff = math.exp(-0.03) * np.maximum(value - strikes[:, None], 0)
        means.append(np.mean(payoff, axis=1))
        np.std(payoff, axis=1)
    return [f"strike 100: Black-Scholes {exact[16]:.5f}", None, None]


def lenet(size, steps):
    """The gradients are tested by tests/python/test_nnet.py."""
    return [None, None]


def logistic(size, steps):
    i = np.arange(size)
    label = i % 2
    angle = math.pi * ((i * GOLDEN_X) % 1)
    radius = 1 + 1.1 * ((i * GOLDEN_Y) % 1 - 0.5)
    x, y = radius * np.cos(angle), radius * np.sin(angle)
    x, y = np.where(label == 0, x, 1 - x) - 0.5, np.where(label == 0, y, 0.35 - y) - 0.2
    x, y, labels = x.astype(np.float32), y.astype(np.float32), label.astype(np.float32)
    inputs = np.stack([x**i * y**j for i in range(5) for j in range(5 - i)], axis=-1)
    weights = np.zeros(inputs.shape[1], np.float32)
    momentum = weights

    def loss():
        z = inputs @ weights
        return np.mean(np.maximum(z, 0) - z * labels + np.log1p(np.exp(-np.abs(z))))

    lines = [f"{inputs.shape[1]} features, loss {loss():.5f}"]
    for _ in range(steps):
        error = 1 / (1 + np.exp(-(inputs @ weights))) - labels
        gradient = error @ inputs / np.float32(size) + np.float32(1e-5) * weights
        momentum = np.float32(0.9) * momentum - np.float32(0.5) * gradient
        weights = weights + momentum
    right = np.mean((inputs @ weights > 0) == (labels > 0.5))
    return lines + [f"after {steps} steps: loss {loss():.5f}, {100 * right:.2f}% right"]


def life(size, steps):
    index = np.arange(size)
    mixed = (index[:, None] * 73856093) ^ (index[None, :] * 19349663)
    mixed = mixed ^ (mixed >> 11)
    away = index - size // 2
    disc = away[:, None]**2 + away[None, :]**2 < (size // 4)**2
    cells = (disc & (mixed % 3 == 0)).astype(np.uint8)
    trail = cells.astype(np.float32)
    lines = [f"{size}x{size} cells, {np.count_nonzero(cells)} alive"]
    for _ in range(steps):
        p = np.pad(cells, 1, mode="wrap")
        rows = p[:-2] + p[1:-1] + p[2:]
        around = rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]
        cells = ((around == 3) | ((around == 4) & (cells == 1))).astype(np.uint8)
        trail = np.maximum(np.float32(0.98) * trail, cells)
    return lines + [f"after {steps} generations {np.count_nonzero(cells)} alive, "
                    f"mean trail {trail.mean():.5f}"]


def raymarch(size, steps):
    """With vectors as arrays [3, size, size]."""
    eye, sun = (np.array(v, np.float32)[:, None, None] for v in ([0, 1.4, -4], [-0.48, 0.64, -0.6]))

    def things(p):
        x, y, z = p
        ball = np.sqrt(x**2 + (y - np.float32(0.9))**2 + z**2) - np.float32(0.6)
        ring = np.sqrt((np.hypot(x, z) - np.float32(1.3))**2
                       + (y - np.float32(0.3) - np.float32(0.2) * x)**2) - np.float32(0.18)
        return y + np.float32(0.3), ball, ring

    def distance(p):
        return np.minimum.reduce(things(p))

    place = line_of_places(-1, 1, size)
    x, y = np.meshgrid(place, -place - np.float32(0.25))
    ray = np.stack([x, y, np.full_like(x, 1.5)]) / np.sqrt(x**2 + y**2 + np.float32(2.25))
    t = np.zeros_like(x)
    for _ in range(steps):
        t = np.minimum(t + distance(eye + ray * t), np.float32(12))
    p = eye + ray * t
    here = distance(p)
    shifts = np.eye(3, dtype=np.float32)[:, :, None, None] * np.float32(1e-3)
    slope = np.stack([distance(p + shift) - here for shift in shifts])
    light = np.maximum(np.sum(slope * sun, axis=0) / np.sqrt(np.sum(slope**2, axis=0) + 1e-12), 0)
    way = np.full_like(t, 0.03)
    for _ in range(16):
        gap = distance(p + sun * way)
        light = np.minimum(light, np.maximum(10 * gap / way, 0))
        way = way + np.clip(gap, np.float32(0.02), np.float32(0.3))
    floor, ball, ring = things(p)
    tiles = np.where((np.floor(2 * p[0]) + np.floor(2 * p[2])) % 2 == 0, 0.9, 0.35)
    haze = np.minimum(t / 12, 1)**3
    means = []
    for on_ball, on_ring, sky in [(0.9, 0.2, 0.75), (0.35, 0.5, 0.85), (0.2, 0.9, 1.0)]:
        color = np.where(floor < np.minimum(ball, ring), tiles, np.where(ball < ring, on_ball, on_ring))
        means.append(np.mean(color * (0.15 + 0.85 * light) * (1 - haze) + sky * haze))
    return [f"{size}x{size} rays, mean distance {t.mean():.4f}, {100 * np.mean(t < 12):.2f}% meet a thing",
            "mean color: {:.4f} {:.4f} {:.4f}".format(*means)]


def shipping(size, steps):
    x = (2 * np.arange(size) / size - 1).astype(np.float32)
    x, y, height = x[None, :], x[:, None], np.float32(0)
    for a, b, frequency in np.array([[-0.5, -0.4, 30], [0.6, -0.2, 40], [0.1, 0.7, 25]], np.float32):
        distance = np.hypot(x - a, y - b)
        height = height + np.sin(frequency * (distance - np.float32(0.25))) / (1 + 4 * distance)
    extremes = f"lowest {height.min():.5f}, highest {height.max():.5f}"
    return ["inputs: 3x3 n number", f"from the file: {extremes}", f"from the cache: {extremes}",
            "runs of a compiler: 0"]


def inspect(size, steps):
    """Only the last line; how many kernels there are is for Heddle to say."""
    table = np.sin(np.float32(0.37) * np.arange(size * 258).astype(np.float32).reshape((size, 258)))
    weights = np.cos(np.arange(256 * 64).astype(np.float32)).reshape((256, 64)) / 16
    for _ in range(steps):
        smooth = (table[:, :-2] + 2 * table[:, 1:-1] + table[:, 2:]) / 4
        centered = smooth - np.mean(smooth, axis=0)
        deviation = np.sqrt(np.mean(centered * centered, axis=0) + np.float32(1e-6))
        result = np.tanh(centered / deviation @ weights + np.float32(0.1))
    return [..., f"mean {result.mean():.4f}, deviation {result.std():.4f}"]


def spectrogram(size, steps):
    rate, length, hop = 8192, 512, 128
    mixed = np.arange(size)
    for _ in range(2):
        mixed = (mixed ^ (mixed >> 15)) * 73244475 % 2**32
    t = np.arange(size) / rate
    x = np.sin(2 * np.pi * (200 * t + 1700 * rate / size * t * t)) + 0.4 * mixed / 2**32 - 0.2
    for frequency, level in [(440, 0.5), (1234.5, 0.25), (2500, 0.1)]:
        x += level * np.sin(2 * np.pi * frequency * t)
    window = np.hanning(length + 1)[:-1]
    windows = np.lib.stride_tricks.sliding_window_view(x.astype(np.float32), length)[::hop]
    spectrum = np.fft.rfft(windows * window) * 4 / length
    levels = 10 * np.log10(np.abs(spectrum)**2 + 1e-12)

    lines = [f"{size} samples, {len(levels)} windows, {levels.shape[1]} frequencies",
             f"levels: median {np.median(levels):.2f} dB, highest {levels.max():.2f} dB"]
    steady = np.median(levels, axis=0)
    for k in range(1, levels.shape[1] - 1):
        a, b, c = steady[k - 1:k + 2]
        if b > max(a, c, np.median(steady) + 12):
            offset = (a - c) / (2 * (a - 2 * b + c))
            lines.append(f"tone: {(k + offset) * rate / length:.1f} Hz, {b - (a - c) * offset / 4:.2f} dB")
    for part in (1, 2, 3):
        place = len(levels) * part // 4
        lines.append(f"loudest in window {place}: {np.argmax(levels[place]) * rate // length} Hz")
    return lines


if __name__ == "__main__":
    import sys

    start = time.perf_counter()
    print(*globals()[sys.argv[1]](*map(int, sys.argv[2:])), sep="\n")
    print(f"{1000 * (time.perf_counter() - start):.0f} ms")


def pagerank(size, steps):
    page = np.arange(size)
    web = np.zeros((size, size))
    for to in (page * page % 97 % size, (page + 1) % size, page * 7919 % size):
        np.add.at(web, (to, page), 1 / 3)
    rank = np.full(size, 1 / size)
    for _ in range(steps):
        rank = 0.85 * (web @ rank) + 0.15 / size
    return [f"{size} pages, {np.count_nonzero(web)} different links",
            f"ranks: sum {rank.sum():.5f}, highest {rank.max() * size:.5f} / n at page {rank.argmax()}, "
            f"lowest {rank.min() * size:.5f} / n"]


def poisson(size, steps):
    line = 2 * np.eye(size) - np.eye(size, k=1) - np.eye(size, k=-1)
    a = np.kron(np.eye(size), line) + np.kron(line, np.eye(size))
    place = np.linspace(-1, 1, size)
    x, y = place[None, :], place[:, None]
    charges = np.where(np.hypot(x + 0.4, y + 0.1) < 0.2, 1.0,
                       np.where(np.hypot(x - 0.3, y - 0.4) < 0.15, -1.5, 0.0)) / size**2
    u = np.linalg.solve(a, charges.ravel())
    return [f"{size * size} unknowns, {np.count_nonzero(a)} stored elements",
            f"potential: highest {u.max():.5f}, lowest {u.min():.5f}, mean {u.mean():.5f}"]
