#include <algorithm>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "heddle/elementwise.h"
#include "heddle/linalg.h"
#include "heddle/linear_algebra.h"
#include "heddle/manipulation.h"
#include "heddle/matrices.h"

#include "frontend/array/access.h"
#include "frontend/array/promote.h"
#include "frontend/graph/at_location.h"
#include "frontend/graph/axes.h"
#include "frontend/linalg/matrix_operand.h"

namespace heddle {

using frontend::Access;
using frontend::AtLocation;
using frontend::NodeRef;

Array linalg::matrix_power(const Operand& a, std::int64_t n) {
  const NodeRef node = frontend::asarray_node("linalg.matrix_power", a);
  frontend::require_square("linalg.matrix_power", node, a.where());
  const AtLocation here(a);
  if (n == 0) {
    const frontend::OpRecorder on{a.where()};
    const ir::Shape square(node->shape.end() - 2, node->shape.end());
    const NodeRef diagonal =
        on(ir::Op::equal, frontend::record_iota(square, 0, DType::i64, a.where()),
           frontend::record_iota(square, 1, DType::i64, a.where()));
    return Access::make(frontend::with_batch(on.cast(diagonal, node->dtype),
                                             frontend::batch_of(node), 2, a.where()));
  }
  Array square = n < 0 ? inv(a) : Access::make(node);
  // Negated as unsigned, as the smallest integer has no opposite.
  std::uint64_t left =
      n < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n);
  std::optional<Array> product;
  for (;; square = matmul(here(square), here(square))) {
    if (left % 2 == 1) product = product ? matmul(here(*product), here(square)) : square;
    left /= 2;
    if (left == 0) return *product;
  }
}

Array linalg::tensorsolve(const Operand& a, const Operand& b, const Axes& axes) {
  constexpr const char* name = "linalg.tensorsolve";
  const AtLocation here(a);
  Array matrix = Access::make(frontend::asarray_node(name, a));
  const Array side = Access::make(frontend::asarray_node(name, b));
  const int rank = matrix.ndim();
  if (!axes.all()) {
    std::vector<std::int64_t> order = frontend::all_axes(rank);
    for (const std::int64_t axis : axes.values()) {
      const std::int64_t moved = frontend::axis_of(name, axis, rank, a.where());
      std::erase(order, moved);
      order.push_back(moved);
    }
    matrix = transpose(here(matrix), order);
  }
  const Shape shape = matrix.shape();
  const auto unknowns = static_cast<std::size_t>(std::max(rank - side.ndim(), 0));
  const Shape result(shape.end() - static_cast<std::ptrdiff_t>(unknowns), shape.end());
  std::int64_t n = 1;
  for (const std::int64_t extent : result) n *= extent;
  if (matrix.size() != n * n || side.size() != n) {
    throw ShapeError(frontend::at(
        fmt::format("{}({}, {}): the first {} axes of a must have as many elements as the others, "
                    "and as b",
                    name, frontend::describe(*Access::node(matrix, a.where())),
                    frontend::describe(*Access::node(side, a.where())), side.ndim()),
        a.where()));
  }
  const Array flat = reshape(here(side), {n});
  return reshape(here(solve(here(reshape(here(matrix), {n, n})), here(flat))), result);
}

Array linalg::tensorinv(const Operand& a, std::int64_t ind) {
  constexpr const char* name = "linalg.tensorinv";
  const AtLocation here(a);
  const Array tensor = Access::make(frontend::asarray_node(name, a));
  if (ind <= 0) {
    throw ValueError(
        frontend::at(fmt::format("{}: ind is {}; it must be positive", name, ind), a.where()));
  }
  const Shape shape = tensor.shape();
  const auto first = std::min(static_cast<std::size_t>(ind), shape.size());
  Shape result(shape.begin() + static_cast<std::ptrdiff_t>(first), shape.end());
  std::int64_t n = 1;
  for (const std::int64_t extent : result) n *= extent;
  result.insert(result.end(), shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(first));
  if (tensor.size() != n * n) {
    throw ShapeError(frontend::at(
        fmt::format("{}({}): the first {} axes must have as many elements as the others", name,
                    frontend::describe(*Access::node(tensor, a.where())), first),
        a.where()));
  }
  return reshape(here(inv(here(reshape(here(tensor), {n, n})))), result);
}

}  // namespace heddle
