#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "heddle/jit.h"

#include "frontend/array/access.h"
#include "frontend/evaluate/checks.h"
#include "frontend/exchange/device_names.h"
#include "frontend/exchange/exported_memory.h"
#include "frontend/exchange/shared_memory.h"
#include "frontend/graph/record.h"
#include "frontend/graph/trace.h"
#include "frontend/python/bindings.h"
#include "frontend/python/device.h"
#include "frontend/python/errors.h"
#include "frontend/python/gil.h"
#include "frontend/python/sharing.h"
#include "runtime/device/backend.h"
#include "runtime/device/memory.h"

// Exports Arrays to other libraries without copies: DLPack and the CUDA array interface.

namespace heddle::python {
namespace {

using frontend::Access;
using frontend::ExportedMemory;
using frontend::NodeRef;

/// Exports the array's memory, which the consumer then shares, or a copy.
std::unique_ptr<ExportedMemory> share(ArrayObject& array, bool copy, const SourceLocation& where) {
  if (frontend::tracing()) frontend::value_in_trace("__dlpack__", where);
  NodeRef node;
  Layout layout;
  std::uint64_t flags = dlpack::copied_flag;
  if (copy) {
    compute(array.read(where));
    node = copied(Access::raw(array.read(where)));
    take_pinned_read();
    layout.strides = frontend::c_strides(array.read(where).shape());
  } else {
    pin(array);
    node = array.base().pinned;
    layout = array.layout();
    flags = array.read_only() ? dlpack::read_only_flag : 0;
  }
  {
    const ReleaseGil release;
    frontend::raise_failures(node);
  }
  const Array& value = array.read(where);
  auto exported = frontend::exported_memory(
      node, {value.dtype(), value.shape(), std::move(layout.strides), layout.offset});
  exported->flags = flags;
  return exported;
}

/// Destructor of a capsule that was not consumed.
template <class M>
void drop_capsule(PyObject* capsule, const char* name) {
  if (PyCapsule_IsValid(capsule, name) == 0) return;
  auto* managed = static_cast<M*>(PyCapsule_GetPointer(capsule, name));
  if (managed != nullptr && managed->deleter != nullptr) managed->deleter(managed);
}
void drop_versioned(PyObject* capsule) {
  drop_capsule<dlpack::VersionedTensor>(capsule, "dltensor_versioned");
}
void drop_legacy(PyObject* capsule) { drop_capsule<dlpack::ManagedTensor>(capsule, "dltensor"); }

nb::object capsule(std::unique_ptr<ExportedMemory> exported, bool versioned) {
  if (!versioned) {
    if ((exported->flags & dlpack::read_only_flag) != 0) {
      raise(PyExc_BufferError,
            "__dlpack__: a read-only array needs a consumer that passes max_version=(1, 0), or "
            "copy=True");
    }
    dlpack::ManagedTensor* const tensor = frontend::unversioned_tensor(std::move(exported));
    return nb::steal(PyCapsule_New(tensor, "dltensor", drop_legacy));
  }
  dlpack::VersionedTensor* const tensor = frontend::versioned_tensor(std::move(exported));
  return nb::steal(PyCapsule_New(tensor, "dltensor_versioned", drop_versioned));
}

/// Makes the consumer's stream wait for writes to the buffer. None means the legacy default stream,
/// -1 no synchronisation.
void order(ExportedMemory& exported, nb::handle stream) {
  const runtime::BufferRef& buffer = exported.buffer;
  const runtime::Device device = buffer->device();
  if (!runtime::capabilities_of(device).asynchronous) {
    if (!stream.is_none() && to_integer(stream) != -1) {
      raise(PyExc_ValueError, "__dlpack__: the CPU has no streams; stream must be None or -1");
    }
    return;
  }
  const std::int64_t number = stream.is_none() ? 1 : to_integer(stream);
  if (number == -1) return;
  if (number < 0) raise(PyExc_ValueError, "__dlpack__: stream must be -1, 1, 2 or a handle");
  if (number == 0) raise(PyExc_ValueError, "__dlpack__: stream 0 is ambiguous; pass 1 or 2");
  const runtime::ContextScope scope(device);  // for the default streams
  const auto consumer =
      runtime::Stream::borrow(device, reinterpret_cast<runtime::StreamHandle>(number));
  frontend::order_before(exported, consumer);
}

bool wants_versioned(nb::handle max_version) {
  return !max_version.is_none() && to_integer(nb::borrow(max_version)[0]) >= 1;
}

/// The array on the consumer's device; the same array if it is already there.
nb::object placed(const Arguments& a) {
  if (a.is_none(3)) return nb::borrow(a[0]);
  const nb::object pair = nb::borrow(a[3]);
  const std::int64_t type = to_integer(pair[0]), ordinal = to_integer(pair[1]);
  const runtime::Device here = device_of(a.array(0));
  const dlpack::Device device = dlpack::name_of(here);
  if (device.type == type && (device.ordinal == ordinal || type == dlpack::cpu)) {
    return nb::borrow(a[0]);
  }
  if (!a.is_none(4) && !a.flag(4)) {
    raise(PyExc_BufferError,
          fmt::format("__dlpack__: copy=False, but the array is on {}", runtime::to_string(here)));
  }
  if (type != dlpack::cpu && type != dlpack::cuda) {
    raise(PyExc_BufferError, fmt::format("__dlpack__: cannot copy to a device of type {}", type));
  }
  const std::string name = runtime::to_string(
      *dlpack::find_device({static_cast<std::int32_t>(type), static_cast<std::int32_t>(ordinal)}));
  return to_device(nb::borrow(a[0]), nb::str(name.c_str()), a.where());
}

nb::object exported_capsule(const Arguments& a) {
  const nb::object array = placed(a);
  const bool moved = !array.is(a[0]);
  auto exported = share(*as_array(array), !moved && !a.is_none(4) && a.flag(4), a.where());
  if (moved) exported->flags |= dlpack::copied_flag;
  order(*exported, a[1]);
  return capsule(std::move(exported), wants_versioned(a[2]));
}

const char* numpy_kind(DType dtype) {
  if (is_boolean(dtype)) return "b";
  if (is_integer(dtype)) return is_signed_integer(dtype) ? "i" : "u";
  return is_complex(dtype) ? "c" : "f";
}

/// The CUDA array interface, version 3.
nb::object cuda_interface(ArrayObject& array) {
  const Array& value = array.read();
  const DType dtype = value.dtype();
  if (dlpack::name_of(device_of(value)).type != dlpack::cuda || dtype == DType::bf16) {
    raise(PyExc_AttributeError,
          fmt::format("__cuda_array_interface__: not available for an array of {} on {}",
                      numpy_name_of(dtype), runtime::to_string(device_of(value))));
  }
  const auto exported = share(array, false, python_location());
  nb::list shape, strides;
  for (std::int64_t extent : exported->shape) shape.append(extent);
  for (std::int64_t stride : exported->strides) {
    strides.append(stride * static_cast<std::int64_t>(size_of(dtype)));
  }
  // Work on this thread's stream may still write the memory; consumers order their work after it.
  const runtime::Stream stream = runtime::Stream::current(exported->buffer->device());
  nb::dict result;
  result["shape"] = nb::tuple(shape);
  result["strides"] = nb::tuple(strides);
  result["typestr"] = nb::str(
      fmt::format("{}{}{}", size_of(dtype) == 1 ? '|' : '<', numpy_kind(dtype), size_of(dtype))
          .c_str());
  result["data"] =
      nb::make_tuple(reinterpret_cast<std::uintptr_t>(exported->tensor.data), array.read_only());
  result["version"] = 3;
  result["stream"] = reinterpret_cast<std::uintptr_t>(stream.handle());
  return result;
}

}  // namespace

std::string shared_handle(ArrayObject& array, const SourceLocation& where) {
  const auto exported = share(array, false, where);
  const DType dtype = array.read(where).dtype();
  take_pinned_read();
  const ReleaseGil release;
  std::string handle =
      frontend::located(where, [&] { return frontend::handle_of(*exported, dtype); });
  // What makes the elements, and writes to them, is enqueued on these.
  exported->buffer->stream().synchronize();
  runtime::Stream::current(exported->buffer->device()).synchronize();
  return handle;
}

void bind_export(Functions& functions) {
  functions.def_method(
      "__dlpack__(self, /, *, stream: int | Any | None = None, max_version: tuple[int, int] | None "
      "= None, dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> Any",
      "A DLPack capsule of the elements' memory, or of a copy with copy=True. Evaluates.\n\n"
      "The other library and the Array see each other's later writes. Raises BufferError if "
      "copy=False needs a copy.",
      [](const Arguments& a) { return exported_capsule(a); });
  functions.def_method("__dlpack_device__(self, /) -> tuple[int, int]",
                       "The tuple of DLPack's device type and device number.",
                       [](const Arguments& a) {
                         const auto device = dlpack::name_of(device_of(a.array(0)));
                         return nb::object(nb::make_tuple(device.type, device.ordinal));
                       });
  const nb::object property = nb::module_::import_("builtins").attr("property");
  functions.def_method("_cuda_array_interface(self) -> dict[str, Any]",
                       "The CUDA array interface of the elements' memory.",
                       [](const Arguments& a) { return cuda_interface(a.object(0)); });
  const nb::handle type = nb::type<ArrayObject>();
  nb::setattr(type, "__cuda_array_interface__", property(type.attr("_cuda_array_interface")));
}

}  // namespace heddle::python
