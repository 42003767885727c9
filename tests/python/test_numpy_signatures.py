"""Functions take what NumPy's of the same name take: by position, by name, and with its defaults."""

import inspect
from inspect import Parameter

import numpy as np
import pytest

import heddle as hd

ANY = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)

# Where a parameter cannot be as in NumPy: {function: {NumPy's parameter: why}}.
DIFFERENT = {
    "arange": {"start_or_stop": "start is its name where there is a stop"},
    "expand_dims": {"axis": "the default 0 is the array standard's of 2024"},
    "genfromtxt": {"*": "all but dtype go to NumPy by name"},
    "array2string": {"*": "options go to NumPy by name"},
    "get_array_module": {"*": "CuPy's"},
    "errstate": {"*": "a class"},
    "load": {"*": "of files without pickled objects"},
    "loadtxt": {"like": "the Array is made here"},
    "save": {"*": "of files without pickled objects"},
    "savez": {"*": "of files without pickled objects"},
    "savez_compressed": {"*": "of files without pickled objects"},
    "set_printoptions": {"legacy": "today's printing only", "override_repr": "formatter does it"},
    "jit": {"*": "not NumPy's"},
    "ndindex": {"*": "a class in NumPy"},
    "ndenumerate": {"*": "a class in NumPy"},
    "clip": {"kwargs": "the options of ufuncs", "a_min": "a second name of min, which is the standard's",
             "a_max": "a second name of max"},
    "einsum": {"kwargs": "named here"},
    "result_type": {},
}


def numpy_signature(name):
    function = np
    for part in name.split("."):
        function = getattr(function, part, None)
    if not callable(function) or inspect.isclass(function):
        return None
    try:
        return inspect.signature(function)
    except ValueError:
        return None


def shared():
    """The functions that both have."""
    found = {}
    for prefix, module in {"": hd, "fft.": hd.fft, "linalg.": hd.linalg}.items():
        for name, function in vars(module).items():
            is_function = isinstance(function, hd.Function) or inspect.isfunction(function)
            if is_function and not name.startswith("_") and numpy_signature(prefix + name):
                found[prefix + name] = (function, numpy_signature(prefix + name))
    for name, function in vars(hd.random.Generator).items():
        theirs = numpy_signature("random.Generator." + name)
        if isinstance(function, hd.Function) and theirs:
            found["random.Generator." + name] = (function, theirs)
    return found


def default_of(value):
    """Defaults that mean the same: what is not given, a dtype by its Python type, numbers."""
    if value is Parameter.empty or isinstance(value, (str, int, float, tuple)) or value is None:
        return value
    return None  # numpy._NoValue, float, numpy.int64


def differences(ours, theirs, allowed):
    """How a signature differs from NumPy's, in words."""
    mine, found = list(ours.parameters.values()), []
    by_name = {p.name: p for p in mine}
    for place, wanted in enumerate(theirs.parameters.values()):
        if wanted.name in allowed:
            continue
        got = by_name.get(wanted.name)
        if wanted.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD):
            if not any(p.kind == wanted.kind for p in mine):
                found.append(f"does not take *{wanted.name}")
            continue
        if wanted.kind != Parameter.POSITIONAL_ONLY:
            if got is None or got.kind == Parameter.POSITIONAL_ONLY:
                found.append(f"does not take {wanted.name} by name")
                continue
        if wanted.kind in ANY:
            if place >= len(mine) or mine[place].kind not in ANY:
                found.append(f"does not take {wanted.name} by position")
                continue
            if wanted.kind == Parameter.POSITIONAL_OR_KEYWORD and mine[place].name != wanted.name:
                found.append(f"has {mine[place].name} in the place of {wanted.name}")
                continue
            got = mine[place]
        given, expected = default_of(got.default), default_of(wanted.default)
        unlike = given != expected and not (expected is None and wanted.default is not None)
        if unlike or (given is Parameter.empty) != (wanted.default is Parameter.empty):
            found.append(f"{wanted.name} is {got.default!r} by default, not {wanted.default!r}")
    known = set(theirs.parameters) | set(allowed)
    needed = [p.name for p in mine if p.default is Parameter.empty and p.name not in known
              and p.kind == Parameter.KEYWORD_ONLY]
    return found + [f"needs {name}, which NumPy does not have" for name in needed]


@pytest.mark.parametrize("name", sorted(shared()))
def test_parameters_are_those_of_numpy(name):
    ours, theirs = shared()[name]
    allowed = DIFFERENT.get(name, {})
    if "*" in allowed:
        return
    ufunc = getattr(np, name, None)
    if isinstance(ufunc, np.ufunc):  # by position; their options are a matter of ufuncs
        count = ufunc.nin + (ufunc.nout == 1)
        theirs = theirs.replace(parameters=list(theirs.parameters.values())[:count])
    assert not differences(inspect.signature(ours), theirs, allowed)


def test_every_exception_is_one():
    """No entry of DIFFERENT outlives its reason."""
    found = shared()
    for name, allowed in DIFFERENT.items():
        if name in found and "*" not in allowed and allowed:
            ours, theirs = found[name]
            assert differences(inspect.signature(ours), theirs, {}), name


def test_second_names():
    x = hd.arange(5)
    for bounds in ({"min": 1, "max": 3}, {"a_min": 1, "a_max": 3}):
        assert hd.clip(x, **bounds).tolist() == [1, 1, 2, 3, 3] == x.clip(**bounds).tolist()
    with pytest.raises(TypeError, match="min is given twice"):
        hd.clip(x, 1, a_min=2)
    assert "a_min" not in str(inspect.signature(hd.clip)) + hd.clip.__declaration__
