"""Profiles and the history of launches."""

import json

import pytest

import heddle as hd


@hd.jit
def standardized(x):
    e = hd.exp(x - hd.max(x, axis=-1, keepdims=True))
    return e / hd.sum(e, axis=-1, keepdims=True)


def ramp():
    x = hd.reshape(hd.linspace(-3, 3, 4000, dtype=hd.float32), (40, 100))
    hd.eval(x)
    return x


def test_a_profile_is_a_with_statement(tmp_path):
    x = ramp()
    with hd.profile() as profile:
        for _ in range(3):
            hd.eval(standardized(x))
    hd.eval(standardized(x))
    phases = {row["phase"]: row for row in profile.rows()}
    assert phases["launch"]["count"] == phases["kernel"]["count"] == 3
    assert sum(row["share"] for row in phases.values()) == pytest.approx(1)
    (kernel,) = profile.rows("kernel")
    assert kernel["bytes"] == 3 * 2 * 4 * 4000 and kernel["gigabytes_per_second"] > 0
    assert kernel["name"] in profile.table()
    launches = [event["launch"] for event in profile.events() if event["phase"] == "kernel"]
    assert launches[0]["kernel"] == kernel["name"]
    assert any("test_profile.py:" in line for line in launches[0]["lines"])
    path = tmp_path / "trace.json"
    profile.save_trace(str(path))
    assert json.loads(path.read_text()) == json.loads(profile.trace())
    with pytest.raises(ValueError, match="no phase 'kernels'"):
        profile.rows("kernels")
    with pytest.raises(OSError):
        profile.save_trace(str(tmp_path / "none" / "trace.json"))
    with pytest.raises(ValueError, match="with statement"):
        hd.profile().rows()


def test_an_exception_ends_a_profile():
    x = ramp()
    with pytest.raises(KeyError), hd.profile() as profile:
        hd.eval(standardized(x))
        raise KeyError
    hd.eval(standardized(x))
    assert len([e for e in profile.events() if e["phase"] == "launch"]) == 1


def test_the_history_keeps_the_last_launches():
    x = ramp()
    hd.set_kernel_history(2)
    try:
        for _ in range(3):
            hd.eval(hd.sin(x) * 2)
        launches = hd.kernel_history()
    finally:
        hd.set_kernel_history(0)
    assert [launch["program"] for launch in launches] == ["main"] * 2
    for launch in launches:
        assert launch["microseconds"] > 0 and launch["device"] == str(x.device)
        assert any("test_profile.py:" in line for line in launch["lines"])
    assert hd.kernel_history() == []
    with pytest.raises(ValueError):
        hd.set_kernel_history(-1)
