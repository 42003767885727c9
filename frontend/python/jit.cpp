#include "heddle/jit.h"

#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "frontend/evaluate/evaluate.h"
#include "frontend/python/bindings.h"
#include "frontend/python/captures.h"
#include "frontend/python/dtypes.h"
#include "frontend/python/errors.h"
#include "frontend/python/foreign.h"
#include "frontend/python/gil.h"
#include "frontend/python/held.h"
#include "frontend/python/lost_writes.h"
#include "frontend/python/lowered.h"
#include "frontend/python/tree.h"

namespace heddle::python {
namespace {

struct JitObject {
  nb::object function;
  std::vector<int> donate;
  std::shared_ptr<frontend::JitState> state;
  nb::dict statics;             ///< (type, value) of a static argument -> its number in keys
  bool checked_writes = false;  ///< whether a trace was checked for lost writes
};

/// "normalize (program.py:12)"
std::string name_of(const JitObject& jit) {
  const nb::object name = nb::getattr(jit.function, "__qualname__", nb::repr(jit.function));
  const nb::object code = nb::getattr(jit.function, "__code__", nb::none());
  std::string place;
  if (!code.is_none()) {
    place = fmt::format(" ({}:{})", nb::str(nb::object(code.attr("co_filename"))).c_str(),
                        to_integer(code.attr("co_firstlineno")));
  }
  return fmt::format("{}{}", nb::str(name).c_str(), place);
}

struct SpecObject {
  Spec spec;
};

/// One call: flattens its arguments, and rebuilds them for the trace.
class PythonCall {
 public:
  PythonCall(JitObject& jit, nb::handle args, nb::handle kwargs, bool lowering)
      : jit_(jit), args_(args), kwargs_(kwargs), lowering_(lowering), call_(&tag) {
    const Py_ssize_t count = PyTuple_GET_SIZE(args.ptr());
    call_.plain(&count, sizeof(count));
    for (Py_ssize_t i = 0; i < count; ++i) {
      donates_ = call_.begin_argument(*jit.state, static_cast<int>(i));
      collect(PyTuple_GET_ITEM(args.ptr(), i));
    }
    call_.begin_argument(*jit.state, -1);
    donates_ = false;
    PyObject *name = nullptr, *value = nullptr;
    for (Py_ssize_t place = 0; PyDict_Next(kwargs.ptr(), &place, &name, &value) != 0;) {
      Py_ssize_t length = 0;
      const char* const text = PyUnicode_AsUTF8AndSize(name, &length);
      if (text == nullptr) throw nb::python_error();
      call_.plain(text, static_cast<std::size_t>(length));
      collect(value);
    }
    collect_captures();
  }

  nb::object run() {
    const void* structure = nullptr;
    std::optional<SharedOrder> order;
    if (shared_) order.emplace(*shared_);
    {
      ReleaseGil release;
      structure = frontend::launch(*jit_.state, call_, body(release));
    }
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    const auto leaf = [&](nb::handle value) -> nb::object {
      return value.is(placeholder()) ? wrap(call_.next_result()) : nb::borrow(value);
    };
    return map_tree(*static_cast<const nb::object*>(structure), leaf);
  }

  Lowered lower() {
    name_inputs();
    ReleaseGil release;
    return Lowered(frontend::lower(*jit_.state, call_, body(release)));
  }

 private:
  static constexpr char tag = 0;

  /// Replaces an Array in the structure of a result.
  static nb::handle placeholder() {
    static const nb::handle object =
        PyObject_CallNoArgs(reinterpret_cast<PyObject*>(&PyBaseObject_Type));
    return object;
  }

  void plain(std::string_view text) { call_.plain(text.data(), text.size()); }

  void collect(nb::handle tree) {
    const auto leaf = [&](nb::handle value) { collect_leaf(value); };
    const auto sequence = [&](const PyTypeObject* type, Py_ssize_t length) {
      const std::uintptr_t facts[] = {reinterpret_cast<std::uintptr_t>(type),
                                      static_cast<std::uintptr_t>(length)};
      call_.plain(facts, sizeof(facts));
    };
    const auto note = [&](const std::string& text) { plain(text); };
    visit_tree(tree, leaf, sequence, note);
  }

