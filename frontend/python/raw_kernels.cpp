#include "heddle/raw_kernels.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "frontend/array/access.h"
#include "frontend/graph/record.h"
#include "frontend/graph/trace.h"
#include "frontend/kernels/raw_code.h"
#include "frontend/python/bindings.h"
#include "frontend/python/cuda_interface.h"
#include "frontend/python/device.h"
#include "frontend/python/errors.h"
#include "frontend/python/foreign.h"
#include "frontend/python/gil.h"
#include "frontend/python/strides.h"
#include "runtime/device/backend.h"
#include "runtime/device/memory.h"

namespace heddle::python {
namespace {

using frontend::Access;
using frontend::LaunchParameters;
using frontend::NodeRef;

/// Destroys a value without the GIL. Unloading a module waits for the device, and perhaps for a
/// Python function that a stream calls. The thread need not hold the GIL.
template <class T>
void destroy_without_gil(T& value) {
  const auto destroy = [&] { const T dying = std::move(value); };
  if (Py_IsInitialized() == 0 || PyGILState_Check() == 0) return destroy();
  const ReleaseGil release;
  destroy();
}

/// A T that Python holds, and that may be the last user of a module.
template <class T>
struct Bound : T {
  using T::T;
  Bound(T value) : T(std::move(value)) {}  // NOLINT: converts
  Bound(const Bound&) = default;
  Bound& operator=(const Bound&) = delete;
  ~Bound() { destroy_without_gil(static_cast<T&>(*this)); }
};
using BoundKernel = Bound<RawKernel>;
using BoundModule = Bound<RawModule>;
using BoundGlobal = Bound<RawGlobal>;

/// Whether a 0-d array was made by calling a dtype, heddle.float32(2): a NumPy scalar in programs
/// for CuPy. The elements of other arrays are in a device's memory.
bool is_host_value(const ArrayObject& array) {
  const Base& base = array.base();
  if (!array.is_scalar() || base.pinned) return false;
  const frontend::Node& node = *Access::raw(base.value);
  using Kind = frontend::Node::Kind;
  return node.shape.empty() && (node.kind == Kind::scalar || node.kind == Kind::constant);
}

/// The bytes of a NumPy scalar that is a number, in a buffer. Does not hold those of structures,
/// of dates, and of other libraries' dtypes, and not those of arrays.
class NumberBuffer {
 public:
  explicit NumberBuffer(nb::handle value) {
    if (PyObject_GetBuffer(value.ptr(), &buffer_, PyBUF_FORMAT) != 0) PyErr_Clear();
  }
  ~NumberBuffer() {
    if (buffer_.obj != nullptr) PyBuffer_Release(&buffer_);
  }
  NumberBuffer(const NumberBuffer&) = delete;
  NumberBuffer& operator=(const NumberBuffer&) = delete;

  const Py_buffer& operator*() const { return buffer_; }
  bool is_integer() const { return has("bBhHiIlLqQ"); }
  bool is_number() const {
    return is_integer() || has("?efd") || format() == "Zf" || format() == "Zd";
  }

 private:
  std::string_view format() const {
    const bool scalar = buffer_.obj != nullptr && buffer_.ndim == 0;  // bytes have an axis
    return scalar && buffer_.format != nullptr ? buffer_.format : "";
  }
  bool has(std::string_view letters) const {
    return format().size() == 1 && letters.find(format()[0]) != std::string_view::npos;
  }

  Py_buffer buffer_{};
};

/// Fills in the parameters of one launch from Python's arguments.
class Binder {
 public:
  Binder(std::string kernel, SourceLocation where) : kernel_(std::move(kernel)), where_(where) {}

  void add(nb::handle value) {
    ++position_;
    if (ArrayObject* const array = as_array(value)) return add_array(*array);
    if (value.is_none()) return add_value<void*>(nullptr);
    if (is_numpy_scalar(value)) return add_numpy_scalar(value);
    if (PyBool_Check(value.ptr())) return add_value(value.ptr() == Py_True);
    if (PyLong_Check(value.ptr())) return add_integer(value);
    if (PyFloat_Check(value.ptr())) return add_value(PyFloat_AS_DOUBLE(value.ptr()));
    if (PyComplex_Check(value.ptr())) return add_value(PyComplex_AsCComplex(value.ptr()));
    if (is_numpy_array(value)) return add_numpy(value);
    add_pointer(value);
  }

