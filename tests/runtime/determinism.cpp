#include <cstring>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "ir/graph/graph.h"
#include "runtime/device/stream.h"
#include "runtime/execute/executable.h"

namespace {

using namespace heddle;

std::string output_bytes(const runtime::Executable& executable, const runtime::DeviceArray& input,
                         runtime::Stream& stream) {
  std::string bytes;
  std::vector<runtime::Argument> arguments{input};
  for (const runtime::DeviceArray& output : executable.run(std::move(arguments), stream)) {
    const auto count = static_cast<std::size_t>(element_count(output.type.shape).constant());
    std::string part(count * size_of(output.type.dtype), '\0');
    runtime::copy(part.data(), {}, output.buffer->pointer(), stream.device(), part.size(), stream);
    stream.synchronize();
    bytes += part;
  }
  return bytes;
}

/// Runs the graph 100 times on the same values near 1, and compares all bits of its outputs.
void check_bits(const ir::Graph& graph) {
  const runtime::Device device = runtime::current_device();
  runtime::Stream stream = runtime::Stream::current(device);
  const ir::Type type = graph.type(graph.parameters()[0]);
  std::vector<float> values(static_cast<std::size_t>(element_count(type.shape).constant()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = 1.0f + static_cast<float>(i * 2654435761u % 1000) * 1e-7f;
  }
  const std::size_t bytes = values.size() * sizeof(float);
  const runtime::DeviceArray input{type, runtime::allocate(bytes, stream), 0};
  runtime::copy(input.buffer->pointer(), device, values.data(), {}, bytes, stream);
  const auto executable = runtime::Executable::get(graph, {}, device);
  const std::string first = output_bytes(*executable, input, stream);
  for (int run = 1; run < 100; ++run) CHECK(output_bytes(*executable, input, stream) == first);
}

}  // namespace

TEST_CASE("reductions give the same bits in 100 runs") {
  check_bits(
      ir::parse("func @sums(%0: f32[1531,1009]) -> (f32[], f32[1531], f32[1009], f32[1]) {\n"
                " %1 = sum %0 axes=[0,1] : f32[]\n %2 = sum %0 axes=[1] : f32[1531]\n"
                " %3 = sum %0 axes=[0] : f32[1009]\n %4 = reshape %0 : f32[1,1544779]\n"
                " %5 = prod %4 axes=[1] : f32[1]\n return %1, %2, %3, %5\n}\n"));
}

TEST_CASE("scans give the same bits in 100 runs") {
  check_bits(ir::parse(
      "func @scans(%0: f32[1531,1009]) -> (f32[1531,1009], f32[1531,1009], f32[1544779]) {\n"
      " %1 = cumsum %0 axes=[1] : f32[1531,1009]\n %2 = cumsum %0 axes=[0] : f32[1531,1009]\n"
      " %3 = reshape %0 : f32[1544779]\n %4 = cumsum %3 axes=[0] : f32[1544779]\n"
      " return %1, %2, %4\n}\n"));
}
