#pragma once

#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "tests/fuzz/recorder.h"

namespace heddle::test {

using ir::Attributes;
using ir::Dim;
using ir::Op;
using ir::OpInfo;
using ir::OpKind;
using ir::Shape;
using ir::TypeRule;
using ir::ValueId;

/// All ops of a kind but cast.
std::vector<Op> ops_of_kind(OpKind kind);

/// Makes one random graph, an op after the other.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : recorder_(seed), control_random_(~seed) {}

  Case run() {
    recorder_.made().graph.name = "fuzz";
    choose_extents();
    // Symbols are bound by an input that they are an extent of.
    for (const ir::SymbolBinding& binding : recorder_.made().bindings) {
      settle(recorder_.parameter(any_kind(), {Dim::symbol(binding.symbol)}));
    }
    const std::size_t parameters = 1 + recorder_.below(3);
    for (std::size_t i = 0; i < parameters; ++i) {
      settle(recorder_.parameter(any_kind(), any_shape()));
    }
    int length = 2 + static_cast<int>(recorder_.below(35));
    std::vector<int> places = control_places(length);
    for (int attempts = 0; recorder_.operations() < length && attempts < 400; ++attempts) {
      while (!places.empty() && recorder_.operations() >= places.back()) {
        places.pop_back();
        add_control();
      }
      add_something();
    }
    choose_outputs();
    choose_options();
    return std::move(recorder_.made());
  }

 private:
  const ir::Graph& graph() const { return recorder_.graph(); }
  DType any_kind() { return recorder_.any_dtype(ir::all_dtypes); }
  ValueId pick() {
    // Recent values are picked more often, or nothing would grow deep.
    const std::size_t back = std::min(recorder_.below(pool_.size()), recorder_.below(pool_.size()));
    return pool_[pool_.size() - 1 - back];
  }

  void choose_extents();
  Shape any_shape();
  /// Without an extent of 0 that it had, a shape may be of any size; [] is one instead.
  Shape bounded(const Shape& shape) const {
    return recorder_.elements(shape) > Recorder::most_elements ? Shape() : shape;
  }
  void settle(ValueId id);
  void settle(std::optional<ValueId> id) {
    if (id) settle(*id);
  }
  ValueId conformed(ValueId id, const OpInfo& info, int operand);
  ValueId beside(DType dtype, const Shape& shape, bool exactly_within);

  void add_something();
  void add_elementwise();
  void add_cast();
  void add_iota();
  void add_reshape();
  void add_transpose();
  void add_broadcast();
  Attributes any_region(const Shape& shape);
  void add_slice();
  void add_concatenate();
  void add_slice_update();
  std::vector<ValueId> any_indices(Shape shape, Attributes& attributes);
  void add_gather();
  void add_scatter();
  void add_reduction();
  void add_segments(ir::Op op, ir::ValueId value);
  void add_scan();
  void add_matmul();
  ValueId within_two(ValueId value, DType dtype);
  ValueId identity(DType dtype, Dim order);
  ValueId transposed(ValueId matrices);
  void add_cholesky();
  void add_solve();
  std::optional<ir::ValueId> definite_matrices();
  ir::ValueId random_of(DType dtype, ir::ValueId picked, const ir::Shape& shape);
  void add_spectrum();
  void add_transform();
  ValueId call(const ir::CallOp& op, const std::vector<ValueId>& operands,
               std::initializer_list<ir::NamedAttribute> attributes = {});
  ValueId product(ValueId a, ValueId b);
  ValueId conjugate_transpose(ValueId matrices);
  ValueId reshaped(ValueId value, const Shape& shape);
  ValueId broadcast(ValueId value, const Shape& shape);
  ValueId index(Dim rows, Dim columns, std::int64_t axis);
  ValueId part(ValueId value, std::size_t axis, Dim first, Dim count, bool backwards = false);
  ValueId small_part(ValueId value, bool square);
  std::optional<ValueId> small_matrices(bool square, bool wild);
  ValueId spoiled(ValueId matrices);
  ValueId with_clear_pivots(ValueId matrices);
  ValueId scaled_rows(ValueId vectors, ValueId matrices);
  ValueId scaled_by(ValueId values, ValueId rows);
  void settle_values(ValueId values);
  void add_lu();
  void add_determinant();
  void add_qr();
  void add_svd();
  void add_eigh();
  void add_eigenvalues();
  void add_eigenvectors();
  ValueId moderate(DType dtype, const Shape& shape);
  ValueId masked(ValueId scores);
  ValueId softmax(ValueId scores);
  void add_attention();
  void add_sort();
  void add_search();
  class CaseScope;
  std::vector<int> control_places(int& length);
  void add_control();
  /// Whether it is a call of a loop or branch.
  bool is_loop(ValueId id) const;
  void choose_outputs();
  void choose_options();

  Recorder recorder_;
  std::mt19937_64 control_random_;
  std::vector<Dim> extents_;
  std::vector<Shape> shapes_;
  std::vector<ValueId> pool_;
};

}  // namespace heddle::test
