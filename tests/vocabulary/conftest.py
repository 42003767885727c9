"""Finds the table of functions, which the README's table comes from as well."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
