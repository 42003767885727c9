"""Functions that make sparse matrices: of diagonals, of others, of random numbers."""

import operator

import heddle as hd
from heddle import _heddle
from heddle.sparse import _inputs
from heddle.sparse._base import CLASSES, as_sparse, issparse, sparray

_sparse = _heddle._sparse


def _any_array(*matrices):
    """Whether the result is an array: if one of the matrices is."""
    return any(isinstance(each, sparray) or type(each).__name__.endswith("_array")
               for each in matrices)


def _eye(m, n, k, dtype, format, is_array):
    m = operator.index(m)
    n = m if n is None else operator.index(n)
    if m < 0 or n < 0:
        raise ValueError(f"eye: the shape ({m}, {n}) is negative")
    if m == n and k == 0 and format in ("csr", "csc", "coo"):
        index = _inputs.index_dtype((m, n), n)
        data, places = hd.ones(n, dtype=dtype), hd.arange(n, dtype=index)
        if format == "coo":
            return CLASSES["coo", is_array]._of((data, places, hd.arange(n, dtype=index), m, n, True))
        made = CLASSES[format, is_array]._of((data, places, hd.arange(n + 1, dtype=index), m, n, True,
                                              True))
        return made
    data = hd.ones((1, max(0, min(m + k, n))), dtype=dtype)
    made = CLASSES["dia", is_array]((data, [k]), shape=(m, n))
    return made.asformat(format)


def eye(m, n=None, k=0, dtype=float, format=None):
    """A matrix with ones on its k-th diagonal, in DIA: scipy.sparse.eye.

    >>> hd.sparse.eye(3, format="csr")
    """
    return _eye(m, n, k, dtype, format, False)


def eye_array(m, n=None, *, k=0, dtype=float, format=None):
    """An array with ones on its k-th diagonal, in DIA: scipy.sparse.eye_array.

    >>> hd.sparse.eye_array(3, format="csr")
    """
    return _eye(m, n, k, dtype, format, True)


def identity(n, dtype="d", format=None):
    """The matrix with ones on its diagonal, in DIA: scipy.sparse.identity."""
    return _eye(n, None, 0, hd.float64 if isinstance(dtype, str) and dtype == "d" else dtype, format,
                False)


def diags(diagonals, offsets=0, shape=None, format=None, dtype=None):
    """A matrix of diagonals, in DIA: scipy.sparse.diags. Arguments as diags_array.

    >>> hd.sparse.diags([1, -2, 1], [-1, 0, 1], shape=(4, 4))
    """
    return _diags(diagonals, offsets, shape, format, dtype, False)


def diags_array(diagonals, /, *, offsets=0, shape=None, format=None, dtype=None):
    """An array of diagonals, in DIA: scipy.sparse.diags_array.

    `diagonals` is a list of vectors, or of numbers if shape is given; or one vector for one offset.
    Without shape, the first diagonal and its offset say how large the square is. The dtype is at
    least float64. Raises ValueError for lengths that do not fit.

    >>> hd.sparse.diags_array([1, -2, 1], offsets=[-1, 0, 1], shape=(4, 4))
    """
    return _diags(diagonals, offsets, shape, format, dtype, True)


