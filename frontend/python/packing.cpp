#include "heddle/packing.h"

#include "frontend/python/bindings.h"

namespace heddle::python {

void bind_packing(Functions& functions) {
  functions.def(
      "packbits(a: Array, /, axis: int | None = None, bitorder: str = 'big') -> Array",
      "The elements along an axis packed into the bits of uint8, eight in each: numpy.packbits. If "
      "axis is None, of the flattened array. With bitorder 'big' the first element is the highest "
      "bit, with 'little' the lowest. Raises DTypeError for floats, ValueError for another "
      "bitorder.\n\n"
      "Example: hd.packbits(x > 0)",
      [](const Arguments& a) { return packbits(a.operand(0), a.optional_integer(1), a.text(2)); });
  functions.def(
      "unpackbits(a: Array, /, axis: int | None = None, count: int | None = None, bitorder: str = "
      "'big') -> Array",
      "The bits of uint8 elements along an axis, as uint8: numpy.unpackbits. If axis is None, of "
      "the flattened array. `count` is the number of bits, padded with zeros; a negative count "
      "omits the last bits. Raises DTypeError unless a is uint8, ValueError for another bitorder "
      "and for a count that omits more bits than there are.\n\n"
      "Example: hd.unpackbits(x, count=20)",
      [](const Arguments& a) {
        return unpackbits(a.operand(0), a.optional_integer(1), a.optional_integer(2), a.text(3));
      });
}

}  // namespace heddle::python
