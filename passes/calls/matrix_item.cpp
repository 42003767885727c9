#include "passes/calls/matrix_item.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/types/capabilities.h"

namespace heddle::passes {

namespace {

constexpr std::int64_t line = 128;  // bytes
constexpr std::int64_t most = 32;   // rows and columns
constexpr int lanes = 32;           // of a warp

std::int64_t extent(const ir::Shape& shape, std::size_t from_end) {
  return shape[shape.size() - from_end].constant();
}

const char* type_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "float";
    case DType::f64:
      return "double";
    case DType::c64:
      return "heddle_scalar::complex64";
    default:
      return "heddle_scalar::complex128";
  }
}

/// Lays out the memory of an item, and names its routine: cholesky_item of section matrix_items. On
/// the host it is in section matrix_items_host. Of a matrix that fits into the registers of a GPU's
/// lane, it is cholesky_lane of section lane_matrices.
class Layout {
 public:
  Layout(DType dtype, const ir::Target& target)
      : dtype_(dtype),
        blocks_(ir::capabilities_of(target).blocks),
        most_item_bytes_(most_item_bytes(target)),
        element_(size_of(dtype)) {
    item_.padding = blocks_ ? static_cast<int>(element_) : 0;
  }

  /// The routine of a matrix, whose `rows` are held by one lane each where no lane holds all.
  void choose(const char* name, std::int64_t rows, std::int64_t columns,
              const char* section = "matrix_items", const char* lane_section = "lane_matrices") {
    constexpr std::size_t register_bytes = 256;
    whole_ = blocks_ && static_cast<std::size_t>(rows * columns) * element_ <= register_bytes;
    set_lanes(whole_ ? 1 : rows);
    set_section(whole_ ? lane_section : section);
    name_ = fmt::format("{}_{}", name, whole_ ? "lane" : "item");
  }
  /// Of a routine whose lanes hold so many elements: 128 registers, where that is enough. More
  /// warps then hide each other's latencies.
  void hold(std::int64_t elements) {
    constexpr std::int64_t held = 96;  // registers, of 128
    if (elements * static_cast<std::int64_t>(element_) <= held * 4) item_.resident = 512;
  }
  /// Whether one lane holds the matrix.
  bool whole() const { return whole_; }
  /// A routine of so many lanes.
  void choose_item(const char* name, std::int64_t wanted, const char* section) {
    set_lanes(wanted);
    set_section(section);
    name_ = fmt::format("{}_item", name);
  }

  /// The offset of an array of the item. On a GPU, an element follows every line.
  std::int64_t add(std::int64_t count, std::size_t element) {
    const std::int64_t bytes = count * static_cast<std::int64_t>(element);
    const std::int64_t offset = item_.bytes;
    const std::int64_t all = bytes + (bytes - 1) / line * item_.padding;
    const std::int64_t alignment = blocks_ ? 16 : 64;
    item_.bytes += (all + alignment - 1) / alignment * alignment;
    return offset;
  }
  std::int64_t add_numbers(std::int64_t count) { return add(count, element_); }
  std::int64_t add_integers(std::int64_t count) { return add(count, sizeof(std::int32_t)); }

  /// With these template arguments after the dtype: `sizes`, the lanes where the routine is told of
  /// them, and `flags`. Neighbouring items begin an odd number of elements apart, or two elements
  /// further in a line, so that their lanes use different banks. Nullopt if the items of a warp
  /// need more memory than the target has.
  std::optional<ItemCall> finish(const std::vector<std::int64_t>& sizes, std::string_view flags,
                                 std::vector<std::int64_t> offsets) && {
    std::string arguments = fmt::format("{}, {}", type_of(dtype_), fmt::join(sizes, ", "));
    if (blocks_) {
      if (!whole_) arguments += fmt::format(", {}", item_.threads);
      const std::int64_t beside = whole_ ? 2 * item_.padding : line;
      item_.bytes = (item_.bytes + beside - 1) / beside * beside + (whole_ ? 1 : 2) * item_.padding;
      if (item_.bytes * (lanes / item_.threads) > most_item_bytes_) return std::nullopt;
    }
    item_.routine.function = fmt::format("{}<{}{}>", name_, arguments, flags);
    item_.offsets = std::move(offsets);
    return std::move(item_);
  }

