"""Errors of results for which there is no reference, or more than one right one."""

import numpy as np

from peers.errors import worst_error

ROWS = 64  # that are compared where a reference would take long


def order_error(order, inputs):
    """0 if `order` sorts the input, with ties in any order; else infinite."""
    (x,) = inputs
    order = order.astype(np.int64)
    every = np.sort(order) if order.size < 2**20 else np.flatnonzero(np.bincount(order) == 1)
    if not np.array_equal(every, np.arange(x.size)):
        return np.inf
    sorted_numbers = x[order]
    return 0.0 if np.all(sorted_numbers[1:] >= sorted_numbers[:-1]) else np.inf


def normal_error(numbers, inputs):
    """The deviation of the moments in standard errors, divided by six. Above 1 is not due to
    chance."""
    exact = numbers.astype(np.float64)
    square = exact * exact
    moments = exact.mean(), (square.mean() - 1) / 2**0.5, (square * exact).mean() / 15**0.5
    return max(map(abs, moments)) * numbers.size**0.5 / 6


def of_some_rows(function, floor=1.0):
    """A check against function(step, inputs in float64), which computes every step-th row of the
    result: the largest error, relative to the larger of `floor` and the value."""

    def error(result, inputs):
        step = max(1, result.shape[0] // ROWS)
        exact = function(step, *(x.astype(np.float64) for x in inputs))
        return worst_error(result[::step], exact, floor)

    return error


def share_that_differs(function):
    """A check for whole numbers that a rounding may change: the share of the elements that differ
    from those of function(step, inputs), every step-th row of the result."""

    def error(result, inputs):
        step = max(1, result.shape[0] // ROWS)
        return float(np.mean(result[::step] != function(step, *inputs)))

    return error


def nearest_error(places, inputs):
    """How much farther the centre at each place is than the nearest one."""
    points, centres = (x.astype(np.float64) for x in inputs)
    square = np.sum(points * points, axis=1)[:, None] + np.sum(centres * centres, axis=1)
    distances = square - 2 * points @ centres.T
    chosen = np.take_along_axis(distances, places.astype(np.int64)[:, None], axis=1)[:, 0]
    return float(np.max(chosen - np.min(distances, axis=1)))
