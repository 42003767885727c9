#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "frontend/graph/axes.h"
#include "frontend/graph/record.h"

namespace heddle::frontend {

/// Axis k of the result is axis axes[k].
NodeRef permute(const NodeRef& node, std::vector<std::int64_t> axes, const Site& site);
/// `count` elements of an axis, every `step`-th from `start` on.
NodeRef slice_along(const NodeRef& node, std::int64_t axis, ir::Dim start, ir::Dim count,
                    std::int64_t step, const Site& site);
/// Reverses the axes, which must lie in [0, rank).
NodeRef reverse_along(const NodeRef& node, std::span<const std::int64_t> axes, const Site& site);
/// Inserts an axis of extent 1 before axis `axis`.
NodeRef insert_axis(const NodeRef& node, std::int64_t axis, const Site& site);
NodeRef flatten(const NodeRef& node, const Site& site);
/// Concatenates along an axis; one node is returned as it is. All have one dtype.
NodeRef join_along(std::span<const NodeRef> nodes, std::int64_t axis, const Site& site);
/// Repeats the array `count` times along an axis, a[0..n) a[0..n) ..., or with `each` every element
/// `count` times, a[0] a[0] ... a[1] a[1].
NodeRef tile_along(const NodeRef& node, std::int64_t axis, std::int64_t count, bool each,
                   const Site& site);
/// Elements [offset, offset + count) of an axis along which the array repeats periodically.
NodeRef periodic(const NodeRef& node, std::int64_t axis, std::int64_t offset, std::int64_t count,
                 const Site& site);
/// The k-th diagonal of the last two axes, as one new last axis; a view.
NodeRef diagonal_of(std::string_view op, const NodeRef& node, std::int64_t k, const Site& site);

/// Removes leading axes of extent 1 in excess of `rank`, as NumPy's assignments do.
NodeRef fit_rank(const NodeRef& value, std::size_t rank, const Site& site);

/// All arrays, cast to their common dtype. ValueError if there are none.
std::vector<NodeRef> promoted(std::string_view op, Arrays arrays, const SourceLocation& where);

}  // namespace heddle::frontend
