#include "passes/calls/gram.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "ir/calls/gram.h"
#include "ir/types/capabilities.h"
#include "passes/calls/transposed_operand.h"

namespace heddle::passes {

namespace {

/// Elements in one load.
int width_of(std::int64_t columns, std::int64_t size) {
  constexpr std::int64_t access_bytes = 16;
  int width = static_cast<int>(access_bytes / size);
  while (columns % width != 0) width /= 2;
  return width;
}

/// How a block works on its part of the rows, as codegen/device/gram_items.h says.
struct GramBlock {
  std::int64_t size;         ///< bytes of an element
  std::int64_t left, right;  ///< columns of the matrices; 0 on the right: the same matrix
  std::int64_t tiles = 0;
  std::int64_t stride = 0;  ///< elements between rows in shared memory
  int threads = 0;
  std::int64_t chunk = 0;  ///< rows in shared memory

  GramBlock(DType dtype, std::int64_t left, std::int64_t right, std::int64_t shared_bytes)
      : size(static_cast<std::int64_t>(size_of(dtype))), left(left), right(right) {
    constexpr std::int64_t access_bytes = 16, tile_bytes = 32, loads = 4;  // of a thread, at once
    const std::int64_t tile = tile_bytes / size;
    const std::int64_t rows = (left + tile - 1) / tile, columns = (right + tile - 1) / tile;
    tiles = right == 0 ? rows * (rows + 1) / 2 : rows * columns;
    stride = (rows + columns) * tile + access_bytes / size;
    threads = threads_for(tiles);
    const std::int64_t slices = threads / tiles;
    chunk = std::max<std::int64_t>(threads * loads * access_bytes / ((left + right) * size), 1);
    constexpr std::int64_t most_bytes = 96
                                        << 10;  // lets two blocks run on a multiprocessor of sm_90
    chunk = std::min(chunk, std::min(most_bytes, shared_bytes) / (2 * stride * size));
    if (chunk > slices) chunk -= chunk % slices;  // no slice waits for others
  }

  /// Two chunks; later, eight sums of half of the threads.
  std::int64_t bytes() const {
    constexpr std::int64_t line = 128;
    const std::int64_t slices = threads / tiles;
    const std::int64_t most = std::max(2 * chunk * stride, 8 * ((slices + 1) / 2) * tiles) * size;
    return (most + line - 1) / line * line;
  }

 private:
  /// Few threads, most of which have a tile.
  static int threads_for(std::int64_t tiles) {
    constexpr int least = 256, most = 1024, warp = 32;
    for (int count = least; count < most; count += warp) {
      if (count / tiles * tiles * 10 >= std::int64_t{count} * 9) return count;
    }
    return most;
  }
};

/// Threads of a multiprocessor; a thread has a tile of sums, two rows of it, and loads.
constexpr int resident_threads = 512;

std::int64_t extent(const ir::Shape& shape, std::size_t from_end) {
  return shape[shape.size() - from_end].constant();
}

/// The matrices of a product, in stacks. With one operand, it is both.
struct Factors {
  ir::Type left, right;
  bool same;

