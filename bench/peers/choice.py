"""What the command's options choose. Also for the processes that compile programs ahead, which cannot
import the command itself."""

from peers import functions, generator, measure, programs


def chosen_programs(options):
    patterns = options.only.split("|")
    if options.functions:
        every = functions.all_functions()
    elif options.random:
        every = generator.random_programs(options.scale, *options.random)
    else:
        every = programs.all_programs(options.scale, options.kind)
    found = [program for program in every
             if any(pattern in program.name for pattern in patterns)
             and (not options.fields or program.field in options.fields)]
    first, step = options.part
    return found[first - 1::step]


def reference_function(options, running):
    """The function that computes references: for random programs on the GPU, of which there are many
    and NumPy would take longest, torch in float64 on the GPU."""
    torch = next((system for system in running if system.name == "torch"), None)
    by_torch = options.random and options.kind == "cuda" and torch
    return torch.reference_of if by_torch else measure.reference_of
