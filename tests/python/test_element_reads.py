"""Single elements of computed arrays: on the CPU they are read from memory, without a program."""

import numpy as np
import pytest

import heddle as hd

READS = [
    lambda x: float(x[1, 2, 3]),
    lambda x: float(x[-1, -3, -4]),
    lambda x: float(x[1][2][0]),
    lambda x: float(x[:, ::-1][0, 0, 1]),
    lambda x: float(x[1:, 1::2, 3:0:-2][0, 0, 1]),
    lambda x: x[0, 1:2, 3:].item(),
    lambda x: int(x[np.int64(1), 0, 1]),
    lambda x: complex(x[0, 2, 2]),
    lambda x: bool(x[0, 0, 0]),
    lambda x: x.item(7),
]


@pytest.fixture
def arrays():
    want = np.arange(24.0).reshape(2, 3, 4)
    have = hd.asarray(want.copy())
    np.testing.assert_array_equal(np.asarray(have), want)
    return have, want


@pytest.mark.parametrize("read", READS)
def test_reads(arrays, read):
    have, want = arrays
    before = hd.statistics()["evaluations"]
    found = read(have)
    assert found == read(want) and type(found) is type(read(want))
    on_cpu = str(have.device) == "cpu"
    assert not on_cpu or hd.statistics()["evaluations"] == before


def test_reads_see_writes(arrays):
    have, want = arrays
    for x in (have, want):
        x[0, 1, 2] = 50
        x[1] *= 2
    assert [float(have[0, 1, 2]), float(have[1, 2, 3])] == [want[0, 1, 2], want[1, 2, 3]]
    row = have[1, 0]
    row[2] = -3
    assert float(have[1, 0, 2]) == float(row[2]) == -3


def test_elements_of_no_array_in_memory(arrays):
    have, want = arrays
    assert float((have + 1)[1, 2, 3]) == (want + 1)[1, 2, 3]
    assert float(have.T[3, 2, 1]) == want.T[3, 2, 1]
    with pytest.raises(ValueError):
        have[0].item()
    with pytest.raises(IndexError):
        have[0, 0, 4]
    with pytest.raises(hd.TraceError):
        hd.jit(lambda x: x * float(x[0, 0, 0]))(have)
