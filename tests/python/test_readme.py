"""The examples in Python of README.md run, and print what it says."""

import re
from pathlib import Path

import pytest

README = (Path(__file__).resolve().parents[2] / "README.md").read_text()
EXAMPLES = re.findall(r"^```python\n(.*?)^```\n(?:\n^```\n(.*?)^```\n)?", README, re.M | re.S)


@pytest.mark.parametrize("code, printed", EXAMPLES,
                         ids=[str(i) for i in range(len(EXAMPLES))])
def test_example(code, printed, capsys):
    exec(compile(code, "program.py", "exec"), {"__name__": "program"})  # noqa: S102: our own
    out = capsys.readouterr().out
    assert out
    if printed:
        assert out == printed


def test_there_are_examples():
    assert len(EXAMPLES) >= 2
    assert any(printed for _, printed in EXAMPLES)