 private:
  void set_lanes(std::int64_t wanted) {
    item_.lanes = blocks_;
    if (blocks_)
      item_.threads = static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(wanted)));
  }
  void set_section(const char* section) {
    item_.routine.section = fmt::format("{}{}{}", is_complex(dtype_) ? "complex_" : "", section,
                                        blocks_ ? "" : "_host");
  }

  DType dtype_;
  bool blocks_;
  std::int64_t most_item_bytes_;
  std::size_t element_;
  bool whole_ = false;  ///< a lane holds the matrix
  std::string name_;
  ItemCall item_;
};

}  // namespace

bool is_stack(const ir::Shape& shape) { return shape.size() > 2; }

// Constant extents that are not 0. On a CPU, at least one batch axis.
bool are_small(const ir::Shape& shape, const ir::Target& target) {
  return (is_stack(shape) || ir::capabilities_of(target).blocks) &&
         std::all_of(shape.end() - 2, shape.end(), [](Dim extent) {
           return extent.is_constant() && extent.constant() > 0 && extent.constant() <= most;
         });
}

std::optional<ItemCall> cholesky_item(const Graph& graph, ValueId call, const ir::Target& target) {
  const ir::Type& type = graph.type(graph.operands(call)[0]);
  if (!are_small(type.shape, target)) return std::nullopt;
  const std::int64_t n = extent(type.shape, 1);
  Layout layout(type.dtype, target);
  const std::int64_t a = layout.add_numbers(n * n), status = layout.add_integers(1);
  const bool upper = graph.attributes(call).call->get<bool>("upper");
  layout.choose("cholesky", n, n);
  return std::move(layout).finish({n}, upper ? ", true" : ", false", {a, a, status});
}

std::optional<ItemCall> lu_item(const Graph& graph, ValueId call, const ir::Target& target) {
  const ir::Type& type = graph.type(graph.operands(call)[0]);
  if (!are_small(type.shape, target)) return std::nullopt;
  const std::int64_t rows = extent(type.shape, 1), columns = extent(type.shape, 2);
  Layout layout(type.dtype, target);
  const std::int64_t a = layout.add_numbers(rows * columns);
  const std::int64_t pivots = layout.add_integers(std::min(rows, columns));
  const std::int64_t status = layout.add_integers(1);
  layout.choose("lu", rows, columns);
  return std::move(layout).finish({rows, columns}, "", {a, a, pivots, status});
}

std::optional<ItemCall> solve_item(const Graph& graph, ValueId call, const ir::Target& target) {
  const ir::Type& type = graph.type(graph.operands(call)[0]);
  const ir::Shape& sides = graph.shape(graph.operands(call)[1]);
  if (!are_small(type.shape, target) || !are_small(sides, target)) return std::nullopt;
  const std::int64_t n = extent(type.shape, 1), count = extent(sides, 2);
  Layout layout(type.dtype, target);
  const std::int64_t a = layout.add_numbers(n * n), b = layout.add_numbers(count * n);
  const std::int64_t pivots = layout.add_integers(n), status = layout.add_integers(1);
  const bool transposed = graph.attributes(call).call->get<bool>("transposed");
  layout.choose("solve", n, n);
  return std::move(layout).finish({n, count}, transposed ? ", true" : ", false",
                                  {a, b, b, a, pivots, status});
}

