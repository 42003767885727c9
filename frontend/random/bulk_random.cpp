#include "heddle/bulk_random.h"

#include <fmt/format.h>

#include "heddle/creation.h"

#include "frontend/array/access.h"
#include "frontend/graph/record.h"
#include "frontend/graph/trace.h"
#include "runtime/cuda/libraries/curand.h"
#include "runtime/device/memory.h"

namespace heddle::frontend {

struct BulkState {
  std::string name;
  int dimensions;
  runtime::CurandGenerator generator;
};

}  // namespace heddle::frontend

namespace heddle::random {

using frontend::Access;
using frontend::at;
using frontend::BulkState;

namespace {

constexpr int most_dimensions = 20'000;

void require_width(DType dtype, SourceLocation where) {
  if (dtype == DType::f32 || dtype == DType::f64) return;
  throw DTypeError(at(
      fmt::format("bulk: the dtype is float32 or float64, not {}", numpy_name_of(dtype)), where));
}

/// An array of the given size, filled by `write` on the generator's device.
template <class Write>
Array filled(BulkState& state, const Shape& size, DType dtype, SourceLocation where,
             const Write& write) {
  if (frontend::Trace::current() != nullptr) frontend::value_in_trace("a bulk generator", where);
  const std::int64_t dimensions = state.dimensions;
  if (dimensions > 1 && (size.empty() || size.back() != dimensions)) {
    throw ShapeError(at(fmt::format("bulk: for points of {0} dimensions the last axis of size must "
                                    "have extent {0}, but size is {1}",
                                    dimensions, ir::to_string(frontend::to_ir(size))),
                        where));
  }
  const auto count = static_cast<std::size_t>(ir::element_count(frontend::to_ir(size)).constant());
  if (count == 0) return zeros(size, dtype, where);
  const runtime::Stream stream = runtime::Stream::current(state.generator.device());
  runtime::BufferRef buffer =
      runtime::allocate(state.generator.written(count) * size_of(dtype), stream,
                        runtime::label_of({dtype, frontend::to_ir(size)}, "bulk random numbers"),
                        frontend::Site(where).location);
  write(buffer->pointer(), count, stream);
  const auto elements = static_cast<std::int64_t>(count);
  // cuRAND writes all numbers of one dimension before the next.
  const Shape lying = {dimensions, elements / dimensions};
  const Array numbers =
      Access::make(frontend::array_node({{dtype, frontend::to_ir(lying)}, std::move(buffer), 0}));
  return dimensions == 1 ? numbers.reshape(size, where) : numbers.T(where).reshape(size, where);
}

}  // namespace

std::string_view Bulk::name() const { return state_->name; }

Array Bulk::uniform(const Shape& size, DType dtype, SourceLocation where) {
  require_width(dtype, where);
  return filled(*state_, size, dtype, where,
                [&](void* out, std::size_t count, const runtime::Stream& stream) {
                  state_->generator.uniform(out, dtype, count, stream);
                });
}

Array Bulk::normal(double mean, double deviation, const Shape& size, DType dtype,
                   SourceLocation where) {
  require_width(dtype, where);
  if (!(deviation >= 0)) {
    throw ValueError(
        at(fmt::format("bulk: the scale must not be negative, not {}", deviation), where));
  }
  return filled(*state_, size, dtype, where,
                [&](void* out, std::size_t count, const runtime::Stream& stream) {
                  state_->generator.normal(out, dtype, count, mean, deviation, stream);
                });
}

Array Bulk::bits(const Shape& size, SourceLocation where) {
  return filled(*state_, size, state_->generator.bits_dtype(), where,
                [&](void* out, std::size_t count, const runtime::Stream& stream) {
                  state_->generator.bits(out, count, stream);
                });
}

Bulk bulk(std::string_view name, std::uint64_t seed, int dimensions, SourceLocation where) {
  const auto kind = runtime::curand_kind(name);
  if (!kind) {
    throw ValueError(at(fmt::format("bulk: there is no generator {}; there are xorwow, mrg32k3a, "
                                    "philox, sobol32, scrambled_sobol32, sobol64 and "
                                    "scrambled_sobol64",
                                    name),
                        where));
  }
  const int most = runtime::is_quasirandom(*kind) ? most_dimensions : 1;
  if (dimensions < 1 || dimensions > most) {
    throw ValueError(
        at(fmt::format("bulk: {} has from 1 to {} dimensions, not {}", name, most, dimensions),
           where));
  }
  try {
    return Bulk(std::shared_ptr<BulkState>(new BulkState{
        std::string(name), dimensions, {*kind, seed, dimensions, runtime::current_device()}}));
  } catch (const DeviceError& error) {
    throw DeviceError(at(error.what(), where));
  }
}

}  // namespace heddle::random
