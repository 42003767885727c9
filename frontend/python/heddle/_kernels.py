"""Kernels from a user's text: CuPy's ElementwiseKernel, ReductionKernel and fuse.

They are recorded as operations, so they fuse with what surrounds them, and run on GPUs and CPUs.
"""

import functools

import numpy

from heddle import _heddle
from heddle._jit import jit


def _declared(parameters):
    return tuple(part.strip() for part in parameters.split(",") if part.strip())


def _stored(kernel, results, outputs):
    """The results, in the Arrays of `outputs`, if there are any."""
    if not outputs:
        return results
    for result, output in zip(results, outputs):
        if output.shape != result.shape:
            raise _heddle.ShapeError(f"{kernel.name}: the output is {list(output.shape)}, but the "
                                     f"result is {list(result.shape)}")
    for result, output in zip(results, outputs):
        output[...] = result
    return list(outputs)


def _split(kernel, args):
    """The inputs and the outputs among a call's positional arguments."""
    if len(args) not in (kernel.nin, kernel.nargs):
        raise TypeError(f"{kernel.name}: takes {kernel.nin} inputs, or {kernel.nargs} arguments "
                        f"with the outputs, not {len(args)}")
    return args[:kernel.nin], args[kernel.nin:]


class ElementwiseKernel:
    """A function of elements, in C++: cupy.ElementwiseKernel, with the same parameters.

    in_params and out_params declare parameters, as in 'T x, raw float32 y': a dtype, or a letter for
    any dtype, and a name. Of a raw parameter the operation reads elements itself, as y[i], or writes
    them, if it is the only output. The operation is C++ that assigns the outputs; i is the element's
    number, n their count. Called with the inputs, which broadcast, and optionally the outputs.
    `size` is the number of elements if all Arrays are raw. `reduce_dims`, `options`, `block_size` and `stream` have no effect: the kernel
    is a part of a program, which chooses.

    Raises ValueError for declarations that it cannot parse, DTypeError for Arrays of other dtypes
    than declared, ShapeError for shapes that do not broadcast, and CompileError, with the line of
    the operation, when the value is read.

    >>> squared = hd.ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y)", "squared")
    >>> squared(hd.arange(3.0), 1.0)
    """

    def __init__(self, in_params, out_params, operation, name="kernel", reduce_dims=True,
                 preamble="", no_return=False, return_tuple=False, loop_prep="", after_loop="",
                 options=()):
        self._kernel = _heddle._ElementwiseKernel(in_params, out_params, operation, name, preamble,
                                                  loop_prep, after_loop)
        self.in_params, self.out_params = _declared(in_params), _declared(out_params)
        self.params = self.in_params + self.out_params
        self.nin, self.nout = len(self.in_params), len(self.out_params)
        self.nargs = self.nin + self.nout
        self.name, self.operation, self.preamble = name, operation, preamble
        self.no_return, self.return_tuple, self.reduce_dims = no_return, return_tuple, reduce_dims
        self.__name__ = name

    def __call__(self, *args, size=None, block_size=128, stream=None):
        inputs, outputs = _split(self, args)
        if block_size <= 0:
            raise ValueError(f"{self.name}: block_size must be positive, not {block_size}")
        results = _stored(self, self._kernel.call(inputs, size, outputs), outputs)
        if self.no_return:
            return None
        return tuple(results) if self.nout > 1 or self.return_tuple else results[0]

    def __repr__(self):
        return f"<heddle.ElementwiseKernel {self.name}({', '.join(self.params)})>"


