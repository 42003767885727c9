#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>

#include "frontend/python/arguments.h"
#include "frontend/python/evaluation.h"
#include "frontend/python/signature.h"

namespace heddle::python {

// Result types of a binding's function.
inline nb::object to_result(nb::object value) { return value; }
inline nb::object to_result(Array array) { return wrap(std::move(array)); }
inline nb::object to_result(bool value) { return nb::bool_(value); }
inline nb::object to_result(ArrayObject array) { return nb::cast(std::move(array)); }
nb::object to_result(std::vector<Array> arrays);
nb::object to_result(std::pair<Array, Array> arrays);

struct Ufunc;

/// A function or method that is visible to Python.
struct Function {
  using Implementation = nb::object (*)(const Arguments&);
  Signature signature;
  std::string documentation;
  Implementation implementation;
  const Ufunc* ufunc = nullptr;  ///< null: not a ufunc
  bool casts_outs = false;       ///< out= may have any dtype, as NumPy's reductions and scans allow
  bool gives_variables = false;  ///< 0-d results are arrays in NumPy, too, not scalars
};

/// A declaration: a function's name, then the parameters that it shares with others.
std::string named(std::string_view name, std::string_view parameters);

/// Adds functions to the module and methods to the Array class. Their declarations define how
/// arguments are matched, and give __text_signature__ for inspect.signature. A parameter `out` is
/// handled here.
class Functions {
 public:
  explicit Functions(nb::module_ module) : module_(std::move(module)) {}

  /// def("sum(x: Array, /, axis: int | None = None) -> Array", "What it does.",
  ///     [](const Arguments& a) { return sum(a.operand(0), a.axes(1)); });
  /// `implement` must not capture anything.
  template <class Implement>
  void def(std::string_view declaration, std::string documentation, Implement) {
    add(module_, declaration, std::move(documentation), erase<Implement>());
  }
  /// The same, and also a method of Array, whose first parameter is self.
  template <class Implement>
  void def_with_method(std::string_view declaration, std::string documentation, Implement) {
    add(module_, declaration, documentation, erase<Implement>());
    add(array_class(), as_method(declaration), std::move(documentation), erase<Implement>());
  }
  /// An elementwise function with the parameters and attributes of NumPy's ufuncs. `implement`
  /// computes the result from the operands, which are the first arguments.
  template <class Implement>
  void def_ufunc(std::string_view name, const Ufunc& ufunc, std::string documentation, Implement) {
    add_ufunc(name, ufunc, std::move(documentation), erase<Implement>());
  }
  /// A method only: the first parameter is self.
  template <class Implement>
  void def_method(std::string_view declaration, std::string documentation, Implement) {
    add(array_class(), declaration, std::move(documentation), erase<Implement>());
  }
  /// A method of a class: the first parameter is self.
  template <class Implement>
  void def_in(nb::handle owner, std::string_view declaration, std::string documentation,
              Implement) {
    add(owner, declaration, std::move(documentation), erase<Implement>());
  }
  /// Whether functions bound from here on cast their result to any dtype of out=, as NumPy's
  /// reductions and scans do. Others cast within the same kind.
  void cast_outs(bool casts) { casts_outs_ = casts; }
  /// Whether functions bound from here on return writable 0-d arrays, as NumPy's creation functions
  /// do, instead of scalars.
  void give_variables(bool given) { gives_variables_ = given; }
  /// Another name for a function of the module.
  void alias(const char* name, const char* of) { module_.attr(name) = module_.attr(of); }

  nb::module_& module() { return module_; }

 private:
  template <class Implement>
  static Function::Implementation erase() {
    return [](const Arguments& arguments) { return to_result(Implement{}(arguments)); };
  }
  static std::string as_method(std::string_view declaration);
  static nb::handle array_class();
  void add(nb::handle owner, std::string_view declaration, std::string documentation,
           Function::Implementation implementation, const Ufunc* ufunc = nullptr);
  void add_ufunc(std::string_view name, const Ufunc& ufunc, std::string documentation,
                 Function::Implementation implementation);

  nb::module_ module_;
  bool casts_outs_ = false;
  bool gives_variables_ = false;
};

/// The Python type of these functions.
void bind_function_type(nb::module_& module);
/// The Function of an object of this type or a subtype.
const Function& function_of(PyObject* object);

/// The Array that out= names. TypeError for other objects and for scalars, which are immutable.
ArrayObject& out_array(nb::handle out, const std::string& name);
/// Stores a result in an existing array, as NumPy's out= does: casts within the kind, requires
/// equal shapes. ShapeError, DTypeError.
void store(ArrayObject& target, const Array& result, const char* op, const SourceLocation& where);

}  // namespace heddle::python
