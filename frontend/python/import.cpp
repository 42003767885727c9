#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <numeric>

#include <fmt/format.h>

#include "heddle/creation.h"
#include "heddle/manipulation.h"

#include "frontend/array/access.h"
#include "frontend/graph/record.h"
#include "frontend/python/bindings.h"
#include "frontend/python/cuda_interface.h"
#include "frontend/python/device.h"
#include "frontend/python/dlpack.h"
#include "frontend/python/dlpack_device.h"
#include "frontend/python/dtypes.h"
#include "frontend/python/errors.h"
#include "frontend/python/gil.h"
#include "frontend/python/held.h"
#include "frontend/python/python_memory.h"
#include "runtime/device/backend.h"
#include "runtime/device/memory.h"

// Imports memory of other libraries as Arrays, without a copy if the layout allows: DLPack and the
// CUDA array interface.

namespace heddle::python {
namespace {

using frontend::Access;

/// Memory that another library owns until `release` is called.
struct Foreign {
  void* data = nullptr;
  runtime::Device device;
  DType dtype = DType::f32;
  Shape shape;
  Strides strides;  ///< in elements
  bool read_only = false;
  std::function<void()> release;
};

std::optional<DType> dtype_of(const dlpack::Type& type) {
  const auto sized = [&](DType first, int log_size) {
    return static_cast<DType>(static_cast<int>(first) + log_size);
  };
  const int log_size = type.bits >= 8 ? std::countr_zero(type.bits / 8u) : -1;
  if (type.lanes != 1 || log_size < 0 || !std::has_single_bit(unsigned{type.bits})) {
    return std::nullopt;
  }
  switch (type.code) {
    case dlpack::integer:
      return log_size <= 3 ? std::optional(sized(DType::i8, log_size)) : std::nullopt;
    case dlpack::unsigned_integer:
      return log_size <= 3 ? std::optional(sized(DType::u8, log_size)) : std::nullopt;
    case dlpack::boolean:
      return type.bits == 8 ? std::optional(DType::boolean) : std::nullopt;
    case dlpack::bfloat:
      return type.bits == 16 ? std::optional(DType::bf16) : std::nullopt;
    case dlpack::floating:
      if (type.bits == 16) return DType::f16;
      if (type.bits == 32) return DType::f32;
      return type.bits == 64 ? std::optional(DType::f64) : std::nullopt;
    case dlpack::complex:
      if (type.bits == 64) return DType::c64;
      return type.bits == 128 ? std::optional(DType::c128) : std::nullopt;
    default:
      return std::nullopt;
  }
}

runtime::Device device_of(const dlpack::DeviceOf& device) {
  if (const auto known = dlpack::find_device(device)) return *known;
  raise(PyExc_BufferError,
        fmt::format("from_dlpack: this machine has no device of DLPack type {}", device.type));
}

Foreign foreign(const dlpack::Tensor& tensor, std::function<void()> release) {
  Foreign result;
  result.release = std::move(release);
  const auto dtype = dtype_of(tensor.dtype);
  if (!dtype) {
    raise(PyExc_BufferError,
          fmt::format("from_dlpack: a dtype of code {} with {} bits and {} lanes is not supported",
                      tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes));
  }
  result.data = static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
  result.device = device_of(tensor.device);
  // Some producers number devices differently, so the pointer decides.
  if (!runtime::capabilities_of(result.device).host_memory && result.data != nullptr)
    result.device = runtime::device_of_pointer(result.data).value_or(result.device);
  result.dtype = *dtype;
  result.shape.assign(tensor.shape, tensor.shape + tensor.ndim);
  result.strides = tensor.strides == nullptr
                       ? c_strides(result.shape)
                       : Strides(tensor.strides, tensor.strides + tensor.ndim);
  return result;
}

/// Takes ownership of a capsule's content; the capsule is empty afterwards.
template <class M>
M* take(nb::handle capsule, const char* name, const char* used) {
  auto* managed = static_cast<M*>(PyCapsule_GetPointer(capsule.ptr(), name));
  if (managed == nullptr) throw nb::python_error();
  if constexpr (std::is_same_v<M, dlpack::VersionedManaged>) {
    if (managed->major != 1) {
      raise(PyExc_BufferError,
            fmt::format("from_dlpack: DLPack version {} is not supported, only 1", managed->major));
    }
  }
  PyCapsule_SetName(capsule.ptr(), used);
  return managed;
}

template <class M>
std::function<void()> releaser(M* managed) {
  return [managed] {
    if (managed->deleter == nullptr || Py_IsInitialized() == 0) return;
    const AcquireGil acquire;  // the memory to free may be Python's
    managed->deleter(managed);
  };
}

Foreign unpack(nb::handle capsule) {
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned") != 0) {
    auto* managed =
        take<dlpack::VersionedManaged>(capsule, "dltensor_versioned", "used_dltensor_versioned");
    Foreign result = foreign(managed->tensor, releaser(managed));
    result.read_only = (managed->flags & dlpack::read_only_flag) != 0;
    return result;
  }
  auto* managed = take<dlpack::Managed>(capsule, "dltensor", "used_dltensor");
  return foreign(managed->tensor, releaser(managed));
}

std::int64_t count(const Shape& shape) {
  std::int64_t product = 1;
  for (std::int64_t extent : shape) product *= extent;
  return product;
}

/// Elements as C-ordered memory, with the view steps from there to the array.
struct Dense {
  Shape shape;                     ///< of the memory
  std::vector<std::int64_t> axes;  ///< permutation to the array's axis order
};

/// nullopt if the elements do not fill their memory. An axis of stride 0 counts as extent 1.
/// Without elements strides mean nothing.
std::optional<Dense> dense(const Foreign& memory) {
  const std::size_t rank = memory.shape.size();
  std::vector<std::int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  if (count(memory.shape) == 0) return Dense{memory.shape, order};
  const auto extent = [&](std::int64_t axis) {
    const auto i = static_cast<std::size_t>(axis);
    return memory.strides[i] == 0 ? 1 : memory.shape[i];
  };
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    if (extent(a) == 1 || extent(b) == 1) return false;
    return memory.strides[static_cast<std::size_t>(a)] >
           memory.strides[static_cast<std::size_t>(b)];
  });
  Dense result;
  result.axes.resize(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    result.shape.push_back(extent(order[i]));
    result.axes[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  }
  const Strides wanted = c_strides(result.shape);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t stride = memory.strides[static_cast<std::size_t>(order[i])];
    if (result.shape[i] > 1 && stride != wanted[i]) return std::nullopt;
  }
  return result;
}

