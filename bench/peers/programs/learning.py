"""Networks: layers, losses, attention, steps of optimisers."""

import numpy as np

from peers.errors import worst_error
from peers.program import Input, Program, cast, line, rounding, side
from peers.programs.expressions import softmax


def rotary_embedding(xp, x, cosine, sine):
    half = x.shape[-1] // 2
    turned = xp.concatenate([-x[..., half:], x[..., :half]], axis=-1)
    return x * cosine + turned * sine


def cross_entropy(xp, logits, labels):
    x = cast(xp, logits, "float32")
    largest = xp.max(x, axis=1, keepdims=True)
    total = xp.log(xp.sum(xp.exp(x - largest), axis=1)) + largest[:, 0]
    return total - xp.take_along_axis(x, labels[:, None], axis=1)[:, 0]


def attention(xp, q, k, v):
    scores = xp.matmul(q * q.shape[-1] ** -0.5, xp.swapaxes(k, -1, -2))
    return xp.matmul(softmax(xp, scores), v)


def flash_attention(xp, q, k, v):
    """torch's own function, whose fast kernels want four dimensions."""
    return xp.scaled_dot_product_attention(q[None], k[None], v[None])[0]


def attention_error(result, inputs):
    """The largest error of some rows of each head."""
    step = max(1, result.shape[1] // 16)
    q, k, v = (x.astype(np.float64) for x in inputs)
    return worst_error(result[:, ::step], attention(np, q[:, ::step], k, v), 1.0)


def causal_softmax(xp, scores):
    place = xp.arange(scores.shape[-1])
    return softmax(xp, xp.where(place[None, :] <= place[:, None], scores, -np.inf))


def gelu(xp, x):
    return 0.5 * x * (1.0 + xp.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


def swiglu(xp, gate, x):
    return gate / (1.0 + xp.exp(-gate)) * x


def residual_norm(xp, x, residual, g, b):
    """Layer normalisation of a sum, in float32."""
    y = cast(xp, x, "float32") + cast(xp, residual, "float32")
    d = y - xp.mean(y, axis=-1, keepdims=True)
    y = d / xp.sqrt(xp.mean(d * d, axis=-1, keepdims=True) + 1e-5) * g + b
    return cast(xp, y, "bfloat16")


def adam(xp, p, g, m, v):
    first, second = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
    return p - 0.001 * (first / (xp.sqrt(second) + 1e-8) + 0.01 * p)


def dropout(xp, x, kept):
    return xp.where(kept, x * 1.25, 0.0)


def batch_norm(xp, x, g, b):
    d = x - xp.mean(x, axis=(0, 2, 3), keepdims=True)
    return xp.maximum(d / xp.sqrt(xp.mean(d * d, axis=(0, 2, 3), keepdims=True) + 1e-5) * g + b, 0)


def group_norm(xp, x):
    """Of eight groups of channels."""
    n, c, h, w = x.shape
    y = cast(xp, x, "float32").reshape((n, 8, c // 8, h, w))
    d = y - xp.mean(y, axis=(2, 3, 4), keepdims=True)
    y = d / xp.sqrt(xp.mean(d * d, axis=(2, 3, 4), keepdims=True) + 1e-5)
    return cast(xp, y.reshape((n, c, h, w)), "float16")


def embed(xp, table, tokens, positions):
    return table[tokens] + positions


def one_hot(xp, labels):
    return cast(xp, labels[:, None] == xp.arange(1000)[None, :], "float16")


def accuracy(xp, scores, labels):
    return xp.sum(xp.argmax(scores, axis=1) == labels)


def depthwise(xp, x, w):
    """A 3 x 3 filter for each channel."""
    height, width = x.shape[2] - 2, x.shape[3] - 2
    return sum(x[:, :, i:height + i, j:width + j] * w[:, i, j][:, None, None]
               for i in range(3) for j in range(3))


def logistic_gradient(xp, x, y, w):
    wrong = 1.0 / (1.0 + xp.exp(-xp.matmul(x, w))) - y
    return xp.matmul(x.T, wrong) / x.shape[0]


def lstm_cell(xp, gates, c):
    """The state after one step, from the four gates side by side."""
    n = c.shape[-1]

    def sigmoid(z):
        return 1.0 / (1.0 + xp.exp(-z))

    new = (sigmoid(gates[:, :n]) * c
           + sigmoid(gates[:, n:2 * n]) * xp.tanh(gates[:, 2 * n:3 * n]))
    return sigmoid(gates[:, 3 * n:]) * xp.tanh(new)


def quantise(xp, x):
    """Rows in int8, each with a scale of its own."""
    y = cast(xp, x, "float32")
    scale = xp.max(xp.abs(y), axis=-1, keepdims=True) * (1 / 127)
    return cast(xp, xp.round(y / scale), "int8")


def patches(xp, x):
    """Pictures (n, h, w, c) as rows of 16 x 16 patches."""
    n, h, w, c = x.shape
    cut = xp.transpose(x.reshape((n, h // 16, 16, w // 16, 16, c)), (0, 1, 3, 2, 4, 5))
    return cut.reshape((n, (h // 16) * (w // 16), 256 * c)) * 2 - 1


def attentions(scale):
    def heads(count, length, width):
        return (Input((count, side(length, scale), width), -1, 1, "float16"),) * 3

    def of(name, inputs, **more):
        # A softmax of values near 0 averages `length` numbers of about 0.5, in float16.
        return Program(name, attention, inputs, kind="library", tolerance=2**-10,
                       check=attention_error, **more,
                       absent={"numpy": "multiplies float16 an element at a time"})

    own = {"torch": flash_attention, "inductor": flash_attention}
    return [of("attention written out, float16", heads(64, 512, 64)),
            of("attention 32 x 1024 x 64", heads(32, 1024, 64), own=own),
            of("attention 4 x 16384 x 128", heads(4, 16384, 128), own=own)]


def learning(scale):
    def half(*shape, low=-2, dtype="float16"):
        return Input(shape, low, 2, dtype)

    tokens, width = line(8192, scale), 5120
    wide = half(tokens * 2, width, dtype="bfloat16")
    count = line(2**25, scale)
    logits = 32000 // scale
    vector, channels = Input((width,)), Input((96, 1, 1))
    eps = rounding("float16", 1)
    return [
        Program("rotary embedding, float16", rotary_embedding,
                (half(line(512, scale), 2048, 64), half(2048, 64), half(2048, 64)),
                tolerance=rounding("float16", 2), floor=2, rows=(0,)),
        Program("cross entropy, float16", cross_entropy,
                (half(line(8192, scale), logits), Input((line(8192, scale),), 0, logits, "int64")),
                tolerance=rounding("float32", 4, logits), result="float32", rows=(0, 1)),
        Program("softmax 1 Mi x 64", softmax, (Input((line(2**20, scale), 64), -3, 3),),
                floor=1 / 64,
                tolerance=rounding("float32", 4, 64), rows=(0,)),
        Program("causal softmax, float16", causal_softmax,
                (half(line(128, scale), 1024, 1024),), floor=1 / 1024,
                tolerance=rounding("float16", 4), rows=(0,)),
        *attentions(scale),
        # Rounded to 8 bits after each operation.
        Program("GELU, bfloat16", gelu, (wide,), tolerance=rounding("bfloat16", 4), rows=(0,)),
        Program("SwiGLU, bfloat16", swiglu, (wide, wide), tolerance=rounding("bfloat16", 3),
                rows=(0, 1)),
        Program("residual and layernorm, bfloat16", residual_norm, (wide, wide, vector, vector),
                tolerance=rounding("bfloat16", 1), rows=(0, 1)),
        Program("Adam", adam, (Input((count,)),) * 4, tolerance=rounding("float32", 8),
                rows=(0, 1, 2, 3)),
        Program("dropout, float16", dropout, (half(count * 2), Input((count * 2,), 0, 2, "bool")),
                tolerance=eps, result="float16", rows=(0, 1)),
        Program("batch norm and relu", batch_norm,
                (Input((line(128, scale), 96, 57, 57), -1, 1), channels, channels),
                tolerance=rounding("float32", 8, 2**16)),
        Program("group norm, float16", group_norm, (half(line(256, scale), 64, 56, 57),),
                tolerance=eps, rows=(0,)),
        Program("embedding, float16", embed,
                (half(50257 // scale, 768), Input((line(64, scale), 1024), 0, 50257 // scale, "int64"),
                 half(1024, 768)), tolerance=eps, result="float16", rows=(1,)),
        Program("one-hot, float16", one_hot, (Input((line(131072, scale),), 0, 1000, "int64"),),
                tolerance=0, result="float16", rows=(0,)),
        Program("accuracy", accuracy,
                (Input((line(65536, scale), 1000)), Input((line(65536, scale),), 0, 1000, "int64")),
                tolerance=0, result="int64"),
        Program("depthwise 3 x 3, float16", depthwise,
                (half(line(128, scale), 64, 58, 59), half(64, 3, 3)),
                tolerance=rounding("float16", 6), floor=4, rows=(0,)),
        Program("logistic gradient", logistic_gradient,
                (Input((line(2**19, scale), 100), -1, 1), Input((line(2**19, scale),), 0, 1),
                 Input((100,), -1, 1)), kind="library",
                tolerance=rounding("float32", 4, line(2**19, scale)), floor=0.1),
        Program("LSTM cell", lstm_cell, (Input((line(16384, scale), 2048), -2, 2),
                                         Input((line(16384, scale), 512), -2, 2)),
                tolerance=rounding("float32", 8), rows=(0, 1)),
        # A value may be rounded to the next whole number.
        Program("quantise rows, int8", quantise, (half(tokens * 2, width),), floor=127,
                tolerance=1 / 127, result="int8", rows=(0,)),
        Program("patches of pictures", patches, (Input((line(256, scale), 224, 224, 3)),),
                tolerance=rounding("float32", 1), rows=(0,)),
    ]
