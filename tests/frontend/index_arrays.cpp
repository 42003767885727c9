// The C++ forms of arrays of indices, of blocks and of bits; tests/vocabulary holds them to NumPy
// over dtypes, layouts and bad arguments.
#include "against_numpy.h"

namespace heddle::test {
namespace {

Both ints() { return Both(moderate_sample(DType::i32, {4, 6}, 1)); }

TEST_CASE("indices are unraveled and raveled") {
  const Array places = hd::array<std::int64_t>({0, 7, 23});
  check_like_numpy(hd::unravel_index(places, {2, 3, 4}),
                   "result = np.unravel_index([0, 7, 23], (2, 3, 4))", {});
  check_like_numpy(hd::unravel_index(places, {2, 3, 4}, "F"),
                   "result = np.unravel_index([0, 7, 23], (2, 3, 4), 'F')", {});
  const std::vector<Array> coordinates = hd::unravel_index(places, {2, 3, 4});
  check<std::int64_t>(hd::ravel_multi_index(coordinates, {2, 3, 4}), {3}, {0, 7, 23});
  check<std::int64_t>(hd::ravel_multi_index({places, 1}, {24, 2}), {3}, {1, 15, 47});
  check<std::int64_t>(hd::ravel_multi_index({places, -1}, {5, 2}, {"wrap", "clip"}, "F"), {3},
                      {0, 2, 3});
  CHECK(contains(message_of<hd::ValueError>([] { hd::unravel_index(6, {2, 3}); }),
                 "unravel_index: 6 is outside of [0, 6) ("));
  CHECK(contains(message_of<hd::ValueError>([&] { hd::ravel_multi_index({places, 2}, {24, 2}); }),
                 "ravel_multi_index: 2 is outside of [0, 2) ("));
  CHECK_THROWS_AS(hd::unravel_index(0, {2, -3}), hd::ShapeError);
  CHECK_THROWS_AS(hd::unravel_index(0, {std::int64_t{1} << 40, std::int64_t{1} << 40}),
                  hd::ShapeError);
  CHECK_THROWS_AS(hd::unravel_index(0.5, {2}), hd::DTypeError);
}

TEST_CASE("triangles are counted without overflow") {
  constexpr std::int64_t most = std::int64_t{1} << 31,
                         all = std::numeric_limits<std::int64_t>::max();
  const std::vector<Array> corner = hd::triu_indices(2, most - 1, most);
  check<std::int64_t>(corner[0], {1}, {0});
  check<std::int64_t>(corner[1], {1}, {most - 1});
  CHECK(hd::tril_indices(3, all)[0].size() == 9);
  CHECK(hd::triu_indices(3, all)[0].size() == 0);
  CHECK(hd::tril_indices(3, -all - 1)[0].size() == 0);
  CHECK(hd::triu_indices(3, -all - 1)[0].size() == 9);
  CHECK(hd::tril_indices(0, 0, most)[0].size() == 0);
  CHECK_THROWS_AS(hd::tril_indices(1, 0, most + 1), hd::ShapeError);
  CHECK_THROWS_AS(hd::tril_indices(all, 0, most), hd::ShapeError);
}

TEST_CASE("diagonals and places are written") {
  const Both x = ints();
  Array filled = x.array, placed = x.array;
  hd::fill_diagonal(filled, hd::array<int>({1, 2, 3}));
  hd::place(placed, x.array > 0, hd::array<int>({1, 2, 3}));
  check_like_numpy({filled, placed},
                   "a = x.copy(); b = x.copy(); np.fill_diagonal(a, [1, 2, 3])\n"
                   "np.place(b, x > 0, [1, 2, 3]); result = (a, b)",
                   {{"x", x.host}});
  check_like_numpy(hd::diag_indices_from(hd::zeros<float>({3, 3, 3})),
                   "result = np.diag_indices(3, 3)", {});
  Array vector = x.array(0);
  CHECK_THROWS_AS(hd::fill_diagonal(vector, 1), hd::ShapeError);
  CHECK_THROWS_AS(hd::place(vector, x.array > 0, 1), hd::ShapeError);
}

TEST_CASE("blocks are joined as they are nested") {
  const Both x = ints();
  const Array& a = x.array;
  const Array row = a(0), flags = a(hd::slice(2)) > 0;
  check_like_numpy({hd::block({{a, a}, {a, a}}), hd::block({{a}, {row}, {flags}}),
                    hd::block({row, row}), hd::block(a), hd::block({{{row}}, {{row}}})},
                   "result = (np.block([[x, x], [x, x]]), np.block([[x], [x[0]], [x[:2] > 0]]),\n"
                   "          np.block([x[0], x[0]]), x, np.block([[[x[0]]], [[x[0]]]]))",
                   {{"x", x.host}});
  CHECK(
      contains(message_of<hd::ValueError>([&] { hd::block({{a}, a}); }),
               "block: the first arrays are nested 2 lists deep, but array 1 is nested 1 deep ("));
  CHECK_THROWS_AS(hd::block(std::vector<hd::Block>{}), hd::ValueError);
  CHECK_THROWS_AS(hd::block({{a, row}}), hd::ShapeError);
}

TEST_CASE("bits are packed and unpacked, and zeros trimmed") {
  const Both x = ints();
  check_like_numpy({hd::packbits(x.array > 0), hd::packbits(x.array, 0, "little")},
                   "result = (np.packbits(x > 0), np.packbits(x, 0, 'little'))", {{"x", x.host}});
  const Array bytes = hd::packbits(x.array > 0);
  CHECK(hd::array_equal(hd::unpackbits(bytes, {}, 24).reshape({4, 6}), x.array > 0));
  CHECK(hd::unpackbits(bytes, 0, -20).size() == 4);
  check<int>(hd::trim_zeros(hd::array<int>({0, 0, 3, 0, 4, 0}), "b"), {5}, {0, 0, 3, 0, 4});
  const auto traced = hd::jit([](const Array& v) { return hd::trim_zeros(v); });
  CHECK_THROWS_AS(traced(hd::ones<float>({3}).eval()), hd::TraceError);
}

}  // namespace
}  // namespace heddle::test
