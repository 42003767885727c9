"""The programs by field. Their list is fixed: it was chosen before they were measured.

`scale` reduces the work for machines slower than a GPU: it divides the sides of matrices, and its
square divides the length of long axes.
"""

import dataclasses

from peers.programs import (arrays, finance, graphs, image, integers, learning, linalg, page,
                            physics, signal, small, statistics)

# The first two are also in bench/programs/, in C++.
FIELDS = {"page": page.listed, "arrays": arrays.arrays, "image": image.image,
          "finance": finance.finance, "physics": physics.physics,
          "statistics": statistics.statistics, "learning": learning.learning,
          "signal": signal.signal, "graphs": graphs.graphs, "integers": integers.integers,
          "linalg": linalg.linalg, "small": small.small}
IN_CPP = ("page", "arrays")


def all_programs(scale=1, device="cuda"):
    programs = [dataclasses.replace(program, field=field, in_cpp=field in IN_CPP)
                for field, of_scale in FIELDS.items() for program in of_scale(scale)]
    if device == "cpu":  # without tf32, and with IEEE division in every system
        division = (page.DIVIDES, page.EXACT)
        return [dataclasses.replace(program, absent={
                    name: why for name, why in program.absent.items() if why not in division})
                for program in programs if not program.tf32 and not program.approximate]
    return programs