  void collect_leaf(nb::handle value) {
    if (ArrayObject* array = as_array(value)) {
      plain(is_scalar(value) ? "z" : "a");
      if (array->base().pinned) shared_ = array->base().pinned->value.buffer->device();
      take_pinned_read();
      if (donates_ && !array->is_view() && !array->base().pinned && !lowering_) {
        return call_.take(array->base().value);
      }
      return call_.array(array->read());
    }
    if (is_numpy_argument(value)) {
      plain(is_scalar(value) ? "z" : "a");
      return call_.array(*numpy_operand(value, python_location()));
    }
    if (PyFloat_Check(value.ptr()) || PyComplex_Check(value.ptr())) {
      plain("s");
      return call_.scalar(*as_scalar(value));
    }
    if (const auto* spec =
            nb::isinstance<SpecObject>(value) ? nb::inst_ptr<SpecObject>(value) : nullptr) {
      plain("a");
      return call_.spec(spec->spec);
    }
    // Such an array may be hashable, but by its identity, not by its elements.
    if (nb::hasattr(value.type(), "__dlpack__") && !is_numpy_scalar(value)) refuse(value);
    const std::size_t number = number_of(value);
    call_.plain(&number, sizeof(number));
    statics_.push_back(value);
  }

  [[noreturn]] static void refuse(nb::handle value) {
    raise(PyExc_TypeError,
          fmt::format("arguments of a jitted function must be Arrays, numbers, hashable values, "
                      "or lists, tuples, dicts and dataclasses of them, not {}",
                      describe_foreign(value)));
  }

  /// A number that identifies equal static values of one type.
  std::size_t number_of(nb::handle value) {
    const nb::tuple key = nb::make_tuple(nb::handle(value.type()), value);
    if (PyObject_Hash(key.ptr()) == -1) {
      PyErr_Clear();
      refuse(value);
    }
    if (PyObject* const known = PyDict_GetItemWithError(jit_.statics.ptr(), key.ptr()))
      return PyLong_AsSize_t(known);
    if (PyErr_Occurred() != nullptr) throw nb::python_error();
    const std::size_t number = jit_.statics.size();
    jit_.statics[key] = number;
    return number;
  }

  void collect_captures() {
    captures_ = find_captures(jit_.function, statics_);
    plain(captures_.key);
    for (const ArrayObject* array : captures_.arrays) {
      if (array->base().pinned) shared_ = array->base().pinned->value.buffer->device();
      if (array->base().value.has_value()) call_.hidden(array->base().value);
    }
  }

  /// Names the inputs as the function's text does: "x", "params['w']", "rest[1]".
  void name_inputs() {
    std::vector<std::string> names;
    const auto leaf = [&](nb::handle value, const std::string& name) {
      if (is_traced(value)) names.push_back(name);
    };
    const nb::object parameters =
        nb::module_::import_("heddle._jit").attr("parameter_names")(jit_.function, nb::len(args_));
    for (std::size_t i = 0; i < nb::len(args_); ++i) {
      const std::string name = nb::str(nb::object(parameters[i])).c_str();
      name_leaves(nb::borrow(args_)[i], name, leaf);
    }
    for (const auto [name, value] : nb::borrow<nb::dict>(kwargs_))
      name_leaves(value, nb::str(name).c_str(), leaf);
    call_.name_inputs(std::move(names));
  }

  /// Whether a traced argument is an immutable number inside the function, as it is outside. A 0-d
  /// array is none.
  static bool is_scalar(nb::handle value) {
    if (const ArrayObject* array = as_array(value)) return array->is_scalar();
    return PyFloat_Check(value.ptr()) || PyComplex_Check(value.ptr()) || is_numpy_scalar(value);
  }

  /// Whether an argument's leaf becomes an input of the trace, rather than part of its key.
  static bool is_traced(nb::handle value) {
    return as_array(value) != nullptr || PyFloat_Check(value.ptr()) ||
           PyComplex_Check(value.ptr()) || nb::isinstance<SpecObject>(value) ||
           is_numpy_argument(value);
  }

  /// Runs the function on the trace's arrays. Called on this thread, which has released the GIL.
  frontend::TraceBody body(ReleaseGil& released) {
    return [this, &released](const std::vector<Array>& inputs, std::vector<Array>& outputs) {
      const TakeGilBack taken(released);
      std::size_t next = 0;
      LostWrites writes;
      const auto argument = [&](nb::handle value) -> nb::object {
        if (!is_traced(value)) return nb::borrow(value);
        return writes.argument(inputs.at(next++), is_scalar(value));
      };
      const nb::object args = map_tree(args_, argument);
      const nb::object kwargs = map_tree(kwargs_, argument);
      const nb::object result = block_on_unwind([&] {
        return jit_.function(*nb::borrow<nb::args>(args), **nb::borrow<nb::kwargs>(kwargs));
      });
      const auto extract = [&](nb::handle value) -> nb::object {
        const ArrayObject* array = as_array(value);
        if (array == nullptr) return nb::borrow(value);
        outputs.push_back(array->read());
        return nb::borrow(placeholder());
      };
      std::shared_ptr<const void> structure = hold(map_tree(result, extract));
      if (!std::exchange(jit_.checked_writes, true)) {
        writes.check(name_of(jit_), !outputs.empty());
      }
      return structure;
    };
  }

