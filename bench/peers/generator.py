"""Random programs over real-looking shapes. A seed always gives the same program.

A program is the text of a function of a namespace and some inputs. Values stay within about
[-4, 4], and no value jumps where another changes by a rounding, so that a tolerance can be told from
the number of operations.
"""

import dataclasses
import math
import random

from peers.program import Input, Program, cast, rounding

# Shape of the large inputs, and those of smaller ones that broadcast to it.
SCENES = (
    ((2**24,), ()),
    ((10_000_019,), ()),
    ((4096, 4096), ((4096,), (4096, 1))),
    ((65536, 256), ((256,), (65536, 1))),
    ((2**20, 24), ((24,),)),
    ((301, 50_003), ((50_003,), (301, 1))),
    ((64, 512, 512), ((512,), (64, 1, 512))),
    ((32, 3, 384, 385), ((3, 1, 1), (385,))),
    ((16, 12, 256, 320), ((320,), (256, 320))),
    ((216, 217, 255), ((255,), (217, 1))),
)
BOUND = 4.0  # of values, about


@dataclasses.dataclass(frozen=True)
class RandomProgram(Program):
    source: str = ""
    operations: int = 0


@dataclasses.dataclass(frozen=True)
class Value:
    name: str
    shape: tuple
    bound: float  # of the absolute value; for whole numbers the number of bits


def broadcasts(small, large):
    return len(small) <= len(large) and all(
        a in (1, b) for a, b in zip(reversed(small), reversed(large)))


