#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "heddle/array.h"

// CUDA kernels of a user's own, launched as they are: CuPy's RawKernel and RawModule. They run on
// GPUs only, at the call, in the order of the thread's other work. The text is compiled at the
// first launch on a device, with the headers of the CUDA toolkit if there is one, and kept in the
// cache.
//
// Errors, at the launch: CompileError with the text and the line where it was given; DeviceError
// for the CPU, for arrays of several devices, and for what the driver refuses; ValueError for
// extents that the device does not allow and, where the driver knows the parameters, for arguments
// of other counts and sizes; TraceError in a traced function.

namespace heddle {

namespace frontend {
class LaunchParameters;
class RawCode;
}  // namespace frontend

/// How a text is compiled and launched.
struct RawOptions {
  std::vector<std::string> options = {};           ///< of NVRTC: "--use_fast_math", "-Ifolder"
  std::vector<std::string> name_expressions = {};  ///< C++ names of kernels, "scale<float>",
                                                   ///< and of variables, "&table<float>"
  bool enable_cooperative_groups = false;          ///< whole grids may synchronise
};

/// The extents of a grid or a block, 1 to 3 integers.
struct LaunchExtents {
  // NOLINTBEGIN: {n / 256} converts
  template <std::integral X = int, std::integral Y = int, std::integral Z = int>
  LaunchExtents(X x = 1, Y y = 1, Z z = 1)
      : axes{static_cast<std::int64_t>(x), static_cast<std::int64_t>(y),
             static_cast<std::int64_t>(z)} {}
  // NOLINTEND
  std::array<std::int64_t, 3> axes;
};

/// How a kernel is launched.
struct LaunchOptions {
  std::size_t shared_mem = 0;  ///< bytes of dynamic shared memory
  /// A CUstream. The arrays' work before and after is ordered with it. Null: the thread's stream.
  void* stream = nullptr;
};

/// An argument of a kernel. An Array is a pointer to its elements. Everything else is a value of
/// the parameter's type. It holds references, so use it only in a call.
class KernelArgument {
 public:
  // NOLINTBEGIN: arguments convert
  /// The kernel may write the elements. Later reads of the array see them.
  KernelArgument(Array& array) : written_(&array) {}
  /// The kernel only reads the elements.
  KernelArgument(const Array& array) : read_(&array) {}
  /// A null pointer.
  KernelArgument(std::nullptr_t) : bytes_(sizeof(void*), '\0') {}
  /// A number, a pointer or a struct, by value. It has the size of the kernel's parameter; an
  /// integer may be wider if the number fits.
  template <class T>
    requires std::is_trivially_copyable_v<T>
  KernelArgument(const T& value)
      : bytes_(reinterpret_cast<const char*>(&value), sizeof(T)),
        integer_(std::is_integral_v<T> && sizeof(T) > 1) {}
  // NOLINTEND

 private:
  friend class RawKernel;
  Array* written_ = nullptr;
  const Array* read_ = nullptr;
  std::string bytes_;
  bool integer_ = false;
};

/// What the driver knows of a kernel.
struct RawAttributes {
  int max_threads_per_block = 0;
  int shared_size_bytes = 0;  ///< static shared memory of a block
  int const_size_bytes = 0;
  int local_size_bytes = 0;  ///< of a thread
  int num_regs = 0;          ///< of a thread
  int ptx_version = 0;
  int binary_version = 0;
  int cache_mode_ca = 0;
  int max_dynamic_shared_size_bytes = 0;
  int preferred_shared_memory_carveout = 0;  ///< in percent; -1: the driver chooses
};

/// A kernel of CUDA C++.
///
///   const RawKernel scale(R"(extern "C" __global__ void scale(float* x, float by) {
///     x[blockIdx.x * blockDim.x + threadIdx.x] *= by;
///   })", "scale");
///   scale({32}, {256}, {x, 2.0f});
class RawKernel {
 public:
  /// `name` is that of an extern "C" kernel, or a name expression: "scale<float>".
  RawKernel(std::string_view code, std::string_view name, const RawOptions& options = {},
            SourceLocation where = SourceLocation::current());

  /// Launches the kernel on the device of the arrays, or the current one. Returns before it ends.
  void operator()(LaunchExtents grid, LaunchExtents block,
                  std::initializer_list<KernelArgument> arguments,
                  const LaunchOptions& options = {},
                  SourceLocation where = SourceLocation::current()) const;
  /// The same with prepared parameters, for language bindings.
  void launch(LaunchExtents grid, LaunchExtents block, const frontend::LaunchParameters& parameters,
              const LaunchOptions& options) const;

  /// Compiles and loads the kernel on the current device now.
  void compile() const;
  /// On the current device.
  RawAttributes attributes() const;
  /// Allows launches with more dynamic shared memory, on the current device.
  void set_max_dynamic_shared_size_bytes(int bytes) const;
  /// In percent of the most that there is; -1: the driver chooses. On the current device.
  void set_preferred_shared_memory_carveout(int percent) const;

  const std::string& name() const { return name_; }

 private:
  friend class RawModule;
  RawKernel(std::shared_ptr<frontend::RawCode> code, std::string name)
      : code_(std::move(code)), name_(std::move(name)) {}

  std::shared_ptr<frontend::RawCode> code_;
  std::string name_;
};

/// A variable in a device's memory.
struct RawGlobal {
  void* pointer = nullptr;
  std::size_t bytes = 0;
  std::string device;
  std::shared_ptr<const void> module;  ///< the memory exists as long as this
};

/// Several kernels and variables of one text or file: CuPy's RawModule.
class RawModule {
 public:
  explicit RawModule(std::string_view code, const RawOptions& options = {},
                     SourceLocation where = SourceLocation::current());
  /// A file with a cubin, a fatbin or PTX. FileError, at the first launch, if it cannot be read.
  static RawModule load(const std::string& path, bool enable_cooperative_groups = false,
                        SourceLocation where = SourceLocation::current());

  /// The kernel of a name or a name expression. DeviceError, at the launch, if there is none.
  RawKernel get_function(std::string_view name) const;
  /// The variable of a name or a name expression, on the current device. DeviceError if there is
  /// none.
  RawGlobal get_global(std::string_view name) const;
  /// Compiles and loads the module on the current device now.
  void compile() const;

 private:
  explicit RawModule(std::shared_ptr<frontend::RawCode> code) : code_(std::move(code)) {}

  std::shared_ptr<frontend::RawCode> code_;
};

}  // namespace heddle