std::optional<ItemCall> inverse_item(const Graph& graph, ValueId call, const ir::Target& target) {
  const ir::Type& type = graph.type(graph.operands(call)[0]);
  if (!are_small(type.shape, target)) return std::nullopt;
  const std::int64_t n = extent(type.shape, 1);
  Layout layout(type.dtype, target);
  const std::int64_t a = layout.add_numbers(n * n), status = layout.add_integers(1);
  layout.choose("inverse", n, n);
  if (!layout.whole()) return std::nullopt;
  return std::move(layout).finish({n}, "", {a, a, status});
}

std::optional<ItemCall> slogdet_item(const Graph& graph, ValueId call, const ir::Target& target) {
  const ir::Type& type = graph.type(graph.operands(call)[0]);
  if (!are_small(type.shape, target)) return std::nullopt;
  const std::int64_t n = extent(type.shape, 1);
  Layout layout(type.dtype, target);
  const std::int64_t a = layout.add_numbers(n * n), sign = layout.add_numbers(1);
  const std::int64_t logarithm = layout.add(1, size_of(real_dtype(type.dtype)));
  layout.choose("slogdet", n, n, "determinant_items", "lane_determinants");
  return std::move(layout).finish({n}, "", {a, sign, logarithm});
}

// On a CPU, LAPACK has them.
std::optional<ItemCall> geqrf_item(const Graph& graph, ValueId call, const ir::Target& target) {
  const ir::Type& type = graph.type(graph.operands(call)[0]);
  if (!are_small(type.shape, target) || !ir::capabilities_of(target).blocks) return std::nullopt;
  const std::int64_t columns = extent(type.shape, 2), rows = extent(type.shape, 1);
  Layout layout(type.dtype, target);
  const std::int64_t a = layout.add_numbers(rows * columns);
  const std::int64_t taus = layout.add_numbers(std::min(rows, columns));
  layout.choose_item("geqrf", columns, "reflector_items");
  return std::move(layout).finish({rows, columns}, "", {a, a, taus});
}

std::optional<ItemCall> householder_item(const Graph& graph, ValueId call,
                                         const ir::Target& target) {
  const ir::Type& type = graph.type(graph.operands(call)[0]);
  const Dim count = graph.shape(graph.operands(call)[1]).back();
  if (!are_small(type.shape, target) || !ir::capabilities_of(target).blocks ||
      !count.is_constant() || count == Dim(0))
    return std::nullopt;
  const std::int64_t columns = extent(type.shape, 2), rows = extent(type.shape, 1);
  Layout layout(type.dtype, target);
  const std::int64_t a = layout.add_numbers(rows * columns);
  const std::int64_t taus = layout.add_numbers(count.constant());
  layout.choose_item("householder", columns, "reflector_items");
  return std::move(layout).finish({rows, columns, count.constant()}, "", {a, taus, a});
}

std::optional<ItemCall> hermitian_item(const Graph& graph, ValueId call, const ir::Target& target) {
  const ir::Type& type = graph.type(graph.operands(call)[0]);
  if (!are_small(type.shape, target) || !ir::capabilities_of(target).blocks) return std::nullopt;
  const std::int64_t n = extent(type.shape, 1);
  const bool vectors = graph.result_types(call).size() == 3;
  Layout layout(type.dtype, target);
  const std::int64_t a = layout.add_numbers(n * n);
  const std::int64_t values = layout.add(n, size_of(real_dtype(type.dtype)));
  const std::int64_t status = layout.add_integers(1);
  layout.choose_item(vectors ? "eigh" : "eigvalsh", n, "jacobi_items");
  const bool upper = graph.attributes(call).call->get<bool>("upper");
  std::vector<std::int64_t> offsets{a, values, status};
  if (vectors) offsets.insert(offsets.begin() + 2, a);
  return std::move(layout).finish({n}, upper ? ", true" : ", false", std::move(offsets));
}