class Writer:
    """Writes a program, a statement at a time."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines, self.values, self.operations = [], [], 0
        self.unused = set()

    def add(self, text, shape, bound, operations):
        name = f"v{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        self.operations += operations
        self.values.append(Value(name, tuple(shape), bound))
        self.unused.add(self.values[-1])
        return self.values[-1]

    def recent(self):
        """A large value, mostly one of the latest."""
        largest = max(math.prod(each.shape) for each in self.values)
        large = [each for each in self.values if math.prod(each.shape) * 16 >= largest]
        back = min(len(large), 1 + int(self.random.expovariate(0.7)))
        return self.used(large[-back])

    def used(self, value):
        self.unused.discard(value)
        return value

    def beside(self, value):
        """A value that broadcasts to the shape of another, preferably one that is not used yet."""
        found = [each for each in self.values if broadcasts(each.shape, value.shape)]
        others = [each for each in found if each in self.unused] or [
            each for each in found if each is not value]
        return self.used(self.random.choice(others or found))

    def last(self):
        """The last value, joined with the others that nothing uses."""
        value = self.used(self.recent())
        for other in [each for each in self.values if each in self.unused]:
            if broadcasts(other.shape, value.shape):
                value = self.join(value, self.used(other))
        return value

    def axis_of(self, shape):
        return self.random.choice([-1, -1, *range(-len(shape), 0)])


class FloatWriter(Writer):
    """Statements over floating-point numbers."""

    def scaled(self, text, shape, bound, operations):
        """Adds a value, brought back to at most half of BOUND if it could be larger than BOUND."""
        if bound > BOUND:
            factor = self.random.choice((0.5, 0.75, 1.0)) * BOUND / 2 / bound
            return self.add(f"({text}) * {factor:.3g}", shape, bound * factor, operations + 1)
        return self.add(text, shape, bound, operations)

    def unary(self):
        a = self.recent()
        x, low = a.name, self.random.choice((0.1, 0.25, 0.5))
        text, bound, operations = self.random.choice((
            (f"xp.tanh({x})", 1, 1), (f"xp.sin({x})", 1, 1), (f"xp.cos({x} * {low})", 1, 2),
            (f"xp.exp(-xp.abs({x}))", 1, 3), (f"xp.sqrt(xp.abs({x}) + {low})", 2.2, 3),
            (f"xp.log1p(xp.abs({x}))", 1.7, 2), (f"1.0 / (1.0 + {x} * {x})", 1, 3),
            (f"1.0 / (1.0 + xp.exp(-{x}))", 1, 4), (f"xp.maximum({x}, 0)", a.bound, 1),
            (f"xp.clip({x}, -1.0, 1.0)", 1, 2), (f"{x} * {x}", a.bound**2, 1),
            (f"{x} * {low} + {1 - low}", a.bound * low + 1, 2)))
        return self.scaled(text, a.shape, bound, operations)

    def binary(self):
        a = self.recent()
        b = self.beside(a)
        x, y = a.name, b.name
        text, bound, operations = self.random.choice((
            (f"{x} + {y}", a.bound + b.bound, 1), (f"{x} - {y}", a.bound + b.bound, 1),
            (f"{x} * {y}", a.bound * b.bound, 1), (f"{x} * {y}", a.bound * b.bound, 1),
            (f"{x} / (1.0 + xp.abs({y}))", a.bound, 3),
            (f"xp.maximum({x}, {y})", max(a.bound, b.bound), 1),
            (f"xp.minimum({x}, {y})", max(a.bound, b.bound), 1)))
        return self.scaled(text, a.shape, bound, operations)

    def select(self):
        """By an input, in whose numbers all systems agree."""
        a = self.recent()
        masks = [each for each in self.values if each.name.startswith("x")
                 and broadcasts(each.shape, a.shape)]
        if not masks:
            return self.unary()
        mask, b = self.random.choice(masks), self.beside(a)
        return self.scaled(f"xp.where({mask.name} > {self.random.choice((0.25, 0.5, 0.75))}, "
                           f"{a.name}, {b.name})", a.shape, max(a.bound, b.bound), 2)

    def reduce(self):
        a = self.recent()
        axis = self.axis_of(a.shape)
        shape = list(a.shape)
        shape[axis] = 1
        function = self.random.choice(("mean", "mean", "max", "min"))
        r = self.add(f"xp.{function}({a.name}, axis={axis}, keepdims=True)", shape, a.bound, 1)
        if self.random.random() < 0.3:  # what uses it comes later
            return r
        x, y = a.name, self.used(r).name
        text, bound, operations = self.random.choice((
            (f"{x} - {y}", 2 * a.bound, 1), (f"{x} * {y}", a.bound**2, 1),
            (f"{x} / (0.5 + xp.abs({y}))", 2 * a.bound, 3)))
        return self.scaled(text, a.shape, bound, operations)

    def join(self, a, b):
        return self.scaled(f"{a.name} + {b.name} * 0.5", a.shape, a.bound + b.bound * 0.5, 2)

    def normalise(self):
        a = self.recent()
        axis = self.axis_of(a.shape)
        d = self.add(f"{a.name} - xp.mean({a.name}, axis={axis}, keepdims=True)", a.shape,
                     2 * a.bound, 2)
        self.used(d)
        return self.add(f"{d.name} / xp.sqrt(xp.mean({d.name} * {d.name}, axis={axis}, "
                        "keepdims=True) + 0.1)", a.shape, BOUND, 5)

    def softmax(self):
        a = self.recent()
        axis = self.axis_of(a.shape)
        e = self.add(f"xp.exp({a.name} - xp.max({a.name}, axis={axis}, keepdims=True))", a.shape, 1, 3)
        self.used(e)
        return self.add(f"{e.name} / xp.mean({e.name}, axis={axis}, keepdims=True)", a.shape, BOUND, 2)

    def neighbours(self):
        """Three along an axis, which loses its ends."""
        a = self.recent()
        axis = self.random.randrange(len(a.shape))
        if a.shape[axis] < 8:
            return self.unary()
        x, before = a.name, ":, " * axis
        shape = list(a.shape)
        shape[axis] -= 2
        return self.add(f"0.25 * {x}[{before}:-2] + 0.5 * {x}[{before}1:-1] + 0.25 * {x}[{before}2:]",
                        shape, a.bound, 5)

    def roll(self):
        a = self.recent()
        axis, shift = self.random.randrange(len(a.shape)), self.random.choice((1, -1, 3))
        return self.scaled(f"{a.name} - xp.roll({a.name}, {shift}, {axis})", a.shape, 2 * a.bound, 2)

    def halves(self):
        """The halves of the last axis, exchanged."""
        a = self.recent()
        if a.shape[-1] % 2:
            return self.unary()
        half = a.shape[-1] // 2
        return self.add(f"xp.concatenate([-{a.name}[..., {half}:], {a.name}[..., :{half}]], axis=-1)",
                        a.shape, a.bound, 2)

    def pool(self):
        """The means of groups of eight."""
        a = self.recent()
        if len(a.shape) < 2 or a.shape[-1] % 8 or a.shape[-1] < 64:
            return self.unary()
        shape = (*a.shape[:-1], a.shape[-1] // 8)
        return self.add(f"xp.mean({a.name}.reshape({(*shape, 8)}), axis=-1)", shape, a.bound, 1)

    def turn(self):
        a = self.recent()
        if len(a.shape) < 2 or 1 in a.shape:
            return self.unary()
        shape = (*a.shape[:-2], a.shape[-1], a.shape[-2])
        return self.add(f"xp.swapaxes({a.name}, -1, -2) * 1.5", shape, a.bound * 1.5, 1)

    def running_sum(self):
        a = self.recent()
        return self.add(f"xp.cumsum({a.name}, axis={len(a.shape) - 1}) * {1 / a.shape[-1]:.4g}",
                        a.shape, a.bound, 2)

    def statement(self):
        kinds = (("unary", 30), ("binary", 34), ("select", 5), ("reduce", 8),
                 ("normalise", 4), ("softmax", 3), ("neighbours", 5), ("roll", 3), ("halves", 2),
                 ("pool", 2), ("turn", 2), ("running_sum", 1))
        names, weights = zip(*kinds)
        getattr(self, self.random.choices(names, weights)[0])()

    def end(self):
        a = self.last()
        kind = self.random.random()
        if kind < 0.25:
            return f"xp.mean({a.name} * {a.name}, axis={self.axis_of(a.shape)})", 2
        return (f"xp.max({a.name}, axis=-1)", 1) if kind < 0.33 else (a.name, 0)


class WholeWriter(Writer):
    """Statements over int32. A value's `bound` is the number of its bits, at most 24."""

    def statement(self):
        a = self.recent()
        b = self.beside(a)
        x, y = a.name, b.name
        both, shift = max(a.bound, b.bound), self.random.randrange(1, 6)
        text, bits, operations = self.random.choice((
            (f"{x} + {y}", both + 1, 1), (f"{x} - {y}", both + 1, 1), (f"{x} ^ {y}", both, 1),
            (f"{x} & {y}", both, 1), (f"{x} | {y}", both, 1), (f"{x} >> {shift}", a.bound, 1),
            (f"{x} << {shift}", a.bound + shift, 1), (f"{x} % {10**shift + 7}", 20, 1),
            (f"{x} // {2 * shift + 1}", a.bound, 1), (f"{x} * {2 * shift + 1}", a.bound + 4, 1),
            (f"xp.maximum({x}, {y})", both, 1), (f"xp.minimum({x}, {y})", both, 1),
            (f"xp.where({x} > {y}, {x}, {y} >> 1)", both, 3), (f"xp.abs({x})", a.bound, 1),
            (f"xp.roll({x}, 1, {self.random.randrange(len(a.shape))})", a.bound, 1)))
        if bits > 24:
            text, bits, operations = f"({text}) & 65535", 16, operations + 1
        return self.add(text, a.shape, bits, operations)

    def join(self, a, b):
        return self.add(f"{a.name} ^ {b.name}", a.shape, max(a.bound, b.bound), 1)

    def end(self):
        a = self.last()
        return (f"xp.max({a.name}, axis=-1)", 1) if self.random.random() < 0.3 else (a.name, 0)


