#include "heddle/sparse.h"

#include <fmt/format.h>

#include "heddle/csgraph.h"

#include "frontend/array/access.h"
#include "frontend/graph/trace.h"
#include "frontend/python/bindings.h"
#include "frontend/python/errors.h"
#include "frontend/sparse/lengths.h"
#include "frontend/sparse/restarts.h"

// The functions under the package heddle.sparse: heddle._heddle._sparse. A matrix is a tuple there,
// in the order of the fields of its struct, with two integers for the shape.

namespace heddle::python {
namespace {

namespace graphs = sparse::csgraph;

class Parts {
 public:
  Parts(const Arguments& a, std::size_t i, Py_ssize_t size) : a_(a), i_(i), parts_(a[i]) {
    if (!PyTuple_Check(parts_.ptr()) || PyTuple_GET_SIZE(parts_.ptr()) != size)
      a.mistyped(i, "the parts of a sparse matrix");
  }
  Array array(Py_ssize_t k) const {
    ArrayObject* found = as_array(item(k));
    if (found == nullptr) a_.mistyped(i_, "the parts of a sparse matrix, which begin with Arrays");
    return found->read(a_.where());
  }
  sparse::Extents shape(Py_ssize_t k) const {
    return {to_integer(item(k)), to_integer(item(k + 1))};
  }
  bool flag(Py_ssize_t k) const { return PyObject_IsTrue(item(k).ptr()) == 1; }

