"""Programs that several processes or threads run together, on the tests' own driver and NCCL, or by MPI."""

import os
import shutil
import socket
import subprocess
import sys
import textwrap

import pytest

from conftest import neighbour

needs_fake = pytest.mark.skipif("HEDDLE_FAKE_NCCL" not in os.environ,
                                reason="the tests' own NCCL is named by CTest")

PROLOGUE = """
import os, sys, threading
import numpy as np, heddle as hd
rank, size = int(os.environ.get("RANK", 0)), int(os.environ.get("SIZE", 1))

def refusal(error, call):
    try:
        call()
    except error as caught:
        return str(caught)
    raise AssertionError("no error")
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def fake_environment():
    return os.environ | {"HEDDLE_CUDA_DRIVER": os.environ["HEDDLE_FAKE_DRIVER"],
                         "HEDDLE_NVRTC": os.environ["HEDDLE_FAKE_NVRTC"],
                         "HEDDLE_NCCL": os.environ["HEDDLE_FAKE_NCCL"], "HEDDLE_CACHE": "0",
                         "HEDDLE_DISTRIBUTED_PORT": free_port()}


def finish(processes):
    """Waits for all; each must print done. Returns what they printed before."""
    said = []
    try:
        for process in processes:
            said.append(process.communicate(timeout=80)[0])
    finally:
        for process in processes:
            process.kill()
    for process, text in zip(processes, said):
        assert process.returncode == 0 and text.endswith("done\n"), "\n".join(said)
    return said


def real_environment():
    # NVLink's multicast needs rights that containers may lack.
    return {"NCCL_NVLS_ENABLE": "0"} | os.environ | {"HEDDLE_DISTRIBUTED_PORT": free_port()}


def run_processes(code, size=2, real=False, **environment):
    """Runs a program in `size` processes, each with one of the driver's two GPUs; or with real ones."""
    text = PROLOGUE + textwrap.dedent(code)
    shared = (real_environment() if real else fake_environment()) | environment
    return finish([subprocess.Popen(
        [sys.executable, "-c", text], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env=shared | {"RANK": str(rank), "SIZE": str(size), "HEDDLE_DEVICE": f"cuda:{rank % 2}"})
        for rank in range(size)])


def run_threads(code, real=False, **environment):
    """Runs a program in one process."""
    shared = (real_environment() if real else fake_environment()) | {"HEDDLE_DEVICE": "cuda:0"}
    return finish([subprocess.Popen([sys.executable, "-c", PROLOGUE + textwrap.dedent(code)], text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                    env=shared | environment)])


def run_mpi(code, size=2):
    """Runs a program by mpiexec, on CPUs."""
    neighbour("mpi4py")
    beside = os.path.join(os.path.dirname(sys.executable), "mpirun")  # of the package openmpi
    launcher = beside if os.path.exists(beside) else shutil.which("mpirun")
    assert launcher, "mpi4py is here, but no mpirun"
    prologue = PROLOGUE + ("from mpi4py import MPI\n"
                           "rank, size = MPI.COMM_WORLD.Get_rank(), MPI.COMM_WORLD.Get_size()\n")
    environment = os.environ | {"HEDDLE_DEVICE": "cpu", "HEDDLE_NUM_THREADS": "1",
                                "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    process = subprocess.run([launcher, "--oversubscribe", "-n", str(size), sys.executable, "-c",
                              prologue + textwrap.dedent(code)],
                             capture_output=True, text=True, timeout=200, env=environment)
    assert process.returncode == 0 and process.stdout.count("done") == size, \
        process.stdout + process.stderr