def scaled(shape, scale):
    """The shape with its longest extent divided by the square of the scale, or, of matrices and
    more, its two longest by the scale."""
    if scale == 1:
        return shape
    longest = sorted(range(len(shape)), key=lambda k: shape[k])[-2:]
    return tuple(max(8, extent // (scale**2 if len(shape) == 1 else scale)) if k in longest
                 else extent for k, extent in enumerate(shape))


def inputs_of(choice, shape, smaller, dtype):
    low, high = (0, 2**16) if dtype == "int32" else (-1.0, 1.0)
    shapes = [shape] * choice.choice((1, 2, 2, 3)) + [s for s in smaller if choice.random() < 0.6]
    return tuple(Input(each, low, high, dtype) for each in shapes)


def fitted(small, large, to):
    """The smaller shape, where extents of `large` have become those of `to`."""
    found = list(small)
    for k in range(1, len(small) + 1):
        if small[-k] == large[-k]:
            found[-k] = to[-k]
    return tuple(found)


def random_program(seed, scale=1):
    choice = random.Random(seed)
    large, smaller = choice.choice(SCENES)
    shape = scaled(large, scale)
    smaller = [fitted(each, large, shape) for each in smaller]
    dtype = choice.choices(("float32", "float16", "float64", "int32"), (60, 15, 10, 15))[0]
    wanted = choice.randint(5, 40)
    inputs = inputs_of(choice, shape, smaller, dtype)
    writer = (WholeWriter if dtype == "int32" else FloatWriter)(seed)
    names = [f"x{k}" for k in range(len(inputs))]
    half = dtype == "float16"  # computed in float32, as programs for training are
    for name, each in zip(names, inputs):
        writer.values.append(Value(name, tuple(each.shape), 16 if dtype == "int32" else 1.0))
        if half:
            writer.add(f'cast(xp, {name}, "float32")', each.shape, 1.0, 1)
    if half:
        writer.values = [each for each in writer.values if each.name.startswith("v")]
    while writer.operations < wanted:
        writer.statement()
    result, more = writer.end()
    if half:
        result, more = f'cast(xp, {result}, "float16")', more + 1
    operations = writer.operations + more
    source = "\n".join([f"def program(xp, {', '.join(names)}):",
                        *(f"    {each}" for each in (*writer.lines, f"return {result}"))])
    scope = {"cast": cast}
    exec(compile(source, f"<random program {seed}>", "exec"), scope)
    tolerance = 0.0 if dtype == "int32" else 4 * rounding(
        "float32" if half else dtype, operations, max(shape)) + (2**-10 if half else 0)
    return RandomProgram(f"random {seed}", scope["program"], inputs, field="random",
                         tolerance=tolerance, source=source, operations=operations)


def random_programs(scale, first=0, count=200):
    return [random_program(seed, scale) for seed in range(first, first + count)]