def _diags(diagonals, offsets, shape, format, dtype, is_array):
    if _inputs.is_scalar(offsets):
        first = diagonals[0] if len(diagonals) else 0
        if len(diagonals) == 0 or _inputs.is_scalar(first):
            diagonals = [diagonals]
        elif len(diagonals) != 1:
            raise ValueError("diags: one offset, and several diagonals")
        offsets = [offsets]
    offsets = [operator.index(each) for each in (
        offsets.tolist() if hasattr(offsets, "tolist") else offsets)]
    diagonals = [hd.atleast_1d(hd.asarray(each)) for each in diagonals]
    if len(offsets) != len(diagonals):
        raise ValueError(f"diags: {len(diagonals)} diagonals, but {len(offsets)} offsets")
    if shape is None:
        size = diagonals[0].shape[0] + abs(offsets[0])
        shape = (size, size)
    m, n = _inputs.shape_of(shape)
    dtype = hd.common_type(*diagonals) if dtype is None else dtype
    width = max([0] + [min(m + k, n - k) + max(0, k) for k in offsets])
    lines = []
    for number, (k, values) in enumerate(zip(offsets, diagonals)):
        length, start = min(m + k, n - k), max(0, k)
        if length < 0:
            raise ValueError(f"diags: the offset {k} (position {number}) is outside of a matrix of "
                             f"{(m, n)}")
        if values.shape[0] not in (1, length) and values.shape[0] < length:
            raise ValueError(f"diags: diagonal {number} has {values.shape[0]} elements at offset {k}, "
                             f"which a matrix of {(m, n)} has no place for")
        if values.shape[0] > length and values.shape[0] != 1:
            raise ValueError(f"diags: diagonal {number} has {values.shape[0]} elements at offset {k}, "
                             f"but a matrix of {(m, n)} has place for {length}")
        values = hd.broadcast_to(values[:length], (length,)).astype(dtype)
        lines.append(hd.pad(values, (start, width - start - length)))
    data = hd.stack(lines) if lines else hd.zeros((0, width), dtype=dtype)
    return CLASSES["dia", is_array]((data, offsets), shape=(m, n)).asformat(format)


def spdiags(data, diags, m=None, n=None, format=None):
    """A matrix of the rows of `data` as diagonals, each in its columns: scipy.sparse.spdiags.

    >>> hd.sparse.spdiags([[1.0, 2.0, 3.0]], [1], 3, 3)
    """
    if m is None and n is None:
        m = n = hd.atleast_2d(hd.asarray(data)).shape[1]
    elif n is None:
        m, n = m
    return CLASSES["dia", False]((data, diags), shape=(m, n)).asformat(format)


def kron(A, B, format=None):
    """The Kronecker product, in COO: scipy.sparse.kron.

    >>> hd.sparse.kron(hd.sparse.eye_array(2), hd.sparse.eye_array(3))
    """
    is_array = _any_array(A, B)
    a, b = (as_sparse(each, is_array).tocoo() for each in (A, B))
    return CLASSES["coo", is_array]._of(_sparse.kron(a._parts, b._parts)).asformat(format)


def kronsum(A, B, format=None):
    """kron(I, A) + kron(B, I) of square matrices, in CSR: scipy.sparse.kronsum."""
    is_array = _any_array(A, B)
    a, b = (as_sparse(each, is_array) for each in (A, B))
    for each in (a, b):
        if each._extents[0] != each._extents[1]:
            raise ValueError(f"kronsum: takes square matrices, not {each.shape}")
    dtype = hd.result_type(a.dtype, b.dtype)
    left = kron(_eye(b._extents[0], None, 0, dtype, None, is_array), a)
    right = kron(b, _eye(a._extents[0], None, 0, dtype, None, is_array))
    return (left + right).asformat(format)


def hstack(blocks, format=None, dtype=None):
    """Matrices beside each other: scipy.sparse.hstack. In COO; in CSR or CSC if all are. Raises ValueError
    if their rows differ."""
    blocks = list(blocks)
    return _block([blocks], format, dtype, _any_array(*blocks))


def vstack(blocks, format=None, dtype=None):
    """Matrices below each other: scipy.sparse.vstack. In COO; in CSR or CSC if all are. Raises
    ValueError if their columns differ."""
    blocks = list(blocks)
    return _block([[each] for each in blocks], format, dtype, _any_array(*blocks))


def bmat(blocks, format=None, dtype=None):
    """A matrix of rows of blocks; None is a block of zeros: scipy.sparse.bmat. In COO. Raises
    ValueError for blocks whose extents do not fit, with their place.

    >>> hd.sparse.bmat([[hd.sparse.eye(2), None], [None, hd.sparse.eye(3)]])
    """
    blocks = [list(row) for row in blocks]
    return _block(blocks, format, dtype, _any_array(*(each for row in blocks for each in row)))


def block_array(blocks, *, format=None, dtype=None):
    """An array of rows of blocks; None is a block of zeros: scipy.sparse.block_array. As bmat."""
    return _block([list(row) for row in blocks], format, dtype, True)