  const LaunchParameters& parameters() const { return parameters_; }
  /// The device of memory that other libraries use; nullopt if there is none.
  const std::optional<runtime::Device>& shared() const { return shared_; }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    raise(PyExc_TypeError, fmt::format("{}: argument {} {}", kernel_, position_, what));
  }

  template <class T>
  void add_value(const T& value, bool integer = false) {
    parameters_.add_value(&value, sizeof value, integer);
  }

  /// A long long; a number that needs it, such as a pointer, an unsigned long long.
  void add_integer(nb::handle value, bool integer = true) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
    if (overflow == 0) return add_value(number, integer);
    const unsigned long long large = PyLong_AsUnsignedLongLong(value.ptr());
    if (PyErr_Occurred() != nullptr) throw nb::python_error();
    add_value(large, integer);
  }

  void add_array(ArrayObject& array) {
    Base& base = array.base();
    if (is_host_value(array)) {
      const frontend::Node& node = *Access::raw(base.value);
      return parameters_.add_value(node.bits.bytes(), size_of(node.dtype),
                                   heddle::is_integer(node.dtype));
    }
    NodeRef node = base.pinned;
    if (node) {
      shared_ = node->value.buffer->device();
    } else {
      if (const NodeRef& raw = Access::raw(base.value); !raw->evaluated() && !raw->unset)
        compute(base.value);
      base.forget_views();
      node = parameters_.written(base.value, [](const auto& call) {
        const ReleaseGil release;
        call();
      });
    }
    const std::int64_t offset =
        array.layout().offset * static_cast<std::int64_t>(size_of(array.read(where_).dtype()));
    take_pinned_read();
    base.forget_views();
    parameters_.add_memory(std::move(node), offset);
  }

  void add_numpy_scalar(nb::handle value) {
    const NumberBuffer buffer(value);
    if (!buffer.is_number()) return add_numpy(value);
    parameters_.add_value((*buffer).buf, static_cast<std::size_t>((*buffer).len),
                          buffer.is_integer());
  }

  /// A number or a structure, by value.
  void add_numpy(nb::handle value) {
    if (nb::cast<std::size_t>(value.attr("size")) != 1) {
      fail(
          "is a NumPy array in the host's memory, which a GPU does not reach; pass "
          "heddle.asarray of it");
    }
    const nb::object dtype = value.attr("dtype");
    const std::string kind = utf8_of(nb::object(dtype.attr("kind")));
    if (std::string_view("biufcV").find(kind) == std::string_view::npos ||
        nb::cast<bool>(dtype.attr("hasobject"))) {
      fail(fmt::format("has NumPy's dtype {}, which kernels do not have", utf8_of(nb::str(dtype))));
    }
    const nb::bytes bytes = nb::borrow<nb::bytes>(nb::object(value.attr("tobytes")()));
    parameters_.add_value(bytes.c_str(), bytes.size(), kind == "i" || kind == "u");
  }

  /// Memory of another library.
  void add_pointer(nb::handle value) {
    if (const auto interface = attribute_of(value, "__cuda_array_interface__")) {
      const nb::object facts = *interface;
      void* const pointer =
          reinterpret_cast<void*>(nb::cast<std::uintptr_t>(nb::object(facts["data"][0])));
      const runtime::Device device = device_of_cuda_pointer(kernel_, pointer);
      wait_for_producer(facts, device);
      shared_ = device;
      return parameters_.add_pointer(pointer, device);
    }
    const nb::object pointer = attribute_of(value, "ptr").value_or(nb::none());
    if (!PyLong_Check(pointer.ptr())) {
      fail(fmt::format("must be an Array, a number, a NumPy scalar or structure, or None, not {}",
                       describe_type(value)));
    }
    add_integer(pointer, false);
  }

  std::string kernel_;
  SourceLocation where_;
  int position_ = 0;
  LaunchParameters parameters_;
  std::optional<runtime::Device> shared_;
};