  JitObject& jit_;
  nb::handle args_, kwargs_;
  bool lowering_;
  bool donates_ = false;
  frontend::Call call_;
  std::vector<nb::handle> statics_;
  Captures captures_;
  std::optional<runtime::Device> shared_;  ///< device of inputs in shared memory
};

nb::object call(JitObject& jit, nb::handle args, nb::handle kwargs) {
  if (frontend::tracing()) {
    const MatmulPrecision scope(frontend::precision_of(*jit.state));
    return jit.function(*nb::borrow<nb::args>(args), **nb::borrow<nb::kwargs>(kwargs));
  }
  take_pinned_read();  // clears a read whose op was not recorded
  if (frontend::evaluation_due()) {
    static_cast<void>(python_location());
    statement_point();
  }
  return PythonCall(jit, args, kwargs, false).run();
}

/// The call slot. Python calls it directly, because nanobind's dispatch would double the cost.
PyObject* call_slot(PyObject* self, PyObject* args, PyObject* kwargs) {
  return guarded(static_cast<PyObject*>(nullptr), [&] {
    static PyObject* const none_given = PyDict_New();
    return call(*nb::inst_ptr<JitObject>(self), args, kwargs != nullptr ? kwargs : none_given)
        .release()
        .ptr();
  });
}

Lowered lower(JitObject& jit, const nb::args& args, const nb::kwargs& kwargs) {
  return PythonCall(jit, args, kwargs, true).lower();
}

SpecDim spec_dim(nb::handle extent) {
  if (extent.is_none()) return fixed;
  if (nb::isinstance<nb::str>(extent)) return SpecDim(nb::borrow<nb::str>(extent).c_str());
  return SpecDim(to_integer(extent));
}

SpecShape spec_shape(nb::handle extents) {
  SpecShape shape;
  for (nb::handle extent : nb::borrow(extents)) shape.push_back(spec_dim(extent));
  return shape;
}

/// Raises ValueError for a position without a parameter, if the function's signature is known.
void check_donate(nb::handle function, const std::vector<int>& donate) {
  if (donate.empty()) return;
  const nb::module_ inspect = nb::module_::import_("inspect");
  nb::object parameters;
  try {
    parameters = inspect.attr("signature")(function).attr("parameters").attr("values")();
  } catch (nb::python_error& error) {
    if (error.matches(PyExc_ValueError) || error.matches(PyExc_TypeError)) return;
    throw;
  }
  const nb::object kinds = inspect.attr("Parameter");
  int count = 0;
  for (nb::handle parameter : parameters) {
    const nb::object kind = parameter.attr("kind");
    if (kind.is(kinds.attr("VAR_POSITIONAL"))) return;
    if (kind.is(kinds.attr("POSITIONAL_ONLY")) || kind.is(kinds.attr("POSITIONAL_OR_KEYWORD")))
      ++count;
  }
  for (const int position : donate) {
    if (position < count) continue;
    raise(PyExc_ValueError, fmt::format("jit: donate contains position {}, but the function has {} "
                                        "positional parameters, counted from 0",
                                        position, count));
  }
}

nb::object make(const Arguments& a) {
  JitOptions options;
  const nb::object name = nb::getattr(a[0], "__name__", nb::str("main"));
  options.name = a.is_none(1) ? std::string(nb::str(name).c_str()) : a.text(1);
  for (std::int64_t position : a.integers(2)) options.donate.push_back(static_cast<int>(position));
  if (!a.is_none(3)) {
    for (nb::handle shape : nb::borrow(a[3])) {
      options.dynamic.push_back(shape.is_none() ? SpecShape{} : spec_shape(shape));
    }
  }
  options.strict = a.flag(4);
  options.approximate = a.flag(5);
  options.matmul_precision = a.precision(7);
  for (nb::handle pass : nb::borrow(a[6])) options.disable.emplace_back(nb::str(pass).c_str());
  const std::vector<int> donate = options.donate;
  check_donate(a[0], donate);
  return nb::cast(JitObject{nb::borrow(a[0]), donate, frontend::make_jit_state(std::move(options)),
                            nb::dict()});
}

constexpr const char* jit_documentation =
    "jit(function): a compiled version of a function. The function is traced and compiled once for "
    "each signature; later calls only launch the program. Also a decorator: @hd.jit or "
    "@hd.jit(approximate=True).\n\n"
    "Arguments and results are Arrays, and lists, tuples, dicts and dataclasses of them. The "
    "signature consists of the dtypes and shapes of the Arrays and every other value (integers, "
    "bools, strings ...), which must be hashable. Floats are scalar arguments: new values do not "
    "compile again. Arrays that the function accesses through globals, closures and objects are "
    "hidden inputs, looked up at each call. Inside, arguments are values: writes to them have no "
    "effect outside. Reading a value there (item, bool, printing) raises TraceError.\n\n"
    "donate: positions of arguments whose memory the call may reuse; ValueError for an invalid "
    "position. dynamic: for each Array, names for extents that may change and None for others, "
    "such as [('n', None)]. strict: no contraction of a*b+c. approximate: division and square root "
    "within 2 ulp, fast exp and log. disable: passes, kernel families and methods to switch off; "
    "ValueError, which lists them, for an unknown name. matmul_precision: 'ieee', 'tf32' or 'bf16' "
    "for the matrix products inside; by default the setting of heddle.set_matmul_precision at the "
    "call.";

}  // namespace

void bind_jit_classes(nb::module_& module) {
  const nb::class_<SpecObject> spec(
      module, "Spec",
      "The shape and dtype of an array without data, for lower(). See heddle.spec.");
  static PyType_Slot slots[] = {{Py_tp_call, reinterpret_cast<void*>(call_slot)}, {0, nullptr}};
  nb::class_<JitObject>(module, "JitFunction", nb::dynamic_attr(), nb::type_slots(slots),
                        "A function compiled by heddle.jit, once for each signature. A call "
                        "launches the program for its arguments; a new signature compiles first.")
      .def(
          "__get__",
          [](nb::handle self, nb::handle instance, nb::handle /*owner*/) {
            if (instance.is_none()) return nb::borrow(self);
            return nb::steal(PyMethod_New(self.ptr(), instance.ptr()));
          },
          nb::arg("instance").none(), nb::arg("owner").none() = nb::none())
      .def("__repr__",
           [](const JitObject& jit) {
             return nb::str(fmt::format("<heddle.jit of {}>", name_of(jit)).c_str());
           })
      .def(
          "lower",
          [](JitObject& jit, const nb::args& args, const nb::kwargs& kwargs) {
            return LoweredObject{lower(jit, args, kwargs)};
          },
          "The program for these arguments; each is an Array or a spec.")
      .def(
          "save",
          [](JitObject& jit, const char* path, const nb::args& args, const nb::kwargs& kwargs) {
            const Lowered lowered = lower(jit, args, kwargs);
            const ReleaseGil release;
            lowered.save(path);
          },
          nb::arg("path"), nb::arg("args"), nb::arg("kwargs"),
          "Writes the program for these arguments to a file for heddle.load_program, compiled for "
          "the current device; see Lowered.save. Each argument is an Array or a spec.")
      .def(
          "ir",
          [](JitObject& jit, const nb::args& args, const nb::kwargs& kwargs) {
            return nb::str(lower(jit, args, kwargs).ir().c_str());
          },
          "The traced graph for these arguments as text.")
      .def(
          "cuda",
          [](JitObject& jit, const nb::args& args, const nb::kwargs& kwargs) {
            return nb::str(lower(jit, args, kwargs).cuda().c_str());
          },
          "The generated CUDA C++ for these arguments.")
      .def(
          "host",
          [](JitObject& jit, const nb::args& args, const nb::kwargs& kwargs) {
            return nb::str(lower(jit, args, kwargs).host().c_str());
          },
          "The generated host C++ for these arguments.")
      .def(
          "explain",
          [](JitObject& jit, const nb::args& args, const nb::kwargs& kwargs) {
            return nb::str(lower(jit, args, kwargs).explain().c_str());
          },
          "Describes the program for these arguments: groups and families, fusion barriers with "
          "reasons, and bytes moved.")
      .def(
          "kernel_count",
          [](JitObject& jit, const nb::args& args, const nb::kwargs& kwargs) {
            const Lowered lowered = lower(jit, args, kwargs);
            const ReleaseGil release;
            return lowered.kernel_count();
          },
          "Number of kernels of the program for these arguments; compiles the program.");
}

void bind_jit(Functions& functions) {
  functions.def(
      "_make_jit(function: Callable, name: str | None, donate: tuple[int, ...], dynamic: "
      "Any, strict: bool, approximate: bool, disable: tuple[str, ...], matmul_precision: str | "
      "None, "
      "/) -> JitFunction",
      jit_documentation, [](const Arguments& a) { return make(a); });
  functions.def(
      "spec(shape: tuple[int | str, ...], dtype: DTypeLike) -> Spec",
      "The shape and dtype of an array without data, for lower(): f.lower(hd.spec(('n', 64), "
      "hd.float32)). An extent is a number or a name; equal names are equal extents.",
      [](const Arguments& a) { return nb::cast(SpecObject{Spec{*a.dtype(1), spec_shape(a[0])}}); });
}

}  // namespace heddle::python
