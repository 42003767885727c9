"""European options by the formula of Black and Scholes: array code, fused array code, and a kernel
from text."""

import math

import common
import numpy

RATE, VOLATILITY = 0.02, 0.3


def cumulative(xp, x):
    """The normal distribution, by formula 26.2.17 of Abramowitz and Stegun: within 7.5e-8."""
    t = 1 / (1 + 0.2316419 * xp.abs(x))
    series = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (
        -1.821255978 + t * 1.330274429))))
    tail = series * xp.exp(-0.5 * x * x) * (1 / math.sqrt(2 * math.pi))
    return xp.where(x > 0, 1 - tail, tail)


def prices(xp, spot, strike, years):
    """Prices of calls and puts."""
    root = VOLATILITY * xp.sqrt(years)
    d1 = (xp.log(spot / strike) + (RATE + 0.5 * VOLATILITY ** 2) * years) / root
    discounted = strike * xp.exp(-RATE * years)
    above, below = cumulative(xp, d1), cumulative(xp, d1 - root)
    return (spot * above - discounted * below,
            discounted * (1 - below) - spot * (1 - above))


def kernel(xp):
    """The same as one kernel of the user's."""
    return xp.ElementwiseKernel(
        "T spot, T strike, T years, T rate, T volatility", "T call, T put", """
        T root = volatility * sqrt(years);
        T d1 = (log(spot / strike) + (rate + T(0.5) * volatility * volatility) * years) / root;
        T discounted = strike * exp(-rate * years);
        T above = cumulative(d1), below = cumulative(d1 - root);
        call = spot * above - discounted * below;
        put = discounted * (T(1) - below) - spot * (T(1) - above);
        """, "black_scholes", preamble="""
        template <class T>
        __device__ T cumulative(T x) {
          return T(0.5) * erfc(-x * T(0.70710678118654752));
        }
        """)


def main():
    options = common.arguments(__doc__, size=10000000, repeats=10)
    xp = common.library(options)
    random = numpy.random.default_rng(4)
    market = [random.uniform(low, high, options.size)
              for low, high in ((10, 100), (10, 100), (0.25, 5))]
    wanted = prices(numpy, *market) if options.check else (None, None)
    on_device = [xp.asarray(values) for values in market]
    fused = xp.fuse(kernel_name="black_scholes_fused")(
        lambda spot, strike, years: prices(xp, spot, strike, years))
    own = kernel(xp)
    for name, work in (("array code", lambda: prices(xp, *on_device)),
                       ("fused", lambda: fused(*on_device)),
                       ("kernel", lambda: own(*on_device, RATE, VOLATILITY))):
        call, put = common.timed(xp, name, work, options.repeats)
        common.check(options, xp, name + ", calls", call, wanted[0], 1e-4)
        common.check(options, xp, name + ", puts", put, wanted[1], 1e-4)
    print(f"mean call {float(xp.mean(call)):.3f}, mean put {float(xp.mean(put)):.3f}")


if __name__ == "__main__":
    main()
