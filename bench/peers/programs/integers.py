"""Whole numbers, bits and truth values."""

from peers.program import Input, Program, cast, line, side
from peers.programs.expressions import in_c_order


def game_of_life(xp, cells):
    rows = cells + xp.roll(cells, 1, 0) + xp.roll(cells, -1, 0)
    around = rows + xp.roll(rows, 1, 1) + xp.roll(rows, -1, 1) - cells
    return cast(xp, (around == 3) | ((around == 2) & (cells == 1)), "int8")


def xorshift(xp, x):
    for _ in range(3):
        x = x ^ (x << 13)
        x = x ^ (x >> 17)
        x = x ^ (x << 5)
    return x


def congruential(xp, x):
    x = x * 6364136223846793005 + 1442695040888963407
    return (x >> 33) ^ x


def count_bits(xp, x):
    """By the usual tricks, without an instruction for it."""
    x = x - ((x >> 1) & 0x55555555)
    x = (x & 0x33333333) + ((x >> 2) & 0x33333333)
    x = (x + (x >> 4)) & 0x0F0F0F0F
    return (x + (x >> 8) + (x >> 16) + (x >> 24)) & 0x3F


def morton_codes(xp, x, y):
    def spread(v):
        v = (v | (v << 8)) & 0x00FF00FF
        v = (v | (v << 4)) & 0x0F0F0F0F
        v = (v | (v << 2)) & 0x33333333
        return (v | (v << 1)) & 0x55555555

    return spread(x) | (spread(y) << 1)


def dates(xp, day):
    """Days since 1970 as the number 10000 year + 100 month + day."""
    z = day + 719468
    era = z // 146097
    of_era = z - era * 146097
    year = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    month = (5 * of_year + 2) // 153
    date = of_year - (153 * month + 2) // 5 + 1
    month = xp.where(month < 10, month + 3, month - 9)
    return (year + era * 400 + cast(xp, month <= 2, "int32")) * 10000 + month * 100 + date


def power_modulo(xp, x):
    """x^257 modulo a prime."""
    y = x
    for _ in range(8):
        y = y * y % 998244353
    return y * x % 998244353


def saturated_sum(xp, a, b):
    total = cast(xp, a, "int32") + cast(xp, b, "int32")
    return cast(xp, xp.clip(total, -32768, 32767), "int16")


def unpack_bits(xp, x):
    bits = cast(xp, xp.arange(8), "uint8")
    return (x[:, None] >> bits[None, :]) & 1


def places_of_kept(xp, mask):
    """Where each element that is kept would go, if the others were left out."""
    return xp.cumsum(mask, axis=0, dtype="int32") - 1


def clauses(xp, a, b, c, d):
    return ((a | b) & (c | ~d)) ^ (a & ~c & d)


def transposed_sum(xp, a, b):
    return in_c_order(xp, a.T + b)


def checksum(xp, x):
    """A Fletcher sum of each row of bytes."""
    y = cast(xp, x, "int64")
    weights = x.shape[1] - xp.arange(x.shape[1])
    return (xp.sum(y * weights, axis=1) % 65535) * 65536 + (xp.sum(y, axis=1) + 1) % 65535


def integers(scale):
    def number(dtype, count, low=0, high=2**31):
        return Input((line(count, scale),), low, high, dtype)

    flag = number("bool", 2**27, 0, 2)
    return [
        Program("Game of Life, int8", game_of_life,
                (Input((side(8192, scale), side(8192, scale)), 0, 2, "int8"),), tolerance=0),
        Program("xorshift, uint32", xorshift, (number("uint32", 2**26, 0, 2**32),), tolerance=0,
                rows=(0,)),
        Program("congruential, uint64", congruential, (number("uint64", 2**25, 0, 2**63),),
                tolerance=0, rows=(0,)),
        Program("count bits, int32", count_bits, (number("int32", 2**26),), tolerance=0, rows=(0,)),
        Program("Morton codes, int32", morton_codes, (number("int32", 2**25, 0, 2**15),) * 2,
                tolerance=0, rows=(0, 1)),
        Program("dates, int32", dates, (number("int32", 2**25, 0, 200000),), kind="arithmetic",
                tolerance=0, rows=(0,)),
        Program("power modulo, int64", power_modulo, (number("int64", 2**23, 0, 998244353),),
                kind="arithmetic", tolerance=0, rows=(0,)),
        Program("saturated sum, int16", saturated_sum, (number("int16", 2**26, -2**15, 2**15),) * 2,
                tolerance=0, result="int16", rows=(0, 1)),
        Program("unpack bits, uint8", unpack_bits, (number("uint8", 2**24, 0, 256),), tolerance=0,
                rows=(0,)),
        Program("places of kept, bool", places_of_kept, (flag,), tolerance=0, result="int32"),
        Program("clauses, bool", clauses, (flag,) * 4, tolerance=0, rows=(0, 1, 2, 3)),
        Program("a.T + b, 32 x 2 Mi", transposed_sum,
                (Input((32, line(2**21, scale))), Input((line(2**21, scale), 32)))),
        Program("a.T + b, int16, odd", transposed_sum,
                (Input((side(8191, scale), side(8193, scale)), -1000, 1000, "int16"),
                 Input((side(8193, scale), side(8191, scale)), -1000, 1000, "int16")), tolerance=0),
        Program("checksum of rows, uint8", checksum,
                (Input((side(65536, scale), 1501), 0, 256, "uint8"),), tolerance=0, result="int64",
                rows=(0,)),
        Program("sort, int64", lambda xp, x: xp.sort(x, axis=-1), (number("int64", 2**22, -2**62, 2**62),),
                kind="library", tolerance=0),
    ]
