"""mpi4py: two processes send each other Arrays, whose memory MPI reads and writes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from conftest import neighbour

neighbour("mpi4py")


def test_two_processes(tmp_path):
    beside = Path(sys.executable).parent / "mpirun"  # of the package openmpi
    mpirun = beside if beside.exists() else shutil.which("mpirun")
    assert mpirun, "mpi4py is here, but no mpirun"
    as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    program = Path(__file__).with_name("mpi_program.py")
    done = subprocess.run([mpirun, "--oversubscribe", "-n", "2", sys.executable, program],
                          capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path,
                          env={**os.environ, **as_root, "HEDDLE_DEVICE": "cpu"})
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(done.stdout.split("\n"))[-2:] == ["rank 0: 5 checks", "rank 1: 5 checks"]