bool is_aligned(const Foreign& memory) {
  const std::size_t unit = std::min<std::size_t>(size_of(memory.dtype), 8);
  return reinterpret_cast<std::uintptr_t>(memory.data) % unit == 0;
}

/// Copies the elements of host memory of any layout, in C order.
void gather(const Foreign& memory, std::size_t axis, const std::byte* from, std::byte*& to) {
  const std::size_t size = size_of(memory.dtype);
  if (axis == memory.shape.size()) {
    std::memcpy(to, from, size);
    to += size;
    return;
  }
  const std::int64_t step = memory.strides[axis] * static_cast<std::int64_t>(size);
  for (std::int64_t i = 0; i < memory.shape[axis]; ++i)
    gather(memory, axis + 1, from + i * step, to);
}

Array copy_of_host(const Foreign& memory, const SourceLocation& where) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(count(memory.shape)) *
                               size_of(memory.dtype));
  std::byte* to = bytes.data();
  if (!bytes.empty()) gather(memory, 0, static_cast<const std::byte*>(memory.data), to);
  const runtime::DeviceScope scope(runtime::Device{});
  return from_memory(bytes.data(), static_cast<std::size_t>(count(memory.shape)), memory.dtype,
                     memory.shape, where);
}

/// The memory's owner may write to it, so it is pinned from the start.
ArrayObject adopt(Foreign memory, const Dense& layout, const SourceLocation& where) {
  const auto bytes = static_cast<std::size_t>(count(layout.shape)) * size_of(memory.dtype);
  runtime::BufferRef buffer =
      runtime::borrow(memory.data, bytes, runtime::Stream::current(memory.device),
                      std::exchange(memory.release, nullptr));
  const frontend::NodeRef node =
      frontend::array_node({{memory.dtype, frontend::to_ir(layout.shape)}, std::move(buffer), 0});
  auto base = std::make_shared<Base>();
  base->value = Access::make(node);
  base->pinned = node;
  base->read_only = memory.read_only;
  register_pinned(node);
  ArrayObject array(std::move(base));
  array = array.view_of(permute_dims({array.read(where), where}, layout.axes), where);
  return array.view_of(broadcast_to({array.read(where), where}, memory.shape), where);
}

