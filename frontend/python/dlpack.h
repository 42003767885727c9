#pragma once

#include <cstdint>

// The data structures of DLPack 1.0, through which array libraries exchange memory.

namespace heddle::python::dlpack {

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

struct DeviceOf {
  std::int32_t type, ordinal;
};

struct Type {
  std::uint8_t code, bits;
  std::uint16_t lanes;
};

struct Tensor {
  void* data;
  DeviceOf device;
  std::int32_t ndim;
  Type dtype;
  std::int64_t* shape;
  std::int64_t* strides;  ///< in elements; null for C order
  std::uint64_t byte_offset;
};

/// Content of capsules named "dltensor".
struct Managed {
  Tensor tensor;
  void* context;
  void (*deleter)(Managed*);
};

/// Content of capsules named "dltensor_versioned".
struct VersionedManaged {
  std::uint32_t major, minor;
  void* context;
  void (*deleter)(VersionedManaged*);
  std::uint64_t flags;
  Tensor tensor;
};

}  // namespace heddle::python::dlpack
