// heddle/sparse.h; tests/python/test_sparse*.py hold the same functions to SciPy.
#include <vector>

#include "against_numpy.h"

namespace heddle::test {
namespace {

namespace sp = hd::sparse;

/// [[0, 1, 2], [0, 0, 0], [3, 0, 0]], with the element 3 in two parts.
sp::Coo entries() {
  return {hd::array<double>({2, 1, 1, 2}),
          hd::array<std::int32_t>({2, 0, 2, 0}),
          hd::array<std::int32_t>({0, 1, 0, 2}),
          {3, 3}};
}

sp::Csr rows() { return sp::sum_duplicates(sp::to_csr(entries())); }

TEST_CASE("coordinates become compressed rows, columns, diagonals and a dense matrix") {
  sp::check(entries());
  const sp::Csr a = sp::to_csr(entries());
  CHECK(sp::check(a) == 4);
  CHECK_FALSE(sp::has_canonical_format(a).item<bool>());
  CHECK(sp::has_sorted_indices(a).item<bool>());
  check<double>(sp::to_dense(a), {3, 3}, {0, 1, 2, 0, 0, 0, 3, 0, 0});
  const sp::Csr unique = rows();
  CHECK(unique.canonical);
  check<double>(unique.data, {3}, {1, 2, 3});
  check<std::int32_t>(unique.indices, {3}, {1, 2, 0});
  check<std::int32_t>(unique.indptr, {4}, {0, 2, 2, 3});
  check<double>(sp::to_dense(unique), {3, 3}, {0, 1, 2, 0, 0, 0, 3, 0, 0});
  const sp::Csc columns = sp::to_csc(unique);
  CHECK(sp::check(columns) == 3);
  check<double>(columns.data, {3}, {3, 1, 2});
  check<double>(sp::to_dense(sp::to_csr(columns)), {3, 3}, {0, 1, 2, 0, 0, 0, 3, 0, 0});
  const sp::Dia diagonals = sp::to_dia(entries());
  sp::check(diagonals);
  check<std::int32_t>(diagonals.offsets, {3}, {-2, 1, 2});
  check<double>(sp::to_dense(diagonals), {3, 3}, {0, 1, 2, 0, 0, 0, 3, 0, 0});
  check<double>(sp::matmul(diagonals, hd::array<double>({1, 2, 3})), {3}, {8, 0, 3});
  check<double>(sp::to_coo(diagonals).data, {3}, {3, 1, 2});
}

TEST_CASE("sparse products") {
  const sp::Csr a = rows();
  const Array x = hd::array<double>({1, 2, 3});
  check<double>(sp::matmul(a, x), {3}, {8, 0, 3});
  check<double>(sp::matmul(a, x.reshape({3, 1})), {3, 1}, {8, 0, 3});
  check<double>(sp::to_dense(sp::matmul(a, a)), {3, 3}, {6, 0, 0, 0, 0, 0, 0, 3, 6});
  check<double>(sp::segment_sum(x, hd::array<std::int64_t>({0, 0, 2, 3})), {3}, {0, 3, 3});
  const auto product =
      hd::jit([](const sp::Csr& m, const Array& v) { return sp::matmul(m, v) * 2; });
  check<double>(product(a, x.eval()), {3}, {16, 0, 6});
  CHECK_THROWS_AS(sp::matmul(a, hd::ones({4})), ShapeError);
}

TEST_CASE("two sparse matrices, element by element") {
  const sp::Csr a = rows(), b = sp::to_csr(sp::transpose(a));
  check<double>(sp::to_dense(sp::add(a, b)), {3, 3}, {0, 1, 5, 1, 0, 0, 5, 0, 0});
  check<double>(sp::to_dense(sp::multiply(a, b)), {3, 3}, {0, 0, 6, 0, 0, 0, 6, 0, 0});
  CHECK(sp::subtract(a, a).data.size() == 0);
  const sp::Coo twice = sp::kron(sp::to_coo(a), sp::coo(hd::ones({1, 2})));
  check<double>(sp::to_dense(sp::to_csr(twice)), {3, 6},
                {0, 0, 1, 1, 2, 2, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0});
}

TEST_CASE("reductions and selections of sparse matrices") {
  const sp::Csr a = rows();
  check<double>(sp::sum(a, 0), {3}, {3, 1, 2});
  check<double>(sp::sum(a, 1), {3}, {3, 0, 3});
  check<double>(sp::max_of_rows(a), {3}, {2, 0, 3});
  check<double>(sp::min_of_rows(a), {3}, {0, 0, 0});
  check<std::int64_t>(sp::argmax_of_rows(a), {3}, {2, 0, 0});
  check<double>(sp::diagonal(a, 1), {2}, {1, 0});
  const Array two = hd::array<std::int64_t>({2, 0});
  check<double>(sp::to_dense(sp::take_rows(a, two)), {2, 3}, {3, 0, 0, 0, 1, 2});
  check<double>(sp::elements(a, two, two), {2}, {0, 0});
  const sp::Csr written = sp::overwrite(a, two, two, hd::array<double>({5, 6}));
  check<double>(sp::to_dense(written), {3, 3}, {6, 1, 2, 0, 0, 0, 3, 0, 5});
  check<double>(sp::keep(a, a.data > 1.5).data, {2}, {2, 3});
}

TEST_CASE("strongly connected components") {
  // 0 -> 1 -> 2 -> 0 is a circle, which leads to 3; 4 leads to the circle.
  const sp::Coo edges{hd::ones({5}),
                      hd::array<std::int32_t>({0, 1, 2, 1, 4}),
                      hd::array<std::int32_t>({1, 2, 0, 3, 0}),
                      {5, 5}};
  check<std::int32_t>(sp::strong_components(sp::to_csr(edges)), {5}, {1, 1, 1, 0, 2});
  const sp::Csr rows_only = sp::to_csr(sp::Coo{edges.data, edges.row, edges.col, {5, 6}});
  CHECK_THROWS_AS(sp::strong_components(rows_only), ShapeError);
  CHECK_THROWS_AS(hd::jit([](const sp::Csr& m) { return sp::strong_components(m); })(rows()),
                  TraceError);
}

TEST_CASE("sparse arrays that do not fit name the array and the position") {
  sp::Csr a = rows();
  a.indices = hd::array<std::int32_t>({1, 3, 0});
  CHECK_THROWS_WITH_AS(sp::check(a), doctest::Contains("indices[1] is 3, but there are 3 columns"),
                       ValueError);
  a.indptr = hd::array<std::int32_t>({0, 2, 1, 3});
  CHECK_THROWS_WITH_AS(sp::check(a), doctest::Contains("indptr decreases at position 2"),
                       ValueError);
  const sp::Csr good = rows();
  CHECK_THROWS_AS(hd::jit([](const sp::Csr& m) { return sp::add(m, m).data; })(good), TraceError);
}

}  // namespace
}  // namespace heddle::test
