"""What gmres, lgmres and gcrotmk share: a cycle of minimal residuals.

A cycle keeps, for each of its steps, a basis vector v, and a direction p in which the solution moves.
`turn` is the product of all rotations so far, so that a column of the Hessenberg matrix is turned by
one small product. The column of the triangular factor says how p follows from what was multiplied and
the directions before: so the solution is there after each step, and nothing is solved at the end.
"""

import heddle as hd
from heddle.sparse.linalg._systems import length, run


def _rotation(a, b):
    """(c, s, r) with c real, c a + s b = r and -conj(s) a + c b = 0, for a real b that is not
    negative."""
    size = hd.abs(a)
    r = hd.hypot(size, b)
    safe = hd.where(r == 0, hd.ones_like(r), r)
    phase = hd.where(size == 0, hd.ones_like(a), a / hd.where(size == 0, hd.ones_like(size), size))
    return hd.where(r == 0, hd.ones_like(r), size / safe), phase * (b / safe), phase * r


def row(matrix, k):
    """Row k, for a computed k."""
    rows = hd.arange(matrix.shape[0])
    return hd.sum(hd.where((rows == k)[:, None], matrix, hd.zeros_like(matrix)), axis=0)


def unit(x):
    """x with length 1, or x if it is 0."""
    size = length(x)
    return x / hd.where(size == 0, hd.ones_like(size), size)


def minimise(product, x, residual, goal, steps, most=None, direction=None, project=None, report=None,
             space=0):
    """Changes x so that the norm of `residual` gets at most `goal`, in at most `steps` steps, or `most`
    of them for a computed number.

    Step k multiplies the basis vector v, or direction(k, v). project(z, w) = (part, z, w) may subtract
    from the result w = product(z) what lies in another space, and from z what leads there; `part` says
    how much of each of the `space` vectors that span it. report(left) is called after each step.

    The result is a dict with x, k, the norm `left`, `exact`, which says that no further step can change
    x, and `parts`: in row k what was subtracted along direction p of step k, whose image is a unit
    vector.
    """
    n, dtype = x.shape[0], x.dtype
    eps = float(hd.finfo(dtype).eps)
    rows = hd.arange(steps + 1)
    first = length(residual)

    def step(state):
        k, basis, turn = state["k"], state["basis"], state["turn"]
        z = row(basis, k) if direction is None else direction(k, row(basis, k))
        w = product(z)
        before = length(w)
        part, z, w = (state["parts"][0], z, w) if project is None else project(z, w)
        # Gram-Schmidt twice, which is as good as orthogonal. Rows that are not there yet are 0.
        once = hd.conj(basis) @ w
        w = w - once @ basis
        twice = hd.conj(basis) @ w
        w = w - twice @ basis
        after = length(w)
        exact = after <= eps * before
        after = hd.where(exact, hd.zeros_like(after), after)
        w = w / hd.where(exact, hd.ones_like(after), after)
        column = once + twice + hd.where(rows == k + 1, after, hd.zeros_like(after)).astype(dtype)
        column = turn @ column
        at_k, behind = (hd.sum(hd.where(rows == i, column, hd.zeros_like(column))) for i in (k, k + 1))
        c, s, pivot = _rotation(at_k, hd.real(behind))
        # A result that depends on those before moves nothing.
        pivot = hd.where(hd.abs(pivot) <= eps * before, hd.zeros_like(pivot), pivot)
        row_k, row_next = row(turn, k), row(turn, k + 1)
        turn = hd.where((rows == k)[:, None], c * row_k + s * row_next,
                        hd.where((rows == k + 1)[:, None], c * row_next - hd.conj(s) * row_k, turn))
        above = hd.where(rows < k, column, hd.zeros_like(column))[:steps]
        safe = hd.where(pivot == 0, hd.ones_like(pivot), pivot)
        p, part = (z - above @ state["moves"]) / safe, (part - above @ state["parts"]) / safe
        side = first * hd.sum(hd.where(rows == k, turn[:, 0], hd.zeros_like(column)))
        side = hd.where(pivot == 0, hd.zeros_like(side), side)
        left = first * hd.abs(hd.sum(hd.where(rows == k + 1, turn[:, 0], hd.zeros_like(column))))
        return {**state, "k": k + 1, "x": state["x"] + side * p, "turn": turn,
                "basis": hd.where((rows == k + 1)[:, None], w, basis),
                "moves": hd.where((rows[:steps] == k)[:, None], p, state["moves"]),
                "parts": hd.where(((rows[:steps] == k) & (pivot != 0))[:, None], part, state["parts"]),
                "left": left, "exact": exact}

    def unfinished(state):
        return (state["k"] < (steps if most is None else most)) & ~state["exact"] & (
            (state["k"] == 0) | (state["left"] > goal))

    start = {"k": hd.asarray(0), "x": x, "basis": hd.where((rows == 0)[:, None], unit(residual),
                                                          hd.zeros((steps + 1, n), dtype=dtype)),
             "moves": hd.zeros((steps, n), dtype=dtype), "left": first,
             "parts": hd.zeros((steps, space), dtype=dtype),
             "turn": hd.eye(steps + 1, dtype=dtype), "exact": hd.asarray(False)}
    callback = None if report is None else lambda state: report(state["left"])
    made = run(unfinished, step, start, callback)
    return {name: made[name] for name in ("k", "x", "left", "exact", "parts")}
