#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "heddle/histograms.h"

#include "frontend/array/ordering.h"

// The edges of a histogram's bins, and the bin of each element.

namespace heddle::frontend {

using Ends = std::pair<double, double>;

/// The ascending edges of bins, and where they come from.
struct Edges {
  NodeRef node;
  /// The first and the last edge of bins of equal width, each several floats wide, so that an
  /// element's bin follows from its place between them, but for one bin.
  std::optional<Ends> even;
};

/// ValueError for a number of bins that no histogram has.
void check_bins(std::string_view op, std::int64_t bins, const OpRecorder& on);
/// DTypeError for complex numbers.
void refuse_complex(std::string_view op, const NodeRef& node, const OpRecorder& on);

/// The dtype of edges that are computed from elements.
DType edge_dtype(DType dtype);
/// The least and the greatest element of nonempty vectors, computed in one program; waits.
std::vector<Ends> ends_of(std::span<const NodeRef> vectors, const OpRecorder& on);
/// The edges of bins of equal width, computed from elements that are not known yet.
Edges traced_edges(const NodeRef& flat, std::int64_t bins, const OpRecorder& on);
/// The same between known ends. `from_data`: these are elements. ValueError for ends that are not
/// finite, or decrease.
Edges edges_between(std::string_view op, const Ends& ends, std::int64_t bins, DType dtype,
                    bool from_data, const OpRecorder& on);
/// The same between the ends of the range, or of the elements. ValueError for bins without a width.
Edges even_edges(std::string_view op, const NodeRef& flat, std::int64_t bins, const BinRange& range,
                 const OpRecorder& on);

/// The bin of each element; the number of bins if it is in none.
NodeRef bins_of(const NodeRef& flat, const Edges& edges, const OpRecorder& on);

}  // namespace heddle::frontend