def block_diag(mats, format=None, dtype=None):
    """The matrices along a diagonal, in COO: scipy.sparse.block_diag."""
    mats = list(mats)
    is_array = _any_array(*mats)
    ones = [each if issparse(each) or _inputs.is_scipy(each) else hd.atleast_2d(hd.asarray(each))
            for each in mats]
    blocks = [[each if i == j else None for j in range(len(ones))] for i, each in enumerate(ones)]
    return _block(blocks, format, dtype, is_array)


def _block(blocks, format, dtype, is_array):
    if not blocks or not blocks[0] or any(len(row) != len(blocks[0]) for row in blocks):
        raise ValueError("blocks must be rows of equal length, at least one block each")
    blocks = [[None if each is None else as_sparse(each, is_array) for each in row] for row in blocks]
    heights, widths = [None] * len(blocks), [None] * len(blocks[0])
    for i, row in enumerate(blocks):
        for j, each in enumerate(row):
            if each is None:
                continue
            for sizes, place, extent, name in ((heights, i, each._extents[0], "rows"),
                                               (widths, j, each._extents[1], "columns")):
                if sizes[place] not in (None, extent):
                    raise ValueError(f"blocks[{i},{j}] has {extent} {name}, but {sizes[place]} are "
                                     "expected")
                sizes[place] = extent
    for name, sizes in (("blocks[{},:]", heights), ("blocks[:,{}]", widths)):
        if None in sizes:
            raise ValueError(name.format(sizes.index(None)) + " are all None")
    made = _joined(blocks, heights, widths, is_array)
    formats = {each.format if each is not None else None for row in blocks for each in row}
    if format is None and 1 in (len(widths), len(heights)) and formats in ({"csr"}, {"csc"}):
        format, = formats
    made = made.asformat(format)
    return made if dtype is None else made.astype(dtype)


def _joined(blocks, heights, widths, is_array):
    """The elements of all blocks, moved to their places."""
    shape = sum(heights), sum(widths)
    index = _inputs.index_dtype(shape)
    data, rows, columns, unique = [], [], [], True
    top = 0
    for row, height in zip(blocks, heights):
        left = 0
        for each, width in zip(row, widths):
            if each is not None:
                one = each.tocoo()
                data.append(one.data)
                rows.append(one.row.astype(index) + top)
                columns.append(one.col.astype(index) + left)
                unique = unique and bool(one._canonical)
            left += width
        top += height
    return CLASSES["coo", is_array]._of((hd.concatenate(data), hd.concatenate(rows),
                                         hd.concatenate(columns), *shape, unique))


def _part(A, format, keep):
    one = as_sparse(A).tocoo()
    kept = hd.flatnonzero(keep(one.row.astype(hd.int64), one.col.astype(hd.int64)))
    made = type(one)._of((one.data[kept], one.row[kept], one.col[kept], *one._extents,
                          bool(one._canonical)))
    return made.asformat(format)


def permute_dims(A, axes=None, copy=False):
    """A with its axes in another order, in COO: scipy.sparse.permute_dims; by default reversed. Raises
    ValueError unless `axes` names each axis once.

    >>> hd.sparse.permute_dims(hd.sparse.eye_array(2, 3)).shape
    """
    A = as_sparse(A).tocoo()
    order = tuple(range(A.ndim))[::-1] if axes is None else tuple(map(operator.index, axes))
    if any(not -A.ndim <= each < A.ndim for each in order):
        raise ValueError(f"permute_dims: axes {order} are out of bounds for {A.ndim} axes")
    order = tuple(each % A.ndim for each in order)
    if sorted(order) != list(range(A.ndim)):
        raise ValueError(f"permute_dims: axes {order} do not name each of {A.ndim} axes once")
    made = A if order == tuple(range(A.ndim)) else A.transpose()
    return made.copy() if copy else made


def swapaxes(A, axis1, axis2):
    """A with two axes exchanged, in COO: scipy.sparse.swapaxes. Raises ValueError for other axes.

    >>> hd.sparse.swapaxes(hd.sparse.eye_array(2, 3), 0, 1).shape
    """
    order = list(range(as_sparse(A).ndim))
    if any(not -len(order) <= each < len(order) for each in (axis1, axis2)):
        raise ValueError(f"swapaxes: axes {axis1} and {axis2} are out of bounds for {len(order)} axes")
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return permute_dims(A, order)


