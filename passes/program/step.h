#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "heddle/dtype.h"

#include "ir/types/bits.h"
#include "ir/types/dim.h"

namespace heddle::passes {

using ir::Dim;

/// A buffer that a step reads or writes.
struct BufferRef {
  enum class Kind : std::uint8_t {
    input,
    output,
    temporary,
    fallback  ///< index into Fallback::buffers; only in the steps of that fallback
  };
  Kind kind = Kind::input;
  std::uint32_t index = 0;
  friend bool operator==(const BufferRef&, const BufferRef&) = default;
};

/// One kernel parameter. CUDA kernels take it with its own type. Host kernels take pointers in the
/// array `buffers` and everything else, in order, in the array `scalars` of 8-byte words, of which
/// complex128 takes two.
struct Parameter {
  enum class Kind : std::uint8_t {
    buffer,   ///< a pointer
    size,     ///< `value`, evaluated at launch, as int64
    scalar,   ///< scalar input number `scalar` of the program, in `dtype`
    constant  ///< `bits`, in `dtype`
  };
  Kind kind = Kind::buffer;
  BufferRef buffer;
  bool written = false;  ///< buffer: the kernel stores to it
  /// Buffer: the number of bytes for each block of the launch that must be 0 before the launch.
  std::int64_t cleared = 0;
  Dim value;
  std::uint32_t scalar = 0;  ///< input index
  DType dtype = DType::f32;
  ir::ElementBits bits;
  int words() const {
    const bool by_value = kind == Kind::scalar || kind == Kind::constant;
    return by_value && size_of(dtype) > 8 ? 2 : 1;
  }
};

/// max(0, ceil(elements / per_block)); at most `most`, unless that is 0.
struct GridExtent {
  Dim elements = 1;
  std::int64_t per_block = 1;
  std::int64_t most = 0;
};

/// A launch of kernel `kernel` of the program. On CUDA, the product of the grid's extents is the
/// number of blocks, all along x. On the host, it is n of the range [0, n), which is split among
/// threads in equal parts of at least `host_grain`.
struct KernelStep {
  std::uint32_t kernel = 0;  ///< index into Program::kernel_names
  std::vector<Parameter> parameters;
  /// If nonzero, the kernel takes a table of as many rows (KernelPlan::table_rows) instead of these
  /// parameters, which are one row.
  std::uint32_t table_rows = 0;
  /// How many steps, this one and those that follow it, are one launch, each in a row of the table.
  /// 0: an earlier step's launch includes this one.
  std::uint32_t together = 1;
  std::vector<GridExtent> grid;
  std::uint32_t block[2] = {1, 1};
  std::uint32_t shared_bytes = 0;
  std::uint32_t cluster = 1;
  std::int64_t host_grain = 1;
};

/// A factor in a library call: the constant, times scalar input `scalar` of the program if there is
/// one.
struct Factor {
  double constant = 1;
  std::optional<std::uint32_t> scalar;
  friend bool operator==(const Factor&, const Factor&) = default;
};

using CallValue = std::variant<bool, Dim, DType, std::string, Factor>;

/// Named values that a call's handler gets in addition to buffers. A getter throws InternalError
/// that names the value if it is missing or has another type.
class CallValues {
 public:
  void set(std::string_view name, CallValue value);
  bool has(std::string_view name) const { return values_.contains(name); }
  bool flag(std::string_view name) const { return get<bool>(name); }
  Dim size(std::string_view name) const { return get<Dim>(name); }
  DType dtype(std::string_view name) const { return get<DType>(name); }
  const std::string& text(std::string_view name) const { return get<std::string>(name); }
  const Factor& factor(std::string_view name) const { return get<Factor>(name); }
  const std::map<std::string, CallValue, std::less<>>& all() const { return values_; }

 private:
  template <class T>
  const T& get(std::string_view name) const;

