#include "passes/calls/qr.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "ir/types/capabilities.h"
#include "passes/calls/matrix_item.h"
#include "passes/rewrite/rewrite.h"

namespace heddle::passes {

using ir::Op;

namespace {

/// Matrices up to this extent are expanded: cuBLAS solves stacks of such triangular systems in one
/// call.
constexpr std::int64_t most_expanded = 512;

/// Whether this is a stack of small matrices with reflectors.
bool is_stack_of_small(const Graph& graph, ValueId reflectors, ValueId tau) {
  const ir::Shape& shape = graph.shape(reflectors);
  const Dim m = shape.back(), k = graph.shape(tau).back();
  if (!m.is_constant() || m.constant() > most_expanded) return false;
  if (!shape[shape.size() - 2].is_constant() || !k.is_constant() || k == Dim(0)) return false;
  return !is_single({shape.begin(), shape.end() - 2});
}

/// The product of the reflectors of a stack of matrices, as other ops. In the compact WY form,
///
///   H1 H2 ... Hk = I - V T V^H,
///
/// where column j of V is v of Hj = I - tau_j v v^H, and T is upper triangular. The inverse of T
/// has 1 / tau_j on its diagonal and the elements of V^H V above it. All matrices here are the
/// transposes of those, as the op has them. Where tau_j is 0, column j of V is 0, and the inverse
/// of T has 1 on its diagonal.
class HouseholderProduct {
 public:
  /// Of reflectors [..., c, m] and tau [..., k].
  HouseholderProduct(Graph& graph, ValueId reflectors, ValueId tau, ir::Location location)
      : graph_(graph), location_(location), tau_(tau), dtype_(graph.dtype(reflectors)) {
    const ir::Shape shape = graph.shape(reflectors);
    m_ = shape.back(), c_ = shape[shape.size() - 2], k_ = graph.shape(tau).back();
    none_ = add(Op::equal, {tau_, constant(0)});
    v_ = vectors(reflectors);
  }

  /// [..., c, m]: row j is column j of the product.
  ValueId columns() {
    const ValueId conjugate = is_complex(dtype_) ? add(Op::conjugate, {v_}) : v_;
    const ValueId solved =
        add(Op::call, {inverse_factor(matmul(v_, transposed(conjugate))), v_},
            ir::call_attributes(ir::calls::solve_triangular(), {{"lower", true}}));
    const ValueId product = matmul(transposed(part(conjugate, k_, c_)), solved);
    return add(Op::subtract, {select(on_diagonal(c_, m_), constant(1), constant(0)), product});
  }

 private:
  ValueId add(Op op, std::initializer_list<ValueId> operands, ir::Attributes attributes = {}) {
    return graph_.add(op, operands, std::move(attributes), location_);
  }
  ValueId constant(double value) {
    return graph_.constant(dtype_, ir::constant_bits(dtype_, value));
  }
  ValueId select(ValueId condition, ValueId yes, ValueId no) {
    return add(Op::select, {condition, yes, no});
  }
  ValueId matmul(ValueId a, ValueId b) {
    return add(Op::call, {a, b}, ir::matmul_attributes(Precision::ieee));
  }

  /// The row or column number of each element of a rows by columns matrix.
  ValueId index(Dim rows, Dim columns, std::int64_t axis) {
    ir::Attributes attributes;
    attributes.dtype = DType::i32;
    attributes.shape = {rows, columns};
    attributes.axes = {axis};
    return add(Op::iota, {}, std::move(attributes));
  }
  ValueId on_diagonal(Dim rows, Dim columns) {
    return add(Op::equal, {index(rows, columns, 0), index(rows, columns, 1)});
  }

  /// [..., k] with an axis for the elements of a row.
  ValueId for_rows(ValueId value) {
    ir::Attributes attributes;
    attributes.shape = graph_.shape(value);
    attributes.shape.push_back(Dim(1));
    return add(Op::reshape, {value}, std::move(attributes));
  }

