"""Programs that loop, written with fori_loop, while_loop and scan, beside the same programs in JAX
and as Python loops over NumPy, or over CuPy on a GPU: the first call, and microseconds per call.

python bench/loops.py [--device cuda|cpu] [--rounds N] [--clock wall|cpu] [--quick] [--only NAME ...]
"""

import argparse
import math
import time
from types import SimpleNamespace

import numpy as np

from side_by_side import add_options, timed


def put_in_place(x, index, value):
    x[index] = value
    return x


def heddle():
    import heddle as hd
    return SimpleNamespace(xp=hd, fori=hd.fori_loop, loop=hd.while_loop, scan=hd.scan,
                           put=put_in_place, jit=hd.jit, array=hd.asarray, wait=hd.synchronize)


def jax():
    import jax
    jax.config.update("jax_enable_x64", True)
    return SimpleNamespace(xp=jax.numpy, fori=jax.lax.fori_loop, loop=jax.lax.while_loop,
                           scan=jax.lax.scan, put=lambda x, i, v: x.at[i].set(v), jit=jax.jit,
                           array=jax.numpy.asarray, wait=None)


def python_loops(xp, wait):
    """fori_loop, while_loop and scan as plain Python loops."""
    def fori(lower, upper, body, carry):
        for i in range(lower, upper):
            carry = body(i, carry)
        return carry

    def loop(condition, body, carry):
        while condition(carry):
            carry = body(carry)
        return carry

    def scan(body, carry, xs):
        made = []
        for x in xs:
            carry, y = body(carry, x)
            made.append(y)
        return carry, xp.stack(made)

    return SimpleNamespace(xp=xp, fori=fori, loop=loop, scan=scan, put=put_in_place,
                           jit=lambda f: f, array=xp.array, wait=wait)


# A program takes a system and inputs. Carries that are updated in place begin as copies, so that
# inputs stay as they are: `+ 0`.

def mandelbrot(s, real, imaginary):
    def step(i, carry):
        x, y, count = carry
        inside = x * x + y * y < 4
        return (s.xp.where(inside, x * x - y * y + real, x),
                s.xp.where(inside, 2 * x * y + imaginary, y), count + inside)

    zero = s.xp.zeros_like(real)
    return s.fori(0, 200, step, (zero, zero, zero))[2]


def newton(s, a):
    def step(carry):
        x, _ = carry
        better = 0.5 * (x + a / x)
        return better, s.xp.max(s.xp.abs(better - x))

    return s.loop(lambda carry: carry[1] > 1e-12, step, (a, s.xp.max(a)))[0]


def euler(s, position, speed):
    def step(i, carry):
        x, v = carry
        return x + 0.01 * v, v - 0.01 * s.xp.sin(x)

    return s.fori(0, 1000, step, (position, speed))[0]


def jacobi_1d(s, a):
    def step(i, a):
        return s.put(a, slice(1, -1), (a[:-2] + a[1:-1] + a[2:]) * 0.33333)

    return s.fori(0, 500, step, a + 0)


def jacobi_2d(s, a):
    def step(i, a):
        inner = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        return s.put(a, (slice(1, -1), slice(1, -1)), inner)

    return s.fori(0, 100, step, a + 0)


def heat_3d(s, a):
    inside = (slice(1, -1),) * 3

    def step(i, a):
        near = a[2:, 1:-1, 1:-1] + a[:-2, 1:-1, 1:-1] + a[1:-1, 2:, 1:-1]
        near = near + a[1:-1, :-2, 1:-1] + a[1:-1, 1:-1, 2:] + a[1:-1, 1:-1, :-2]
        return s.put(a, inside, 0.25 * a[inside] + 0.125 * near)

    return s.fori(0, 50, step, a + 0)


