#include "frontend/linalg/contraction.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "heddle/settings.h"

#include "frontend/array/views.h"
#include "frontend/graph/record.h"
#include "ir/calls/calls.h"

namespace heddle::frontend {

using ir::Op;

NodeRef multiply_matrices(const NodeRef& a, const NodeRef& b, const Site& site) {
  if (!is_boolean(a->dtype)) {
    const Precision precision = has_precisions(a->dtype) ? matmul_precision() : Precision::ieee;
    return record(Op::call, {a, b}, ir::matmul_attributes(precision), site);
  }
  const NodeRef counts =
      record(Op::call, {cast_to(a, DType::i32, site), cast_to(b, DType::i32, site)},
             ir::matmul_attributes(Precision::ieee), site);
  return cast_to(counts, DType::boolean, site);
}

namespace {

bool has(const std::vector<Label>& labels, Label label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

class Contraction {
 public:
  Contraction(std::string_view op, std::vector<Labelled> operands, std::vector<Label> result,
              const Site& site)
      : op_(op), operands_(std::move(operands)), result_(std::move(result)), site_(site) {}

  NodeRef run() {
    find_extents();
    for (Labelled& operand : operands_) {
      take_diagonals(operand);
      drop_ones(operand);
    }
    for (Labelled& operand : operands_) sum_out_lone(operand);
    while (operands_.size() > 1) contract_cheapest_pair();
    return in_result_order();
  }

 private:
  void find_extents() {
    for (const Labelled& operand : operands_) {
      for (std::size_t i = 0; i < operand.labels.size(); ++i) {
        const ir::Dim extent = operand.node->shape[i];
        const auto [known, is_new] = extents_.emplace(operand.labels[i], extent);
        if (is_new || known->second == extent || extent == ir::Dim(1)) continue;
        if (known->second != ir::Dim(1)) {
          throw ShapeError(at(
              fmt::format(
                  "{}: axis {} of {} has extent {}, but the axis paired with it has extent {}", op_,
                  i, describe(*operand.node), extent.to_string(), known->second.to_string()),
              site_));
        }
        known->second = extent;
      }
    }
  }

  void take_diagonals(Labelled& operand) {
    for (std::size_t i = 0; i < operand.labels.size(); ++i) {
      const auto again = std::find(operand.labels.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                   operand.labels.end(), operand.labels[i]);
      if (again == operand.labels.end()) continue;
      const Label label = operand.labels[i];
      const auto second = static_cast<std::size_t>(again - operand.labels.begin());
      std::vector<std::int64_t> order;
      std::vector<Label> rest;
      for (std::size_t k = 0; k < operand.labels.size(); ++k) {
        if (k == i || k == second) continue;
        order.push_back(static_cast<std::int64_t>(k));
        rest.push_back(operand.labels[k]);
      }
      order.push_back(static_cast<std::int64_t>(i));
      order.push_back(static_cast<std::int64_t>(second));
      NodeRef planes = permute(operand.node, std::move(order), site_);
      ir::Shape shape = planes->shape;
      if (shape[shape.size() - 2] != shape.back()) {  // one of the two is 1, which broadcasts
        shape[shape.size() - 2] = shape.back() = extents_.at(label);
        planes = broadcast_to_shape(planes, std::move(shape), site_);
      }
      rest.push_back(label);
      operand = {diagonal_of(op_, planes, 0, site_), std::move(rest)};
      --i;
    }
  }

  /// Drops an axis of extent 1 whose label has a larger extent elsewhere.
  void drop_ones(Labelled& operand) {
    ir::Shape shape;
    std::vector<Label> labels;
    for (std::size_t i = 0; i < operand.labels.size(); ++i) {
      const ir::Dim extent = operand.node->shape[i];
      if (extent == ir::Dim(1) && extents_.at(operand.labels[i]) != ir::Dim(1)) continue;
      shape.push_back(extent);
      labels.push_back(operand.labels[i]);
    }
    operand = {reshape_to(operand.node, std::move(shape), site_), std::move(labels)};
  }

  /// True if the result or another operand uses the label.
  bool is_needed(Label label, const Labelled* but, const Labelled* and_but = nullptr) const {
    if (has(result_, label)) return true;
    return std::any_of(operands_.begin(), operands_.end(), [&](const Labelled& operand) {
      return &operand != but && &operand != and_but && has(operand.labels, label);
    });
  }

  NodeRef sum_over(const NodeRef& node, std::vector<std::int64_t> axes) const {
    if (axes.empty()) return node;
    ir::Attributes attributes;
    attributes.axes = std::move(axes);
    return record(is_boolean(node->dtype) ? Op::any : Op::sum, {node}, std::move(attributes),
                  site_);
  }

  void sum_out_lone(Labelled& operand) {
    std::vector<std::int64_t> gone;
    std::vector<Label> kept;
    for (std::size_t i = 0; i < operand.labels.size(); ++i) {
      if (is_needed(operand.labels[i], &operand)) {
        kept.push_back(operand.labels[i]);
      } else {
        gone.push_back(static_cast<std::int64_t>(i));
      }
    }
    operand = {sum_over(operand.node, std::move(gone)), std::move(kept)};
  }

  /// Number of elements of a pair's product. Symbolic extents count as large.
  double size_of_pair(const Labelled& a, const Labelled& b) const {
    double size = 1;
    std::vector<Label> seen;
    for (const Labelled* operand : {&a, &b}) {
      for (Label label : operand->labels) {
        if (has(seen, label) || !is_needed(label, &a, &b)) continue;
        seen.push_back(label);
        const ir::Dim extent = extents_.at(label);
        size *= extent.is_constant() ? static_cast<double>(extent.constant()) : 1e4;
      }
    }
    return size;
  }

  void contract_cheapest_pair() {
    std::size_t first = 0, second = 1;
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      for (std::size_t j = i + 1; j < operands_.size(); ++j) {
        const double size = size_of_pair(operands_[i], operands_[j]);
        if (size < best) best = size, first = i, second = j;
      }
    }
    Labelled pair = contract_pair(operands_[first], operands_[second]);
    operands_.erase(operands_.begin() + static_cast<std::ptrdiff_t>(second));
    operands_[first] = std::move(pair);
  }

  Labelled contract_pair(const Labelled& a, const Labelled& b) const {
    std::vector<Label> both, summed, only_a, only_b;
    for (Label label : a.labels) {
      if (!has(b.labels, label)) {
        only_a.push_back(label);
      } else if (is_needed(label, &a, &b)) {
        both.push_back(label);
      } else {
        summed.push_back(label);
      }
    }
    for (Label label : b.labels) {
      if (!has(a.labels, label)) only_b.push_back(label);
    }
    std::vector<Label> labels = both;
    labels.insert(labels.end(), only_a.begin(), only_a.end());
    labels.insert(labels.end(), only_b.begin(), only_b.end());
    if (summed.empty() || (only_a.empty() && only_b.empty())) {
      std::vector<Label> all = labels;
      all.insert(all.end(), summed.begin(), summed.end());
      const NodeRef product = record(Op::multiply, {spread(a, all), spread(b, all)}, site_);
      std::vector<std::int64_t> axes;
      for (std::size_t i = labels.size(); i < all.size(); ++i) {
        axes.push_back(static_cast<std::int64_t>(i));
      }
      return {sum_over(product, std::move(axes)), std::move(labels)};
    }
    const NodeRef left = merged(a, {both, only_a, summed});
    const NodeRef right = merged(b, {both, summed, only_b});
    ir::Shape shape;
    for (Label label : labels) shape.push_back(extents_.at(label));
    return {reshape_to(multiply_matrices(left, right, site_), std::move(shape), site_),
            std::move(labels)};
  }

  /// The operand with its axes in the order of `labels`, and extent 1 for missing labels.
  NodeRef spread(const Labelled& operand, const std::vector<Label>& labels) const {
    std::vector<std::int64_t> order;
    ir::Shape shape;
    for (Label label : labels) {
      const auto place = std::find(operand.labels.begin(), operand.labels.end(), label);
      const bool present = place != operand.labels.end();
      shape.push_back(present ? extents_.at(label) : ir::Dim(1));
      if (present) order.push_back(place - operand.labels.begin());
    }
    return reshape_to(permute(operand.node, std::move(order), site_), std::move(shape), site_);
  }

  /// The operand as a stack of matrices: merges the axes of each group.
  NodeRef merged(const Labelled& operand, const std::vector<std::vector<Label>>& groups) const {
    std::vector<Label> all;
    ir::Shape shape;
    for (const std::vector<Label>& group : groups) {
      ir::Dim extent = 1;
      for (Label label : group) extent *= extents_.at(label);
      shape.push_back(extent);
      all.insert(all.end(), group.begin(), group.end());
    }
    // Drop the stack axis if the stack has only one matrix.
    if (groups[0].empty()) shape.erase(shape.begin());
    return reshape_to(spread(operand, all), std::move(shape), site_);
  }

  NodeRef in_result_order() const {
    ir::Shape shape;
    for (Label label : result_) shape.push_back(extents_.at(label));
    return broadcast_to_shape(spread(operands_[0], result_), std::move(shape), site_);
  }

  std::string_view op_;
  std::vector<Labelled> operands_;
  std::vector<Label> result_;
  Site site_;
  std::unordered_map<Label, ir::Dim> extents_;
};

}  // namespace

NodeRef contract(std::string_view op, std::vector<Labelled> operands,
                 const std::vector<Label>& result, const Site& site) {
  return Contraction(op, std::move(operands), result, site).run();
}

}  // namespace heddle::frontend
