"""The precision of matrix products: by call, by function, by scope and for all."""

import threading

import pytest

import heddle as hd


def precision_of(function, **options):
    text = hd.jit(function, **options).ir(hd.spec((4, 4), hd.float32))
    line = next(line for line in text.splitlines() if "matmul" in line)
    return line.split('precision = "')[1].split('"')[0] if "precision" in line else "ieee"


def product(x):
    return x @ x


def test_what_is_closest_decides():
    assert precision_of(product) == "ieee"
    assert hd.set_matmul_precision("bf16") == "ieee"
    try:
        assert precision_of(product) == "bf16"
        with hd.matmul_precision("tf32"):
            assert precision_of(product) == "tf32"
            assert precision_of(product, matmul_precision="ieee") == "ieee"
            assert precision_of(lambda x: hd.matmul(x, x, precision="bf16")) == "bf16"
            seen = []
            thread = threading.Thread(target=lambda: seen.append(precision_of(product)))
            thread.start()
            thread.join()
            assert seen == ["bf16"]
        assert precision_of(product) == "bf16"
    finally:
        assert hd.set_matmul_precision("ieee") == "bf16"


def test_a_scope_ends_with_an_exception_and_may_be_entered_again():
    scope = hd.matmul_precision("tf32")
    with pytest.raises(ZeroDivisionError), scope:
        with scope:
            assert precision_of(product) == "tf32"
        1 / 0
    assert precision_of(product) == "ieee"


@pytest.mark.parametrize("function", [
    lambda x: hd.dot(x, x), lambda x: hd.inner(x, x), lambda x: hd.matvec(x, x[0]),
    lambda x: hd.tensordot(x, x, axes=1), lambda x: hd.einsum("ij,jk", x, x)])
def test_all_products_follow(function):
    assert precision_of(function, matmul_precision="tf32") == "tf32"


def test_a_jitted_function_inside_another_keeps_its_own():
    inner = hd.jit(product, matmul_precision="bf16")
    assert precision_of(lambda x: inner(x)) == "bf16"


@pytest.mark.parametrize("name", ["fp8", "", "TF32"])
def test_other_names_are_errors(name):
    x = hd.ones((2, 2), dtype=hd.float32)
    for call in (lambda: hd.matmul(x, x, precision=name), lambda: hd.set_matmul_precision(name),
                 lambda: hd.jit(product, matmul_precision=name),
                 lambda: hd.matmul_precision(name).__enter__()):
        with pytest.raises(ValueError, match="unknown precision of matrix products"):
            call()
    with pytest.raises(TypeError):
        hd.set_matmul_precision(None)
    assert hd.set_matmul_precision("ieee") == "ieee"


def test_values():
    x = hd.asarray([[1.0, 2.0], [3.0, 4.0]], dtype=hd.float32)
    out = hd.zeros((2, 2), dtype=hd.float32)
    hd.matmul(x, x, out=out, precision="tf32")
    assert out.tolist() == [[7.0, 10.0], [15.0, 22.0]]


def test_autotuning_is_off_until_somebody_turns_it_on():
    assert hd.set_autotune(True) is False
    x = hd.ones((4, 4))
    assert hd.matmul(x, x).tolist() == [[4.0] * 4] * 4
    assert hd.set_autotune(False) is True