def fdtd_2d(s, ex, ey, hz):
    def step(i, carry):
        ex, ey, hz = carry
        ey = s.put(ey, 0, 0.01 * i)
        ey = s.put(ey, slice(1, None), ey[1:] - 0.5 * (hz[1:] - hz[:-1]))
        rest = (slice(None), slice(1, None))
        ex = s.put(ex, rest, ex[:, 1:] - 0.5 * (hz[:, 1:] - hz[:, :-1]))
        left = (slice(None, -1), slice(None, -1))
        change = ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1]
        return ex, ey, s.put(hz, left, hz[:-1, :-1] - 0.7 * change)

    return s.fori(0, 60, step, (ex + 0, ey + 0, hz + 0))[2]


def floyd_warshall(s, path):
    def step(k, path):
        return s.xp.minimum(path, path[:, k][:, None] + path[k][None, :])

    return s.fori(0, path.shape[0], step, path)


def triangular_solve(s, lower, b):
    def step(i, x):
        return s.put(x, i, (b[i] - s.xp.sum(lower[i] * x)) / lower[i, i])

    return s.fori(0, b.shape[0], step, b * 0)


def gramschmidt(s, a):
    def step(k, carry):
        a, q = carry
        column = a[:, k] / s.xp.sqrt(s.xp.sum(a[:, k] * a[:, k]))
        return a - column[:, None] * (column @ a)[None, :], s.put(q, (slice(None), k), column)

    return s.fori(0, a.shape[1], step, (a, a * 0))[1]


def recursive_filter(s, signals):
    def step(carry, x):
        before, earlier = carry
        y = 0.2 * x + 1.1 * before - 0.3 * earlier
        return (y, before), y

    zero = signals[0] * 0
    return s.scan(step, (zero, zero), signals)[1]


def power_iteration(s, a):
    def step(i, x):
        y = a @ x
        return y / s.xp.sqrt(s.xp.sum(y * y))

    return s.fori(0, 100, step, a[0])


