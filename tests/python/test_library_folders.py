"""CUDA's libraries are found where pip puts those of its nvidia-* packages."""

import os
import subprocess
import sys
import textwrap

import pytest

CHOOSERS = ("HEDDLE_NVRTC", "HEDDLE_CUDA_PATH", "CUDA_PATH", "CUDA_HOME", "VIRTUAL_ENV", "CONDA_PREFIX")


@pytest.mark.parametrize("place", ["nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"])
def test_libraries_of_packages_on_the_path_are_found(tmp_path, place):
    nvrtc = os.environ.get("HEDDLE_FAKE_NVRTC")
    if not nvrtc:
        pytest.skip("there is no fake NVRTC: HEDDLE_FAKE_NVRTC is not set")
    (tmp_path / place).mkdir(parents=True)
    (tmp_path / place / "libnvrtc.so.13").symlink_to(nvrtc)
    environment = {name: value for name, value in os.environ.items() if name not in CHOOSERS}
    # First of all packages, as a real NVRTC may be beside the others.
    environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path), environment.get("PYTHONPATH", "")])
    code = f"""
        import heddle as hd
        try:
            hd.jit(lambda x: hd.tanh(x)).lower(hd.spec((3,), hd.float32)).save(
                {str(tmp_path / "program")!r}, targets=["sm_80"])
        except hd.Error:
            pass  # the fake one compiles little
        assert {os.path.realpath(nvrtc)!r} in open("/proc/self/maps").read()
        print("done")
    """
    process = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True,
                             text=True, timeout=120, env=environment)
    assert process.returncode == 0 and process.stdout == "done\n", process.stdout + process.stderr
