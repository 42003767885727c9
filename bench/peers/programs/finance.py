"""Prices, risks and returns."""

from peers.program import Input, Program, cast, line, rounding, side
from peers.programs.expressions import normal_distribution


def asian_option(xp, normals):
    """The payoff of each path, a row of daily returns."""
    prices = 100.0 * xp.exp(xp.cumsum(normals * 0.0126 + 0.0001, axis=1))
    return xp.maximum(xp.mean(prices, axis=1) - 100.0, 0)


def call_price(xp, spot, strike, years, volatility):
    root = volatility * xp.sqrt(years)
    d1 = (xp.log(spot / strike) + (0.02 + 0.5 * volatility * volatility) * years) / root
    price = (spot * normal_distribution(xp, d1)
             - strike * xp.exp(-0.02 * years) * normal_distribution(xp, d1 - root))
    vega = spot * 0.3989422804014327 * xp.exp(-0.5 * d1 * d1) * xp.sqrt(years)
    return price, vega


def implied_volatility(xp, spot, strike, years, wanted):
    """Six steps of Newton's method."""
    price, _ = call_price(xp, spot, strike, years, wanted)
    volatility = 0.0 * wanted + 0.4
    for _ in range(6):
        found, vega = call_price(xp, spot, strike, years, volatility)
        volatility = volatility - (found - price) / vega
    return volatility


def binomial_tree(xp, spot):
    """American puts by a tree of 24 steps, each row an option."""
    steps, up, rate = 24, 1.02, 0.9999
    chance = (1 / rate - 1 / up) / (up - 1 / up)
    powers = [up ** (2 * k - steps) for k in range(steps + 1)]
    values = [xp.maximum(100.0 - spot * power, 0) for power in powers]
    for step in range(steps, 0, -1):
        values = [rate * (chance * values[k + 1] + (1 - chance) * values[k]) for k in range(step)]
    return values[0]


def bond_prices(xp, coupons, yields):
    """Coupons twice a year for thirty years."""
    years = cast(xp, xp.arange(1, 61), "float64") * 0.5
    discounts = xp.exp(-yields[:, None] * years[None, :])
    return xp.sum(coupons[:, None] * discounts, axis=1) * 0.5 + 100.0 * discounts[:, -1]


def moving_average(xp, prices):
    """Of 20 days, as the difference of two running sums."""
    sums = xp.cumsum(prices, axis=1)
    return (sums[:, 20:] - sums[:, :-20]) * 0.05


def value_at_risk(xp, returns, weights):
    """The losses of a portfolio at 1%: sorts the results of the scenarios."""
    losses = xp.sort(xp.sum(returns * weights, axis=1), axis=0)
    return losses[: returns.shape[0] // 100]


def finance(scale):
    def options(count, low, high, dtype="float32"):
        return Input((line(count, scale),), low, high, dtype)

    return [
        Program("Asian option paths", asian_option, (Input((line(2**17, scale), 252), -1.7, 1.7),),
                floor=100,
                tolerance=rounding("float32", 10, 252), rows=(0,)),
        # The price has one volatility only where vega is not near 0.
        Program("implied volatility, float64", implied_volatility,
                (options(2**22, 90, 110, "float64"), options(2**22, 90, 110, "float64"),
                 options(2**22, 0.5, 2, "float64"), options(2**22, 0.2, 0.6, "float64")),
                kind="arithmetic", tolerance=1e-9, rows=(0, 1, 2, 3)),
        Program("binomial tree, 24 steps", binomial_tree, (options(2**23, 60, 140),),
                kind="arithmetic", tolerance=rounding("float32", 72), floor=10, rows=(0,)),
        Program("bond prices, float64", bond_prices,
                (options(2**21, 1, 8, "float64"), options(2**21, 0.01, 0.08, "float64")),
                kind="arithmetic", tolerance=1e-12, rows=(0, 1)),
        Program("moving average, float64", moving_average,
                (Input((side(4096, scale), 5001), 10, 100, "float64"),), tolerance=1e-9,
                rows=(0,)),
        Program("value at risk", value_at_risk,
                (Input((line(2**20, scale), 64), -1, 1), Input((64,), 0.01, 0.02)), kind="library",
                tolerance=rounding("float32", 4, 64)),
    ]
