#include "heddle/random.h"

#include <numbers>
#include <optional>
#include <random>

#include <fmt/format.h>

#include "heddle/dtype_info.h"
#include "heddle/elementwise.h"
#include "heddle/manipulation.h"

#include "frontend/array/access.h"
#include "frontend/array/promote.h"
#include "frontend/random/draw.h"

namespace heddle::random {

using frontend::Access;
using frontend::at;
using frontend::Draw;
using frontend::GeneratorState;
using frontend::NodeRef;
using frontend::record;
using ir::Op;

namespace {

std::uint64_t entropy() {
  std::random_device device;
  return static_cast<std::uint64_t>(device()) << 32 | device();
}

std::optional<std::int64_t> known_integer(const Operand& operand) {
  if (operand.array() != nullptr || frontend::compare_with_range(operand.scalar(), DType::i64) != 0)
    return std::nullopt;
  const Scalar& scalar = operand.scalar();
  // The only other kind is floating, and all floats on this side of the range fit.
  return scalar.kind == Scalar::Kind::floating ? static_cast<std::int64_t>(scalar.floating)
                                               : scalar.integer;
}

/// Converts to 64 bits; negative numbers wrap.
NodeRef bound(const Operand& operand) {
  const bool is_large = operand.array() == nullptr && !known_integer(operand);
  NodeRef wide = frontend::node_of("integers", operand, is_large ? DType::u64 : DType::i64);
  if (wide->dtype == DType::u64) return wide;
  ir::Attributes to;
  to.dtype = DType::u64;
  return record(Op::cast, {wide}, std::move(to), operand.where());
}

}  // namespace

Generator::Generator() : Generator(entropy()) {}
Generator::Generator(std::uint64_t seed) : state_(std::make_shared<GeneratorState>(seed)) {}

Generator::State Generator::state() const {
  return {state_->key, state_->draws.load(), state_->children.load()};
}

void Generator::restore(const State& state) {
  auto made = std::make_shared<GeneratorState>(state[0]);
  made->draws = state[1];
  made->children = state[2];
  state_ = std::move(made);
}

std::vector<Generator> Generator::spawn(int count, SourceLocation where) {
  if (count < 0) throw ValueError(at("spawn: the number must not be negative", where));
  std::vector<Generator> children;
  for (int i = 0; i < count; ++i) children.emplace_back(state_->next_child());
  return children;
}

Array Generator::random(const Shape& size, DType dtype, SourceLocation where) {
  const Draw draw(state_, "random", size, dtype, {}, where);
  return draw.result(draw.unit());
}

Array Generator::uniform(const Operand& low, const Operand& high, const Shape& size, DType dtype) {
  const Draw draw(state_, "uniform", size, dtype, {&low, &high}, low.where());
  return draw.result(low + (high - low) * draw.unit());
}

Array Generator::bits(const Shape& size, SourceLocation where) {
  return Draw(state_, "bits", size, DType::f64, {}, where).bits();
}

namespace {

/// The upper 64 bits of the product of two u64 arrays, from the products of their halves.
Array high_product(const Array& a, const Array& b) {
  const std::uint64_t mask = 0xffffffff;
  const Array a0 = a & mask, a1 = a >> 32, b0 = b & mask, b1 = b >> 32;
  const Array middle = a1 * b0 + ((a0 * b0) >> 32);
  return a1 * b1 + (middle >> 32) + ((a0 * b1 + (middle & mask)) >> 32);
}

/// Uniform in [0, count) for a u64 count: the upper bits of count times a 128-bit fraction. Each
/// number is as likely as every other within 2^-64.
Array below(const Array& count, const Draw& draw) {
  const Array upper = draw.bits(), lower = draw.bits();
  const Array rest = upper * count;
  const Array carries = rest + high_product(lower, count) < rest;
  return high_product(upper, count) + carries.astype(DType::u64);
}

bool exceeds_i64(const Operand& operand) {
  return operand.array() == nullptr &&
         frontend::compare_with_range(operand.scalar(), DType::i64) > 0;
}

/// ValueError for a number among the bounds that the dtype does not have. The upper bound may be
/// one more than its maximum unless it is an endpoint.
void require_bounds(const Operand& low, const Operand& high, bool endpoint, DType dtype,
                    const SourceLocation& where) {
  const auto refuse = [&](const char* name) {
    throw ValueError(
        at(fmt::format("integers: {} is out of bounds for {}", name, numpy_name_of(dtype)), where));
  };
  const std::int64_t least = dtype == DType::u64 ? 0 : iinfo(dtype).min;
  const std::int64_t most =
      dtype == DType::u64 ? INT64_MAX : static_cast<std::int64_t>(iinfo(dtype).max);
  const auto first = known_integer(low), last = known_integer(high);
  if (first && (*first < least || *first > most)) refuse("low");
  if (last && *last > INT64_MIN) {
    const std::int64_t greatest = endpoint ? *last : *last - 1;
    if (greatest < least || greatest > most) refuse("high");
  }
  if (dtype == DType::u64) return;
  if (exceeds_i64(low)) refuse("low");
  const bool is_limit = dtype == DType::i64 && !endpoint;
  if (exceeds_i64(high) && !(is_limit && frontend::value_of(high.scalar()) == 0x1p63))
    refuse("high");
}

}  // namespace

Array Generator::integers(const Operand& low, const Operand& high, const Shape& size, DType dtype,
                          bool endpoint) {
  const SourceLocation where = low.where();
  if (!is_integer(dtype)) {
    throw DTypeError(at(
        fmt::format("integers: the dtype must be an integer dtype, not {}", numpy_name_of(dtype)),
        where));
  }
  const auto first = known_integer(low), last = known_integer(high);
  if (first && last && (*first > *last || (*first == *last && !endpoint))) {
    throw ValueError(
        at(fmt::format("integers: the range from {} to {} is empty", *first, *last), where));
  }
  if (exceeds_i64(low) && high.array() == nullptr &&
      frontend::value_of(low.scalar()) > frontend::value_of(high.scalar())) {
    throw ValueError(at("integers: the range is empty, low exceeds high", where));
  }
  require_bounds(low, high, endpoint, dtype, where);
  const Draw draw(state_, "integers", size, DType::f64, {&low, &high}, where);
  const NodeRef start = bound(low), stop = bound(high);
  const NodeRef one = frontend::record_constant(DType::u64, endpoint ? 1 : 0);
  // If the count wraps to 0, all 64 bits are used.
  const NodeRef count = record(Op::add, {record(Op::subtract, {stop, start}, where), one}, where);
  // The remainder of 64 bits favours low numbers by count / 2^64, which is nothing for small
  // counts.
  const bool is_small = first && last &&
                        static_cast<std::uint64_t>(*last) - static_cast<std::uint64_t>(*first) <=
                            std::uint64_t{1} << 32;
  const NodeRef bits = Access::node(draw.bits(), where);
  const NodeRef wraps = record(Op::equal, {count, frontend::record_constant(DType::u64, 0)}, where);
  const NodeRef within = is_small ? record(Op::remainder, {bits, count}, where)
                                  : Access::node(below(Access::make(count), draw), where);
  const NodeRef offset = record(Op::select, {wraps, bits, within}, where);
  return Access::make(frontend::cast_to(record(Op::add, {start, offset}, where), dtype, where));
}

Array Generator::integers(const Operand& high, const Shape& size, DType dtype) {
  return integers({0, high.where()}, high, size, dtype, false);
}

Array Generator::standard_normal(const Shape& size, DType dtype, SourceLocation where) {
  const Draw draw(state_, "standard_normal", size, dtype, {}, where);
  return draw.result(draw.normal());
}

Array Generator::normal(const Operand& mean, const Operand& deviation, const Shape& size,
                        DType dtype) {
  const Draw draw(state_, "normal", size, dtype, {&mean, &deviation}, mean.where());
  draw.require_scale(deviation);
  return draw.result(mean + deviation * draw.normal());
}

Array Generator::lognormal(const Operand& mean, const Operand& deviation, const Shape& size,
                           DType dtype) {
  const Draw draw(state_, "lognormal", size, dtype, {&mean, &deviation}, mean.where());
  draw.require_scale(deviation);
  return draw.result(exp(mean + deviation * draw.normal()));
}

Array Generator::standard_exponential(const Shape& size, DType dtype, SourceLocation where) {
  const Draw draw(state_, "standard_exponential", size, dtype, {}, where);
  return draw.result(-log(draw.open_unit()));
}

Array Generator::exponential(const Operand& scale, const Shape& size, DType dtype) {
  const Draw draw(state_, "exponential", size, dtype, {&scale}, scale.where());
  draw.require_scale(scale);
  return draw.result(-log(draw.open_unit()) * scale);
}

Array Generator::standard_cauchy(const Shape& size, DType dtype, SourceLocation where) {
  const Draw draw(state_, "standard_cauchy", size, dtype, {}, where);
  return draw.result(tan((draw.open_unit() - 0.5) * std::numbers::pi));
}

Array Generator::laplace(const Operand& location, const Operand& scale, const Shape& size,
                         DType dtype) {
  const Draw draw(state_, "laplace", size, dtype, {&location, &scale}, location.where());
  draw.require_scale(scale);
  const Array u = draw.open_unit();
  return draw.result(location + scale * where(u < 0.5, log(u * 2.0), -log((1.0 - u) * 2.0)));
}

Array Generator::logistic(const Operand& location, const Operand& scale, const Shape& size,
                          DType dtype) {
  const Draw draw(state_, "logistic", size, dtype, {&location, &scale}, location.where());
  draw.require_scale(scale);
  const Array u = draw.open_unit();
  return draw.result(location + scale * log(u / (1.0 - u)));
}

Array Generator::gumbel(const Operand& location, const Operand& scale, const Shape& size,
                        DType dtype) {
  const Draw draw(state_, "gumbel", size, dtype, {&location, &scale}, location.where());
  draw.require_scale(scale);
  return draw.result(location - scale * log(-log(draw.open_unit())));
}

Array Generator::rayleigh(const Operand& scale, const Shape& size, DType dtype) {
  const Draw draw(state_, "rayleigh", size, dtype, {&scale}, scale.where());
  draw.require_scale(scale);
  return draw.result(scale * sqrt(log(draw.open_unit()) * -2.0));
}

namespace {

void require_exponent(const Draw& draw, const Operand& exponent) {
  draw.require(exponent, [](double value) { return value > 0; }, "the exponent must be positive");
}

}  // namespace

Array Generator::weibull(const Operand& exponent, const Shape& size, DType dtype) {
  const Draw draw(state_, "weibull", size, dtype, {&exponent}, exponent.where());
  require_exponent(draw, exponent);
  return draw.result(heddle::power(-log(draw.open_unit()), 1.0 / exponent));
}

Array Generator::pareto(const Operand& exponent, const Shape& size, DType dtype) {
  const Draw draw(state_, "pareto", size, dtype, {&exponent}, exponent.where());
  require_exponent(draw, exponent);
  return draw.result(expm1(-log(draw.open_unit()) / exponent));
}

Array Generator::power(const Operand& exponent, const Shape& size, DType dtype) {
  const Draw draw(state_, "power", size, dtype, {&exponent}, exponent.where());
  require_exponent(draw, exponent);
  return draw.result(heddle::power(draw.open_unit(), 1.0 / exponent));
}

Array Generator::triangular(const Operand& left, const Operand& mode, const Operand& right,
                            const Shape& size, DType dtype) {
  const Draw draw(state_, "triangular", size, dtype, {&left, &mode, &right}, left.where());
  if (left.array() == nullptr && mode.array() == nullptr && right.array() == nullptr) {
    const double a = frontend::value_of(left.scalar()), c = frontend::value_of(mode.scalar()),
                 b = frontend::value_of(right.scalar());
    if (!(a <= c && c <= b && a < b))
      throw ValueError(
          at("triangular: left <= mode <= right and left < right must hold", left.where()));
  }
  const Array u = draw.unit();
  const Array width = right - left, rise = mode - left, fall = right - mode;
  return draw.result(where(u * width < rise, left + sqrt(u * width * rise),
                           right - sqrt((1.0 - u) * width * fall)));
}

Array Generator::geometric(const Operand& p, const Shape& size) {
  const Draw draw(state_, "geometric", size, DType::f64, {&p}, p.where());
  draw.require(
      p, [](double value) { return value > 0 && value <= 1; },
      "the probability must be above 0 and at most 1");
  // For p = 1, log1p(-1) is -inf, and the first trial succeeds.
  const Array trials = maximum(ceil(log(draw.open_unit()) / log1p(-p)), 1.0);
  return trials.astype(DType::i64, p.where());
}

}  // namespace heddle::random
