#include "heddle/control.h"

#include "heddle/vmap.h"

#include "frontend/python/bindings.h"
#include "frontend/python/errors.h"

namespace heddle::python {
namespace {

using frontend::Values;

Values values_of(nb::handle list, const SourceLocation& where) {
  Values values;
  for (nb::handle each : nb::borrow<nb::list>(list)) {
    const ArrayObject* const array = as_array(each);
    values.push_back(array != nullptr ? array->read(where)
                                      : from_python(each, std::nullopt, where));
  }
  return values;
}

nb::list list_of(const Values& values) {
  nb::list list;
  for (const Array& value : values) list.append(wrap(value));
  return list;
}

std::vector<std::string> names_of(nb::handle list) {
  std::vector<std::string> names;
  for (nb::handle each : nb::borrow<nb::list>(list)) names.emplace_back(nb::str(each).c_str());
  return names;
}

/// A Python function of a list of Arrays that returns such a list.
std::function<Values(Values)> function_of(nb::handle function, const SourceLocation& where) {
  return [function, where](const Values& values) {
    return values_of(nb::borrow(function)(list_of(values)), where);
  };
}

nb::object scan(const Arguments& a) {
  const SourceLocation where = a.where();
  const frontend::ScanBody body = [&](const Array& step, const Values& carries,
                                      const Values& elements) {
    const nb::object made = nb::borrow(a[0])(wrap(step), list_of(carries), list_of(elements));
    return frontend::Scanned{values_of(made[0], where), values_of(made[1], where)};
  };
  const std::string op = nb::str(a[6]).c_str();
  frontend::ScanOptions options{.reverse = PyObject_IsTrue(a[4].ptr()) == 1,
                                .first = a.integer(5),
                                .op = op,
                                .names = names_of(a[7])};
  if (!a[3].is_none()) options.length = a.integer(3);
  const frontend::Scanned made =
      frontend::scan_values(body, values_of(a[1], where), values_of(a[2], where), options, where);
  return nb::make_tuple(list_of(made.carries), list_of(made.stacked));
}

nb::object while_loop(const Arguments& a) {
  const SourceLocation where = a.where();
  const auto condition = [&](const Values& values) {
    nb::list results;
    results.append(nb::borrow(a[0])(list_of(values)));
    return values_of(results, where).front();
  };
  return list_of(frontend::while_values(condition, function_of(a[1], where), values_of(a[2], where),
                                        names_of(a[3]), where));
}

nb::object switch_case(const Arguments& a) {
  const SourceLocation where = a.where();
  std::vector<std::function<Values(Values)>> branches;
  for (nb::handle branch : nb::borrow<nb::list>(a[1]))
    branches.push_back(function_of(branch, where));
  const std::string op = nb::str(a[3]).c_str();
  return list_of(
      frontend::switch_values(a.operand(0), branches, values_of(a[2], where), op, where));
}

nb::object associative_scan(const Arguments& a) {
  const SourceLocation where = a.where();
  const auto combine = [&](const Values& left, const Values& right) {
    return values_of(nb::borrow(a[0])(list_of(left), list_of(right)), where);
  };
  return list_of(frontend::associative_values(combine, values_of(a[1], where), a.flag(2),
                                              a.integer(3), names_of(a[4]), where));
}

/// None, or an integer, for each value.
std::vector<std::optional<std::int64_t>> axes_of(nb::handle list) {
  std::vector<std::optional<std::int64_t>> axes;
  for (nb::handle each : nb::borrow<nb::list>(list)) {
    axes.emplace_back();
    if (!each.is_none()) axes.back() = nb::cast<std::int64_t>(each);
  }
  return axes;
}

nb::object vmap(const Arguments& a) {
  const SourceLocation where = a.where();
  const auto of_slice = [&](const Values& slices) {
    const nb::object made = nb::borrow(a[0])(list_of(slices));
    return frontend::MappedValues{values_of(made[0], where), axes_of(made[1])};
  };
  return list_of(frontend::vmap_values(of_slice, {values_of(a[1], where), axes_of(a[2])},
                                       {a.optional_integer(3), names_of(a[4])}, where));
}

}  // namespace

// The functions of heddle/_control.py and heddle/_transform.py, which knows containers, on lists of
// Arrays.
void bind_control(Functions& functions) {
  functions.def(
      "_scan(body: Callable, carries: list, sequences: list, length: int | None, reverse: bool, "
      "first: int, op: str, names: list, /) -> tuple",
      "heddle.scan on lists of Arrays.", [](const Arguments& a) { return scan(a); });
  functions.def(
      "_while_loop(condition: Callable, body: Callable, carries: list, names: list, /) -> list",
      "heddle.while_loop on lists of Arrays.", [](const Arguments& a) { return while_loop(a); });
  functions.def("_switch(index: Any, branches: list, operands: list, op: str, /) -> list",
                "heddle.switch on lists of Arrays.",
                [](const Arguments& a) { return switch_case(a); });
  functions.def(
      "_associative_scan(function: Callable, elements: list, reverse: bool, axis: int, names: "
      "list, /) -> list",
      "heddle.associative_scan on lists of Arrays.",
      [](const Arguments& a) { return associative_scan(a); });
  functions.def(
      "_vmap(function: Callable, slices: list, axes: list, size: int | None, names: list, /) -> "
      "list",
      "heddle.vmap on lists of Arrays.", [](const Arguments& a) { return vmap(a); });
}

}  // namespace heddle::python
