#pragma once

#include <string_view>
#include <vector>

#include "frontend/graph/node.h"

namespace heddle::frontend {

/// A name of an axis in sums over products of arrays. Axes of equal labels run together.
using Label = int;

/// An array with a label for each axis.
struct Labelled {
  NodeRef node;
  std::vector<Label> labels;
};

/// The sum of the products of the operands over all labels that the result does not have, with the
/// result's axes in its labels' order. All operands are of one dtype, which the result has; a label
/// that one operand has twice takes its diagonal. Pairs are contracted one after another, smallest
/// results first, by matrix products where there is something to sum, else by multiplication.
/// ShapeError, naming `op`, when extents of a label differ, but for 1, which broadcasts.
NodeRef contract(std::string_view op, std::vector<Labelled> operands,
                 const std::vector<Label>& result, const Site& site);

/// The product of matrices; that of bool is computed as "any of both" is.
NodeRef multiply_matrices(const NodeRef& a, const NodeRef& b, const Site& site);

}  // namespace heddle::frontend
