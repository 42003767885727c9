"""Programs of little work, where starting them is what takes time. They have one size."""

from peers.program import Input, Program, cast, rounding
from peers.programs.expressions import layernorm, softmax
from peers.programs.integers import game_of_life
from peers.programs.physics import gravity


def rotate(xp, q, v):
    """Vectors by unit quaternions."""
    w, axis = q[:, :1], q[:, 1:]

    def cross(a, b):
        return xp.stack([a[:, 1] * b[:, 2] - a[:, 2] * b[:, 1],
                         a[:, 2] * b[:, 0] - a[:, 0] * b[:, 2],
                         a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]], axis=1)

    t = 2.0 * cross(axis, v)
    return v + w * t + cross(axis, t)


def kalman_gain(xp, covariance, sensor):
    """Of a state of four numbers of which two are measured."""
    seen = xp.matmul(covariance, sensor.T)
    noise = xp.matmul(sensor, seen) + 0.1
    determinant = noise[0, 0] * noise[1, 1] - noise[0, 1] * noise[1, 0] + 1.0
    return seen / determinant


def one_row_network(xp, x, w1, w2):
    return xp.matmul(xp.maximum(xp.matmul(x, w1), 0), w2)


def one_query(xp, q, k, v):
    scores = softmax(xp, xp.sum(k * q, axis=-1)[None, :])
    return xp.sum(scores[0][:, None] * v, axis=0)


def clipped_step(xp, x, g):
    norm = xp.sqrt(xp.sum(g * g))
    return x - 0.1 * g * xp.where(norm > 1.0, 1.0 / norm, 1.0)


def running_maximum_of_mean(xp, x):
    return xp.max(xp.cumsum(x, axis=0)) / x.shape[0]


def small(scale):
    def of(name, function, inputs, tolerance=1e-5, **more):
        return Program(name, function, inputs, kind="dispatch", tolerance=tolerance, **more)

    line, square = Input((1000,), -1, 1), Input((64, 64), -1, 1)
    return [
        of("softmax 16 x 128", softmax, (Input((16, 128), -3, 3),)),
        of("layernorm 32 x 512, float16", layernorm,
           (Input((32, 512), -1, 1, "float16"), Input((512,), 0.5, 1, "float16"),
            Input((512,), -1, 1, "float16")), rounding("float16", 5)),
        of("64 x 64 product", lambda xp, a, b: xp.matmul(a, b), (square, square)),
        of("network of one row", one_row_network,
           (Input((1, 256), -1, 1), Input((256, 512), -0.1, 0.1), Input((512, 10), -0.1, 0.1))),
        of("one query of attention", one_query,
           (Input((64,), -1, 1), Input((256, 64), -1, 1), Input((256, 64), -1, 1))),
        of("quaternions, float64", rotate,
           (Input((100, 4), -1, 1, "float64"), Input((100, 3), -1, 1, "float64")), 1e-12),
        of("Kalman gain, float64", kalman_gain,
           (Input((4, 4), 0, 1, "float64"), Input((2, 4), 0, 1, "float64")), 1e-12),
        of("clipped step", clipped_step, (line, line)),
        of("n-body, 64", gravity, (Input((64, 3), -1, 1), Input((64,))),
           rounding("float32", 8, 64), floor=64),
        of("Game of Life 100 x 101", game_of_life, (Input((100, 101), 0, 2, "int8"),), 0),
        of("largest running mean", running_maximum_of_mean, (line,)),
        of("mean of 1000, int32", lambda xp, x: xp.mean(cast(xp, x, "float32")),
           (Input((1000,), -1000, 1000, "int32"),), 1e-4, result="float32"),
        of("sort of 500", lambda xp, x: xp.sort(x, axis=-1), (Input((500,), -1, 1),), 0),
    ]
