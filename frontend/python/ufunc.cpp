#include "frontend/python/ufunc.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "heddle/creation.h"

#include "frontend/python/bindings.h"
#include "frontend/python/errors.h"

namespace heddle::python {
namespace {

using ir::TypeRule;

PyObject* made_type = nullptr;

/// Type codes of numpy.ufunc.types. bfloat16 has none.
constexpr std::pair<char, DType> codes[] = {
    {'?', DType::boolean}, {'b', DType::i8},  {'B', DType::u8},  {'h', DType::i16},
    {'H', DType::u16},     {'i', DType::i32}, {'I', DType::u32}, {'l', DType::i64},
    {'L', DType::u64},     {'e', DType::f16}, {'f', DType::f32}, {'d', DType::f64},
    {'F', DType::c64},     {'D', DType::c128}};

char code_of(nb::handle array) {
  const DType dtype = as_array(array)->read().dtype();
  return std::find_if(std::begin(codes), std::end(codes),
                      [&](const auto& each) { return each.second == dtype; })
      ->first;
}

/// The signature "dd->d" for a dtype of the operands. The result dtypes are those that the function
/// records.
std::string loop_of(const Function& function, char code, DType dtype) {
  const Ufunc& ufunc = *function.ufunc;
  std::string text;
  std::vector<nb::object> operands;
  std::vector<PyObject*> values;
  for (int i = 0; i < ufunc.inputs; ++i) {
    const bool exponent = ufunc.rule == TypeRule::load_exponent && i == 1;
    text += exponent ? 'i' : code;
    operands.push_back(nb::cast(ArrayObject(zeros({}, exponent ? DType::i32 : dtype))));
    values.push_back(operands.back().ptr());
  }
  text += "->";
  const nb::object result =
      function.implementation(Arguments(function.signature, values.data(), SourceLocation()));
  for (int i = 0; i < ufunc.outputs; ++i)
    text += code_of(ufunc.outputs == 1 ? result : nb::object(result[i]));
  return text;
}

nb::list types_of(const Function& function) {
  nb::list types;
  for (const auto& [code, dtype] : codes) {
    if ((function.ufunc->dtypes & ir::set_of(dtype)) == 0) continue;
    types.append(nb::str(loop_of(function, code, dtype).c_str()));
  }
  return types;
}

template <class Get>
PyObject* attribute(PyObject* self, void*) {
  return guarded(static_cast<PyObject*>(nullptr),
                 [&] { return nb::object(Get{}(function_of(self))).release().ptr(); });
}

/// An attribute of numpy.ufunc, computed from the function.
template <class Get>
PyGetSetDef property(const char* name, const char* documentation, Get) {
  return {name, attribute<Get>, nullptr, documentation, nullptr};
}

PyObject* represent(PyObject* self) {
  return PyUnicode_FromFormat("<ufunc '%s'>", function_of(self).signature.name.c_str());
}

/// As a class attribute, a ufunc does not bind as a method.
PyObject* itself(PyObject* self, PyObject*, PyObject*) { return Py_NewRef(self); }

}  // namespace

void bind_ufunc_type(nb::module_& module) {
  static PyGetSetDef properties[] = {
      property("nin", "Number of operands.",
               [](const Function& f) { return nb::int_(f.ufunc->inputs); }),
      property("nout", "Number of results.",
               [](const Function& f) { return nb::int_(f.ufunc->outputs); }),
      property("nargs", "Number of operands and results.",
               [](const Function& f) { return nb::int_(f.ufunc->inputs + f.ufunc->outputs); }),
      property("types",
               "The supported dtypes, in NumPy's notation such as 'dd->d'. bfloat16, which has no "
               "code, is not listed.",
               [](const Function& f) { return types_of(f); }),
      property("ntypes", "Length of `types`.",
               [](const Function& f) { return nb::int_(nb::len(types_of(f))); }),
      property("identity", "The start value of reductions; None if there is none.",
               [](const Function& f) { return nb::borrow(f.ufunc->identity); }),
      property("__doc__", nullptr,
               [](const Function& f) { return nb::str(f.documentation.c_str()); }),
      property("signature", "None, since the function is elementwise.",
               [](const Function&) { return nb::none(); }),
      {nullptr, nullptr, nullptr, nullptr, nullptr}};
  static PyType_Slot slots[] = {{Py_tp_getset, properties},
                                {Py_tp_repr, reinterpret_cast<void*>(represent)},
                                {Py_tp_descr_get, reinterpret_cast<void*>(itself)},
                                {0, nullptr}};
  static PyType_Spec specification = {
      "heddle.ufunc", 0, 0,
      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  const nb::object bases = nb::make_tuple(module.attr("Function"));
  PyObject* const type = PyType_FromSpecWithBases(&specification, bases.ptr());
  if (type == nullptr) throw nb::python_error();
  module.attr("ufunc") = nb::handle(type);
  made_type = type;
}

nb::handle ufunc_type() { return made_type; }

std::string ufunc_declaration(std::string_view name, const Ufunc& ufunc) {
  std::string text(name);
  text += '(';
  for (int k = 1; k <= ufunc.inputs; ++k) {
    text += ufunc.inputs == 1 ? "x: Operand, " : fmt::format("x{}: Operand, ", k);
  }
  if (ufunc.outputs > 1) {
    for (int k = 1; k <= ufunc.outputs; ++k) text += fmt::format("out{}: Array | None = None, ", k);
  }
  text += ufunc.outputs == 1 ? "/, out: Array | tuple[Array] | None = None, "
                             : "/, out: tuple[Array | None, ...] = (None, None), ";
  text +=
      "*, where: Array | bool = True, casting: str = 'same_kind', order: str = 'K', dtype: "
      "DTypeLike | None = None, subok: bool = True, signature: Any = None) -> ";
  return text + (ufunc.outputs == 1 ? "Array" : "tuple[Array, Array]");
}

void hide_placed_outs(Signature& signature) {
  constexpr std::string_view placed = "out1=None, out2=None, ";
  const std::size_t start = signature.text.find(placed);
  if (start != std::string::npos) signature.text.erase(start, placed.size());
}

PyObject* ufunc_identity(std::string_view name) {
  if (name == "add" || name == "bitwise_or" || name == "bitwise_xor" || name == "gcd" ||
      name == "hypot") {
    return PyLong_FromLong(0);
  }
  if (name == "multiply") return PyLong_FromLong(1);
  if (name == "bitwise_and") return PyLong_FromLong(-1);
  if (name == "logical_and") return Py_NewRef(Py_True);
  if (name == "logical_or" || name == "logical_xor") return Py_NewRef(Py_False);
  if (name == "logaddexp" || name == "logaddexp2") return PyFloat_FromDouble(-HUGE_VAL);
  return Py_NewRef(Py_None);
}

}  // namespace heddle::python
