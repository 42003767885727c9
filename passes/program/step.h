#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "heddle/dtype.h"

#include "ir/types/dim.h"

namespace heddle::passes {

using ir::Dim;

/// Memory that a step reads or writes.
struct BufferRef {
  enum class Kind : std::uint8_t {
    input,
    output,
    temporary,
    fallback  ///< of Fallback::buffers, in the steps of that fallback only
  };
  Kind kind = Kind::input;
  std::uint32_t index = 0;
  friend bool operator==(const BufferRef&, const BufferRef&) = default;
};

/// One kernel parameter. On CUDA it is passed as its own type; on the host pointers go to
/// `buffers` and all others, in order, to 8-byte `scalars`, of which complex128 takes two.
struct Parameter {
  enum class Kind : std::uint8_t {
    buffer,  ///< a pointer
    size,    ///< `value`, evaluated at launch, as int64
    scalar   ///< scalar input `scalar` of the program, in `dtype`
  };
  Kind kind = Kind::buffer;
  BufferRef buffer;
  bool written = false;      ///< buffer: the kernel stores to it
  std::int64_t cleared = 0;  ///< buffer: so many bytes for each block of the launch are 0 before it
  Dim value;
  std::uint32_t scalar = 0;  ///< input index
  DType dtype = DType::f32;
  int words() const { return kind == Kind::scalar && size_of(dtype) > 8 ? 2 : 1; }
};

/// ceil(elements / per_block), at least 0; at most `most`, of which 0 is no limit.
struct GridExtent {
  Dim elements = 1;
  std::int64_t per_block = 1;
  std::int64_t most = 0;
};

/// A launch of kernel `kernel` of the program. The product of the grid's extents is the number of
/// blocks, all along x; on the host it is n of the range [0, n) that is split among threads in
/// equal pieces of at least `host_grain`.
struct KernelStep {
  std::uint32_t kernel = 0;  ///< index into Program::kernel_names
  std::vector<Parameter> parameters;
  std::vector<GridExtent> grid;
  std::uint32_t block[2] = {1, 1};
  std::uint32_t shared_bytes = 0;
  std::uint32_t cluster = 1;
  std::int64_t host_grain = 1;
};

/// A number that a library multiplies by: the constant times, where it is named, scalar input
/// `scalar` of the program.
struct Factor {
  double constant = 1;
  std::optional<std::uint32_t> scalar;
  friend bool operator==(const Factor&, const Factor&) = default;
};

using CallValue = std::variant<bool, Dim, DType, std::string, Factor>;

/// What a call's handler is told beside buffers, by name. A getter throws InternalError that names
/// the value if it is missing or of another type.
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

/// An array that a call reads or writes.
struct CallBuffer {
  BufferRef buffer;
  DType dtype = DType::f32;
  friend bool operator==(const CallBuffer&, const CallBuffer&) = default;
};

/// Result `result` may be in the memory of operand `operand`: the call, and its fallback, read each
/// element of that operand before they write in its place. Other operands are read at any time.
struct CallAlias {
  std::uint32_t result = 0, operand = 0;
};

struct Step;

/// The steps that run instead of a call that its handler refuses. Calls among them have no fallback
/// of their own.
struct Fallback {
  std::vector<Step> steps;  ///< without `moved` and `origins`, which are the call's
  std::vector<Dim>
      buffers;  ///< bytes of memory that only lasts as long (BufferRef::Kind::fallback)
};

/// An operation of a library, of the runtime itself, or of kernels that a handler launches. The
/// runtime finds the handler by its name and the kind of device (runtime/calls/handlers.h).
struct CallStep {
  std::string handler;  ///< "gemm"
  std::vector<CallBuffer> operands, results;
  std::vector<BufferRef> scratch;
  CallValues values;
  std::vector<KernelStep>
      kernels;  ///< that the handler launches; it makes the parameters and grids
  std::vector<CallAlias> aliases;
  std::optional<Fallback> fallback;
  std::string operation;  ///< in reports: "matmul"
  std::string what;       ///< behind it: "64 x 20 x 32"
  std::string label;      ///< in profiles: "matmul_f32"
  Dim flops;              ///< as passes/pipeline/flops.h counts them
};

/// Fills a buffer with bytes of 0, for kernels that add to what is there.
struct FillStep {
  BufferRef buffer;
  Dim bytes;
};

struct Step {
  std::variant<KernelStep, CallStep, FillStep> work = {};
  Dim moved = {};  ///< bytes of global memory that it reads and writes (passes/pipeline/traffic.h)
  /// The nodes that it computes, ascending, as their places in ir::shared_order() of the graph.
  std::vector<std::uint32_t> origins = {};

  /// The step as what it is; null if it is another.
  const KernelStep* kernel() const { return std::get_if<KernelStep>(&work); }
  const CallStep* call() const { return std::get_if<CallStep>(&work); }
  const FillStep* fill() const { return std::get_if<FillStep>(&work); }
  KernelStep* kernel() { return std::get_if<KernelStep>(&work); }
  CallStep* call() { return std::get_if<CallStep>(&work); }
  FillStep* fill() { return std::get_if<FillStep>(&work); }
};

/// Calls function(buffer, written) for each buffer that a step names, in order. A call's fallback
/// is left out: it uses the call's buffers and its own. `S` is Step or const Step.
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

/// Calls function(step) for a step, and then for those of its fallback.
template <class S, class Function>
void for_each_step(S& step, const Function& function) {
  function(step);
  auto* const call = step.call();
  if (call == nullptr || !call->fallback) return;
  for (auto& other : call->fallback->steps) for_each_step(other, function);
}

/// Calls function(kernel) for each kernel that a step may launch, those of its fallback last.
template <class Function>
void for_each_kernel(const Step& step, const Function& function) {
  for_each_step(step, [&](const Step& each) {
    if (const KernelStep* const kernel = each.kernel()) function(*kernel);
    if (const CallStep* const call = each.call()) {
      for (const KernelStep& kernel : call->kernels) function(kernel);
    }
  });
}

/// What a step does with a buffer that it names.
struct BufferUse {
  BufferRef buffer;
  bool written = false;
};
/// As for_each_buffer.
std::vector<BufferUse> uses_of(const Step& step);

}  // namespace heddle::passes
