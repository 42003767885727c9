"""Compares Heddle with other array libraries: the same programs in one run, checked and timed.

Run `python -m peers` with this package's parent and the module heddle on PYTHONPATH; ./dev peers
and ./dev gpu peers do that. programs.py defines what is measured, systems.py the libraries,
measure.py the method, startup.py the time of a first call; report.py prints and stores the results,
chart.py draws them. With --functions, every function of the op table (functions.py) is compared with NumPy
instead (function_table.py).
"""