  Factors(const Graph& graph, ValueId left, ValueId right)
      : left(graph.type(left)), right(graph.type(right)), same(left == right) {}
  GramBlock block(const ir::Target& target) const {
    return {left.dtype, extent(left.shape, 1), same ? 0 : extent(right.shape, 1),
            target.shared_bytes_per_block};
  }
  std::int64_t count() const {
    return ir::element_count({left.shape.begin(), left.shape.end() - 2}).constant();
  }
};

Factors factors_of(const Graph& graph, ValueId call) {
  return {graph, graph.operands(call).front(), graph.operands(call).back()};
}

/// Whether memory rather than arithmetic limits the product on a GPU, or half of the arithmetic is
/// saved.
bool is_thin(const Factors& factors, const ir::Target& target) {
  constexpr std::int64_t most_columns = 128, most_tiles = 64;
  const std::int64_t left = extent(factors.left.shape, 1), right = extent(factors.right.shape, 1);
  if (left == 0 || right == 0 || left > most_columns || right > most_columns) return false;
  return factors.same || factors.block(target).tiles <= most_tiles;
}

// The routine counts elements with 32 bits, also those of its last chunk that are beyond the
// matrix.
bool is_own_kernel(const Factors& factors, const ir::Target& target) {
  constexpr std::int64_t most_of_chunk = 1 << 20;
  constexpr std::int64_t most_elements = std::numeric_limits<std::int32_t>::max() - most_of_chunk;
  const ir::Type &left = factors.left, &right = factors.right;
  if (!ir::capabilities_of(target).splits_long_products || !ir::is_constant(left.shape) ||
      !ir::is_constant(right.shape) || (left.dtype != DType::f32 && left.dtype != DType::f64) ||
      !std::equal(left.shape.begin(), left.shape.end() - 1, right.shape.begin(),
                  right.shape.end() - 1) ||
      !is_thin(factors, target))
    return false;
  const std::int64_t columns = std::max(extent(left.shape, 1), extent(right.shape, 1));
  return extent(left.shape, 2) <= most_elements / columns;
}

/// The blocks that fill the GPU.
std::int64_t blocks_of(const GramBlock& block, const ir::Target& target) {
  return std::int64_t{target.multiprocessors} * std::max(resident_threads / block.threads, 1);
}

}  // namespace

std::optional<ValueId> lower_gram(Graph& graph, ValueId a, ValueId b, const ir::Target& target,
                                  ir::Location location) {
  constexpr std::int64_t least_rows = 1 << 14;
  if (!swaps_last_axes(graph, a)) return std::nullopt;
  const ValueId left = graph.operands(a)[0];
  const Factors factors(graph, left, b);
  if (!is_own_kernel(factors, target) || extent(factors.left.shape, 2) < least_rows)
    return std::nullopt;
  const std::int64_t count = factors.count();
  const std::int64_t parts = count == 0 ? 0 : blocks_of(factors.block(target), target) / count;
  if (parts < 2) return std::nullopt;
  ir::Attributes along;
  along.axes = {static_cast<std::int64_t>(factors.left.shape.size()) - 2};
  const ValueId products =
      graph.add(ir::Op::call, factors.same ? std::vector{b} : std::vector{left, b},
                ir::call_attributes(ir::calls::gram_parts(), {{"parts", parts}}), location);
  return graph.add(ir::Op::sum, {products}, along, location);
}

std::optional<ItemCall> gram_item(const Graph& graph, ValueId call, const ir::Target& target) {
  const Factors factors = factors_of(graph, call);
  if (!is_own_kernel(factors, target)) return std::nullopt;
  const auto parts = graph.attributes(call).call->get<std::int64_t>("parts");
  if (parts < 2) return std::nullopt;  // a routine in parts needs several
  const std::int64_t rows = extent(factors.left.shape, 2);
  const std::int64_t left = extent(factors.left.shape, 1), right = extent(factors.right.shape, 1);
  const GramBlock block = factors.block(target);
  ItemCall item;
  item.routine.section = "gram_items";
  const auto matrix = [&](std::int64_t columns) {
    const int width = width_of(columns, block.size);
    item.routine.takes.push_back({rows * columns, width});
    return fmt::format("{}, {}", columns, width);
  };
  std::string matrices = matrix(left);
  if (!factors.same) matrices += ", " + matrix(right);
  item.routine.function =
      fmt::format("{}<{}, {}, {}, {}, {}, {}>", factors.same ? "gram_item" : "gram_pair_item",
                  factors.left.dtype == DType::f32 ? "float" : "double", rows, matrices, parts,
                  block.threads, block.chunk);
  item.routine.makes = {parts * left * right};
  item.routine.parts = static_cast<int>(parts);
  item.threads = block.threads;
  item.resident = resident_threads;
  item.offsets.assign(item.routine.takes.size() + 1, 0);
  item.bytes = block.bytes();
  return item;
}

Dim gram_flops(const Graph& graph, ValueId call) {
  const Factors factors = factors_of(graph, call);
  const Dim elements = ir::element_count(factors.left.shape), columns = factors.right.shape.back();
  return elements * (factors.same ? columns + Dim(1) : columns * Dim(2));
}

}  // namespace heddle::passes
