#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "heddle/linalg.h"
#include "heddle/linear_algebra.h"

#include "frontend/array/access.h"
#include "frontend/graph/at_location.h"
#include "frontend/graph/axes.h"
#include "frontend/graph/record.h"

namespace heddle {

namespace {

/// Where to split each chain of matrices, so that there are as few multiplications as possible.
/// Matrix i is extents[i] by extents[i + 1].
class Order {
 public:
  explicit Order(const std::vector<std::int64_t>& extents) : count_(extents.size() - 1) {
    splits_.assign(count_ * count_, 0);
    std::vector<double> costs(count_ * count_, 0);
    for (std::size_t length = 1; length < count_; ++length) {
      for (std::size_t first = 0; first + length < count_; ++first) {
        const std::size_t last = first + length;
        double best = std::numeric_limits<double>::infinity();
        for (std::size_t split = first; split < last; ++split) {
          const double cost = costs[first * count_ + split] + costs[(split + 1) * count_ + last] +
                              static_cast<double>(extents[first]) *
                                  static_cast<double>(extents[split + 1]) *
                                  static_cast<double>(extents[last + 1]);
          if (cost >= best) continue;
          best = cost;
          splits_[first * count_ + last] = split;
        }
        costs[first * count_ + last] = best;
      }
    }
  }
  /// The left product of the chain [first, last] ends with this matrix.
  std::size_t split(std::size_t first, std::size_t last) const {
    return splits_[first * count_ + last];
  }

 private:
  std::size_t count_;
  std::vector<std::size_t> splits_;
};

Array product(const std::vector<Array>& arrays, const Order& order, std::size_t first,
              std::size_t last, const frontend::AtLocation& here) {
  if (first == last) return arrays[first];
  const std::size_t split = order.split(first, last);
  return dot(here(product(arrays, order, first, split, here)),
             here(product(arrays, order, split + 1, last, here)));
}

}  // namespace

Array linalg::multi_dot(Arrays arrays, SourceLocation where) {
  if (arrays.size() < 2)
    throw ValueError(frontend::at("linalg.multi_dot: needs at least two arrays", where));
  const std::vector<Array> chain(arrays.begin(), arrays.end());
  std::vector<std::int64_t> extents;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    const Shape shape = frontend::constant_shape("linalg.multi_dot",
                                                 frontend::Access::node(chain[i], where), where);
    const bool at_end = i == 0 || i + 1 == chain.size();
    if (shape.size() != 2 && !(shape.size() == 1 && at_end)) {
      throw ShapeError(
          frontend::at(fmt::format("linalg.multi_dot: array {} has {} axes; it must be a matrix{}",
                                   i, shape.size(), at_end ? " or a vector" : ""),
                       where));
    }
    // A vector is a row at the start and a column at the end.
    if (i == 0) extents.push_back(shape.size() == 1 ? 1 : shape[0]);
    extents.push_back(shape.size() == 1 && i != 0 ? 1 : shape.back());
  }
  return product(chain, Order(extents), 0, chain.size() - 1, frontend::AtLocation(where));
}

}  // namespace heddle
