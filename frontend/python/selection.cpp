#include "heddle/selection.h"

#include <fmt/format.h>

#include "heddle/manipulation.h"

#include "frontend/promote.h"
#include "frontend/python/bindings.h"
#include "frontend/python/errors.h"

namespace heddle::python {
namespace {

/// copyto with `casting` "same_kind", or "unsafe".
void copy_to(const Arguments& a) {
  const std::string casting = a.text(2);
  if (casting != "same_kind" && casting != "unsafe") {
    raise(PyExc_ValueError,
          fmt::format("copyto: casting is 'same_kind' or 'unsafe', not '{}'", casting));
  }
  Array value = a.array(0);
  const DType dtype = value.dtype();
  if (casting == "unsafe" && as_array(a[1]) != nullptr) {
    const Array source = astype(a.operand(1), dtype);
    copyto(value, {source, a.where()}, a.mask(3));
  } else {
    copyto(value, a.operand(1), a.mask(3));
  }
  a.object(0).write(value, a.where());
}

}  // namespace

void bind_selection(Functions& functions) {
  functions.def(
      "select(condlist: Sequence[Array], choicelist: Sequence[Array], /, default: Operand = 0) -> "
      "Array",
      "Each element from the first choice whose condition holds there, else the default: "
      "numpy.select. All broadcast.\n\nRaises ValueError unless there are as many conditions as "
      "choices, DTypeError for conditions that are not bool.",
      [](const Arguments& a) { return select(a.arrays(0), a.arrays(1), a.operand(2)); });
  functions.def(
      "choose(x: Array, choices: Sequence[Array], /, out: Array | None = None, mode: str = "
      "'raise') -> Array",
      "choices[x] elementwise: numpy.choose. With mode \"wrap\" indices go around; with \"clip\", "
      "and with \"raise\", for which NumPy raises, they are bounded.",
      [](const Arguments& a) { return choose(a.operand(0), a.arrays(1), a.text(3)); });
  functions.def(
      "copyto(dst: Array, src: Operand, /, casting: str = 'same_kind', where: Array | bool = True) "
      "-> None",
      "Writes src, broadcast, into dst where the mask holds: numpy.copyto. Raises DTypeError "
      "unless dst holds the kind of src, or casting is \"unsafe\".",
      [](const Arguments& a) {
        copy_to(a);
        return nb::none();
      });
  functions.def("putmask(x: Array, mask: Array, values: Operand, /) -> None",
                "Element i of x becomes element i of the values, which repeat, where the mask "
                "holds: numpy.putmask.",
                [](const Arguments& a) {
                  Array value = a.array(0);
                  putmask(value, a.array(1), a.operand(2));
                  a.object(0).write(value, a.where());
                  return nb::none();
                });
}

}  // namespace heddle::python
