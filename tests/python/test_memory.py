"""The numbers of a device's memory pool, its limit, and giving memory back."""

import gc

import pytest

import heddle as hd

MIB = 1 << 20


@pytest.fixture(autouse=True)
def nothing_of_other_tests():
    gc.collect()
    hd.synchronize()
    hd.trim_memory()


def test_blocks_are_counted_and_told_with_their_lines():
    hd.reset_memory_peak()
    before = hd.memory_statistics()
    x = hd.zeros((MIB,), dtype=hd.float32)
    hd.eval(x)
    held = hd.memory_statistics(device=str(x.device))
    assert held["in_use"] == before["in_use"] + 4 * MIB
    assert held["blocks"] == before["blocks"] + 1
    assert "4194304 bytes: float32[1048576]" in hd.describe_memory()
    assert "test_memory.py:" in hd.describe_memory()
    assert hd.describe_memory(0) == ""
    del x
    hd.synchronize()
    after = hd.memory_statistics()
    assert after["in_use"] == before["in_use"]
    assert after["peak_in_use"] >= before["in_use"] + 4 * MIB
    hd.reset_memory_peak()
    assert hd.memory_statistics()["peak_in_use"] == after["in_use"]


def test_what_is_free_is_given_back():
    x = hd.zeros((64 * MIB,), dtype=hd.float32)  # more than other tests' segments have free
    hd.eval(x)
    reserved = hd.memory_statistics()["reserved"]
    assert hd.trim_memory() == 0
    del x
    hd.synchronize()
    assert hd.trim_memory() >= 256 * MIB
    assert hd.memory_statistics()["reserved"] <= reserved - 256 * MIB


def test_a_limit_is_kept_and_lifted():
    before = hd.set_memory_limit(hd.memory_statistics()["reserved"] + 32 * MIB)
    try:
        assert hd.memory_statistics()["limit"] > 0
        with pytest.raises(hd.OutOfMemory):
            hd.eval(hd.zeros((16 * MIB,), dtype=hd.float32))
        assert int(hd.ones((1000,), dtype=hd.int32).sum()) == 1000
    finally:
        assert hd.set_memory_limit(before) > 0
    hd.eval(hd.zeros((16 * MIB,), dtype=hd.float32))


def test_what_is_refused():
    for call in (lambda: hd.set_memory_limit(-1), lambda: hd.describe_memory(-1),
                 lambda: hd.memory_statistics("gpu")):
        with pytest.raises(ValueError):
            call()
    with pytest.raises(hd.DeviceError):
        hd.trim_memory("cuda:4711")
