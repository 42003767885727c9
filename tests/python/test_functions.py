"""Every function of the module against NumPy's. The meaning of each is tested in C++ over all dtypes
and layouts; what is tested here is that Python reaches it: arguments, defaults, promotion."""

import math

import numpy as np
import pytest
from conftest import check, sample

import heddle as hd

FUNCTIONS = {name: f for name, f in vars(hd).items() if isinstance(f, hd.Function)}

# Elementwise functions that NumPy does not have under that name.
REFERENCES = {
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "erf": lambda x: np.vectorize(math.erf, otypes=[float])(x).astype(np.sqrt(x).dtype),
    "select": np.where,
    "modf_fraction": lambda x: np.modf(x)[0],
    "modf_integer": lambda x: np.modf(x)[1],
    "frexp_mantissa": lambda x: np.frexp(x)[0],
    "frexp_exponent": lambda x: np.frexp(x)[1],
    "bitwise_not": np.invert,
}
ELEMENTWISE = {name: f for name, f in FUNCTIONS.items()
               if "), elementwise:" in f.__doc__}


def x(shape=(3, 4), dtype=np.float32, seed=0):
    return sample(getattr(hd, np.dtype(dtype).name), shape, seed)


# name: [(arguments, keyword arguments) ...]; NumPy arrays become Arrays.
CASES = {
    "all": [((x(),), {"axis": 0}), ((x((2, 0)),), {})],
    "allclose": [((x(), x()), {}), ((x(), x() + 1), {"atol": 0.5})],
    "any": [((x(),), {"axis": 1, "keepdims": True}), ((x((0,)),), {})],
    "arange": [((5,), {}), ((1, 10, 3), {}), ((0.0, 1.0, 0.25), {}),
               ((3, -1, -1), {"dtype": "float32"})],
    "argmax": [((x(),), {}), ((x(),), {"axis": 1, "keepdims": True})],
    "argmin": [((x(),), {}), ((x(),), {"axis": 0})],
    "array": [(([1, 2],), {}), ((x(),), {"dtype": "int8"})],
    "array_equal": [((x(), x()), {}), ((x(), x((3, 1))), {}), ((x(), x(seed=1)), {})],
    "asarray": [(([[True]],), {}), ((x(),), {})],
    "astype": [((x(), "int8"), {}), ((x(), "bool"), {"copy": False})],
    "broadcast_to": [((x(4), (3, 4)), {})],
    "can_cast": [(("int8", "int16"), {}), (("int64", "float32"), {}), (("uint8", "int8"), {}),
                 (("bool", "int8"), {}), (("int64", "float64"), {}), (("float64", "float32"), {})],
    "clip": [((x(), -1, 0.5), {}), ((x(),), {"min": x(4, seed=1)}), ((x(dtype=np.int8),), {"max": 1}),
             ((x(dtype=np.int8), -300, 300), {})],
    "concat": [(([x(), x((2, 4), np.int8)],), {}), (([x(), x()],), {"axis": None}),
               (([x(), x((3, 1))],), {"axis": -1})],
    "concatenate": [(([x(), x()], 1), {})],
    "copy": [((x(),), {})],
    "count_nonzero": [((x(),), {}), ((x(),), {"axis": 0, "keepdims": True})],
    "cumprod": [((x(),), {"axis": 0}), ((x(dtype=np.int8),), {})],
    "cumsum": [((x(),), {}), ((x(dtype=np.uint8),), {"axis": -1}), ((x(), 0, "float64"), {})],
    "cumulative_prod": [((x(),), {"axis": 1, "include_initial": True})],
    "cumulative_sum": [((x(4),), {}), ((x(dtype=np.int8),), {"axis": 0, "dtype": "int8"}),
                       ((x(),), {"axis": 0, "include_initial": True})],
    "divmod": [((x(), 1.5), {})],
    "dot": [((x((2, 3)), x((3, 2))), {}), ((x(3), x(3)), {})],
    "empty": [],
    "empty_like": [],
    "expand_dims": [((x(),), {"axis": (0, -1)}), ((x(),), {"axis": 1})],
    "eye": [((3,), {}), ((2, 3), {"k": 1, "dtype": "int8"})],
    "flip": [((x(),), {}), ((x(),), {"axis": 1})],
    "float_power": [((x() + 3, 2), {})],
    "frexp": [((x(),), {})],
    "full": [(((2, 3), 7), {}), ((2, 0.5), {"dtype": "float32"}), (((), True), {})],
    "full_like": [((x(), 3), {}), ((x(), 3), {"dtype": "int64"})],
    "isclose": [((x(), x() + 1e-7), {}), ((np.array([np.nan]), np.array([np.nan])),
                                          {"equal_nan": True})],
    "linspace": [((0, 1, 5), {}), ((2.0, -1.0), {"num": 4, "endpoint": False}),
                 ((0, 10, 3), {"dtype": "int32"})],
    "matmul": [((x((2, 3)), x((3, 2))), {}), ((x((4, 2, 3)), x(3)), {})],
    "matrix_transpose": [((x((2, 3, 4)),), {})],
    "max": [((x(),), {}), ((x(),), {"axis": (0, 1)}), ((x(dtype=np.int8),), {"axis": ()})],
    "mean": [((x(),), {}), ((x(dtype=np.int8),), {"axis": 0}), ((x(),), {"dtype": "float64"})],
    "min": [((x(),), {"axis": -1})],
    "modf": [((x(),), {})],
    "moveaxis": [((x((2, 3, 4)), 0, -1), {}), ((x((2, 3, 4)), (0, 1), (1, 2)), {})],
    "nan_to_num": [((np.array([np.nan, np.inf, -np.inf, 1]),), {}),
                   ((np.array([np.nan, np.inf], np.float32),), {"nan": 1.0, "posinf": 9.0})],
    "nancumprod": [((np.array([2, np.nan, 3]),), {})],
    "nancumsum": [((np.array([[2, np.nan], [1, 3]]),), {"axis": 1})],
    "ones": [((3,), {}), (((2, 0),), {"dtype": "bool"})],
    "ones_like": [((x(),), {}), ((x(),), {"dtype": "uint8"})],
    "outer": [((x(3), x(2)), {})],
    "permute_dims": [((x((2, 3, 4)), (2, 0, 1)), {})],
    "positive": [((x(),), {})],
    "prod": [((x(),), {"axis": 0}), ((x(dtype=np.int8),), {}), ((x(),), {"axis": ()})],
    "promote_types": [(("int8", "uint8"), {}), (("float16", "int16"), {})],
    "ravel": [((x(),), {}), ((x().T,), {})],
    "reshape": [((x(), (2, -1)), {}), ((x(), -1), {}), ((x(), (4, 3)), {"copy": True})],
    "result_type": [((x(), 1.0), {}), (("int8", "uint16"), {}), ((x(dtype=np.int8), 3), {})],
    "round": [((x() * 1.37,), {"decimals": 1}), ((x(),), {})],
    "squeeze": [((x((1, 3, 1)),), {}), ((x((1, 3, 1)),), {"axis": 0})],
    "stack": [(([x(), x()],), {}), (([x(), x()],), {"axis": -1})],
    "std": [((x(),), {}), ((x(),), {"axis": 0, "correction": 1}), ((x(),), {"ddof": 1})],
    "sum": [((x(),), {}), ((x(dtype=np.int8),), {"axis": (0, 1)}), ((x(dtype=np.uint8),), {}),
            ((x(),), {"axis": 0, "keepdims": True, "dtype": "float64"}), ((x((0, 3)),), {}),
            ((x(dtype=np.bool_),), {"axis": ()}),
            ((x(),), {"initial": 5.0, "where": x() > 0})],
    "swapaxes": [((x((2, 3, 4)), 0, -1), {})],
    "transpose": [((x((2, 3, 4)),), {}), ((x((2, 3)), (1, 0)), {})],
    "unwrap": [((x() * 9,), {}), ((x() * 9, 4.0, 0), {"period": 3.0}),
               ((x(dtype=np.int8),), {"period": 7})],
    "var": [((x(),), {"axis": 1, "keepdims": True}), ((x(dtype=np.int8),), {"correction": 1.0})],
    "where": [((x() > 0, x(), 2), {}), ((x(), 1, 0), {})],
    "zeros": [(((2, 3),), {}), ((4,), {"dtype": "int16"})],
    "zeros_like": [((x(),), {}), ((x(dtype=np.int8),), {"dtype": "float64"})],
    "append": [((x(), x(2)), {}), ((x(), x((1, 4))), {"axis": 0})],
    "array_split": [((x(), 2), {"axis": 1}), ((x(), 2), {})],
    "atleast_1d": [((x(()),), {})],
    "atleast_2d": [((x(3),), {})],
    "atleast_3d": [((x(),), {})],
    "average": [((x(),), {"axis": 0}), ((x(), 1), {"weights": abs(x(4)) + 1, "returned": True})],
    "choose": [((np.array([0, 1, 1]), [x(3), x(3, seed=1)]), {})],
    "column_stack": [(([x(3), x(3)],), {})],
    "convolve": [((x(5), x(3)), {}), ((x(5), x(3)), {"mode": "same"})],
    "copyto": [],
    "corrcoef": [((x((2, 5), np.float64),), {})],
    "correlate": [((x(5), x(3)), {})],
    "cov": [((x((2, 5), np.float64),), {}), ((x((5, 2), np.float64),), {"rowvar": False})],
    "cross": [((x((2, 3)), x(3)), {})],
    "delete": [((x(5), 1), {}), ((x(), [0, 2]), {"axis": 0})],
    "diag": [((x(),), {}), ((x(3), 1), {})],
    "diagflat": [((x((2, 2)),), {})],
    "diagonal": [((x((2, 3, 3)),), {"axis1": 1, "axis2": 2}), ((x(), 1), {})],
    "diff": [((x(),), {}), ((x(),), {"axis": 0, "n": 2}), ((x(4),), {"prepend": x(1)})],
    "dsplit": [((x((1, 2, 4)), 2), {})],
    "dstack": [(([x(3), x(3)],), {})],
    "ediff1d": [((x(),), {"to_end": x(2)})],
    "einsum": [(("ij,jk->ik", x((2, 3)), x((3, 2))), {}), (("ii", x((3, 3))), {})],
    "fix": [((x() * 1.5,), {})],
    "fliplr": [((x(),), {})],
    "flipud": [((x(),), {})],
    "geomspace": [((1, 1000, 4), {})],
    "gradient": [((x(5, np.float64),), {}), ((x((4, 3)), 2.0), {"axis": 0})],
    "hsplit": [((x(), 2), {})],
    "hstack": [(([x(3), x(2)],), {})],
    "identity": [((3,), {"dtype": "int8"})],
    "indices": [(((2, 3),), {}), (((2, 3),), {"sparse": True})],
    "inner": [((x((2, 3)), x((4, 3))), {})],
    "insert": [((x(5), 1, 9.0), {}), ((x(), [0, 2], 7.0), {"axis": 1})],
    "isneginf": [((np.array([-np.inf, 1]),), {})],
    "isposinf": [((np.array([np.inf, 1]),), {})],
    "kron": [((x((2, 2)), x((1, 2))), {})],
    "logspace": [((0, 2, 3), {"base": 2.0})],
    "logsumexp": [],
    "matvec": [((x((2, 3)), x(3)), {})],
    "meshgrid": [((x(3), x(2)), {}), ((x(3), x(2)), {"indexing": "ij", "sparse": True})],
    "nanargmax": [((x(),), {"axis": 0})],
    "nanargmin": [((x(),), {})],
    "nanmax": [((np.array([np.nan, 1.0]),), {})],
    "nanmean": [((np.array([np.nan, 1.0]),), {})],
    "nanmin": [((np.array([np.nan, 1.0]),), {"initial": 0.5})],
    "nanprod": [((np.array([np.nan, 2.0]),), {})],
    "nanstd": [((np.array([np.nan, 1.0, 3]),), {})],
    "nansum": [((np.array([np.nan, 1.0]),), {"axis": 0})],
    "nanvar": [((np.array([np.nan, 1.0, 3]),), {"ddof": 1})],
    "pad": [((x(), 1), {}), ((x(), ((1, 0), (2, 1))), {"mode": "edge"}),
            ((x(4), (1, 2)), {"constant_values": (7, 8)})],
    "polyval": [((x(3), x(4)), {})],
    "ptp": [((x(),), {"axis": 0})],
    "putmask": [],
    "repeat": [((x(), 2), {}), ((x(), 2), {"axis": 1})],
    "resize": [((x(3), (2, 4)), {})],
    "roll": [((x(), 2), {}), ((x(), (1, -1)), {"axis": (0, 1)})],
    "rollaxis": [((x((2, 3, 4)), 2), {})],
    "rot90": [((x(),), {}), ((x((2, 3, 4)), 3), {"axes": (1, 2)})],
    "select": [(([x() > 0, x() < 0], [x(), -x()], 5), {})],
    "split": [((x(), 3), {}), ((x(), [1, 3]), {"axis": 1})],
    "tensordot": [((x((2, 3, 4)), x((3, 4, 2))), {}), ((x((2, 3)), x((3, 2))), {"axes": 1}),
                  ((x((2, 3)), x((3, 2))), {"axes": ((0, 1), (1, 0))})],
    "tile": [((x(), 2), {}), ((x(3), (2, 2)), {})],
    "trace": [((x((3, 3)),), {}), ((x((3, 3), np.int8), 1), {})],
    "trapezoid": [((x(5),), {"dx": 0.5}), ((x(5), np.arange(5.0)), {})],
    "tri": [((3, 4), {"k": 1})],
    "tril": [((x(),), {"k": 1})],
    "triu": [((x(),), {})],
    "unstack": [((x(),), {}), ((x(),), {"axis": 1})],
    "vander": [((x(3, np.float64), 4), {})],
    "vdot": [((x(), x()), {})],
    "vecdot": [((x((2, 3)), x(3)), {}), ((x((3, 2)), x((3, 1))), {"axis": 0})],
    "vecmat": [((x(3), x((3, 2))), {})],
    "vsplit": [((x((4, 2)), 2), {})],
    "vstack": [(([x(3), x((2, 3))],), {})],
    # Tested elsewhere, or of the library's own.
    "asnumpy": [], "auto_eval": [], "broadcast_arrays": [], "cummax": [], "cummin": [],
    "device": [], "devices": [], "eval": [], "finfo": [], "from_dlpack": [], "iinfo": [],
    "isdtype": [], "load": [], "logcumsumexp": [], "save": [], "set_device": [],
    "set_printoptions": [], "spec": [], "statistics": [], "synchronize": [],
}


