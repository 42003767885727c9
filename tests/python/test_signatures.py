"""Functions say what they take, and take what they say."""

import ast
import inspect
import pathlib
import pickle

import pytest

import heddle as hd


def functions():
    return {prefix + name: f for prefix, module in {"": hd, "fft.": hd.fft, "linalg.": hd.linalg}.items()
            for name, f in vars(module).items() if isinstance(f, hd.Function)}


def test_all_functions_are_inspectable_and_documented():
    for name, function in functions().items():
        signature = inspect.signature(function)
        assert function.__declaration__.split("(")[0] == function.__name__
        assert all(p.name for p in signature.parameters.values())
        assert len(function.__doc__) > 15, name
        assert function.__module__.split(".")[0] == "heddle"


def test_methods_are_bound_functions():
    x = hd.ones(3)
    assert list(inspect.signature(x.sum).parameters)[:4] == ["axis", "dtype", "out", "keepdims"]
    assert list(inspect.signature(hd.Array.sum).parameters)[0] == "self"
    assert x.sum().item() == 3 and hd.Array.sum(x, axis=0).item() == 3


def test_kinds_of_parameters():
    def kinds(function):
        return [p.kind.name for p in inspect.signature(function).parameters.values()]

    assert kinds(hd.add) == ["POSITIONAL_ONLY"] * 2 + ["POSITIONAL_OR_KEYWORD"] + ["KEYWORD_ONLY"] * 6
    assert kinds(hd.broadcast_arrays) == ["VAR_POSITIONAL", "KEYWORD_ONLY"]
    assert inspect.signature(hd.isclose).parameters["rtol"].default == 1e-5


def test_arguments_that_do_not_fit():
    x = hd.ones(3)
    for call in (lambda: hd.sin(), lambda: hd.sin(x, x, x), lambda: hd.sin(x=x),
                 lambda: hd.sin(x, nothing=1), lambda: hd.sum(x, 0, axis=0),
                 lambda: hd.sum(x, axis="a"), lambda: hd.sum(x, dtype=3),
                 lambda: hd.zeros((1.5,)), lambda: hd.add(x, "a"), lambda: hd.sin(x, out=3)):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(TypeError):
        hd.Array()
    with pytest.raises(TypeError):
        hd.Function()


def test_functions_and_dtypes_pickle():
    assert pickle.loads(pickle.dumps(hd.sin)) is hd.sin
    assert pickle.loads(pickle.dumps(hd.float32)) is hd.float32


def test_the_stub_names_everything():
    def missing(stub, names):
        stub = ast.parse(pathlib.Path(hd.__file__).with_name(stub).read_text())
        named = {node.name for node in stub.body if hasattr(node, "name")}
        named |= {node.target.id for node in stub.body if isinstance(node, ast.AnnAssign)}
        named |= {alias.name for node in stub.body if isinstance(node, ast.ImportFrom)
                  for alias in node.names}
        return {name for name in names if not name.startswith("_")} - named

    assert not missing("__init__.pyi", hd.__all__)
    assert not missing("linalg.pyi", vars(hd.linalg))