nb::object imported(Foreign memory, nb::handle copy, const SourceLocation& where) {
  const bool must = !copy.is_none() && PyObject_IsTrue(copy.ptr()) == 1;
  const bool may = copy.is_none() || must;
  const auto layout = dense(memory);
  const bool fits = layout && is_aligned(memory);
  if (!fits && !may) {
    raise(PyExc_BufferError,
          "from_dlpack: copy=False, but an array with gaps in memory needs a copy");
  }
  if (fits) {
    ArrayObject array = adopt(std::move(memory), *layout, where);
    return must ? wrap(array.read(where)) : nb::cast(std::move(array));
  }
  if (!runtime::capabilities_of(memory.device).host_memory) {
    raise(PyExc_BufferError,
          "from_dlpack: the GPU array has gaps in memory; make it contiguous first");
  }
  const Array array = copy_of_host(memory, where);
  memory.release();
  return wrap(array);
}

/// The stream on which the producer must wait; None on the CPU.
nb::object our_stream(const runtime::Device& device) {
  if (!runtime::capabilities_of(device).asynchronous) return nb::none();
  const auto handle = reinterpret_cast<std::uintptr_t>(runtime::Stream::current(device).handle());
  return nb::int_(handle == 0 ? std::uintptr_t{1} : handle);
}

nb::object ask(nb::handle producer, nb::handle copy) {
  const nb::object device = producer.attr("__dlpack_device__")();
  const auto type = static_cast<std::int32_t>(to_integer(device[0]));
  const auto ordinal = static_cast<std::int32_t>(to_integer(device[1]));
  const nb::object stream = our_stream(device_of(dlpack::DeviceOf{type, ordinal}));
  try {
    nb::dict options;
    options["stream"] = stream;
    options["max_version"] = nb::make_tuple(1, 0);
    if (!copy.is_none()) options["copy"] = copy;
    return producer.attr("__dlpack__")(**nb::borrow<nb::kwargs>(options));
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;
  }
  return producer.attr("__dlpack__")(nb::arg("stream") = stream);  // older than DLPack 1
}

/// True for a jax.Array. JAX's arrays never change, but the capsules that it exports do not say so.
bool is_immutable(nb::handle producer) {
  const nb::object name = nb::str("jax");
  const nb::object jax = nb::steal(PyImport_GetModule(name.ptr()));
  if (!jax.is_valid()) {
    PyErr_Clear();
    return false;
  }
  return nb::hasattr(jax, "Array") && nb::isinstance(producer, jax.attr("Array"));
}