std::optional<ItemCall> svdvals_item(const Graph& graph, ValueId call, const ir::Target& target) {
  const ir::Type& type = graph.type(graph.operands(call)[0]);
  if (!are_small(type.shape, target) || !is_stack(type.shape) ||
      !ir::capabilities_of(target).blocks)
    return std::nullopt;
  const std::int64_t m = extent(type.shape, 2), n = extent(type.shape, 1), k = std::min(m, n);
  Layout layout(type.dtype, target);
  const std::int64_t a = layout.add_numbers(m * n);
  const std::int64_t values = layout.add(k, size_of(real_dtype(type.dtype)));
  const std::int64_t status = layout.add_integers(1);
  layout.choose_item("svdvals", k, "svd_items");
  layout.hold(2 * std::max(m, n));
  return std::move(layout).finish({m, n}, "", {a, values, status});
}

std::optional<ItemCall> svd_item(const Graph& graph, ValueId call, const ir::Target& target) {
  const ir::Type& type = graph.type(graph.operands(call)[0]);
  if (!are_small(type.shape, target) || !is_stack(type.shape) ||
      !ir::capabilities_of(target).blocks)
    return std::nullopt;
  const std::int64_t m = extent(type.shape, 2), n = extent(type.shape, 1), k = std::min(m, n);
  const bool full = graph.attributes(call).call->get<bool>("full_matrices");
  Layout layout(type.dtype, target);
  // vh is stored where the matrix was, and after it its reflectors and their factors.
  const std::int64_t a = layout.add_numbers(std::max(m * n + k, (full ? n : k) * n));
  const std::int64_t u = layout.add_numbers(m * (full ? m : k));
  const std::int64_t values = layout.add(k, size_of(real_dtype(type.dtype)));
  const std::int64_t status = layout.add_integers(1);
  layout.choose_item("svd", full ? std::max(m, n) : k, "svd_items");
  layout.hold(3 * std::max(m, n));
  return std::move(layout).finish({m, n}, full ? ", true" : ", false", {a, u, values, a, status});
}

// On a CPU, its library multiplies larger matrices faster.
std::optional<ItemCall> matmul_item(const Graph& graph, ValueId call, const ir::Target& target) {
  constexpr std::int64_t least_batch = 64;
  const DType dtype = graph.dtype(call);
  const bool numbers = dtype == DType::f32 || dtype == DType::f64 || is_complex(dtype);
  const ir::Shape &a = graph.shape(graph.operands(call)[0]),
                  &b = graph.shape(graph.operands(call)[1]);
  if (!numbers || !are_small(a, target) || !are_small(b, target) || a.size() != b.size() ||
      !std::equal(a.begin(), a.end() - 2, b.begin()))
    return std::nullopt;
  const Dim batch = ir::element_count({a.begin(), a.end() - 2});
  if (!batch.is_constant() || batch.constant() < least_batch) return std::nullopt;
  const std::int64_t m = extent(a, 2), depth = extent(a, 1), n = extent(b, 1);
  const bool blocks = ir::capabilities_of(target).blocks;
  // Libraries are faster with larger ones: cuBLAS took 21 us for 4,096 of 32 x 32 on an H100.
  const std::int64_t largest = blocks || is_complex(dtype) ? 16 : 8;
  if (std::max({m, depth, n}) > largest) return std::nullopt;
  Layout layout(dtype, target);
  const std::int64_t left = layout.add_numbers(m * depth);
  const std::int64_t right = layout.add_numbers(std::max(m, depth) * n);
  // On a GPU, the lanes hold the product before they store it.
  const std::int64_t product = blocks ? right : layout.add_numbers(m * n);
  constexpr std::int64_t register_bytes = 256;  // of the product, in a lane
  const std::int64_t rows =
      std::clamp<std::int64_t>(register_bytes / (n * static_cast<std::int64_t>(size_of(dtype))), 1,
                               (m + most / 2 - 1) / (most / 2));
  layout.choose_item("product", (m + rows - 1) / rows, "product_items");
  return std::move(layout).finish({m, depth, n}, "", {left, right, product});
}

}  // namespace heddle::passes
