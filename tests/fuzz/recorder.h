#pragma once

#include <optional>
#include <random>
#include <span>
#include <vector>

#include "ir/graph/graph.h"
#include "tests/cases/case.h"
#include "tests/support/samples.h"

namespace heddle::test {

/// A case while it is made: its graph, and the value of every node for the case's inputs, so that
/// what is built next can depend on it.
class Recorder {
 public:
  explicit Recorder(std::uint64_t seed) : random_(seed) {}

  Case& made() { return case_; }
  const ir::Graph& graph() const { return case_.graph; }
  const ir::HostArray& value(ir::ValueId id) const { return values_[ir::index_of(id)]; }
  DType dtype(ir::ValueId id) const { return graph().dtype(id); }
  const ir::Shape& shape(ir::ValueId id) const { return graph().shape(id); }
  /// Nodes so far that are neither parameters nor constants.
  int operations() const { return operations_; }

  std::mt19937_64& random() { return random_; }
  std::size_t below(std::size_t limit) { return random_() % limit; }
  bool chance(double probability) {
    return std::uniform_real_distribution()(random_) < probability;
  }
  template <class T>
  const T& any_of(const std::vector<T>& choices) {
    return choices[below(choices.size())];
  }
  DType any_dtype(ir::DTypeSet set);

  std::int64_t extent(ir::Dim dim) const { return dim.evaluate(case_.bindings); }
  std::int64_t elements(const ir::Shape& shape) const;

  ir::ValueId parameter(DType dtype, const ir::Shape& shape, bool scalar = false);
  ir::ValueId constant(DType dtype, double value);
  /// The node, unless the IR refuses it or it has too many elements or axes.
  std::optional<ir::ValueId> add(ir::Op op, const std::vector<ir::ValueId>& operands,
                                 const ir::Attributes& attributes = {});
  /// Result `index` of a call, from 1 on.
  ir::ValueId result(ir::ValueId call, std::size_t index);
  ir::ValueId cast(ir::ValueId id, DType dtype);

  /// Smallest and largest element, and whether there are NaNs or infinities.
  struct Extremes {
    double low = 0, high = 0;
    bool finite = true;
  };
  Extremes extremes(ir::ValueId id) const;
  /// The value with its elements limited to a range.
  ir::ValueId clamped(ir::ValueId id, Range range);

  static constexpr std::int64_t most_elements = 1 << 16;
  static constexpr std::size_t most_axes = 6;

 private:
  /// Result `index` of it, if it is a call.
  ir::HostArray evaluate(ir::Op op, std::span<const ir::ValueId> operands,
                         const ir::Attributes& attributes, std::size_t index = 0) const;
  void keep(ir::ValueId id, ir::HostArray value);

  std::mt19937_64 random_;
  Case case_;
  std::vector<ir::HostArray> values_;
  int operations_ = 0;
};

}  // namespace heddle::test