class ReductionKernel:
    """A reduction in C++: cupy.ReductionKernel, with the same parameters.

    map_expr of the inputs' elements is combined by reduce_expr of a and b, which is associative and
    commutative. post_map_expr assigns the outputs from the result a. identity is the result for no
    elements; if it is '', those are a ValueError. reduce_type is the type of a and b, by default
    that of the first output. a + b, a * b, a && b and a || b are Heddle's own reductions, which sum
    in a fixed order. `options` and `stream` have no effect.

    Raises ValueError, DTypeError, ShapeError and CompileError as ElementwiseKernel, and AxisError.

    >>> norm = hd.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")
    >>> norm(hd.arange(6.0).reshape(2, 3), axis=1)
    """

    def __init__(self, in_params, out_params, map_expr, reduce_expr, post_map_expr, identity,
                 name="reduce_kernel", reduce_type=None, reduce_dims=True, preamble="", options=()):
        self._kernel = _heddle._ReductionKernel(
            in_params, out_params, map_expr, reduce_expr, post_map_expr,
            "" if identity is None else str(identity), name, reduce_type or "", preamble)
        self.in_params, self.out_params = _declared(in_params), _declared(out_params)
        self.params = self.in_params + self.out_params
        self.nin, self.nout = len(self.in_params), len(self.out_params)
        self.nargs = self.nin + self.nout
        self.reduce_type, self.reduce_dims, self.options = reduce_type, reduce_dims, options
        self.name, self.map_expr, self.reduce_expr = name, map_expr, reduce_expr
        self.post_map_expr, self.identity, self.preamble = post_map_expr, identity, preamble
        self.__name__ = name

    def __call__(self, *args, out=None, axis=None, keepdims=False, stream=None):
        inputs, outputs = _split(self, args)
        if out is not None:
            if outputs:
                raise TypeError(f"{self.name}: the output is given by position and as `out`")
            outputs = out if isinstance(out, tuple) else (out,)
        if outputs and len(outputs) != self.nout:
            raise TypeError(f"{self.name}: has {self.nout} outputs, not {len(outputs)}")
        results = _stored(self, self._kernel.call(inputs, axis, keepdims, outputs), outputs)
        return tuple(results) if self.nout > 1 else results[0]

    def __repr__(self):
        return f"<heddle.ReductionKernel {self.name}({', '.join(self.params)})>"


class _Fused:
    """The programs of a function of fuse()."""

    def __init__(self, function, name, options):
        self.function, self.name, self.options, self.programs = function, name, options, {}
        self.donated = tuple(options.get("donate") or ())
        # These options count the function's arguments, so that each of them is a variable of its own.
        self.counted = "donate" in options or "dynamic" in options

    def __call__(self, *values):
        arrays = [value for value in values if hasattr(value, "shape")]
        if arrays and all(isinstance(value, (numpy.ndarray, numpy.generic)) for value in arrays):
            return self.function(*values)
        unique, pattern, places = [], [], {}
        for value in values:  # an array that is given twice is one variable in the function
            shared = hasattr(value, "shape") and not self.counted
            place = places.setdefault(id(value), len(unique)) if shared else len(unique)
            if place == len(unique):
                unique.append(value)
            pattern.append(place)
        pattern = tuple(pattern)
        if pattern not in self.programs:
            self.programs[pattern] = jit(self._traced(pattern), name=self.name, **self.options)
        on_device = [_heddle.asarray(value) if isinstance(value, numpy.ndarray) else value for value in unique]
        result, written = self.programs[pattern](*on_device)
        for place, (value, new) in enumerate(zip(unique, written)):
            kept = place not in self.donated and isinstance(value, (_heddle.Array, numpy.ndarray))
            if new is not None and kept:
                value[...] = new.get() if isinstance(value, numpy.ndarray) else new
        return result

    def _traced(self, pattern):
        """The function as one of the distinct arguments, which returns what it writes to them, too."""
        @functools.wraps(self.function)
        def traced(*unique):
            arrays = [value if isinstance(value, _heddle.Array) else None for value in unique]
            before = [None if array is None else _heddle._value_number(array) for array in arrays]
            result = self.function(*(unique[place] for place in pattern))
            return result, [None if array is None or _heddle._value_number(array) == number else array
                            for array, number in zip(arrays, before)]
        return traced


def fuse(*args, **kwargs):
    """Makes a function one program, as cupy.fuse: hd.jit, whose other options it takes, with
    `kernel_name` for the program's name. What the function writes to its arguments (x += y,
    x[...] = y, out=x) is written to the caller's arrays when it returns, but for those in lists and
    dicts, and those that it is given to keep (`donate`). Arguments that share memory without being
    the same object are read as they were, and so is one that is given twice if there is `donate` or
    `dynamic`, which count the arguments. Called with NumPy arrays alone, the function
    runs as it is. `clear_cache()` of the result forgets the programs.

    >>> @hd.fuse(kernel_name="squared")
    ... def squared(x, y):
    ...     return (x - y) * (x - y)
    """
    if not (args and callable(args[0])):
        return lambda function: fuse(function, *args, **kwargs)
    function, *rest = args
    if rest:
        raise TypeError("fuse: takes a function, and options by name")
    name = kwargs.pop("kernel_name", None) or kwargs.pop("name", None)
    programs = _Fused(function, name, kwargs)

    @functools.wraps(function)
    def fused(*values):
        return programs(*values)

    fused.clear_cache = programs.programs.clear
    return fused
