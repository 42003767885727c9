"""Files with native code that others may have written, and options that name what is not there."""

import os
import stat
import subprocess
import sys

import pytest

import heddle as hd


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "f.hdp"
    hd.jit(lambda x: x + 1).save(str(path), hd.spec((3,), hd.float32))
    return path


def test_programs_that_others_may_have_written(program):
    assert stat.S_IMODE(program.stat().st_mode) == 0o644
    program.chmod(0o666)
    with pytest.raises(hd.TrustError, match="mode 0666") as error:
        hd.load_program(str(program))
    assert isinstance(error.value, hd.FileError) and isinstance(error.value, OSError)
    assert "trust=True" in str(error.value)
    with pytest.raises(hd.TrustError, match="every user can write to it"):
        hd.load_bundle(str(program))
    assert hd.load_program(str(program), trust=True)(hd.zeros(3, dtype=hd.float32)).tolist() == [1, 1, 1]
    for function in hd.load_program, hd.load_bundle:
        assert "native code" in function.__doc__


def test_mode_of_programs(tmp_path):
    path = tmp_path / "f.hdp"
    before = os.umask(0o077)
    try:
        hd.jit(lambda x: x + 1).lower(hd.spec((3,), hd.float32)).save(str(path), mode=0o640)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_key_refuses_what_it_has_not_signed(program, tmp_path):
    code = f"""
import heddle as hd
path = {str(program)!r}
try:
    hd.load_program(path, trust=True)
except hd.TrustError as error:
    assert "and it is not signed with HEDDLE_CACHE_KEY" in str(error)
else:
    raise AssertionError("loaded")
hd.jit(lambda x: x + 2).save(path, hd.spec((3,), hd.float32))
assert hd.load_program(path)(hd.zeros(3, dtype=hd.float32)).tolist() == [2, 2, 2]
"""
    environment = {**os.environ, "HEDDLE_CACHE_KEY": "0a" * 32, "HEDDLE_DEVICE": "cpu",
                   "HEDDLE_CACHE_DIR": str(tmp_path / "cache")}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    assert program.read_bytes().startswith(b"HEDDLES\n")


def test_statistics_tell_of_the_cache():
    hd.jit(lambda x: hd.exp(x) - 3)(hd.ones(5)).tolist()
    numbers = hd.statistics()
    assert numbers["cache_hits"] + numbers["cache_misses"] > 0
    assert numbers["modules_loaded"] > 0 and numbers["load_milliseconds"] > 0
    assert isinstance(numbers["compile_milliseconds"], float)


def test_values_that_variables_do_not_have():
    result = subprocess.run(
        [sys.executable, "-c", "import heddle as hd; hd.ones(3).tolist()"],
        env={**os.environ, "HEDDLE_GRAPHS": "never"}, capture_output=True, text=True, check=False)
    assert "HEDDLE_GRAPHS is 'never'; valid values: 0 or 1" in result.stderr
    assert result.returncode == 1


def test_options_of_jit_that_name_nothing():
    def f(x, y=None):
        return x + 1

    with pytest.raises(ValueError, match="valid names are epilogue, in_place, symbols"):
        hd.jit(f, disable=("fusion",))
    with pytest.raises(ValueError, match="position 2, but the function has 2 positional parameters"):
        hd.jit(f, donate=(2,))
    with pytest.raises(ValueError, match="-1 is not an argument position"):
        hd.jit(f, donate=(-1,))
    assert hd.jit(f, donate=(1,))(hd.zeros(2)).tolist() == [1, 1]
    assert hd.jit(lambda *a: a[0] + 1, donate=(3,))(hd.zeros(2)).tolist() == [1, 1]
