#pragma once

#include <vector>

#include "heddle/sparse.h"

#include "frontend/array/ordering.h"

// What the algorithms for sparse matrices share. Indices of elements are i64 here.

namespace heddle::frontend {

/// The arrays of a compressed matrix.
struct Compressed {
  NodeRef data, indices, indptr;
  ir::Dim count;  ///< of stored elements
};
Compressed nodes_of(const sparse::Csr& a, const SourceLocation& where);

/// For each of `count` elements, the segment that it lies in: i64.
NodeRef segment_of(const NodeRef& offsets, ir::Dim count, const OpRecorder& on);
/// Where each of `segments` numbers begins in a sorted list, and its length: indptr, of `dtype`.
NodeRef offsets_of(const NodeRef& sorted, std::int64_t segments, DType dtype, const OpRecorder& on);
/// node[indices] along the first axis; zeros if the node has no elements.
NodeRef pick(const NodeRef& node, const NodeRef& indices, const OpRecorder& on);
/// The two as one i64 number that orders them, major * extent + minor; the product of the extents
/// must fit.
NodeRef joined(const NodeRef& major, const NodeRef& minor, std::int64_t minor_extent,
               const OpRecorder& on);

/// Elements in the order of two numbers.
struct Ordered {
  NodeRef order;         ///< i64, or null if nothing was moved
  NodeRef major, minor;  ///< sorted, i64
  NodeRef begins;        ///< bool: differs from the element before
  /// The values of elements in this order.
  NodeRef of(const NodeRef& values, const OpRecorder& on) const;
};
/// Sorts elements by major and minor number, stably. Numbers are below the extents.
Ordered sorted_by(const NodeRef& major, const NodeRef& minor, const sparse::Extents& extents,
                  const OpRecorder& on);
/// The same for elements that are in that order already.
Ordered already_sorted(const NodeRef& major, const NodeRef& minor, const OpRecorder& on);
/// The stable order of numbers in [0, extent): i64.
NodeRef order_of(const NodeRef& numbers, std::int64_t extent, const OpRecorder& on);

/// Of each group of equal elements the sum; counts them.
struct Unique {
  NodeRef data, major, minor;
};
Unique sums_of_equal(const char* what, const Ordered& sorted, const NodeRef& data,
                     const OpRecorder& on);

/// A matrix of compressed rows: elements sorted by row, then column. `like` has the dtype of
/// indices, which becomes i64 where the matrix needs it.
sparse::Csr compressed(const NodeRef& data, const NodeRef& rows, const NodeRef& columns,
                       const sparse::Extents& shape, DType like, bool canonical,
                       const OpRecorder& on);
/// The dtype of the indices of a matrix made of others.
DType index_dtype_for(DType like, const sparse::Extents& shape, ir::Dim count);

/// Throws TraceError: the number of elements of the result depends on values.
void refuse_count_in_trace(const char* what, const SourceLocation& where);
/// The places at which a mask is true; see places_of(). In the same program, `beside` is computed.
NodeRef counted(const char* what, const NodeRef& mask, std::vector<NodeRef> beside,
                const OpRecorder& on);

}  // namespace heddle::frontend
