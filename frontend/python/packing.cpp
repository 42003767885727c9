#include "heddle/packing.h"

#include "frontend/python/bindings.h"

namespace heddle::python {

void bind_packing(Functions& functions) {
  functions.def(
      "packbits(a: Array, /, axis: int | None = None, bitorder: str = 'big') -> Array",
      "Eight elements along an axis, of the flattened array where it is None, as the bits of an "
      "uint8: numpy.packbits. With bitorder \"big\" the first is the highest bit, with \"little\" "
      "the lowest. Raises DTypeError for floats, ValueError for another order.\n\nExample: "
      "hd.packbits(x > 0)",
      [](const Arguments& a) { return packbits(a.operand(0), a.optional_integer(1), a.text(2)); });
  functions.def(
      "unpackbits(a: Array, /, axis: int | None = None, count: int | None = None, bitorder: str = "
      "'big') -> Array",
      "The bits of uint8 along an axis, of the flattened array where it is None: "
      "numpy.unpackbits. `count` of them, with zeros where there are fewer; a negative count "
      "leaves "
      "out the last ones. Raises DTypeError unless a is uint8, ValueError.\n\nExample: "
      "hd.unpackbits(x, count=20)",
      [](const Arguments& a) {
        return unpackbits(a.operand(0), a.optional_integer(1), a.optional_integer(2), a.text(3));
      });
}

}  // namespace heddle::python
