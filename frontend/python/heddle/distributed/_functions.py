"""Exchanges that return a new array. They may be part of jitted functions.

Outside of jitted functions an exchange is started where it stands, and returns before it is done. Inside,
it is part of the program, which makes its exchanges in the order of the function's statements, also those
whose results nobody uses. The bodies of loops and branches cannot have any: TraceError.

All raise CommunicationError if an exchange fails or takes longer than the group's time-out; a failure
that is noticed later is raised by the next wait, such as reading a value. ValueError for ranks that the
group has not.
"""

from heddle import _heddle

_native = _heddle._distributed


def all_reduce(x, group, op="sum"):
    """The sum of the x of all processes, or their 'prod', 'min' or 'max'. Of bools, 'sum' is "or" and
    'prod' is "and". All have the same shape and dtype. DTypeError for complex numbers, unless it is a
    sum."""
    return _native.all_reduce(x, group._communicator, op)


def reduce(x, group, root=0, op="sum"):
    """all_reduce for the process `root`. The others get their own x."""
    return _native.reduce(x, group._communicator, root, op)


def reduce_scatter(x, group, op="sum"):
    """all_reduce(x)[rank]. The first axis of x has an element for each process: ShapeError otherwise."""
    return _native.reduce_scatter(x, group._communicator, op)


def broadcast(x, group, root=0):
    """The x of the process `root`. The others give an array of the same shape and dtype."""
    return _native.broadcast(x, group._communicator, root)


def all_gather(x, group):
    """The x of all processes, stacked along a new first axis."""
    return _native.all_gather(x, group._communicator)


def gather(x, group, root=0):
    """all_gather for the process `root`. The others get zeros."""
    return _native.gather(x, group._communicator, root)


def scatter(x, group, root=0):
    """The element `rank` of the x of the process `root`. The first axis of x has an element for each
    process: ShapeError otherwise."""
    return _native.scatter(x, group._communicator, root)


def all_to_all(x, group):
    """Element i is element `rank` of the x of process i. The first axis of x has an element for each
    process: ShapeError otherwise."""
    return _native.all_to_all(x, group._communicator)


def send(x, group, peer):
    """Sends x to the process `peer`, which calls recv."""
    _native.send_recv(x, group._communicator, peer, None)


def recv(like, group, peer):
    """The array that the process `peer` sends, of the shape and dtype of `like`."""
    return _native.send_recv(like, group._communicator, None, peer)


def send_recv(x, group, to, source=None):
    """Sends x to the process `to`, and returns the x of the process `source`, by default the same,
    at once. Two processes that send to each other need this: with send they would wait for each other."""
    return _native.send_recv(x, group._communicator, to, to if source is None else source)


def barrier(group):
    """Returns when all processes have called it. TraceError in a jitted function."""
    _native.barrier(group._communicator)
