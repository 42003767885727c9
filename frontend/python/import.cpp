#include <functional>
#include <string_view>

#include <fmt/format.h>

#include "heddle/creation.h"
#include "heddle/manipulation.h"

#include "frontend/array/access.h"
#include "frontend/exchange/device_names.h"
#include "frontend/exchange/foreign_memory.h"
#include "frontend/exchange/shared_memory.h"
#include "frontend/graph/record.h"
#include "frontend/python/bindings.h"
#include "frontend/python/cuda_interface.h"
#include "frontend/python/device.h"
#include "frontend/python/dtypes.h"
#include "frontend/python/errors.h"
#include "frontend/python/gil.h"
#include "frontend/python/held.h"
#include "frontend/python/python_memory.h"
#include "frontend/python/sharing.h"
#include "runtime/device/backend.h"
#include "runtime/device/memory.h"

// Imports memory of other libraries as Arrays, without a copy if the layout allows: DLPack and the
// CUDA array interface.

namespace heddle::python {
namespace {

using frontend::Access;
using frontend::c_strides;
using frontend::ForeignMemory;
using frontend::MemoryLayout;

/// The memory of a tensor that this owns. BufferError for a dtype or device that there is not.
ForeignMemory memory_of(const dlpack::Tensor& tensor, const std::function<void()>& release) {
  try {
    return frontend::memory_of(tensor, release);
  } catch (const Error& error) {
    release();
    raise(PyExc_BufferError, error.what());
  }
}

/// Takes ownership of a capsule's content; the capsule is empty afterwards.
template <class M>
M* take(nb::handle capsule, const char* name, const char* used) {
  auto* managed = static_cast<M*>(PyCapsule_GetPointer(capsule.ptr(), name));
  if (managed == nullptr) throw nb::python_error();
  if constexpr (std::is_same_v<M, dlpack::VersionedTensor>) {
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

ForeignMemory unpack(nb::handle capsule) {
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned") != 0) {
    auto* managed =
        take<dlpack::VersionedTensor>(capsule, "dltensor_versioned", "used_dltensor_versioned");
    ForeignMemory result = memory_of(managed->tensor, releaser(managed));
    result.read_only = (managed->flags & dlpack::read_only_flag) != 0;
    return result;
  }
  auto* managed = take<dlpack::ManagedTensor>(capsule, "dltensor", "used_dltensor");
  return memory_of(managed->tensor, releaser(managed));
}

/// The memory's owner may write to it, so it is pinned from the start.
ArrayObject adopt(ForeignMemory memory, const MemoryLayout& layout, const SourceLocation& where) {
  const Shape shape = memory.shape;
  auto base = std::make_shared<Base>();
  base->read_only = memory.read_only;
  base->has_gaps = !layout.is_whole();
  const frontend::NodeRef node = frontend::borrowed_node(std::move(memory), layout);
  base->value = Access::make(node);
  base->pinned = node;
  register_pinned(node);
  ArrayObject array(std::move(base));
  array = array.view_of(Access::make(frontend::elements_in(node, layout, where)), where);
  return array.view_of(broadcast_to({array.read(where), where}, shape), where);
}

nb::object imported(ForeignMemory memory, nb::handle copy, const SourceLocation& where) {
  const bool must = !copy.is_none() && PyObject_IsTrue(copy.ptr()) == 1;
  const bool may = copy.is_none() || must;
  const auto layout = frontend::layout_of(memory);
  if (!layout && !may) {
    raise(
        PyExc_BufferError,
        "from_dlpack: copy=False, but elements that are not aligned, or share memory, need a copy");
  }
  if (layout) {
    ArrayObject array = adopt(std::move(memory), *layout, where);
    return must ? wrap(array.read(where)) : nb::cast(std::move(array));
  }
  const Array array = frontend::copy_of(memory, where);
  memory.release();
  return wrap(array);
}

runtime::Device device_of(const dlpack::Device& device) {
  if (const auto known = dlpack::find_device(device)) return *known;
  raise(PyExc_BufferError,
        fmt::format("from_dlpack: this machine has no device of DLPack type {}", device.type));
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
  const nb::object stream = our_stream(device_of(dlpack::Device{type, ordinal}));
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

ForeignMemory from_cuda_interface(nb::handle value) {
  const nb::object facts = value.attr("__cuda_array_interface__");
  if (!nb::object(facts.attr("get")("mask")).is_none()) {
    raise(PyExc_ValueError,
          "asarray: the CUDA array has a mask, which Arrays do not have; fill what it masks, or "
          "pass the elements and the mask as two arrays");
  }
  ForeignMemory memory;
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
  ForeignMemory memory = unpack(capsule);
  memory.read_only |= is_immutable(producer);
  nb::object array = imported(std::move(memory), copy, where);
  if (device.is_none()) return array;
  const nb::object moved = to_device(array, device, where);
  if (!moved.is(array) && !copy.is_none() && PyObject_IsTrue(copy.ptr()) == 0) {
    raise(PyExc_ValueError, "from_dlpack: copy=False, but the array is on another device");
  }
  return moved;
}

std::optional<nb::object> from_exchange(nb::handle value, nb::handle copy,
                                        const SourceLocation& where) {
  if (nb::hasattr(value, "__cuda_array_interface__"))
    return imported(from_cuda_interface(value), copy, where);
  if (nb::hasattr(value, "__dlpack_device__")) return from_dlpack(value, nb::none(), copy, where);
  return std::nullopt;
}

nb::object memory_array(std::uintptr_t pointer, runtime::Device device, nb::handle shape,
                        nb::handle dtype, nb::handle strides, nb::object owner) {
  ForeignMemory memory;
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
  const std::optional<MemoryLayout> layout = frontend::layout_of(memory);
  if (!layout) {
    raise(PyExc_ValueError,
          "ndarray: memory that is not aligned, or elements that share memory, would need a copy. "
          "Make an array of all of the memory, and index it");
  }
  memory.release = [held = hold(std::move(owner))]() mutable { held.reset(); };
  return nb::cast(adopt(std::move(memory), *layout, python_location()));
}

nb::object open_shared(const std::string& handle, const SourceLocation& where) {
  return imported(frontend::located(where, [&] { return frontend::memory_of_handle(handle); }),
                  nb::none(), where);
}

void bind_import(Functions& functions) {
  functions.def(
      "from_dlpack(x: Any, /, *, device: Device | None = None, copy: bool | None = None) -> Array",
      "An Array that shares the memory of another library's array: numpy.from_dlpack. It is a copy "
      "if elements are not aligned or share memory. Both sides see each other's writes.\n\n"
      "Raises BufferError if copy=False needs a copy, and for unsupported dtypes and devices.",
      [](const Arguments& a) { return from_dlpack(a[0], a[1], a[2], a.where()); });
  functions.def(
      "fromDlpack(dltensor: Any, /) -> Array",
      "An Array of a DLPack capsule, which can be used once: cupy.fromDlpack. from_dlpack takes "
      "the "
      "array that makes the capsule, and orders the streams of both libraries.\n\n"
      "Raises TypeError for anything but a capsule, ValueError for one that was used.",
      [](const Arguments& a) {
        if (PyCapsule_CheckExact(a[0].ptr()) == 0)
          raise(PyExc_TypeError, "fromDlpack: takes a capsule, not " + describe_type(a[0]));
        const char* const name = PyCapsule_GetName(a[0].ptr());
        if (name == nullptr || !std::string_view(name).starts_with("dltensor"))
          raise(PyExc_ValueError, "fromDlpack: the capsule was consumed, or is not one of DLPack");
        return imported(unpack(a[0]), nb::none(), a.where());
      });
}

}  // namespace heddle::python
