#include "heddle/selection.h"

#include "frontend/python/bindings.h"

namespace heddle::python {

void bind_selection(Functions& functions) {
  functions.def(
      "select(condlist: Sequence[Array], choicelist: Sequence[Array], default: Operand = "
      "0) -> Array",
      "Each element from the first choice whose condition holds there, else `default`: "
      "numpy.select. Raises ValueError unless there are as many conditions as choices.",
      [](const Arguments& a) { return select(a.arrays(0), a.arrays(1), a.operand(2)); });
  functions.def(
      "choose(x: Operand, choices: Sequence[Array], /, *, out: Array | None = None, mode: str = "
      "\"raise\") -> Array",
      "choices[x] elementwise: numpy.choose; indices beyond them clip under \"raise\" too.",
      [](const Arguments& a) { return choose(a.operand(0), a.arrays(1), a.text(3)); });
  functions.def("copyto(dst: Array, src: Operand, *, where: Array | None = None) -> None",
                "Writes src, broadcast, into dst where the mask holds: numpy.copyto.",
                [](const Arguments& a) {
                  Array result = a.array(0);
                  copyto(result, a.operand(1), a.mask(2));
                  a.object(0).write(result, a.where());
                  return nb::none();
                });
  functions.def("putmask(x: Array, mask: Array, values: Operand, /) -> None",
                "Writes values, which repeat, into x where the mask holds: numpy.putmask.",
                [](const Arguments& a) {
                  Array result = a.array(0);
                  putmask(result, a.array(1), a.operand(2));
                  a.object(0).write(result, a.where());
                  return nb::none();
                });
}

}  // namespace heddle::python
