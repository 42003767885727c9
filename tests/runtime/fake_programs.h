#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <initializer_list>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "runtime/device/memory.h"
#include "runtime/launch/program_runner.h"
#include "tests/runtime/fake_driver/control.h"

/// Programs of the kernels that the fake driver knows by name, and what they compute.
namespace heddle::test {

using passes::Parameter;
using runtime::allocate;
using runtime::Device;
using runtime::DeviceArray;
using runtime::DeviceKind;
using runtime::ProgramRunner;
using runtime::Stream;

inline constexpr Device gpu{DeviceKind::cuda, 0};
inline constexpr std::size_t mib = std::size_t{1} << 20;
using Values = std::vector<float>;

inline const FakeControl& control() {
  static const FakeControl* const instance = [] {
    void* const library = dlopen(HEDDLE_FAKE_DRIVER, RTLD_NOW | RTLD_NOLOAD);
    REQUIRE(library != nullptr);
    return reinterpret_cast<const FakeControl* (*)()>(dlsym(library, "heddle_fake_control"))();
  }();
  return *instance;
}

/// Calls of functions of the driver from here on.
class Counting {
 public:
  std::uint64_t operator()(const char* function) {
    return control().calls(function) - before_[function];
  }
  explicit Counting(std::initializer_list<const char*> functions) {
    for (const char* function : functions) before_[function] = control().calls(function);
  }

 private:
  std::map<std::string, std::uint64_t> before_;
};

// Programs of the fake driver's kernels over f32[n], n a symbol.

inline const ir::Dim n = ir::Dim::symbol("n");
using Buffer = passes::BufferRef;

inline Parameter buffer(Buffer::Kind kind, std::uint32_t index, std::int64_t cleared = 0) {
  Parameter parameter;
  parameter.buffer = {kind, index};
  parameter.cleared = cleared;
  return parameter;
}
inline Parameter input(std::uint32_t index) { return buffer(Buffer::Kind::input, index); }
inline Parameter output(std::uint32_t index) { return buffer(Buffer::Kind::output, index); }
inline Parameter temporary(std::uint32_t index, std::int64_t cleared = 0) {
  return buffer(Buffer::Kind::temporary, index, cleared);
}
inline Parameter size() {
  Parameter parameter;
  parameter.kind = Parameter::Kind::size;
  parameter.value = n;
  return parameter;
}
inline Parameter scalar(std::uint32_t index) {
  Parameter parameter;
  parameter.kind = Parameter::Kind::scalar;
  parameter.scalar = index;
  return parameter;
}

inline passes::Step kernel(std::uint32_t index, std::vector<Parameter> parameters) {
  passes::KernelStep step;
  step.kernel = index;
  step.parameters = std::move(parameters);
  step.grid = {{n, 32}};
  step.block[0] = 32;
  return {std::move(step)};
}

inline constexpr std::uint32_t add = 0, scale = 1, tally = 2, clusters = 3, less = 4, decide = 5;

inline passes::Program program_of(std::size_t arrays, bool with_scalar,
                                  std::vector<passes::Step> steps) {
  passes::Program program;
  program.name = "test";
  for (std::size_t i = 0; i < arrays; ++i) program.inputs.push_back({{DType::f32, {n}}});
  if (with_scalar) program.inputs.push_back({{DType::f32, {}}, true});
  program.outputs.push_back({{DType::f32, {n}}, {}, {}});
  program.kernel_names = {"fake_add",      "fake_scale", "fake_tally",
                          "fake_clusters", "fake_less",  "hd_decide"};
  program.steps = std::move(steps);
  return program;
}

inline std::unique_ptr<ProgramRunner> load(passes::Program program) {
  runtime::ModuleImage module;
  module.kernels = program.kernel_names;
  module.bytes = fake_module;
  auto launcher = runtime::load_kernels({program, {module}}, gpu);
  return std::make_unique<ProgramRunner>(std::move(program), std::move(launcher));
}

/// a * factor
inline std::unique_ptr<ProgramRunner> load_scale() {
  return load(program_of(1, true, {kernel(scale, {input(0), output(0), scalar(1), size()})}));
}

/// (a + b + what the blocks count) * factor: temporaries, a cleared one, and an output of zeros.
inline std::unique_ptr<ProgramRunner> load_several() {
  passes::Step zero{passes::FillStep{{Buffer::Kind::output, 1}, n * 4}};
  passes::Program program =
      program_of(2, true,
                 {kernel(add, {input(0), input(1), temporary(0), size()}),
                  kernel(tally, {temporary(0), temporary(1, 4), temporary(2), size()}), zero,
                  kernel(add, {temporary(2), output(1), temporary(0), size()}),
                  kernel(scale, {temporary(0), output(0), scalar(2), size()})});
  program.outputs.push_back({{DType::f32, {n}}, {}, {}});
  for (int i = 0; i < 3; ++i) program.temporaries.push_back({n * 4 + 128, 0, 4});
  return load(std::move(program));
}

inline DeviceArray upload(const Values& values, const Stream& stream) {
  DeviceArray array;
  array.type = {DType::f32, {static_cast<std::int64_t>(values.size())}};
  array.buffer = allocate(values.size() * sizeof(float), stream);
  runtime::copy(array.buffer->pointer(), gpu, values.data(), Device{}, array.buffer->bytes(),
                stream);
  return array;
}

inline Values download(const DeviceArray& array, const Stream& stream) {
  Values values(static_cast<std::size_t>(array.type.shape[0].constant()));
  runtime::copy(values.data(), Device{}, array.buffer->pointer(), gpu,
                values.size() * sizeof(float), stream);
  stream.synchronize();
  return values;
}

inline runtime::ScalarArgument number(float value) {
  runtime::ScalarArgument scalar{DType::f32, 0};
  std::memcpy(scalar.bits.bytes(), &value, sizeof(value));
  return scalar;
}

inline DeviceArray call(ProgramRunner& runner, std::vector<const DeviceArray*> arrays, float factor,
                        Stream stream) {
  std::vector<runtime::ArgumentView> arguments;
  for (const DeviceArray* array : arrays) arguments.push_back({array});
  arguments.push_back({nullptr, number(factor)});
  std::vector<DeviceArray> outputs;
  runner.run(arguments, stream, outputs);
  return outputs[0];
}

inline Values ramp(std::size_t count, float first) {
  Values values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

inline Values times(Values values, float factor) {
  for (float& value : values) value *= factor;
  return values;
}

/// The blocks of a tally count one each.
inline Values several(const Values& a, const Values& b, float factor) {
  Values values = a;
  for (std::size_t i = 0; i < a.size(); ++i) values[i] = (a[i] + b[i]) * factor;
  return values;
}

}  // namespace heddle::test
