"""The class of load()'s result for a .npz file."""


class NpzFile(dict):
    """The arrays of a .npz file by name: numpy.lib.npyio.NpzFile. All arrays are read immediately,
    so closing the file has no effect.

    >>> with hd.load("weights.npz") as arrays:
    ...     w = arrays["w"]
    """

    @property
    def files(self):
        """The names of the arrays."""
        return list(self)

    @property
    def f(self):
        """This object, as in NumPy."""
        return self

    def close(self):
        """Does nothing."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
