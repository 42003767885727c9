"""Finds the table of functions, which the tables of docs/reference/functions.md come from as well, and the oracle's table
of ops."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests/oracle")]