  /// The first `rows` rows and `columns` columns.
  ValueId part(ValueId matrices, Dim rows, Dim columns) {
    ir::Attributes attributes;
    attributes.shape = graph_.shape(matrices);
    const std::size_t rank = attributes.shape.size();
    if (attributes.shape[rank - 2] == rows && attributes.shape[rank - 1] == columns)
      return matrices;
    attributes.shape[rank - 2] = rows;
    attributes.shape[rank - 1] = columns;
    attributes.starts.assign(rank, Dim(0));
    attributes.steps.assign(rank, Dim(1));
    return add(Op::slice, {matrices}, std::move(attributes));
  }

  ValueId transposed(ValueId matrices) {
    const std::size_t rank = graph_.shape(matrices).size();
    ir::Attributes attributes;
    attributes.axes.resize(rank);
    std::iota(attributes.axes.begin(), attributes.axes.end(), std::int64_t{0});
    std::swap(attributes.axes[rank - 1], attributes.axes[rank - 2]);
    return add(Op::transpose, {matrices}, std::move(attributes));
  }

  /// [..., k, m]: row j is v of Hj.
  ValueId vectors(ValueId reflectors) {
    const ValueId beside = add(Op::less, {index(k_, m_, 0), index(k_, m_, 1)});
    const ValueId stored = select(beside, part(reflectors, k_, m_), constant(0));
    const ValueId whole = select(on_diagonal(k_, m_), constant(1), stored);
    return select(for_rows(none_), constant(0), whole);
  }

  /// [..., k, k]: the transpose of the inverse of T, of that of V^H V.
  ValueId inverse_factor(ValueId products) {
    const ValueId diagonal = add(Op::divide, {constant(1), select(none_, constant(1), tau_)});
    const ValueId below = add(Op::less, {index(k_, k_, 1), index(k_, k_, 0)});
    const ValueId strict = select(below, products, constant(0));
    return select(on_diagonal(k_, k_), for_rows(diagonal), strict);
  }

  Graph& graph_;
  ir::Location location_;
  ValueId tau_, none_, v_;
  DType dtype_;
  Dim m_, c_, k_;
};

struct Extents {
  std::int64_t rows = 0, columns = 0;
};

/// Calls flops(a, b) with the extents of an item of both operands; b is 0 by 0 without a second
/// one.
template <class Flops>
Dim count(const Graph& graph, ValueId call, const Flops& flops) {
  Extents extents[2];
  const std::span<const ValueId> operands = graph.operands(call);
  const ir::Type& type = graph.type(operands[0]);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const ir::Shape& shape = graph.shape(operands[i]);
    if (!ir::is_constant(shape)) return 0;
    extents[i].columns = shape.back().constant();
    extents[i].rows = shape.size() < 2 ? 1 : shape[shape.size() - 2].constant();
  }
  const Dim batch = ir::element_count({type.shape.begin(), type.shape.end() - 2});
  return batch * Dim(flops(extents[0], extents[1]) * (is_complex(type.dtype) ? 4 : 1));
}

}  // namespace

std::vector<ValueId> lower_householder_product(Graph& graph, const OldCall& call,
                                               const ir::Target& target) {
  const ValueId reflectors = call.operands[0], tau = call.operands[1];
  const bool expanded = ir::capabilities_of(target).stacked_systems &&
                        is_stack_of_small(graph, reflectors, tau) &&
                        !householder_item(call.graph, call.node, target);
  if (expanded) return {HouseholderProduct(graph, reflectors, tau, call.location()).columns()};
  return {copy_node(graph, call.graph, call.node, call.operands)};
}

Dim geqrf_flops(const Graph& graph, ValueId call) {
  return count(graph, call, [](Extents a, Extents) {
    const std::int64_t k = std::min(a.rows, a.columns), larger = std::max(a.rows, a.columns);
    return 2 * larger * k * k - 2 * k * k * k / 3;
  });
}

Dim householder_product_flops(const Graph& graph, ValueId call) {
  return count(graph, call, [](Extents a, Extents tau) {
    const std::int64_t m = a.columns, c = a.rows, k = tau.columns;
    return 4 * m * c * k - 2 * (m + c) * k * k + 4 * k * k * k / 3;
  });
}

Dim solve_triangular_flops(const Graph& graph, ValueId call) {
  return count(graph, call, [](Extents a, Extents b) { return a.rows * a.rows * b.columns; });
}

}  // namespace heddle::passes