def test_every_function_is_tested():
    missing = set(FUNCTIONS) - set(ELEMENTWISE) - set(CASES)
    aliases = {name for name in missing if FUNCTIONS[name].__name__ != name}
    assert not missing - aliases


def numpy_call(name, args, kwargs):
    kwargs = dict(kwargs)
    if name == "cross":
        args = [np.broadcast_to(arg, (2, 3)) for arg in args]
    copied = {"astype", "asarray", "reshape"}
    if name in copied:
        kwargs.pop("copy", None)
    if name == "eye" and len(args) == 2:
        return np.eye(*args, **kwargs)
    with np.errstate(all="ignore"):
        return getattr(np, name)(*args, **kwargs)


def converted(value):
    if isinstance(value, (np.ndarray, np.generic)):
        return hd.asarray(value)
    return [converted(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", [name for name, cases in CASES.items() if cases])
def test_against_numpy(name):
    for args, kwargs in CASES[name]:
        got = FUNCTIONS[name](*[converted(arg) for arg in args],
                              **{key: converted(arg) for key, arg in kwargs.items()})
        expected = numpy_call(name, args, kwargs)
        if isinstance(got, hd.DType):
            assert got.name == expected.name
        elif isinstance(got, bool):
            assert got == expected
        elif isinstance(got, (tuple, list)):
            for one, other in zip(got, expected, strict=True):
                check(one, other)
        else:
            check(got, expected, ulp=4)


@pytest.mark.parametrize("dtype", [hd.bool, hd.int16, hd.uint64, hd.float32], ids=str)
def test_elementwise(dtype):
    operands = [sample(dtype, (2, 3), 0), sample(dtype, 3, 1), sample(dtype, (2, 1), 2)]
    pairs = []
    for name, function in ELEMENTWISE.items():
        arity = function.__text_signature__.split("/")[0].count(",")
        reference = REFERENCES.get(name) or getattr(np, name, None)
        if arity == 2 and dtype == hd.int16 and name in ("power", "pow"):
            operands[1] = abs(operands[1])
        arrays = [hd.asarray(each) for each in operands[:arity]]
        if name == "ldexp":
            arrays[1], operands[1] = hd.astype(arrays[1], hd.int32), operands[1].astype(np.int32)
        try:
            with np.errstate(all="ignore"):
                expected = reference(*operands[:arity])
        except TypeError:
            with pytest.raises(TypeError):
                function(*arrays)
            continue
        pairs.append((function(*arrays), expected))
    hd.eval(*[got for got, _ in pairs])
    assert len(pairs) > 40
    for got, expected in pairs:
        check(got, expected, ulp=6)


def test_accumulated_functions():
    for name, ufunc in (("cummax", np.maximum), ("cummin", np.minimum),
                        ("logcumsumexp", np.logaddexp)):
        check(FUNCTIONS[name](hd.asarray(x())), ufunc.accumulate(x()), ulp=4)
        check(FUNCTIONS[name](hd.asarray(x()), axis=1), ufunc.accumulate(x(), axis=1), ulp=4)


def test_writing_functions():
    a, mask, results = x(), x() > 0, []
    for xp in (hd, np):
        target = xp.asarray(a.copy())
        xp.copyto(target[1:], xp.asarray(a[0]), where=xp.asarray(mask[1:]))
        xp.putmask(target, xp.asarray(~mask), xp.asarray(a[0]))
        results.append(target)
    check(*results)


def test_logsumexp():
    a = x(dtype=np.float64)
    check(hd.logsumexp(hd.asarray(a), axis=1), np.log(np.exp(a).sum(axis=1)), ulp=8)


def test_parts_are_views():
    a = hd.arange(6)
    hd.split(a, 2)[1][0] = 9
    hd.unstack(a)[0][...] = 8
    hd.flipud(a)[0] = 7
    check(a, np.array([8, 1, 2, 9, 4, 7]))


def test_broadcast_arrays():
    for got, expected in zip(hd.broadcast_arrays(hd.asarray(x()), hd.asarray(x(4))),
                             np.broadcast_arrays(x(), x(4)), strict=True):
        check(got, expected)


def test_facts_about_dtypes():
    for name in ("float16", "float32", "float64"):
        found, expected = hd.finfo(name), np.finfo(name)
        for field in ("bits", "eps", "max", "min", "smallest_normal"):
            assert getattr(found, field) == getattr(expected, field)
    for name in ("int8", "uint8", "int64", "uint64"):
        found, expected = hd.iinfo(getattr(hd, name)), np.iinfo(name)
        assert (found.bits, found.max, found.min) == (expected.bits, expected.max, expected.min)
    assert hd.isdtype(hd.int8, "signed integer") and hd.isdtype(hd.int8, (hd.bool, "integral"))
    assert not hd.isdtype(hd.bool, "numeric")
    for bad in (lambda: hd.isdtype(hd.int8, "number"), lambda: hd.finfo(hd.int8),
                lambda: hd.iinfo(hd.float32)):
        with pytest.raises(ValueError):
            bad()


def test_dtypes_are_named_as_numpy_names_them():
    for name in ("float32", np.float32, np.dtype("float32"), np.dtype(">f4"), hd.float32):
        assert hd.zeros(1, dtype=name).dtype == hd.float32
    assert hd.zeros(1, dtype=int).dtype == hd.int64 and hd.zeros(1, dtype=bool).dtype == hd.bool
    for name in ("object", "nothing", np.dtype("U3"), 3):
        with pytest.raises(TypeError):
            hd.zeros(1, dtype=name)
    assert hd.float32 != hd.float64 and {hd.float32: 1}[hd.float32] == 1
    assert repr(hd.float32) == "heddle.float32" and str(hd.float32) == "float32"


def test_files(tmp_path):
    path = str(tmp_path / "x.npy")
    hd.save(path, hd.asarray(x()))
    np.testing.assert_array_equal(np.load(path), x())
    check(hd.load(path), x())
    with pytest.raises(OSError):
        hd.load(str(tmp_path / "nothing.npy"))


def test_array_module():
    assert hd.get_array_module(hd.ones(1), 3) is hd
    assert hd.get_array_module(np.ones(1)) is np
    check(hd.asarray(hd.asnumpy(hd.ones(2))), np.ones(2))
    np.testing.assert_array_equal(hd.asnumpy([1, 2]), [1, 2])
