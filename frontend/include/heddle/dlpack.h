#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heddle/array.h"
#include "heddle/stream.h"

// Memory that is shared with other libraries, without a copy where that is possible: DLPack,
// through which array libraries exchange memory, and plain pointers.
//
// An Array is a value. Writing to an Array that borrows memory does not change that memory. A
// library that takes an Array's memory may read it, but must not write to it.

namespace heddle {

/// The data structures of DLPack 1.0. Their layout is that of the C header dlpack.h: a
/// reinterpret_cast leads from `DLManagedTensor*` to `ManagedTensor*`, and so on.
namespace dlpack {

enum DeviceType : std::int32_t { cpu = 1, cuda = 2, cuda_host = 3, cuda_managed = 13 };
enum TypeCode : std::uint8_t {
  integer = 0,
  unsigned_integer = 1,
  floating = 2,
  bfloat = 4,
  complex = 5,
  boolean = 6
};
inline constexpr std::uint64_t read_only_flag = 1, copied_flag = 2;

struct Device {
  std::int32_t type, ordinal;
};

struct DataType {
  std::uint8_t code, bits;
  std::uint16_t lanes;
};

struct Tensor {
  void* data;
  Device device;
  std::int32_t ndim;
  DataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  ///< in elements; null for C order
  std::uint64_t byte_offset;
};

/// DLManagedTensor: what capsules named "dltensor" hold.
struct ManagedTensor {
  Tensor tensor;
  void* context;
  void (*deleter)(ManagedTensor*);
};

/// DLManagedTensorVersioned: what capsules named "dltensor_versioned" hold.
struct VersionedTensor {
  std::uint32_t major, minor;
  void* context;
  void (*deleter)(VersionedTensor*);
  std::uint64_t flags;
  Tensor tensor;
};

/// Calls the tensor's own deleter.
struct Delete {
  template <class T>
  void operator()(T* tensor) const {
    if (tensor->deleter != nullptr) tensor->deleter(tensor);
  }
};
/// A tensor that has not been handed over yet. release() gives the pointer for another library.
using OwnedTensor = std::unique_ptr<VersionedTensor, Delete>;
using OwnedUnversionedTensor = std::unique_ptr<ManagedTensor, Delete>;

}  // namespace dlpack

struct ImportOptions {
  /// Work that makes the elements is done when this event is. What reads them waits for it, on the
  /// device. Without it the elements must be there.
  std::optional<Event> ready = {};
  /// Whether the elements are copied. The memory is then released before the function returns.
  bool copy = false;
};

/// An Array that reads a tensor's memory. The tensor's deleter is called when nothing reads the
/// memory any more. With gaps between the elements, the Array is a slice of the memory. Elements
/// that are not aligned, or that share memory other than by a stride of 0, are copied. If the
/// function throws, the tensor remains the caller's: DTypeError for a dtype that Heddle has not,
/// DeviceError for a device that this process has not, ValueError for another major version of
/// DLPack, TraceError inside a trace.
Array from_dlpack(dlpack::VersionedTensor* tensor, const ImportOptions& options = {},
                  SourceLocation where = SourceLocation::current());
Array from_dlpack(dlpack::ManagedTensor* tensor, const ImportOptions& options = {},
                  SourceLocation where = SourceLocation::current());

struct ExportOptions {
  /// Whether the tensor has memory of its own, which its consumer may write to.
  bool copy = false;
  /// The consumer's stream: work that is enqueued there after the call finds the elements. Without
  /// it the call waits for them.
  std::optional<Stream> consumer = {};
};

/// The elements of an Array as a tensor for another library; evaluates. It shares the Array's
/// memory and is marked read-only, unless it is a copy. Throws TraceError inside a trace.
dlpack::OwnedTensor to_dlpack(const Array& x, const ExportOptions& options = {},
                              SourceLocation where = SourceLocation::current());
/// The same for libraries from before DLPack 1.0. Such a tensor cannot say that it is read-only:
/// its consumer must not write to it unless it is a copy.
dlpack::OwnedUnversionedTensor to_unversioned_dlpack(
    const Array& x, const ExportOptions& options = {},
    SourceLocation where = SourceLocation::current());

/// Memory of other code, by its address.
struct BorrowedMemory {
  const void* data = nullptr;
  DType dtype = DType::f32;
  Shape shape;
  std::optional<std::vector<std::int64_t>> strides = {};  ///< in elements; C order without them
  std::string device = "cpu";
  std::optional<Event> ready = {};         ///< as in ImportOptions
  std::shared_ptr<const void> owner = {};  ///< is released when nothing reads the memory any more
};
/// An Array that reads the memory, as from_dlpack. ShapeError for a negative extent, or another
/// number of strides than of extents.
Array borrow(const BorrowedMemory& memory, SourceLocation where = SourceLocation::current());

/// An Array's memory for other code, which reads it, in C order.
struct ReadyMemory {
  const void* data = nullptr;  ///< null without elements
  std::size_t bytes = 0;
  std::string device;
  Event ready;                        ///< the elements are there when this event is done
  std::shared_ptr<const void> owner;  ///< keeps the memory: hold it until the reading work is done
};
/// Evaluates, without waiting for the device. Throws TraceError inside a trace.
///
/// Example: cuStreamWaitEvent(stream, static_cast<CUevent>(memory.ready.handle()), 0)
ReadyMemory ready_memory(const Array& x, SourceLocation where = SourceLocation::current());

}  // namespace heddle
