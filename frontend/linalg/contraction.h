#pragma once

#include <string_view>
#include <vector>

#include "frontend/graph/node.h"

namespace heddle::frontend {

/// Label of an axis, as in einsum. Axes with equal labels share one index.
using Label = int;

/// An array with a label for each axis.
struct Labelled {
  NodeRef node;
  std::vector<Label> labels;
};

/// Sums the products of the operands over all labels that the result does not have; the result's
/// axes are in the order of its labels. All operands and the result have one dtype. A label that
/// occurs twice in an operand takes its diagonal. Contracts one pair after another, the smallest
/// results first: by matrix products if there is an axis to sum over, otherwise by multiplication.
/// ShapeError, naming `op`, if a label has different extents other than 1, which broadcasts.
NodeRef contract(std::string_view op, std::vector<Labelled> operands,
                 const std::vector<Label>& result, const Site& site);

/// The matrix product; for bool, true if any product is.
NodeRef multiply_matrices(const NodeRef& a, const NodeRef& b, const Site& site);

}  // namespace heddle::frontend
