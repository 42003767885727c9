"""Prices of options: by the formula of Black and Scholes, and by random paths of the share.

Random numbers are made in the kernel that uses them, and are the same in every language and on every device.
"""

import argparse
import math

import heddle as hd

SPOT, RATE, VOLATILITY, YEARS = 100.0, 0.03, 0.25, 1.0
rng = hd.random.default_rng(2024)


def normal_cdf(x):
    return 0.5 * (1 + hd.erf(x / math.sqrt(2)))


@hd.jit
def black_scholes(strikes):
    """European calls."""
    deviation = VOLATILITY * math.sqrt(YEARS)
    d1 = (hd.log(SPOT / strikes) + (RATE + VOLATILITY**2 / 2) * YEARS) / deviation
    discounted = strikes * math.exp(-RATE * YEARS)
    return SPOT * normal_cdf(d1) - discounted * normal_cdf(d1 - deviation)


@hd.jit(donate=[0, 1])
def step(price, total, dt):
    """All prices after dt years, and the sum of the prices so far. Each call draws new numbers."""
    noise = rng.standard_normal(price.shape)
    price = price * hd.exp((RATE - VOLATILITY**2 / 2) * dt + VOLATILITY * hd.sqrt(dt) * noise)
    return price, total + price


@hd.jit
def call_prices(price, strikes):
    """The mean discounted payoff for each strike, and its standard error."""
    payoff = math.exp(-RATE * YEARS) * hd.maximum(price - strikes[:, None], 0)
    return hd.mean(payoff, axis=1), hd.std(payoff, axis=1) / math.sqrt(price.shape[0])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=200_000)
    parser.add_argument("--steps", type=int, default=52)
    parser.add_argument("--out")
    options = parser.parse_args()

    strikes = hd.linspace(60.0, 140.0, 33)
    exact = black_scholes(strikes)
    price, total = hd.full((options.size,), SPOT), hd.zeros((options.size,))
    for _ in range(options.steps):
        price, total = step(price, total, YEARS / options.steps)
    european, error = call_prices(price, strikes)
    asian, _ = call_prices(total / options.steps, strikes)

    print(f"strike 100: Black-Scholes {exact[16].item():.5f}")
    print(f"{options.size} paths of {options.steps} steps: {european[16].item():.5f}, "
          f"on the mean price {asian[16].item():.5f}")
    print(f"farthest from the formula: {hd.max(hd.abs(european - exact) / error).item():.3f} "
          "standard errors")
    if options.out:
        hd.save(options.out, hd.stack([strikes, exact, european, error, asian]))


if __name__ == "__main__":
    main()