LaunchExtents extents(const Arguments& a, std::size_t i) {
  const std::vector<std::int64_t> given = a.integers(i);
  const char* const what = i == 1 ? "grid" : "block";
  const std::string name = nb::cast<const BoundKernel&>(a[0]).name();
  if (given.empty() || given.size() > 3)
    raise(PyExc_ValueError, fmt::format("{}: {} must have 1 to 3 extents", name, what));
  LaunchExtents result;
  std::ranges::copy(given, result.axes.begin());
  return result;
}

/// The handle of a stream: a number, or an object with one as `ptr`. The null stream is the legacy
/// default stream.
void* stream_handle(nb::handle stream) {
  if (stream.is_none()) return nullptr;
  const nb::object handle =
      nb::hasattr(stream, "ptr") ? nb::object(stream.attr("ptr")) : nb::borrow(stream);
  const auto number = static_cast<std::uintptr_t>(to_integer(handle));
  return reinterpret_cast<void*>(number == 0 ? std::uintptr_t{1} : number);
}

nb::object launch(const Arguments& a) {
  const auto& kernel = nb::cast<const BoundKernel&>(a[0]);
  if (frontend::Trace::current() != nullptr) frontend::value_in_trace("RawKernel", a.where());
  const LaunchExtents grid = extents(a, 1), block = extents(a, 2);
  if (!PyTuple_Check(a[3].ptr()) && !PyList_Check(a[3].ptr())) a.mistyped(3, "a tuple");
  const std::int64_t shared_mem = a.integer(4);
  if (shared_mem < 0 || shared_mem > 0x7fffffff) {
    raise(PyExc_ValueError,
          fmt::format("{}: shared_mem {} is not a size", kernel.name(), shared_mem));
  }
  const LaunchOptions options{static_cast<std::size_t>(shared_mem), stream_handle(a[5])};
  Binder binder(kernel.name(), a.where());
  for (nb::handle value : nb::borrow(a[3])) binder.add(value);
  std::optional<SharedOrder> order;
  if (binder.shared()) {
    {
      const ReleaseGil release;
      evaluate_recorded();
    }
    order.emplace(*binder.shared());
  }
  const ReleaseGil release;
  kernel.launch(grid, block, binder.parameters(), options);
  return {};
}

nb::dict attributes(const RawKernel& kernel) {
  const RawAttributes values = [&] {
    const ReleaseGil release;
    return kernel.attributes();
  }();
  nb::dict out;
  out["max_threads_per_block"] = values.max_threads_per_block;
  out["shared_size_bytes"] = values.shared_size_bytes;
  out["const_size_bytes"] = values.const_size_bytes;
  out["local_size_bytes"] = values.local_size_bytes;
  out["num_regs"] = values.num_regs;
  out["ptx_version"] = values.ptx_version;
  out["binary_version"] = values.binary_version;
  out["cache_mode_ca"] = values.cache_mode_ca;
  out["max_dynamic_shared_size_bytes"] = values.max_dynamic_shared_size_bytes;
  out["preferred_shared_memory_carveout"] = values.preferred_shared_memory_carveout;
  return out;
}

std::vector<std::string> texts(nb::handle sequence) {
  std::vector<std::string> out;
  for (nb::handle text : sequence) out.push_back(utf8_of(text));
  return out;
}

RawOptions raw_options(nb::handle options, nb::handle expressions, bool cooperative) {
  return {.options = texts(options),
          .name_expressions = texts(expressions),
          .enable_cooperative_groups = cooperative};
}

/// Checks that an array of this shape fits a variable's memory.
void check_fits(const RawGlobal& variable, DType dtype, const Shape& shape) {
  std::size_t bytes = size_of(dtype);
  bool fits = true;
  for (const std::int64_t extent : shape) {
    if (extent < 0)
      raise(PyExc_ValueError, fmt::format("the extent {} of the array is negative", extent));
    fits = !__builtin_mul_overflow(bytes, static_cast<std::size_t>(extent), &bytes) && fits;
  }
  if (!fits || bytes > variable.bytes) {
    raise(PyExc_ValueError,
          fmt::format("the variable has {} bytes, not {}", variable.bytes,
                      fits ? std::to_string(bytes) : "as many as the array, which are over 2^64"));
  }
  const std::size_t unit = std::min<std::size_t>(size_of(dtype), 8);
  if (reinterpret_cast<std::uintptr_t>(variable.pointer) % unit != 0) {
    raise(PyExc_ValueError, fmt::format("the variable is not aligned to the {} bytes of {}", unit,
                                        numpy_name_of(dtype)));
  }
}