 private:
  nb::handle item(Py_ssize_t k) const { return PyTuple_GET_ITEM(parts_.ptr(), k); }
  const Arguments& a_;
  std::size_t i_;
  nb::handle parts_;
};

sparse::Csr csr(const Arguments& a, std::size_t i) {
  const Parts parts(a, i, 7);
  return {parts.array(0), parts.array(1), parts.array(2),
          parts.shape(3), parts.flag(5),  parts.flag(6)};
}

sparse::Coo coo(const Arguments& a, std::size_t i) {
  const Parts parts(a, i, 6);
  return {parts.array(0), parts.array(1), parts.array(2), parts.shape(3), parts.flag(5)};
}

sparse::Dia dia(const Arguments& a, std::size_t i) {
  const Parts parts(a, i, 4);
  return {parts.array(0), parts.array(1), parts.shape(2)};
}

nb::object parts_of(sparse::Csr made) {
  return nb::make_tuple(wrap(std::move(made.data)), wrap(std::move(made.indices)),
                        wrap(std::move(made.indptr)), made.shape[0], made.shape[1], made.sorted,
                        made.canonical);
}

nb::object parts_of(sparse::Coo made) {
  return nb::make_tuple(wrap(std::move(made.data)), wrap(std::move(made.row)),
                        wrap(std::move(made.col)), made.shape[0], made.shape[1], made.canonical);
}

nb::object parts_of(sparse::Dia made) {
  return nb::make_tuple(wrap(std::move(made.data)), wrap(std::move(made.offsets)), made.shape[0],
                        made.shape[1]);
}

using Binary = sparse::Csr (*)(const sparse::Csr&, const sparse::Csr&, SourceLocation);
using Unary = sparse::Csr (*)(const sparse::Csr&, SourceLocation);
using Reduction = Array (*)(const sparse::Csr&, SourceLocation);

template <Binary function>
struct OfTwo {
  nb::object operator()(const Arguments& a) const {
    return parts_of(function(csr(a, 0), csr(a, 1), a.where()));
  }
};
template <Unary function>
struct OfOne {
  nb::object operator()(const Arguments& a) const {
    return parts_of(function(csr(a, 0), a.where()));
  }
};
template <Reduction function>
struct Reduced {
  Array operator()(const Arguments& a) const { return function(csr(a, 0), a.where()); }
};

void bind_construction(Functions& functions, nb::module_& module) {
  functions.def_in(module, "check_csr(a: tuple) -> int", "heddle::sparse::check.",
                   [](const Arguments& a) -> nb::object {
                     return nb::int_(sparse::check(csr(a, 0), a.where()));
                   });
  functions.def_in(module, "check_csc(a: tuple) -> int",
                   "heddle::sparse::check, of a matrix that is given by its transpose.",
                   [](const Arguments& a) -> nb::object {
                     return nb::int_(sparse::check(sparse::transpose(csr(a, 0)), a.where()));
                   });
  functions.def_in(module, "check_coo(a: tuple) -> bool", "heddle::sparse::check.",
                   [](const Arguments& a) {
                     sparse::check(coo(a, 0), a.where());
                     return true;
                   });
  functions.def_in(module, "check_dia(a: tuple) -> bool", "heddle::sparse::check.",
                   [](const Arguments& a) {
                     sparse::check(dia(a, 0), a.where());
                     return true;
                   });
  functions.def_in(module, "coo_of_dense(dense: Operand) -> tuple", "heddle::sparse::coo.",
                   [](const Arguments& a) { return parts_of(sparse::coo(a.operand(0))); });
  functions.def_in(
      module, "holds(a: Array, value: Array) -> bool",
      "Whether a has this value still, without a look at the elements. If so, a function "
      "that is traced meanwhile is traced again once it has another.",
      [](const Arguments& a) {
        const Array& variable = a.array(0);
        const frontend::NodeRef& value = frontend::Access::raw(a.array(1));
        if (frontend::Access::raw(variable) != value) return false;
        if (frontend::Trace* const trace = frontend::Trace::current())
          trace->assume_value(frontend::Access::cell(variable), value);
        return true;
      });
  functions.def_in(
      module, "is_outside(a: Array) -> bool",
      "Whether a does not depend on what a traced function is called with.",
      [](const Arguments& a) { return frontend::Access::raw(a.array(0))->trace_id == 0; });
  module.def("outside", [](const nb::callable& make) {
    const frontend::TraceScope outside(nullptr);
    return make();
  });
  functions.def_in(module, "snapshot(a: Array) -> Array",
                   "The value as another variable: writes to one are not seen by the other.",
                   [](const Arguments& a) { return Array(a.array(0)); });
  functions.def_in(module, "is_tracing() -> bool", "Whether this thread records a function.",
                   [](const Arguments&) { return frontend::Trace::current() != nullptr; });
}

void bind_conversions(Functions& functions, nb::module_& module) {
  functions.def_in(
      module, "csr_to_coo(a: tuple) -> tuple", "heddle::sparse::to_coo.",
      [](const Arguments& a) { return parts_of(sparse::to_coo(csr(a, 0), a.where())); });
  functions.def_in(
      module, "dia_to_coo(a: tuple) -> tuple", "heddle::sparse::to_coo.",
      [](const Arguments& a) { return parts_of(sparse::to_coo(dia(a, 0), a.where())); });
  functions.def_in(
      module, "coo_to_csr(a: tuple) -> tuple", "heddle::sparse::to_csr.",
      [](const Arguments& a) { return parts_of(sparse::to_csr(coo(a, 0), a.where())); });
  functions.def_in(
      module, "coo_to_dia(a: tuple) -> tuple", "heddle::sparse::to_dia.",
      [](const Arguments& a) { return parts_of(sparse::to_dia(coo(a, 0), a.where())); });
  functions.def_in(module, "compress_columns(a: tuple) -> tuple",
                   "heddle::sparse::to_csc: the parts of the Csc, read as its transpose.",
                   [](const Arguments& a) {
                     return parts_of(sparse::transpose(sparse::to_csc(csr(a, 0), a.where())));
                   });
  functions.def_in(module, "csr_to_dense(a: tuple) -> Array", "heddle::sparse::to_dense.",
                   [](const Arguments& a) { return sparse::to_dense(csr(a, 0), a.where()); });
  functions.def_in(module, "dia_to_dense(a: tuple) -> Array", "heddle::sparse::to_dense.",
                   [](const Arguments& a) { return sparse::to_dense(dia(a, 0), a.where()); });
  functions.def_in(module, "rows_of(a: tuple) -> Array", "heddle::sparse::rows_of.",
                   Reduced<sparse::rows_of>{});
  functions.def_in(module, "sort_indices(a: tuple) -> tuple", "heddle::sparse::sort_indices.",
                   OfOne<sparse::sort_indices>{});
  functions.def_in(module, "sum_duplicates(a: tuple) -> tuple", "heddle::sparse::sum_duplicates.",
                   OfOne<static_cast<Unary>(sparse::sum_duplicates)>{});
  functions.def_in(
      module, "sum_duplicates_coo(a: tuple) -> tuple", "heddle::sparse::sum_duplicates.",
      [](const Arguments& a) { return parts_of(sparse::sum_duplicates(coo(a, 0), a.where())); });
  functions.def_in(module, "has_sorted_indices(a: tuple) -> Array",
                   "heddle::sparse::has_sorted_indices.", Reduced<sparse::has_sorted_indices>{});
  functions.def_in(module, "has_canonical_format(a: tuple) -> Array",
                   "heddle::sparse::has_canonical_format.",
                   Reduced<sparse::has_canonical_format>{});
  functions.def_in(
      module, "keep(a: tuple, mask: Array) -> tuple", "heddle::sparse::keep.",
      [](const Arguments& a) { return parts_of(sparse::keep(csr(a, 0), a.array(1), a.where())); });
}

void bind_products(Functions& functions, nb::module_& module) {
  functions.def_in(
      module, "segment_sum(values: Operand, offsets: Array) -> Array",
      "out[i] = the sum of values[offsets[i]:offsets[i + 1]], 0 if there are none. Raises "
      "ShapeError, DTypeError.",
      [](const Arguments& a) { return sparse::segment_sum(a.operand(0), a.array(1)); });
  functions.def_in(module,
                   "segment_min(values: Operand, offsets: Array, initial: Operand) -> Array",
                   "heddle::sparse::segment_min.", [](const Arguments& a) {
                     return sparse::segment_min(a.operand(0), a.array(1), a.operand(2));
                   });
  functions.def_in(module, "csr_matmul(a: tuple, x: Operand, pieces: tuple | None = None) -> Array",
                   "heddle::sparse::matmul.", [](const Arguments& a) {
                     if (a.is_none(2)) return sparse::matmul(csr(a, 0), a.operand(1));
                     const Parts parts(a, 2, 2);
                     const sparse::Pieces pieces{parts.array(0), parts.array(1)};
                     return sparse::matmul(csr(a, 0), pieces, a.operand(1));
                   });
  functions.def_in(module, "pieces_of(a: tuple) -> tuple | None", "heddle::sparse::pieces_of.",
                   [](const Arguments& a) -> nb::object {
                     std::optional<sparse::Pieces> made = sparse::pieces_of(csr(a, 0), a.where());
                     if (!made) return nb::none();
                     return nb::make_tuple(wrap(std::move(made->begins)),
                                           wrap(std::move(made->rows)));
                   });
  functions.def_in(module, "dia_matmul(a: tuple, x: Operand) -> Array", "heddle::sparse::matmul.",
                   [](const Arguments& a) { return sparse::matmul(dia(a, 0), a.operand(1)); });
  functions.def_in(module, "matmul(a: tuple, b: tuple) -> tuple", "heddle::sparse::matmul.",
                   OfTwo<static_cast<Binary>(sparse::matmul)>{});
  functions.def_in(
      module, "kron(a: tuple, b: tuple) -> tuple", "heddle::sparse::kron.",
      [](const Arguments& a) { return parts_of(sparse::kron(coo(a, 0), coo(a, 1), a.where())); });
}

void bind_elementwise_of_two(Functions& functions, nb::module_& module) {
  const auto def = [&](const char* name, auto function) {
    functions.def_in(module, named(name, "(a: tuple, b: tuple) -> tuple"),
                     fmt::format("heddle::sparse::{}.", name), function);
  };
  def("add", OfTwo<sparse::add>{});
  def("subtract", OfTwo<sparse::subtract>{});
  def("multiply", OfTwo<sparse::multiply>{});
  def("maximum", OfTwo<sparse::maximum>{});
  def("minimum", OfTwo<sparse::minimum>{});
  def("not_equal", OfTwo<sparse::not_equal>{});
  def("less", OfTwo<sparse::less>{});
  def("greater", OfTwo<sparse::greater>{});
  functions.def_in(module, "values_at(a: tuple, dense: Operand) -> Array",
                   "heddle::sparse::values_at.",
                   [](const Arguments& a) { return sparse::values_at(csr(a, 0), a.operand(1)); });
}

void bind_reductions_of_rows(Functions& functions, nb::module_& module) {
  functions.def_in(module, "sum(a: tuple, axis: int) -> Array", "heddle::sparse::sum.",
                   [](const Arguments& a) {
                     return sparse::sum(csr(a, 0), static_cast<int>(a.integer(1)), a.where());
                   });
  const auto def = [&](const char* name, auto function) {
    functions.def_in(module, named(name, "(a: tuple) -> Array"),
                     fmt::format("heddle::sparse::{}.", name), function);
  };
  def("min_of_rows", Reduced<sparse::min_of_rows>{});
  def("max_of_rows", Reduced<sparse::max_of_rows>{});
  def("argmin_of_rows", Reduced<sparse::argmin_of_rows>{});
  def("argmax_of_rows", Reduced<sparse::argmax_of_rows>{});
  functions.def_in(
      module, "diagonal(a: tuple, k: int) -> Array", "heddle::sparse::diagonal.",
      [](const Arguments& a) { return sparse::diagonal(csr(a, 0), a.integer(1), a.where()); });
}

void bind_components(Functions& functions, nb::module_& module) {
  functions.def_in(module, "strong_components(a: tuple) -> Array",
                   "heddle::sparse::strong_components.", Reduced<sparse::strong_components>{});
}

nb::object parts_of(std::optional<graphs::Paths> made) {
  if (!made) return nb::none();
  return nb::make_tuple(wrap(std::move(made->distances)), wrap(std::move(made->predecessors)));
}

nb::object parts_of(graphs::Traversal made) {
  return nb::make_tuple(wrap(std::move(made.order)), wrap(std::move(made.predecessors)));
}

void bind_paths(Functions& functions, nb::module_& module) {
  functions.def_in(
      module, "dijkstra(a: tuple, sources: Array, limit: float) -> tuple",
      "heddle::sparse::csgraph::dijkstra.", [](const Arguments& a) {
        return parts_of(graphs::dijkstra(csr(a, 0), a.array(1), a.number(2), a.where()));
      });
  functions.def_in(
      module, "nearest(a: tuple, sources: Array, limit: float) -> tuple",
      "heddle::sparse::csgraph::nearest.", [](const Arguments& a) -> nb::object {
        graphs::NearestPaths made = graphs::nearest(csr(a, 0), a.array(1), a.number(2), a.where());
        return nb::make_tuple(wrap(std::move(made.distances)), wrap(std::move(made.predecessors)),
                              wrap(std::move(made.sources)));
      });
  functions.def_in(module, "bellman_ford(a: tuple, sources: Array) -> tuple | None",
                   "heddle::sparse::csgraph::bellman_ford.", [](const Arguments& a) {
                     return parts_of(graphs::bellman_ford(csr(a, 0), a.array(1), a.where()));
                   });
  functions.def_in(module, "johnson(a: tuple, sources: Array) -> tuple | None",
                   "heddle::sparse::csgraph::johnson.", [](const Arguments& a) {
                     return parts_of(graphs::johnson(csr(a, 0), a.array(1), a.where()));
                   });
}

void bind_traversal(Functions& functions, nb::module_& module) {
  functions.def_in(
      module, "breadth_first_order(a: tuple, start: int) -> tuple",
      "heddle::sparse::csgraph::breadth_first_order.", [](const Arguments& a) {
        return parts_of(graphs::breadth_first_order(csr(a, 0), a.integer(1), a.where()));
      });
  functions.def_in(module, "depth_first_order(a: tuple, start: int) -> tuple",
                   "heddle::sparse::csgraph::depth_first_order.", [](const Arguments& a) {
                     return parts_of(graphs::depth_first_order(csr(a, 0), a.integer(1), a.where()));
                   });
  functions.def_in(module, "minimum_spanning_tree(a: tuple) -> Array",
                   "heddle::sparse::csgraph::minimum_spanning_tree.",
                   Reduced<graphs::minimum_spanning_tree>{});
  functions.def_in(module, "reverse_cuthill_mckee(a: tuple) -> Array",
                   "heddle::sparse::csgraph::reverse_cuthill_mckee.",
                   Reduced<graphs::reverse_cuthill_mckee>{});
}

void bind_selections(Functions& functions, nb::module_& module) {
  functions.def_in(module, "take_rows(a: tuple, rows: Array) -> tuple",
                   "heddle::sparse::take_rows.", [](const Arguments& a) {
                     return parts_of(sparse::take_rows(csr(a, 0), a.array(1), a.where()));
                   });
  functions.def_in(module, "elements(a: tuple, rows: Array, columns: Array) -> Array",
                   "heddle::sparse::elements.", [](const Arguments& a) {
                     return sparse::elements(csr(a, 0), a.array(1), a.array(2), a.where());
                   });
  functions.def_in(module,
                   "overwrite(a: tuple, rows: Array, columns: Array, values: Array) -> tuple",
                   "heddle::sparse::overwrite.", [](const Arguments& a) {
                     return parts_of(sparse::overwrite(csr(a, 0), a.array(1), a.array(2),
                                                       a.array(3), a.where()));
                   });
}

void bind_lengths(Functions& functions, nb::module_& module) {
  functions.def_in(module, "length(x: Array) -> Array", "The Euclidean norm of any vector.",
                   [](const Arguments& a) { return sparse::linalg::length(a.array(0)); });
  functions.def_in(module, "unit_of(x: Array, y: Array, always: bool = False) -> Array",
                   "A power of two in which the squares of x and y are in range.",
                   [](const Arguments& a) {
                     return sparse::linalg::unit_of(a.array(0), a.array(1), a.flag(2));
                   });
}

nb::object ritz_pairs(const Arguments& a) {
  namespace solvers = sparse::linalg;
  const SourceLocation where = a.where();
  const std::string which = a.text(4);
  const solvers::RestartOptions options{.k = a.integer(3),
                                        .which = which,
                                        .tol = a.number(5),
                                        .ncv = a.integer(6),
                                        .maxiter = a.integer(7),
                                        .is_real = a.flag(9),
                                        .step_by_step = a.flag(10)};
  const Array start = a.array(1);
  const auto method = a.flag(8) ? solvers::lanczos(options, start.dtype())
                                : solvers::arnoldi(options, start.dtype());
  const auto matvec = [&](const Array& x) {
    const nb::object made = nb::borrow(a[0])(wrap(Array(x)));
    return as_array(made)->read(where);
  };
  solvers::Eigenpairs made = solvers::iterate(*method, matvec, start, a.array(2), options);
  return nb::make_tuple(wrap(std::move(made.values)), wrap(std::move(made.vectors)),
                        wrap(std::move(made.converged)));
}

void bind_eigenvalues(Functions& functions, nb::module_& module) {
  functions.def_in(
      module,
      "ritz_pairs(matvec: Callable, start: Array, noise: Array, k: int, which: str, tol: float, "
      "ncv: int, maxiter: int, is_hermitian: bool, is_real: bool, step_by_step: bool) -> tuple",
      "The k Ritz pairs of an operator that are wanted most.",
      [](const Arguments& a) { return ritz_pairs(a); });
}

}  // namespace

void bind_sparse(Functions& functions) {
  nb::module_ module = functions.module().def_submodule(
      "_sparse", "The algorithms under heddle.sparse, on the parts of matrices.");
  bind_construction(functions, module);
  bind_conversions(functions, module);
  bind_products(functions, module);
  bind_elementwise_of_two(functions, module);
  bind_reductions_of_rows(functions, module);
  bind_components(functions, module);
  bind_paths(functions, module);
  bind_traversal(functions, module);
  bind_selections(functions, module);
  bind_lengths(functions, module);
  bind_eigenvalues(functions, module);
}

}  // namespace heddle::python
