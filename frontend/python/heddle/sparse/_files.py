"""Files of sparse matrices, in SciPy's format."""

from heddle.sparse._base import CLASSES, as_sparse, sparray

_ARRAYS = {"csr": ("indices", "indptr"), "csc": ("indices", "indptr"), "bsr": ("indices", "indptr"),
           "coo": ("row", "col"), "dia": ("offsets",)}


def save_npz(file, matrix, compressed=True):
    """Writes a matrix as an .npz file that scipy.sparse.load_npz reads: scipy.sparse.save_npz. The
    name gets .npz if it has no extension.

    >>> hd.sparse.save_npz("matrix.npz", hd.sparse.eye(3))
    """
    import numpy

    made = as_sparse(matrix)
    if made.ndim == 1:
        raise NotImplementedError("save_npz: arrays of one axis are not written; reshape to (1, -1)")
    arrays = {name: numpy.asarray(getattr(made, name)) for name in ("data", *_ARRAYS[made.format])}
    arrays.update(format=made.format.encode("ascii"), shape=numpy.asarray(made.shape))
    if isinstance(made, sparray):
        arrays["_is_array"] = True
    (numpy.savez_compressed if compressed else numpy.savez)(file, **arrays)


def load_npz(file):
    """Reads a matrix that save_npz or SciPy wrote: scipy.sparse.load_npz. Raises ValueError for other
    files.

    >>> hd.sparse.load_npz("matrix.npz")
    """
    import numpy

    with numpy.load(file, allow_pickle=False) as stored:
        if "format" not in stored:
            raise ValueError(f"load_npz: {file} does not hold a sparse matrix")
        format = stored["format"].item()
        format = format if isinstance(format, str) else format.decode("ascii")
        is_array = bool(stored["_is_array"]) if "_is_array" in stored else False
        if (format, is_array) not in CLASSES:
            raise ValueError(f"load_npz: unknown format {format!r}")
        shape = tuple(int(each) for each in stored["shape"])
        names = _ARRAYS[format]
        if format == "coo" and "coords" in stored:
            arrays = tuple(stored["coords"])
        else:
            arrays = tuple(stored[name] for name in names)
        data = stored["data"]
    if format == "coo":
        return CLASSES[format, is_array]((data, arrays), shape=shape)
    return CLASSES[format, is_array]((data, *arrays), shape=shape)
