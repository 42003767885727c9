"""Where CUDA's libraries of pip's nvidia-* packages are: beside any package, not only beside this one."""

import os
import sys

from heddle import _heddle


def add_folders():
    """Adds the entries of sys.path that have a folder nvidia to the folders that are searched."""
    for folder in sys.path:
        if os.path.isdir(os.path.join(folder, "nvidia")):
            _heddle._add_library_folder(os.path.abspath(folder))
