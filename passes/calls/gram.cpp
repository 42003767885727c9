#include "passes/calls/gram.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "ir/calls/gram.h"
#include "ir/types/capabilities.h"

namespace heddle::passes {

namespace {

/// How a block works on its part of the rows, as codegen/device/gram_items.h says.
struct GramBlock {
  std::int64_t size;     ///< bytes of an element
  std::int64_t columns;  ///< of the matrix
  std::int64_t tiles = 0;
  std::int64_t stride = 0;  ///< elements between rows in shared memory
  int threads = 0;
  std::int64_t chunk = 0;  ///< rows in shared memory
  int width = 1;           ///< elements in one load

  GramBlock(DType dtype, std::int64_t columns)
      : size(static_cast<std::int64_t>(size_of(dtype))), columns(columns) {
    constexpr std::int64_t access_bytes = 16, tile_bytes = 32, loads = 4;  // of a thread, at once
    const std::int64_t tile = tile_bytes / size, side = (columns + tile - 1) / tile;
    tiles = side * (side + 1) / 2;
    stride = side * tile;
    threads = threads_for(tiles);
    for (width = static_cast<int>(access_bytes / size); columns % width != 0;) width /= 2;
    chunk = std::max<std::int64_t>(threads * loads * access_bytes / (columns * size), 1);
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

// The routine counts elements with 32 bits, also those of its last chunk that are beyond the
// matrix.
bool is_own_kernel(const ir::Type& type, const ir::Target& target) {
  constexpr std::int64_t most_columns = 128, most_of_chunk = 1 << 20;
  constexpr std::int64_t most_elements = std::numeric_limits<std::int32_t>::max() - most_of_chunk;
  const ir::Shape& shape = type.shape;
  if (!ir::capabilities_of(target).splits_long_products || !ir::is_constant(shape) ||
      (type.dtype != DType::f32 && type.dtype != DType::f64))
    return false;
  const std::int64_t rows = extent(shape, 2), columns = extent(shape, 1);
  return 0 < columns && columns <= most_columns && rows <= most_elements / columns;
}

}  // namespace

std::optional<ValueId> lower_gram(Graph& graph, ValueId a, ValueId b, const ir::Target& target,
                                  ir::Location location) {
  constexpr std::int64_t least_rows = 1 << 14;
  if (graph.op(a) != ir::Op::transpose || graph.operands(a)[0] != b || graph.shape(b).size() != 2 ||
      graph.attributes(a).axes != std::vector<std::int64_t>{1, 0} ||
      !is_own_kernel(graph.type(b), target) || extent(graph.shape(b), 2) < least_rows)
    return std::nullopt;
  const GramBlock block(graph.dtype(b), extent(graph.shape(b), 1));
  const std::int64_t parts =
      std::int64_t{target.multiprocessors} * std::max(resident_threads / block.threads, 1);
  const ValueId products =
      graph.add(ir::Op::call, {b}, ir::call_attributes(ir::calls::gram_parts(), {{"parts", parts}}),
                location);
  ir::Attributes along;
  along.axes = {0};
  return graph.add(ir::Op::sum, {products}, along, location);
}

std::optional<ItemCall> gram_item(const Graph& graph, ValueId call, const ir::Target& target) {
  const ir::Type& type = graph.type(graph.operands(call)[0]);
  if (!is_own_kernel(type, target)) return std::nullopt;
  const std::int64_t rows = extent(type.shape, 2), columns = extent(type.shape, 1);
  const auto parts = graph.attributes(call).call->get<std::int64_t>("parts");
  if (parts < 2) return std::nullopt;  // a routine in parts needs several
  const GramBlock block(type.dtype, columns);
  ItemCall item;
  item.routine.section = "gram_items";
  item.routine.function = fmt::format("gram_item<{}, {}, {}, {}, {}, {}, {}>",
                                      type.dtype == DType::f32 ? "float" : "double", rows, columns,
                                      parts, block.threads, block.chunk, block.width);
  item.routine.takes = rows * columns;
  item.routine.takes_at_once = block.width;
  item.routine.makes = parts * columns * columns;
  item.routine.parts = static_cast<int>(parts);
  item.threads = block.threads;
  item.resident = resident_threads;
  item.offsets = {0, 0};
  item.bytes = block.bytes();
  return item;
}

Dim gram_flops(const Graph& graph, ValueId call) {
  const ir::Shape& shape = graph.shape(graph.operands(call)[0]);
  return ir::element_count(shape) * (shape.back() + Dim(1));
}

}  // namespace heddle::passes
