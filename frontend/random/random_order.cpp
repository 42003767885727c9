// Permutations and choices, made by sorting random keys.
#include <cstring>

#include <fmt/format.h>

#include "heddle/creation.h"
#include "heddle/elementwise.h"
#include "heddle/manipulation.h"
#include "heddle/random.h"
#include "heddle/scans.h"
#include "heddle/searching.h"
#include "heddle/sorting.h"
#include "heddle/take.h"

#include "frontend/array/access.h"
#include "frontend/graph/axes.h"
#include "frontend/graph/record.h"

namespace heddle::random {

using frontend::Access;
using frontend::at;
using frontend::NodeRef;

namespace {

/// The extent of an axis to be permuted; it must be constant.
std::int64_t extent_along(std::string_view op, const Array& x, std::int64_t axis,
                          SourceLocation where) {
  const NodeRef node = Access::node(x, where);
  frontend::require_rank(op, node, 1, where);
  const std::int64_t place = frontend::axis_of(op, axis, frontend::rank_of(node), where);
  return frontend::constant_extent(op, node, place, where);
}

void check_choice(std::int64_t n, std::int64_t count, const Choice& how, SourceLocation where) {
  if (n < 0 || (n == 0 && count > 0))
    throw ValueError(at(fmt::format("choice: there is nothing to choose from {}", n), where));
  if (!how.replace && count > n) {
    throw ValueError(
        at(fmt::format("choice: {} of {} cannot be chosen without replacement; pass replace = true",
                       count, n),
           where));
  }
  if (!how.p.has_value()) return;
  const NodeRef p = Access::node(how.p, where);
  if (frontend::rank_of(p) != 1 || !(p->shape[0] == ir::Dim(n))) {
    throw ShapeError(
        at(fmt::format("choice: p must be 1-d with one probability for each of {} elements, not {}",
                       n, frontend::describe(*p)),
           where));
  }
}

}  // namespace

Array Generator::permutation(std::int64_t n, SourceLocation where) {
  if (n < 0) throw ValueError(at("permutation: the number must not be negative", where));
  return argsort({bits({n}, where), where});
}

Array Generator::permutation(const Array& x, std::int64_t axis, SourceLocation where) {
  const std::int64_t n = extent_along("permutation", x, axis, where);
  return take({x, where}, {permutation(n, where), where}, axis);
}

Array Generator::permuted(const Array& x, std::optional<std::int64_t> axis, SourceLocation where) {
  const Shape shape = frontend::constant_shape("permuted", Access::node(x, where), where);
  if (!axis) return permutation(x.ravel(where), 0, where).reshape(shape, where);
  extent_along("permuted", x, *axis, where);
  return take_along_axis({x, where}, {argsort({bits(shape, where), where}, *axis), where}, *axis);
}

void Generator::shuffle(Array& x, std::int64_t axis, SourceLocation where) {
  x = permutation(x, axis, where);
}

Array Generator::choice(std::int64_t n, const Shape& size, const Choice& how,
                        SourceLocation where) {
  const ir::Dim count = ir::element_count(frontend::to_ir(size));
  check_choice(n, count.constant(), how, where);
  if (n == 0) return zeros<std::int64_t>(size);
  if (how.replace && !how.p.has_value()) return integers({n, where}, size);
  if (how.replace) {
    const Array sums = cumsum({how.p.astype(DType::f64, where), where}, 0);
    // The last share is exactly 1, regardless of earlier rounding.
    const Array shares = sums / sums(slice(n - 1, n));
    return searchsorted({shares, where}, {random(size, DType::f64, where), where}, "right");
  }
  if (!how.p.has_value()) {
    return permutation(n, where)(slice(0, count.constant())).reshape(size, where);
  }
  // Choose the elements with the earliest events of Poisson processes with these rates (P.
  // Efraimidis and P. Spirakis, 2006).
  const Array times =
      standard_exponential({n}, DType::f64, where) / how.p.astype(DType::f64, where);
  const Array first = topk({times, where}, count.constant(), 0, false).indices;
  return first.reshape(size, where);
}

Array Generator::choice(const Array& x, const Shape& size, const Choice& how, std::int64_t axis,
                        SourceLocation where) {
  const std::int64_t n = extent_along("choice", x, axis, where);
  return take({x, where}, {choice(n, size, how, where), where}, axis);
}

std::vector<std::byte> Generator::bytes(std::int64_t length, SourceLocation where) {
  if (length < 0) throw ValueError(at("bytes: the length must not be negative", where));
  const auto words = bits({(length + 7) / 8}, where).to_vector<std::uint64_t>(where);
  std::vector<std::byte> result(static_cast<std::size_t>(length));
  if (length > 0) std::memcpy(result.data(), words.data(), result.size());
  return result;
}

}  // namespace heddle::random
