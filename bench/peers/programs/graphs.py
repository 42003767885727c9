"""Graphs as tables of neighbours, matrices and sets of bits."""

from peers.program import Input, Program, cast, line, rounding, side


def page_rank(xp, links, rank):
    return 0.85 * xp.matmul(links, rank) + 0.15 / rank.shape[0]


def mean_of_neighbours(xp, x, neighbours):
    return xp.mean(x[neighbours], axis=1)


def degrees(xp, adjacent):
    return xp.sum(adjacent, axis=1)


def triangles(xp, adjacent):
    """Six times the triangles at each vertex's row."""
    a = cast(xp, adjacent, "float32")
    return xp.sum(xp.matmul(a, a) * a, axis=1)


def shortest_paths(xp, d):
    """Floyd and Warshall's first eight steps."""
    for k in range(8):
        d = xp.minimum(d, d[:, k:k + 1] + d[k:k + 1, :])
    return d


def min_plus_product(xp, a, b):
    return xp.min(a[:, :, None] + b[None, :, :], axis=1)


def common_neighbours(xp, sets, one, other):
    """The number of common members of pairs of sets of bits."""
    return xp.sum(xp.bitwise_count(sets[one] & sets[other]), axis=1)


def label_spread(xp, labels, neighbours):
    """The smallest label among each vertex and its neighbours."""
    return xp.minimum(labels, xp.min(labels[neighbours], axis=1))


def graphs(scale):
    vertices = line(2**20, scale)
    neighbours = Input((vertices, 8), 0, vertices, "int32")
    n, m = side(16384, scale), side(4096, scale)
    pairs = Input((line(2**20, scale),), 0, side(16384, scale), "int32")
    paths = side(768, scale)
    return [
        Program("PageRank step", page_rank, (Input((n, n), 0, 2 / n), Input((n,), 0, 2 / n)),
                kind="library", tolerance=rounding("float32", 3, n), floor=1 / n, rows=(0,)),
        Program("mean of neighbours", mean_of_neighbours, (Input((vertices, 16)), neighbours),
                tolerance=rounding("float32", 2, 8), result="float32", rows=(1,)),
        Program("degrees, bool", degrees, (Input((n, n + 1), 0, 2, "bool"),), tolerance=0,
                result="int64", rows=(0,)),
        Program("triangles", triangles, (Input((m, m), 0, 2, "bool"),), kind="library", tolerance=0,
                result="float32"),
        Program("shortest paths, 8 steps", shortest_paths,
                (Input((side(4096, scale), side(4096, scale))),), tolerance=rounding("float32", 3)),
        Program("min-plus product", min_plus_product, (Input((paths, paths)),) * 2,
                kind="arithmetic", tolerance=rounding("float32", 1), rows=(0,)),
        Program("common neighbours, uint64", common_neighbours,
                (Input((n, 64), 0, 2**63, "uint64"), pairs, pairs), tolerance=0, result="uint64",
                rows=(1, 2)),
        Program("smallest label, int32", label_spread,
                (Input((vertices * 2,), 0, 2**31, "int32"),
                 Input((vertices * 2, 8), 0, vertices * 2, "int32")), tolerance=0),
    ]
