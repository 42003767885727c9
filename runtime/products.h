#pragma once

#include <atomic>
#include <cstddef>
#include <vector>

#include "passes/program.h"
#include "runtime/capture.h"
#include "runtime/frame.h"
#include "runtime/launcher.h"
#include "runtime/prepared.h"

namespace heddle::runtime {

struct GemmEpilogue;

/// The matrix products of a program on one device, from any thread.
class Products {
 public:
  /// Refers to the program.
  explicit Products(const passes::Program& program)
      : program_(program), refused_(program.steps.size()) {}

  /// Enqueues the product that is this step: with its epilogue, or, from the time that the library
  /// has refused that once, by itself, and the kernel that stands by. Throws DeviceError,
  /// OutOfMemory.
  void multiply(std::size_t step, const Prepared& prepared, const Frame& frame,
                KernelLauncher& launcher, const Stream& stream, const CaptureScope& capture);

 private:
  GemmEpilogue epilogue_of(const passes::MatmulStep& step, const Frame& frame) const;
  double value_of(const passes::Factor& factor, const Frame& frame) const;

  const passes::Program& program_;
  std::vector<std::atomic<bool>> refused_;  ///< per step
};

}  // namespace heddle::runtime
