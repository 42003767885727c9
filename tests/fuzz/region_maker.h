#pragma once

#include <optional>
#include <vector>

#include "tests/fuzz/recorder.h"
#include "tests/fuzz/scope.h"

namespace heddle::test {

/// Makes the region of a loop or branch of random ops. Unlike Generator it does not know the
/// values, which differ from step to step. So floats stay small whatever they are: sums are halved,
/// products have a factor below 1.
class RegionMaker final : public Scope {
 public:
  /// Takes random numbers and extents from `draws`. `depth` counts the loops and branches around.
  RegionMaker(Recorder& draws, int depth) : draws_(draws), depth_(depth) {}

  ir::ValueId add_parameter(const ir::Type& type);
  /// The parameters of a scan's counter.
  ir::ValueId add_counter(ir::Dim symbol, ir::Dim length);
  /// Adds about so many random ops.
  void grow(std::size_t ops);
  /// A new value for a carry, mixed of it and of others.
  ir::ValueId mixed(ir::ValueId carry);
  /// The array with a part overwritten, which moves with the counter if there is one.
  ir::ValueId updated(ir::ValueId base);
  ir::Region finish(std::vector<ir::ValueId> results);

  const ir::Graph& graph() const override { return graph_; }
  std::optional<ir::ValueId> add(ir::Op op, const std::vector<ir::ValueId>& operands,
                                 const ir::Attributes& attributes = {}) override;
  ir::ValueId constant(DType dtype, double value) override;
  ir::ValueId result(ir::ValueId call, std::size_t index) override;
  ir::ValueId pick() override;
  std::optional<ir::ValueId> input(const ir::Type&) override { return std::nullopt; }
  /// A value of that dtype and shape.
  ir::ValueId value_of(const ir::Type& type);

 private:
  struct Counter {
    ir::ValueId value;
    ir::Dim symbol, length;
  };

  void keep(std::optional<ir::ValueId> id) {
    if (id) pool_.push_back(*id);
  }
  std::optional<ir::ValueId> beside(ir::ValueId value);
  std::optional<ir::ValueId> combined(ir::ValueId a, ir::ValueId b);
  std::optional<ir::Dim> moving_start(ir::Dim extent, std::int64_t size);
  std::optional<ir::Attributes> moving_part(const ir::Shape& shape);
  ir::Attributes part(const ir::Shape& shape);

  void add_something();
  void add_unary();
  void add_binary();
  void add_counted();
  void add_choice();
  void add_slice();
  void add_update();
  void add_view();
  void add_concatenate();
  void add_reduction();
  void add_scan();
  void add_gather();
  void add_sort();
  void add_product();
  void add_control();

  Recorder& draws_;
  int depth_;
  ir::Graph graph_;
  std::vector<ir::ValueId> pool_;
  std::optional<Counter> counter_;
};

}  // namespace heddle::test
