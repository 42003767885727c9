"""Expressions that several programs share."""


def scaled_sum(xp, x, w, b):
    return x * w + b


def normal_distribution(xp, x):  # Abramowitz and Stegun 26.2.17
    k = 1.0 / (1.0 + 0.2316419 * xp.abs(x))
    tail = -1.821255978 + k * 1.330274429
    p = k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * tail)))
    c = 1.0 - 0.3989422804014327 * xp.exp(-0.5 * x * x) * p
    return xp.where(x > 0, c, 1.0 - c)


def black_scholes(xp, s, k, t):
    rate, volatility = 0.02, 0.30
    root = xp.sqrt(t)
    d1 = (xp.log(s / k) + (rate + 0.5 * volatility * volatility) * t) / (volatility * root)
    d2 = d1 - volatility * root
    present = xp.exp(-rate * t)
    return s * normal_distribution(xp, d1) - k * present * normal_distribution(xp, d2)


def softmax(xp, x, axis=-1):
    e = xp.exp(x - xp.max(x, axis=axis, keepdims=True))
    return e / xp.sum(e, axis=axis, keepdims=True)


def softmax_of_columns(xp, x):
    return softmax(xp, x, axis=0)


def layernorm(xp, x, g, b):
    d = x - xp.mean(x, axis=-1, keepdims=True)
    return d / xp.sqrt(xp.mean(d * d, axis=-1, keepdims=True) + 1e-5) * g + b


def rms_norm(xp, x, g):
    return x / xp.sqrt(xp.mean(x * x, axis=-1, keepdims=True) + 1e-5) * g


def standardize(xp, x, axis=0):
    d = x - xp.mean(x, axis=axis, keepdims=True)
    return d / xp.sqrt(xp.mean(d * d, axis=axis, keepdims=True) + 1e-6)


def standardize_middle(xp, x):
    return standardize(xp, x, axis=1)


def standardize_all(xp, x):
    return standardize(xp, x, axis=None)


def in_c_order(xp, x):
    """Makes the copy in C order. NumPy, CuPy and torch would otherwise keep the input's memory
    order and transpose nothing. Libraries without this function have only one order."""
    return xp.ascontiguousarray(x) if hasattr(xp, "ascontiguousarray") else x


def transposed(xp, x):
    return in_c_order(xp, x.T * 2 + 1)


def permuted(xp, x):
    return in_c_order(xp, xp.transpose(x, (2, 0, 1)) * 2 + 1)


def jacobi(xp, u):
    return 0.2 * (u[1:-1, 1:-1] + u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])


def heat(xp, u):
    middle = u[1:-1, 1:-1, 1:-1]
    around = (u[:-2, 1:-1, 1:-1] + u[2:, 1:-1, 1:-1] + u[1:-1, :-2, 1:-1] + u[1:-1, 2:, 1:-1]
              + u[1:-1, 1:-1, :-2] + u[1:-1, 1:-1, 2:])
    return middle + 0.1 * (around - 6.0 * middle)


def perceptron(xp, x, w1, b1, w2, b2):
    h = xp.matmul(x, w1) + b1
    h = 0.5 * h * (1.0 + xp.tanh(0.7978845608 * (h + 0.044715 * h * h * h)))
    return xp.matmul(h, w2) + b2


def dense(xp, x, w, b):
    return xp.maximum(xp.matmul(x, w) + b, 0)


def norms_of_rows(xp, a):
    return xp.sqrt(xp.sum(a * a, axis=-1))


def chain_of_ten(xp, x, y):
    z = x + y
    for _ in range(3):
        z = (z * y + x) * 0.5
    return xp.exp(-z)
