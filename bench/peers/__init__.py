"""Heddle beside other array libraries: the same programs in one run, checked and timed.

`python -m peers` with this package's parent and the module heddle on PYTHONPATH; ./dev peers and
./dev gpu peers do that. programs.py says what is measured, systems.py by whom, measure.py how,
startup.py how long a first call takes, report.py what is printed and kept, chart.py draws it.
With --functions it is every function of the op table (functions.py) beside NumPy instead
(function_table.py).
"""