Foreign from_cuda_interface(nb::handle value) {
  const nb::object facts = value.attr("__cuda_array_interface__");
  Foreign memory;
  const nb::object numpy = nb::module_::import_("numpy");
  const auto dtype = as_dtype(numpy.attr("dtype")(facts["typestr"]));
  if (!dtype) raise(PyExc_TypeError, "asarray: heddle has no equivalent of the CUDA array's dtype");
  memory.dtype = *dtype;
  memory.data = reinterpret_cast<void*>(nb::cast<std::uintptr_t>(facts["data"][0]));
  memory.read_only = PyObject_IsTrue(nb::object(facts["data"][1]).ptr()) == 1;
  for (nb::handle extent : nb::object(facts["shape"])) memory.shape.push_back(to_integer(extent));
  const nb::object strides = facts.attr("get")("strides");
  if (strides.is_none()) {
    memory.strides = c_strides(memory.shape);
  } else {
    for (nb::handle stride : strides) {
      memory.strides.push_back(to_integer(stride) / static_cast<std::int64_t>(size_of(*dtype)));
    }
  }
  memory.device = device_of_cuda_pointer("asarray", memory.data);
  wait_for_producer(facts, memory.device);
  PyObject* owner = nb::borrow(value).release().ptr();
  memory.release = [owner] {
    if (Py_IsInitialized() == 0) return;
    const AcquireGil acquire;
    Py_DECREF(owner);
  };
  return memory;
}

}  // namespace

nb::object from_dlpack(nb::handle producer, nb::handle device, nb::handle copy,
                       const SourceLocation& where) {
  if (!nb::hasattr(producer, "__dlpack__") || !nb::hasattr(producer, "__dlpack_device__")) {
    raise(PyExc_TypeError, "from_dlpack: " + describe_foreign(producer) + " has no __dlpack__");
  }
  const nb::object capsule = ask(producer, copy);
  Foreign memory = unpack(capsule);
  memory.read_only |= is_immutable(producer);
  nb::object array = imported(std::move(memory), copy, where);
  if (device.is_none()) return array;
  const nb::object moved = to_device(array, device, where);
  if (!moved.is(array) && !copy.is_none() && PyObject_IsTrue(copy.ptr()) == 0) {
    raise(PyExc_ValueError, "from_dlpack: copy=False, but the array is on another device");
  }
  return moved;
}

std::optional<nb::object> from_exchange(nb::handle value, const SourceLocation& where) {
  if (nb::hasattr(value, "__cuda_array_interface__")) {
    return imported(from_cuda_interface(value), nb::bool_(true), where);
  }
  if (nb::hasattr(value, "__dlpack_device__")) {
    return from_dlpack(value, nb::none(), nb::bool_(true), where);
  }
  return std::nullopt;
}

nb::object memory_array(std::uintptr_t pointer, runtime::Device device, nb::handle shape,
                        nb::handle dtype, nb::handle strides, nb::object owner) {
  Foreign memory;
  memory.data = reinterpret_cast<void*>(pointer);
  memory.device = device;
  memory.dtype = to_dtype(dtype);
  for (nb::handle extent : shape) memory.shape.push_back(to_integer(extent));
  const auto size = static_cast<std::int64_t>(size_of(memory.dtype));
  if (strides.is_none()) {
    memory.strides = c_strides(memory.shape);
  } else {
    for (nb::handle stride : strides) memory.strides.push_back(to_integer(stride) / size);
  }
  const std::optional<Dense> layout = dense(memory);
  if (!layout || !is_aligned(memory)) {
    raise(
        PyExc_ValueError,
        "ndarray: memory that is not aligned, or strides that leave gaps, would need a copy. Make "
        "an array of all of the memory, and index it");
  }
  memory.release = [held = hold(std::move(owner))]() mutable { held.reset(); };
  return nb::cast(adopt(std::move(memory), *layout, python_location()));
}

void bind_import(Functions& functions) {
  functions.def(
      "from_dlpack(x: Any, /, *, device: Device | None = None, copy: bool | None = None) -> Array",
      "An Array that shares the memory of another library's array: numpy.from_dlpack. It is a copy "
      "if the memory has gaps. Both sides see each other's writes.\n\n"
      "Raises BufferError if copy=False needs a copy, and for unsupported dtypes and devices.",
      [](const Arguments& a) { return from_dlpack(a[0], a[1], a[2], a.where()); });
}

}  // namespace heddle::python