/// An Array that shares a variable's memory.
nb::object array_of(const RawGlobal& variable, DType dtype, const Shape& shape) {
  const runtime::Device device = runtime::parse_device(variable.device);
  runtime::BufferRef buffer =
      runtime::borrow(variable.pointer, variable.bytes, runtime::Stream::current(device),
                      [module = variable.module]() mutable { destroy_without_gil(module); });
  auto base = std::make_shared<Base>();
  const NodeRef node = frontend::array_node({{dtype, frontend::to_ir(shape)}, buffer, 0});
  base->value = Access::make(node);
  base->pinned = node;
  register_pinned(node);
  return nb::cast(ArrayObject(std::move(base)));
}

void bind_module(nb::module_& module) {
  nb::class_<BoundGlobal>(module, "_RawGlobal")
      .def_prop_ro("ptr",
                   [](const BoundGlobal& g) { return reinterpret_cast<std::uintptr_t>(g.pointer); })
      .def_prop_ro("size", [](const BoundGlobal& g) { return g.bytes; })
      .def_prop_ro("device", [](const BoundGlobal& g) { return nb::str(g.device.c_str()); });
  nb::class_<BoundModule>(module, "_RawModule")
      .def("__init__",
           [](BoundModule* self, const char* code, nb::handle options, nb::handle expressions,
              bool cooperative) {
             new (self) BoundModule(code, raw_options(options, expressions, cooperative),
                                    python_location());
           })
      .def_static("load",
                  [](const char* path, bool cooperative) {
                    return BoundModule(RawModule::load(path, cooperative, python_location()));
                  })
      .def("get_function", [](const BoundModule& self,
                              const char* name) { return BoundKernel(self.get_function(name)); })
      .def("get_global",
           [](const BoundModule& self, const char* name) {
             const ReleaseGil release;
             return BoundGlobal(self.get_global(name));
           })
      .def("compile", [](const BoundModule& self) {
        const ReleaseGil release;
        self.compile();
      });
}

}  // namespace

// What the classes of heddle/_raw_kernels.py call.
void bind_raw_kernels(Functions& functions) {
  nb::module_& module = functions.module();
  nb::class_<BoundKernel> kernel(module, "_RawKernel");
  kernel
      .def("__init__",
           [](BoundKernel* self, const char* code, const char* name, nb::handle options,
              bool cooperative) {
             new (self) BoundKernel(code, name, raw_options(options, nb::tuple(), cooperative),
                                    python_location());
           })
      .def("attributes", [](const BoundKernel& self) { return attributes(self); })
      .def("set_max_dynamic_shared_size_bytes",
           [](const BoundKernel& self, int bytes) {
             const ReleaseGil release;
             self.set_max_dynamic_shared_size_bytes(bytes);
           })
      .def("set_preferred_shared_memory_carveout",
           [](const BoundKernel& self, int percent) {
             const ReleaseGil release;
             self.set_preferred_shared_memory_carveout(percent);
           })
      .def("compile", [](const BoundKernel& self) {
        const ReleaseGil release;
        self.compile();
      });
  functions.def_in(kernel,
                   "launch(self, grid: tuple[int, ...], block: tuple[int, ...], args: tuple, "
                   "shared_mem: int, stream: Any) -> None",
                   "Launches the kernel.", [](const Arguments& a) {
                     launch(a);
                     return nb::object(nb::none());
                   });
  bind_module(module);
  functions.def("_array_of_global(variable: Any, dtype: DType, shape: tuple[int, ...]) -> Array",
                "An Array that shares the variable's memory.", [](const Arguments& a) {
                  const auto& variable = nb::cast<const BoundGlobal&>(a[0]);
                  const DType dtype = *a.dtype(1);
                  const Shape shape = a.shape(2);
                  check_fits(variable, dtype, shape);
                  return array_of(variable, dtype, shape);
                });
}

}  // namespace heddle::python