def matrix_transpose(A):
    """The transpose of a matrix: cupyx.scipy.sparse.matrix_transpose. Raises ValueError for a vector.

    >>> hd.sparse.matrix_transpose(hd.sparse.eye_array(2, 3)).shape
    """
    A = as_sparse(A)
    if A.ndim != 2:
        raise ValueError(f"matrix_transpose: A must have two axes, not {A.ndim}")
    return A.transpose()


def tril(A, k=0, format=None):
    """The elements on and below the k-th diagonal, in COO: scipy.sparse.tril. Evaluates, and waits for
    their number."""
    return _part(A, format, lambda row, col: col - row <= k)


def triu(A, k=0, format=None):
    """The elements on and above the k-th diagonal, in COO: scipy.sparse.triu. Evaluates, and waits for
    their number."""
    return _part(A, format, lambda row, col: col - row >= k)


def find(A):
    """The rows, the columns and the values of the elements that are not 0: scipy.sparse.find."""
    one = as_sparse(A).tocoo().copy()
    one.sum_duplicates()
    kept = hd.flatnonzero(one.data != 0)
    return one.row[kept], one.col[kept], one.data[kept]


def _places(count, size, generator):
    """`count` different integers in [0, size), sorted."""
    if size <= 1 << 22 or count > size // 4:
        return hd.sort(generator.permutation(size)[:count])
    # Few of many: draw too many, and drop those that are there twice.
    drawn = hd.unique(generator.integers(0, size, count + count // 8 + 64))
    while drawn.shape[0] < count:
        drawn = hd.unique(hd.concatenate([drawn, generator.integers(0, size, count)]))
    return hd.sort(drawn[generator.permutation(drawn.shape[0])[:count]])


def _random(shape, density, format, dtype, rng, data_rvs, is_array):
    m, n = _inputs.shape_of(shape)
    if not 0 <= density <= 1:
        raise ValueError(f"random: the density {density} is not in [0, 1]")
    generator = rng if hasattr(rng, "permutation") and hasattr(rng, "integers") else (
        hd.random.default_rng(rng))
    count = int(round(density * m * n))
    places = _places(count, m * n, generator) if count else hd.zeros(0, dtype=hd.int64)
    if data_rvs is not None:
        data = hd.asarray(data_rvs(count))
    elif dtype is not None and hd.isdtype(hd.zeros(0, dtype=dtype).dtype, "complex floating"):
        data = generator.random(count) + 1j * generator.random(count)
    else:
        data = generator.random(count)
    data = data if dtype is None else data.astype(dtype)
    index = _inputs.index_dtype((m, n))
    row, col = places // max(n, 1), places % max(n, 1)
    made = CLASSES["coo", is_array]._of((data, row.astype(index), col.astype(index), m, n, True))
    return made.asformat(format)


def random(m, n, density=0.01, format="coo", dtype=None, rng=None, data_rvs=None, *,
           random_state=None):
    """A matrix with random numbers in [0, 1) at random places: scipy.sparse.random. `rng` is a
    generator of heddle.random, or a seed; data_rvs(count) gives other values. The numbers are not
    SciPy's. Raises ValueError for a density that is not in [0, 1].

    >>> hd.sparse.random(100, 100, density=0.1, rng=0).nnz
    """
    return _random((m, n), density, format, dtype, random_state if rng is None else rng, data_rvs,
                   False)


def rand(m, n, density=0.01, format="coo", dtype=None, rng=None, *, random_state=None):
    """random() without other values: scipy.sparse.rand."""
    return random(m, n, density, format, dtype, rng, random_state=random_state)


def random_array(shape, *, density=0.01, format="coo", dtype=None, rng=None, data_sampler=None,
                 random_state=None):
    """An array with random numbers in [0, 1) at random places: scipy.sparse.random_array. As
    random(); data_sampler(size=count) gives other values."""
    rvs = None if data_sampler is None else lambda count: data_sampler(size=count)
    return _random(shape, density, format, dtype, random_state if rng is None else rng, rvs, True)