  std::map<std::string, CallValue, std::less<>> values_;
};

/// An array that a library call reads or writes.
struct CallBuffer {
  BufferRef buffer;
  DType dtype = DType::f32;
  friend bool operator==(const CallBuffer&, const CallBuffer&) = default;
};

/// Result `result` may share memory with operand `operand`. The call and its fallback must read
/// each element of that operand before writing the element in its position. They may read other
/// operands at any time.
struct CallAlias {
  std::uint32_t result = 0, operand = 0;
};

struct Program;  // passes/program/program.h
struct Step;

/// Steps that run instead of a call if its handler refuses it. Calls among these steps have no
/// fallback.
struct Fallback {
  std::vector<Step> steps;   ///< without `moved` and `origins`: those of the call apply
  std::vector<Dim> buffers;  ///< sizes in bytes of buffers that exist only during the fallback
                             ///< (BufferRef::Kind::fallback)
};

/// A call of a library, of the runtime itself, or of a handler that launches kernels. The runtime
/// finds the handler by name and kind of device (runtime/calls/handlers.h).
struct CallStep {
  std::string handler;  ///< "gemm"
  std::vector<CallBuffer> operands, results;
  std::vector<BufferRef> scratch;
  CallValues values;
  std::vector<KernelStep>
      kernels;  ///< launched by the handler, which sets their parameters and grids
  /// The programs of the call's regions. Their kernels are kernels of the whole program.
  std::vector<std::shared_ptr<const Program>> bodies;
  std::vector<CallAlias> aliases;
  std::optional<Fallback> fallback;
  std::string operation;  ///< for reports: "matmul"
  std::string what;       ///< for reports, after the operation: "64 x 20 x 32"
  std::string label;      ///< for profiles: "matmul_f32"
  Dim flops;              ///< as counted by passes/pipeline/flops.h
};

/// Fills a buffer with zero bytes, for kernels that accumulate into it.
struct FillStep {
  BufferRef buffer;
  Dim bytes;
};

struct Step {
  std::variant<KernelStep, CallStep, FillStep> work = {};
  /// Bytes of global memory that the step reads and writes (passes/pipeline/traffic.h).
  Dim moved = {};
  /// The nodes that the step computes, as ascending indices into ir::shared_order() of the graph.
  std::vector<std::uint32_t> origins = {};

  /// The work as its concrete type; null if it is of another type.
  const KernelStep* kernel() const { return std::get_if<KernelStep>(&work); }
  const CallStep* call() const { return std::get_if<CallStep>(&work); }
  const FillStep* fill() const { return std::get_if<FillStep>(&work); }
  KernelStep* kernel() { return std::get_if<KernelStep>(&work); }
  CallStep* call() { return std::get_if<CallStep>(&work); }
  FillStep* fill() { return std::get_if<FillStep>(&work); }
};

/// Calls function(buffer, written) for each buffer that a step uses, in order. The fallback of a
/// call is skipped: it uses the call's buffers and its own. `S` is Step or const Step.
template <class S, class Function>
void for_each_buffer(S& step, const Function& function) {
  if (auto* const kernel = step.kernel()) {
    for (auto& parameter : kernel->parameters) {
      if (parameter.kind == Parameter::Kind::buffer) function(parameter.buffer, parameter.written);
    }
  } else if (auto* const call = step.call()) {
    for (auto& operand : call->operands) function(operand.buffer, false);
    for (auto& result : call->results) function(result.buffer, true);
    for (auto& scratch : call->scratch) function(scratch, true);
  } else if (auto* const fill = step.fill()) {
    function(fill->buffer, true);
  }
}

/// Calls function(step) for a step, then for the steps of its fallback.
template <class S, class Function>
void for_each_step(S& step, const Function& function) {
  function(step);
  auto* const call = step.call();
  if (call == nullptr || !call->fallback) return;
  for (auto& other : call->fallback->steps) for_each_step(other, function);
}

/// The steps of the programs of a call's regions.
std::vector<const Step*> steps_of_bodies(const CallStep& call);

/// Calls function(kernel) for each kernel that a step may launch; those of its fallback come last.
template <class Function>
void for_each_kernel(const Step& step, const Function& function) {
  for_each_step(step, [&](const Step& each) {
    if (const KernelStep* const kernel = each.kernel()) function(*kernel);
    if (const CallStep* const call = each.call()) {
      for (const KernelStep& kernel : call->kernels) function(kernel);
      for (const Step* const inner : steps_of_bodies(*call)) for_each_kernel(*inner, function);
    }
  });
}

/// A use of a buffer by a step.
struct BufferUse {
  BufferRef buffer;
  bool written = false;
};
/// The calls of for_each_buffer, as a list.
std::vector<BufferUse> uses_of(const Step& step);

}  // namespace heddle::passes
