"""Names for annotations: numpy.typing.

>>> from heddle.typing import NDArray
>>> def scaled(x: NDArray[hd.float64]) -> NDArray[hd.float64]: ...
"""

from typing import Union

import numpy.typing

from heddle._heddle import Array, DType

__all__ = ["ArrayLike", "DTypeLike", "NDArray"]

#: What heddle.asarray takes.
ArrayLike = Union[Array, numpy.typing.ArrayLike]
#: What a parameter `dtype` takes.
DTypeLike = Union[DType, numpy.typing.DTypeLike]
#: An Array. NDArray[dtype] says of which dtype, to readers: it is not checked.
NDArray = Array