def cases(quick):
    """Name, program and inputs."""
    rng = np.random.default_rng(0)
    few = 4 if quick else 1

    def grid(*shape):
        return rng.random(tuple(max(8, n // few) for n in shape))

    x, y = np.meshgrid(np.linspace(-2, 1, 800 // few), np.linspace(-1.2, 1.2, 600 // few))
    square = grid(200, 200)
    lower = np.tril(square, -1) / len(square) + np.eye(len(square))
    for name, program, inputs in (
            ("mandelbrot", mandelbrot, [x.astype(np.float32), y.astype(np.float32)]),
            ("newton", newton, [grid(500, 1000) + 0.5]),
            ("euler", euler, [grid(20000), grid(20000)]),
            ("jacobi_1d", jacobi_1d, [grid(4000)]),
            ("jacobi_2d", jacobi_2d, [grid(250, 250)]),
            ("heat_3d", heat_3d, [grid(70, 70, 70)]),
            ("fdtd_2d", fdtd_2d, [grid(200, 220), grid(200, 220), grid(200, 220)]),
            ("floyd_warshall", floyd_warshall, [grid(300, 300)]),
            ("triangular_solve", triangular_solve, [lower, grid(200)]),
            ("gramschmidt", gramschmidt, [grid(240, 200)]),
            ("recursive_filter", recursive_filter, [grid(1000, 200)]),
            ("power_iteration", power_iteration, [square])):
        yield name, program, inputs


HAND_WRITTEN = """extern "C" __global__ void mandelbrot(const float* real, const float* imaginary, float* counts) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float a = real[i], b = imaginary[i];
  float x = 0, y = 0, count = 0;
  for (int k = 0; k < 200; ++k) {
    const float squares = x * x + y * y;
    if (!(squares < 4)) break;
    const float next = x * x - y * y + a;
    y = 2 * x * y + b;
    x = next;
    count += 1;
  }
  counts[i] = count;
}"""


def leaving_mandelbrot(hd, real, imaginary):
    """As mandelbrot, but each point leaves when it is outside."""
    def step(carry):
        x, y, count, k = carry
        return x * x - y * y + real, 2 * x * y + imaginary, count + 1, k + 1

    zero = hd.zeros_like(real)
    inside = lambda carry: (carry[0] * carry[0] + carry[1] * carry[1] < 4) & (carry[3] < 200)
    return hd.while_loop(inside, step, (zero, zero, zero, hd.zeros_like(real, dtype=hd.int32)))[2]


def beside_hand_written(rounds):
    """Mandelbrot's set on 4096 x 4096 points, beside a CUDA kernel written for it."""
    import cupy
    import heddle as hd
    edge = 4096
    x, y = np.meshgrid(np.linspace(-2, 1, edge, dtype=np.float32), np.linspace(-1.2, 1.2, edge, dtype=np.float32))
    kernel = cupy.RawKernel(HAND_WRITTEN, "mandelbrot")
    arrays, counts = [cupy.asarray(each) for each in (x, y)], cupy.empty((edge, edge), np.float32)
    own = [hd.asarray(each) for each in (x, y)]
    function = hd.jit(lambda *values: leaving_mandelbrot(hd, *values))
    calls = {"heddle": (lambda: function(*own), hd.synchronize),
             "CUDA": (lambda: kernel((edge * edge // 256,), (256,), (*arrays, counts)),
                      cupy.cuda.Device().synchronize)}
    times = {name: min(timed(*call, time.perf_counter) for _ in range(rounds)) for name, call in calls.items()}
    apart = float((np.asarray(function(*own)) != counts.get()).mean())
    print(f"mandelbrot 4096 x 4096: {times['heddle']:.1f} us, written by hand in CUDA {times['CUDA']:.1f} us, "
          f"{times['CUDA'] / times['heddle']:.2f} times ours; {apart:.1e} of the counts differ")


def systems(device):
    found = {"heddle": heddle()}
    try:
        found["jax"] = jax()
    except ImportError as error:
        print("jax:", error)
    if device == "cpu":
        found["numpy"] = python_loops(np, lambda: None)
        return found
    try:
        import cupy
        found["cupy"] = python_loops(cupy, cupy.cuda.Device().synchronize)
    except ImportError as error:
        print("cupy:", error)
    return found


def measure(name, program, inputs, found, options):
    """Prints a row. Returns the times by system."""
    clock = time.process_time if options.clock == "cpu" else time.perf_counter
    calls, first, times, results = {}, {}, {}, {}
    for system, one in found.items():
        start = time.perf_counter()
        function = one.jit(lambda *values, s=one: program(s, *values))
        arrays = [one.array(value) for value in inputs]
        result = function(*arrays)
        results[system] = np.asarray(result.get() if system == "cupy" else result)
        first[system] = time.perf_counter() - start
        calls[system] = (lambda f=function, a=arrays: f(*a)), one.wait
    for _ in range(options.rounds):
        for system, call in calls.items():
            times[system] = min(times.get(system, math.inf), timed(*call, clock))
    reference = results[list(found)[-1]]
    error = max(np.abs(result - reference).max() for result in results.values())
    print(name.ljust(18), *(f"{first[system]:8.2f}" for system in found),
          *(f"{times[system]:11.1f}" for system in found),
          *(f"{times[system] / times['heddle']:9.2f}" for system in list(found)[1:]),
          f"{error / np.abs(reference).max():9.1e}", flush=True)
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser)
    parser.add_argument("--quick", action="store_true", help="a quarter of each extent")
    parser.add_argument("--only", nargs="*", help="names of programs")
    options = parser.parse_args()
    found = systems(options.device)
    names = list(found)
    print("first call in s, then us per call, then how many times Heddle's, then the largest error")
    print("".ljust(18), *(name.rjust(8) for name in names), *(name.rjust(11) for name in names),
          *(f"{name}/ours".rjust(9) for name in names[1:]))
    rows = [measure(*case, found, options) for case in cases(options.quick)
            if not options.only or case[0] in options.only]
    for name in names[1:]:
        ratios = [row[name] / row["heddle"] for row in rows]
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"{name}: geometric mean {mean:.2f} times ours, least {min(ratios):.2f}")
    if "cupy" in found and not options.only:
        beside_hand_written(options.rounds)


if __name__ == "__main__":
    main()
