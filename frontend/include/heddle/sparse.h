#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "heddle/array.h"
#include "heddle/fields.h"

// Sparse matrices, with the names and the meaning of scipy.sparse. A sparse matrix is a struct of
// Arrays, which may be an argument or result of a jitted function, or the carry of a loop. Work on
// its values, such as exp(a.data), is recorded like that on other arrays, and fuses with a product.
//
// Indices are i32 or i64, those of one matrix of one dtype. Elements that are stored twice add up.
// A stored 0 counts as stored. Where the number of stored elements of a result depends on values,
// the function evaluates, and waits for that number; inside a trace it throws TraceError. The
// functions say so with "counts".
//
// Results are the same in every run: nothing is added atomically.

namespace heddle::sparse {

/// Rows and columns.
using Extents = std::array<std::int64_t, 2>;

/// Coordinates: data[k] is an element of row[k] and col[k].
struct Coo {
  Array data, row, col;
  Extents shape{};
  /// Known to have no duplicates.
  bool canonical = false;
};

/// Compressed rows: the elements of row i are data[k] in the columns indices[k], for k from
/// indptr[i] up to indptr[i + 1].
struct Csr {
  Array data, indices, indptr;
  Extents shape{};
  /// Known to have rows sorted by column; the same, and no duplicates.
  bool sorted = false, canonical = false;
};

/// Compressed columns: the elements of column j are data[k] in the rows indices[k], for k from
/// indptr[j] up to indptr[j + 1].
struct Csc {
  Array data, indices, indptr;
  Extents shape{};
  bool sorted = false, canonical = false;
};

/// Diagonals: data[k, j] is the element in column j of the diagonal offsets[k], i.e. of row j -
/// offsets[k]. Elements outside of the matrix do not count.
struct Dia {
  Array data, offsets;
  Extents shape{};
};

HEDDLE_STRUCT(Coo, data, row, col, shape, canonical)
HEDDLE_STRUCT(Csr, data, indices, indptr, shape, sorted, canonical)
HEDDLE_STRUCT(Csc, data, indices, indptr, shape, sorted, canonical)
HEDDLE_STRUCT(Dia, data, offsets, shape)

/// Where the sums of a product begin, for a matrix with rows that are much longer than the others:
/// long rows are cut into pieces, which many threads sum.
struct Pieces {
  Array begins;  ///< [p + 1]: the elements of piece i are begins[i] .. begins[i + 1] - 1
  Array rows;    ///< [rows + 1]: the pieces of row i are rows[i] .. rows[i + 1] - 1
};

HEDDLE_STRUCT(Pieces, begins, rows)

// Construction.

/// Throws ValueError, with the array and the position, for lengths that differ, indices outside of
/// the shape, and an indptr that does not begin with 0, decreases, or ends behind the data. One
/// reduction finds all of them, and is read; inside a trace only lengths are checked. DTypeError
/// for indices that are not integers. Returns the number of elements that indptr covers.
std::int64_t check(const Csr& a, SourceLocation where = SourceLocation::current());
std::int64_t check(const Csc& a, SourceLocation where = SourceLocation::current());
/// The same for coordinates.
void check(const Coo& a, SourceLocation where = SourceLocation::current());
/// Throws ValueError for shapes that do not fit, and an offset that is there twice.
void check(const Dia& a, SourceLocation where = SourceLocation::current());
/// The elements of a dense matrix that are not 0, by rows; counts. ShapeError unless it has two
/// axes.
Coo coo(const Operand& dense);

/// The dtype of indices up to the extents and the number of elements: i32 where it is enough.
DType index_dtype(const Extents& shape, std::int64_t count = 0);

// Conversions. They keep stored zeros, and the dtype of the indices.

Coo to_coo(const Csr& a, SourceLocation where = SourceLocation::current());
/// By rows, without stored zeros; counts.
Coo to_coo(const Dia& a, SourceLocation where = SourceLocation::current());
/// Sorts by row, then column, stably; duplicates stay.
Csr to_csr(const Coo& a, SourceLocation where = SourceLocation::current());
Csr to_csr(const Csc& a, SourceLocation where = SourceLocation::current());
Csc to_csc(const Csr& a, SourceLocation where = SourceLocation::current());
/// The diagonals that have elements, in increasing order; counts. Adds duplicates.
Dia to_dia(const Coo& a, SourceLocation where = SourceLocation::current());
/// The dense matrix. Duplicates are added.
Array to_dense(const Csr& a, SourceLocation where = SourceLocation::current());
Array to_dense(const Dia& a, SourceLocation where = SourceLocation::current());

/// The transpose: the same arrays, read by columns.
Csc transpose(const Csr& a);
Csr transpose(const Csc& a);

/// Rows sorted by column, stably.
Csr sort_indices(const Csr& a, SourceLocation where = SourceLocation::current());
/// Whether each row is sorted by column, 0-d bool; and without duplicates.
Array has_sorted_indices(const Csr& a, SourceLocation where = SourceLocation::current());
Array has_canonical_format(const Csr& a, SourceLocation where = SourceLocation::current());
/// Sorted, each element once; counts.
Csr sum_duplicates(const Csr& a, SourceLocation where = SourceLocation::current());
/// Sorted by row, then column, each element once; counts.
Coo sum_duplicates(const Coo& a, SourceLocation where = SourceLocation::current());
/// The elements at which a 1-d bool array is true; counts.
Csr keep(const Csr& a, const Array& mask, SourceLocation where = SourceLocation::current());
/// Of each element the row, i64.
Array rows_of(const Csr& a, SourceLocation where = SourceLocation::current());

// Products. Dtypes promote; bool uses "or" as sum and "and" as product.

/// out[i] = the sum of values[offsets[i]] .. values[offsets[i + 1] - 1]; 0 if there are none.
/// `values` is [n, ...], `offsets` [m + 1] of integers that do not decrease; the result [m, ...]
/// has the dtype of values.
Array segment_sum(const Operand& values, const Array& offsets);
/// The least of values[offsets[i]] .. values[offsets[i + 1] - 1], for `values` [n]; `initial` if
/// there are none.
Array segment_min(const Operand& values, const Array& offsets, const Operand& initial);
/// a @ x for a vector [n] or a matrix [n, k]. ShapeError if n is not the number of columns.
Array matmul(const Csr& a, const Operand& x);
Array matmul(const Dia& a, const Operand& x);
/// The same, with the pieces of the matrix.
Array matmul(const Csr& a, const Pieces& pieces, const Operand& x);
/// The pieces of a matrix that has rows far above the mean, as in a graph with a few hubs; nullopt
/// for others, whose rows are summed whole, and where waiting is forbidden. Counts.
std::optional<Pieces> pieces_of(const Csr& a, SourceLocation where = SourceLocation::current());
/// a @ b; counts. The rows of the result are sorted. ShapeError.
Csr matmul(const Csr& a, const Csr& b, SourceLocation where = SourceLocation::current());

// Elementwise functions of two matrices of one shape. Each counts: elements that become 0 are not
// stored. ShapeError if the shapes differ.

Csr add(const Csr& a, const Csr& b, SourceLocation where = SourceLocation::current());
Csr subtract(const Csr& a, const Csr& b, SourceLocation where = SourceLocation::current());
Csr multiply(const Csr& a, const Csr& b, SourceLocation where = SourceLocation::current());
Csr maximum(const Csr& a, const Csr& b, SourceLocation where = SourceLocation::current());
Csr minimum(const Csr& a, const Csr& b, SourceLocation where = SourceLocation::current());
Csr not_equal(const Csr& a, const Csr& b, SourceLocation where = SourceLocation::current());
Csr less(const Csr& a, const Csr& b, SourceLocation where = SourceLocation::current());
Csr greater(const Csr& a, const Csr& b, SourceLocation where = SourceLocation::current());
/// The values of a dense matrix that broadcasts to the shape, at the stored elements: [nnz].
/// ShapeError.
Array values_at(const Csr& a, const Operand& dense);

// Reductions.

/// Sums of the columns (axis 0) or rows (axis 1), of integers in 64 bits.
Array sum(const Csr& a, int axis, SourceLocation where = SourceLocation::current());
/// The least or greatest element of each row, with the elements that are not stored, which are 0;
/// NaN if there is one. Reads canonical rows; see sum_duplicates().
Array min_of_rows(const Csr& a, SourceLocation where = SourceLocation::current());
Array max_of_rows(const Csr& a, SourceLocation where = SourceLocation::current());
/// The column of the first of them, i64.
Array argmin_of_rows(const Csr& a, SourceLocation where = SourceLocation::current());
Array argmax_of_rows(const Csr& a, SourceLocation where = SourceLocation::current());
/// The elements (i, i + k).
Array diagonal(const Csr& a, std::int64_t k = 0, SourceLocation where = SourceLocation::current());

// Selections.

/// The rows in this order, which may repeat; counts. Indices are not checked.
Csr take_rows(const Csr& a, const Array& rows, SourceLocation where = SourceLocation::current());
/// The elements at (rows[k], columns[k]), 1-d; of canonical rows.
Array elements(const Csr& a, const Array& rows, const Array& columns,
               SourceLocation where = SourceLocation::current());
/// The matrix with values written at (rows[k], columns[k]), which may not be stored yet: 1-d
/// arrays, the values of the matrix's dtype. Of equal places the last counts. Counts.
Csr overwrite(const Csr& a, const Array& rows, const Array& columns, const Array& values,
              SourceLocation where = SourceLocation::current());

/// For each node of a directed graph, whose edges are the elements of a square matrix, the number
/// of its strongly connected component: i32, 0 up to their count. A component has a higher number
/// than those it leads to. The search is sequential: the graph is copied to the host. Indices are
/// not checked. ShapeError if the matrix is not square, TraceError inside a trace.
Array strong_components(const Csr& a, SourceLocation where = SourceLocation::current());

/// The Kronecker product.
Coo kron(const Coo& a, const Coo& b, SourceLocation where = SourceLocation::current());

}  // namespace heddle::sparse
