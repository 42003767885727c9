"""Compares Heddle with other array libraries: the same programs in one run, checked and timed.

Run `python -m peers` with this package's parent and the module heddle on PYTHONPATH; ./dev peers
and ./dev gpu peers do that.

programs/ has what is measured, by field, and program.py what a program is. systems.py has the
libraries, errors.py the references, measure.py the method, startup.py the time of a first call.
report.py and classes.py print and store the results, merge.py joins those of several runs, chart.py
draws them. With --functions, every function of the op table (functions.py) is compared with NumPy
instead (function_table.py); with --random, random programs (generator.py) are measured, and the
distribution of the ratios is printed (distribution.py).
"""
