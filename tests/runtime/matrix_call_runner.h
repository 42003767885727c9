#pragma once

// Runs one library call on matrices, of the CPU or of a GPU, without the program around it.

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "passes/pipeline/program_builder.h"
#include "runtime/calls/handlers.h"
#include "runtime/device/memory.h"
#include "tests/runtime/helpers.h"

namespace heddle::test {

using namespace heddle::runtime;

template <class T>
constexpr DType dtype_of_element = DType::c128;
template <>
inline constexpr DType dtype_of_element<float> = DType::f32;
template <>
inline constexpr DType dtype_of_element<double> = DType::f64;
template <>
inline constexpr DType dtype_of_element<std::complex<float>> = DType::c64;

template <class Test>
void for_each_element(const Test& test) {
  test(float());
  test(double());
  test(std::complex<float>());
  test(std::complex<double>());
}

template <class T>
using WideOf = std::conditional_t<std::is_floating_point_v<T>, double, std::complex<double>>;

inline double conjugate_of(double x) { return x; }
inline std::complex<double> conjugate_of(std::complex<double> x) { return std::conj(x); }

/// Elements in [-1, 1].
template <class T>
std::vector<T> random_elements(std::int64_t count, std::uint64_t seed) {
  test::Random random(seed);
  const auto number = [&] { return static_cast<double>(random.below(2001)) / 1000 - 1; };
  std::vector<T> made;
  for (std::int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_floating_point_v<T>) {
      made.push_back(static_cast<T>(number()));
    } else {
      using Part = typename T::value_type;
      const auto real = static_cast<Part>(number());
      made.emplace_back(real, static_cast<Part>(number()));
    }
  }
  return made;
}

/// A tolerance for results of that type.
template <class T>
double tolerance() {
  return dtype_of_element<T> == DType::f32 || dtype_of_element<T> == DType::c64 ? 2e-4 : 1e-11;
}

/// The buffers of a call: its operands, then its results.
class CallMemory final : public CallBuffers {
 public:
  /// Keeps a reference to the stream.
  explicit CallMemory(const Stream& stream) : CallBuffers(stream) {}

  template <class T>
  void add(const std::vector<T>& elements) {
    const std::size_t bytes = elements.size() * sizeof(T);
    buffers_.push_back(runtime::allocate(bytes, stream()));
    if (bytes > 0) {
      copy(buffers_.back()->pointer(), stream().device(), elements.data(), Device{}, bytes,
           stream());
    }
  }
  template <class T>
  std::vector<T> read(std::size_t number, std::int64_t count) const {
    std::vector<T> elements(static_cast<std::size_t>(count));
    if (count > 0) {
      copy(elements.data(), Device{}, buffers_.at(number)->pointer(), stream().device(),
           elements.size() * sizeof(T), stream());
    }
    stream().synchronize();
    return elements;
  }

  std::byte* address(const passes::BufferRef& buffer) const override {
    return static_cast<std::byte*>(buffers_.at(buffer.index)->pointer());
  }
  const ir::ElementBits& scalar(std::uint32_t) const override { return none_; }
  BufferRef allocate(std::size_t bytes, const Label& label) const override {
    return runtime::allocate(bytes, stream(), label);
  }

 private:
  std::vector<BufferRef> buffers_;
  ir::ElementBits none_;
};

/// "call NAME %0, %1 {...} : types", with the types of its operands, as a program for the device
/// has it. Buffers are numbered: operands, then results.
inline passes::CallStep planned_step(const std::vector<std::string>& operands,
                                     const std::string& call,
                                     const std::vector<std::string>& results, Device device) {
  std::string parameters, values, types, outputs;
  for (std::size_t i = 0; i < operands.size(); ++i)
    parameters += fmt::format("{}%{}: {}", i == 0 ? "" : ", ", i, operands[i]);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const char* const comma = i == 0 ? "" : ", ";
    values += fmt::format("{}%{}", comma, operands.size() + i);
    types += comma + results[i];
  }
  const std::string returned = results.size() == 1 ? types : "(" + types + ")";
  const std::string text =
      fmt::format("func @f({}) -> {} {{\n  {} = call {} : {}\n  return {}\n}}\n", parameters,
                  returned, values, call, types, values);
  const char* const target = device.kind == DeviceKind::cpu ? "x86-64-v3" : "sm_90:h200";
  const passes::PlannedProgram planned =
      passes::plan_program(ir::parse(text), {ir::parse_target(target), {}, {}, {}});
  for (const passes::Step& step : planned.program.steps) {
    if (step.call() == nullptr) continue;
    passes::CallStep found = *step.call();
    std::uint32_t number = 0;
    for (passes::CallBuffer& buffer : found.operands)
      buffer.buffer = {passes::BufferRef::Kind::input, number++};
    for (passes::CallBuffer& buffer : found.results)
      buffer.buffer = {passes::BufferRef::Kind::input, number++};
    return found;
  }
  throw InternalError("the program has no call: " + text);
}

/// Runs the call once.
inline void run_step(const passes::CallStep& step, const CallMemory& memory) {
  const ir::SymbolBindings none;
  const Device device = memory.stream().device();
  const CallWork work = call_handler(step.handler, device.kind).prepare(step, {{}, none, device});
  const auto& prepared = std::get<std::unique_ptr<const PreparedCall>>(work);
  REQUIRE(prepared != nullptr);
  const PreparedCall::Outcome outcome = prepared->enqueue(memory);
  CHECK(outcome == PreparedCall::Outcome::enqueued);
}

}  // namespace heddle::test
