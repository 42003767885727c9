// The C++ forms of functions that are compositions, against NumPy. tests/vocabulary holds them to
// NumPy over dtypes, layouts and bad arguments, through the Python module.
#include <cstring>

#include "tests/support/oracle.h"
#include "values.h"

using hd::test::Oracle;
using hd::test::OracleResult;

namespace {

hd::ir::HostArray on_host(const hd::Array& array) {
  hd::ir::HostArray result{{array.dtype(), {}}, {}};
  for (std::int64_t extent : array.shape()) result.type.shape.emplace_back(extent);
  result.data.resize(static_cast<std::size_t>(array.nbytes()));
  const auto fill = [&](const auto& values) {
    if (!values.empty()) std::memcpy(result.data.data(), values.data(), result.data.size());
  };
  switch (array.dtype()) {
    case hd::DType::boolean:
      fill(array.astype<std::uint8_t>().to_vector<std::uint8_t>());
      break;
    case hd::DType::i32:
      fill(array.to_vector<std::int32_t>());
      break;
    case hd::DType::i64:
      fill(array.to_vector<std::int64_t>());
      break;
    case hd::DType::f32:
      fill(array.to_vector<float>());
      break;
    default:
      fill(array.to_vector<double>());
  }
  return result;
}

hd::Array ints() { return hd::arange<int>(12).reshape({3, 4}) * 7 % 11; }
hd::Array floats() { return hd::sin(hd::arange<float>(24)).reshape({2, 3, 4}); }
hd::Array holes() { return hd::where(floats() > 0.5f, static_cast<float>(NAN), floats())(0); }

/// That dtype, shape and values are NumPy's for code that may use i, f and h, the arrays above.
void agree(const std::string& code, const std::vector<hd::Array>& results) {
  CAPTURE(code);
  const std::vector<std::pair<std::string, hd::ir::HostArray>> inputs{
      {"i", on_host(ints())}, {"f", on_host(floats())}, {"h", on_host(holes())}};
  const OracleResult expected =
      Oracle::instance().python("with np.errstate(all='ignore'):\n  result = " + code, inputs);
  REQUIRE_MESSAGE(expected.error.empty(), expected.error);
  REQUIRE(expected.outputs.size() == results.size());
  for (std::size_t k = 0; k < results.size(); ++k) {
    const hd::Array& result = results[k];
    const hd::ir::HostArray& value = expected.outputs[k].value;
    CHECK(hd::numpy_name_of(result.dtype()) == hd::numpy_name_of(value.type.dtype));
    REQUIRE(on_host(result).type.shape == value.type.shape);
    const hd::Array reference =
        hd::from_memory(value.data.data(), static_cast<std::size_t>(result.size()),
                        value.type.dtype, result.shape());
    const bool close = hd::allclose(result, reference, 1e-5, 1e-6, true);
    CHECK(close);
    if (!close) MESSAGE(result, "\ninstead of\n", reference);
  }
}
void agree(const std::string& code, const hd::Array& result) { agree(code, std::vector{result}); }

}  // namespace

TEST_CASE("reductions take dtype, initial and a mask") {
  const hd::Array i = ints(), f = floats(), mask = f > 0.0f;
  agree("np.sum(i, dtype=np.float32)", hd::sum(i, {}, false, hd::float32));
  agree("np.sum(i, 1, initial=3)", hd::sum(i, 1, false, {}, 3));
  agree("np.sum(f, 0, where=f > 0)", hd::sum(f, 0, false, {}, {}, mask));
  agree("np.sum(i, axis=())", hd::sum(i, std::vector<std::int64_t>{}));
  agree("np.sum(i > 3, dtype=bool)", hd::sum(i > 3, {}, false, hd::bool_));
  agree("np.prod(f, (0, 2), initial=2, where=f > 0)", hd::prod(f, {0, 2}, false, {}, 2, mask));
  agree("np.max(f, 1, initial=0.5, where=f > 0, keepdims=True)", hd::max(f, 1, true, 0.5, mask));
  agree("np.min(f[:0], 0, initial=2)", hd::min(f(hd::slice(0)), 0, false, 2));
  agree("np.mean(f, 2, where=f > 0, dtype=np.float64)", hd::mean(f, 2, false, hd::float64, mask));
  agree("np.mean(i, dtype=int)", hd::mean(i, {}, false, hd::int64));
  agree("np.var(f, 1, ddof=1, where=f > -.9)", hd::var(f, 1, 1, false, {}, f > -0.9f));
  agree("np.std(f, 1, mean=np.zeros((2, 1, 4), 'f'))",
        hd::std(f, 1, 0, false, {}, {}, hd::zeros<float>({2, 1, 4})));
  agree("np.any(f, 0, where=f > 0.9)", hd::any(f, 0, false, f > 0.9f));
  agree("np.all(f, 0, where=f > 0.9)", hd::all(f, 0, false, f > 0.9f));
  agree("np.ptp(i, 0)", hd::ptp(i, 0));
  CHECK_THROWS_AS(hd::max(f, 0, false, {}, mask), hd::ValueError);
  CHECK_THROWS_AS(hd::sum(f, 0, false, {}, {}, f), hd::DTypeError);
  CHECK_THROWS_AS(hd::sum(f, 0, false, {}, {}, hd::ones<bool>({5})), hd::ShapeError);
  CHECK_THROWS_AS(hd::argmax(f, {0, 1}), hd::ValueError);
}

TEST_CASE("reductions of what is not NaN") {
  const hd::Array h = holes(), i = ints();
  agree("np.nansum(h, 0), np.nanprod(h, 1), np.nansum(i)",
        {hd::nansum(h, 0), hd::nanprod(h, 1), hd::nansum(i)});
  agree("np.nanmin(h, 1), np.nanmax(h), np.nanmax(h, 0, initial=0, where=h > -1)",
        {hd::nanmin(h, 1), hd::nanmax(h), hd::nanmax(h, 0, false, 0, h > -1.0f)});
  agree("np.nanargmin(h, 1), np.nanargmax(h)", {hd::nanargmin(h, 1), hd::nanargmax(h)});
  agree("np.nanmean(h, 0), np.nanvar(h, 0, ddof=1), np.nanstd(h)",
        {hd::nanmean(h, 0), hd::nanvar(h, 0, 1), hd::nanstd(h)});
  agree("np.log(np.sum(np.exp(f), (0, 2)))", hd::logsumexp(floats(), {0, 2}));
  const float inf = INFINITY;
  const hd::Array edges =
      hd::logsumexp(hd::array<float>({{-inf, -inf}, {inf, 0}, {NAN, 1}, {1e4f, 1e4f}}), 1);
  CHECK(hd::array_equal(edges, hd::array({-inf, inf, NAN, 1e4f + std::log(2.0f)}), true));
  CHECK(hd::nanargmax(hd::full<float>({2}, NAN)).item<int>() == -1);
}

TEST_CASE("arrays are rearranged") {
  const hd::Array i = ints(), f = floats();
  agree("np.roll(i, 5), np.roll(f, (1, -2), (0, -1)), np.roll(f, 2, (1, 1))",
        {hd::roll(i, 5), hd::roll(f, {1, -2}, {0, -1}), hd::roll(f, 2, {1, 1})});
  agree("np.fliplr(i), np.flipud(i), np.rot90(i), np.rot90(f, -1, (2, 0)), np.rot90(i, 2)",
        {hd::fliplr(i), hd::flipud(i), hd::rot90(i), hd::rot90(f, -1, {2, 0}), hd::rot90(i, 2)});
  agree("np.repeat(i, 2), np.repeat(i, 3, 1), np.tile(i, 2), np.tile(i[0], (2, 1, 3))",
        {hd::repeat(i, 2), hd::repeat(i, 3, 1), hd::tile(i, {2}), hd::tile(i(0), {2, 1, 3})});
  agree("np.resize(i, (5, 6)), np.resize(i[:0], (2,))",
        {hd::resize(i, {5, 6}), hd::resize(i(hd::slice(0)), {2})});
  CHECK_THROWS_AS(hd::roll(i, {1, 2, 3}, {0, 1}), hd::ValueError);
  CHECK_THROWS_AS(hd::repeat(i, -1), hd::ValueError);
}

TEST_CASE("arrays are padded") {
  const hd::Array i = ints(), f = floats();
  agree("np.pad(i, ((1, 2), (0, 3)), constant_values=((1, 2), (3, 4)))",
        hd::pad(i, {{1, 2}, {0, 3}}, "constant", {.constant_values = {{1, 2}, {3, 4}}}));
  agree("np.pad(f, 2, 'edge'), np.pad(f, 9, 'wrap')",
        {hd::pad(f, {{2, 2}}, "edge"), hd::pad(f, {{9, 9}}, "wrap")});
  agree("np.pad(i, ((7, 1), (11, 5)), 'reflect'), np.pad(i, ((7, 1), (11, 5)), 'symmetric')",
        {hd::pad(i, {{7, 1}, {11, 5}}, "reflect"), hd::pad(i, {{7, 1}, {11, 5}}, "symmetric")});
  agree("np.pad(i, ((7, 1), (11, 5)), 'reflect', reflect_type='odd')",
        hd::pad(i, {{7, 1}, {11, 5}}, "reflect", {.odd = true}));
  agree("np.pad(i, ((7, 1), (11, 5)), 'symmetric', reflect_type='odd')",
        hd::pad(i, {{7, 1}, {11, 5}}, "symmetric", {.odd = true}));
  agree("np.pad(i, 5, 'linear_ramp', end_values=-3), np.pad(f, 5, 'linear_ramp')",
        {hd::pad(i, {{5, 5}}, "linear_ramp", {.end_values = {{-3, -3}}}),
         hd::pad(f, {{5, 5}}, "linear_ramp")});
  agree("np.pad(i, 1, 'mean'), np.pad(i, 1, 'maximum', stat_length=2), np.pad(f, 1, 'minimum')",
        {hd::pad(i, {{1, 1}}, "mean"), hd::pad(i, {{1, 1}}, "maximum", {.stat_length = {{2, 2}}}),
         hd::pad(f, {{1, 1}}, "minimum")});
  CHECK_THROWS_AS(hd::pad(i, {{1, 1}}, "middle"), hd::ValueError);
  CHECK_THROWS_AS(hd::pad(i, {{1, -1}}), hd::ValueError);
  CHECK_THROWS_AS(hd::pad(i(hd::slice(0)), {{1, 1}}, "edge"), hd::ValueError);
}

TEST_CASE("arrays are joined, cut, put in and out") {
  const hd::Array i = ints(), f = floats();
  const std::vector<hd::Array> pair{i, i}, vectors{i(0), i(1)};
  agree(
      "np.hstack((i, i)), np.vstack((i[0], i[1])), np.dstack((i, i)), np.column_stack((i[0], "
      "i[1]))",
      {hd::hstack(pair), hd::vstack(vectors), hd::dstack(pair), hd::column_stack(vectors)});
  agree("tuple(np.split(i, 2, 1)) + tuple(np.split(i[0], [1, -1, 9]))",
        {hd::split(i, 2, 1)[0], hd::split(i, 2, 1)[1], hd::split(i(0), {1, -1, 9})[0],
         hd::split(i(0), {1, -1, 9})[1], hd::split(i(0), {1, -1, 9})[2],
         hd::split(i(0), {1, -1, 9})[3]});
  agree("tuple(np.array_split(i, 2)) + tuple(np.hsplit(i, 4)[1:2]) + tuple(np.dsplit(f, [1])[:1])",
        {hd::array_split(i, 2)[0], hd::array_split(i, 2)[1], hd::hsplit(i, 4)[1],
         hd::dsplit(f, {1})[0]});
  agree("tuple(np.unstack(i, axis=1))", hd::unstack(i, 1));
  agree("np.append(i, 7), np.append(i, i, 0), np.delete(i, 1, 0), np.delete(i, [1, -1])",
        {hd::append(i, std::int64_t{7}), hd::append(i, i, 0), hd::delete_(i, {1}, 0),
         hd::delete_(i, {1, -1})});
  agree("np.insert(i, 1, [7, 8, 9], 1), np.insert(i, [0, 4, 0], [7, 8, 9], 1), np.insert(i, 2, 5)",
        {hd::insert(i, 1, hd::array({7, 8, 9}), 1),
         hd::insert(i, {0, 4, 0}, hd::array({7, 8, 9}), 1), hd::insert(i, 2, 5)});
  agree(
      "np.delete(i, i[:, 0] > 3, 0), np.delete(i, i[0] > 3, 1), np.delete(i, i[0] % 3)",
      {hd::delete_(i, i(hd::_, 0) > 3, 0), hd::delete_(i, i(0) > 3, 1), hd::delete_(i, i(0) % 3)});
  agree("np.insert(i, i[0] > 3, 5, 1), np.insert(i, i[0, :2] % 3, [5, 6])",
        {hd::insert(i, i(0) > 3, 5, 1), hd::insert(i, i(0, hd::slice(2)) % 3, hd::array({5, 6}))});
  CHECK_THROWS_AS(hd::delete_(i, i(0) > 3, 0), hd::ShapeError);
  CHECK_THROWS_AS(hd::insert(i, i > 3, 5), hd::ShapeError);
  CHECK_THROWS_AS(hd::delete_(i, f(0, 0)), hd::DTypeError);
  CHECK_THROWS_AS(hd::jit([](const hd::Array& x) { return hd::delete_(x, x > 3); })(i(0)),
                  hd::TraceError);
  CHECK_THROWS_AS(hd::split(i, 3, 1), hd::ValueError);
  CHECK_THROWS_AS(hd::delete_(i, {4}, 1), hd::IndexError);
  CHECK_THROWS_AS(hd::vsplit(i(0), 2), hd::ValueError);
}

TEST_CASE("matrices and grids are made") {
  const hd::Array i = ints(), f = floats();
  agree("np.tril(f, -1), np.triu(i, 1), np.tril(i[0]), np.tri(3, 5, 1, int), np.identity(3)",
        {hd::tril(f, -1), hd::triu(i, 1), hd::tril(i(0)), hd::tri(3, 5, 1, hd::int64),
         hd::identity(3)});
  agree(
      "np.diag(i[0], 1), np.diag(i[0], -2), np.diag(i, -1), np.diag(i, 9), np.diagflat(i[:2, :2])",
      {hd::diag(i(0), 1), hd::diag(i(0), -2), hd::diag(i, -1), hd::diag(i, 9),
       hd::diagflat(i(hd::slice(2), hd::slice(2)))});
  agree("np.diagonal(f, 1, 2, 0), np.trace(i, 1), np.trace(f, 0, 1, 2)",
        {hd::diagonal(f, 1, 2, 0), hd::trace(i, 1), hd::trace(f, 0, 1, 2)});
  agree("np.vander(i[0], 3), np.vander(f[0, 0], increasing=True)",
        {hd::vander(i(0), 3), hd::vander(f(0, 0), -1, true)});
  const std::vector<hd::Array> vectors{i(0), f(0, 0)(hd::slice(3))};
  agree("np.meshgrid(i[0], f[0, 0, :3])", hd::meshgrid(vectors));
  agree("np.meshgrid(i[0], f[0, 0, :3], indexing='ij', sparse=True)",
        hd::meshgrid(vectors, "ij", true));
  agree("np.indices((2, 3), sparse=True)", hd::sparse_indices({2, 3}));
  agree("np.indices((2, 3)), np.fromfunction(lambda a, b: a * b, (3, 2))",
        {hd::indices({2, 3}), hd::fromfunction([](auto p) { return p[0] * p[1]; }, {3, 2})});
  agree("np.linspace(-1, -5, 4, dtype=np.int32), np.logspace(0, 3, 4), np.geomspace(-1, -1000, 4)",
        {hd::linspace(-1, -5, 4, true, hd::int32), hd::logspace(0, 3, 4),
         hd::geomspace(-1, -1000, 4)});
}

TEST_CASE("products") {
  const hd::Array i = ints(), f = floats(), g = f(0), b = i > 3;
  agree("np.einsum('ij,kj->ik', i, i), np.einsum('ij->j', i), np.einsum('...ij->...', f)",
        {hd::einsum("ij,kj->ik", {i, i}), hd::einsum("ij->j", {i}), hd::einsum("...ij->...", {f})});
  agree("np.einsum('bij,bkj,k', f, f, f[0, :, 0]), np.einsum('ii->i', i[:, :3])",
        {hd::einsum("bij,bkj,k", {f, f, f(0, hd::_, 0)}),
         hd::einsum("ii->i", {i(hd::_, hd::slice(3))})});
  agree(
      "np.einsum('ii', i[:, :3]), np.einsum('ij,ij->ij', f[0], f[0, :1]), np.einsum('ij,jk', i > "
      "3, (i > 3).T)",
      {hd::einsum("ii", {i(hd::_, hd::slice(3))}), hd::einsum("ij,ij->ij", {g, f(0, hd::slice(1))}),
       hd::einsum("ij,jk", {b, b.T()})});
  agree("np.tensordot(f, f, ((0, 2), (0, 2))), np.tensordot(f, i.T, 1), np.tensordot(i, i, 0)",
        {hd::tensordot(f, f, {0, 2}, {0, 2}), hd::tensordot(f, i.T(), 1), hd::tensordot(i, i, 0)});
  agree("np.inner(f, i), np.kron(i[0], i), np.vdot(i, i), np.vecdot(f, f, axis=0)",
        {hd::inner(f, i), hd::kron(i(0), i), hd::vdot(i, i), hd::vecdot(f, f, 0)});
  agree("np.matvec(f, f[0, 0]), np.vecmat(f[:, 0, :3], f), np.cross(i[:, :3], i[0, :3])",
        {hd::matvec(f, f(0, 0)), hd::vecmat(f(hd::_, 0, hd::slice(3)), f),
         hd::cross(i(hd::_, hd::slice(3)), i(0, hd::slice(3)))});
  CHECK_THROWS_AS(hd::einsum("ij,jk", {i}), hd::ValueError);
  CHECK_THROWS_AS(hd::einsum("ij->ik", {i}), hd::ValueError);
  CHECK_THROWS_AS(hd::einsum("i", {i}), hd::ValueError);
  CHECK_THROWS_AS(hd::einsum("ij,ij", {i, i.T()}), hd::ShapeError);
  CHECK_THROWS_AS(hd::tensordot(i, i, 1), hd::ShapeError);
}

TEST_CASE("differences and statistics") {
  const hd::Array i = ints(), f = floats();
  agree("np.diff(i), np.diff(f, 2, 1), np.diff(i > 3), np.diff(i, prepend=0, append=i)",
        {hd::diff(i), hd::diff(f, 2, 1), hd::diff(i > 3),
         hd::diff(i, 1, -1, hd::array(std::int64_t{0}), i)});
  agree("np.ediff1d(i, to_begin=9, to_end=np.array([1, 2], np.int32))",
        hd::ediff1d(i, hd::array({1, 2}), hd::array(std::int32_t{9})));
  agree("np.gradient(i)", hd::gradient(i));
  agree("np.gradient(f, 2.0, axis=1, edge_order=2)", hd::gradient(f, {2.0}, 1, 2));
  agree(
      "np.gradient(f, np.array([0., 1, 4, 9]), axis=2), np.gradient(f, np.array([0., 1, 4, 9]), "
      "axis=2, edge_order=2)",
      {hd::gradient(f, {hd::array({0., 1., 4., 9.})}, 2)[0],
       hd::gradient(f, {hd::array({0., 1., 4., 9.})}, 2, 2)[0]});
  agree("np.trapezoid(i), np.trapezoid(f, axis=1, dx=.5), np.trapezoid(i, i[0] ** 2)",
        {hd::trapezoid(i), hd::trapezoid(f, 0.5, 1), hd::trapezoid(i, hd::power(i(0), 2))});
  agree("np.average(i, 1, i[0]), np.average(f, (2, 0), f[:, 0].T + 2), np.average(i)",
        {hd::average(i, 1, i(0)), hd::average(f, {2, 0}, f(hd::_, 0).T() + 2.0f), hd::average(i)});
  const auto [average, weight] = hd::average_returned(i, 1, i(0));
  agree("np.average(i, 1, i[0], returned=True)", std::vector{average, weight});
  agree(
      "np.cov(i), np.cov(i, bias=True, rowvar=False), np.cov(i[0], i[1], aweights=i[2] + 1), "
      "np.corrcoef(i)",
      {hd::cov(i), hd::cov(i, {.rowvar = false, .bias = true}),
       hd::cov(i(0), {.y = i(1), .aweights = i(2) + 1}), hd::corrcoef(i)});
}

TEST_CASE("choices, writes and polynomials") {
  const hd::Array i = ints(), f = floats()(0);
  const std::vector<hd::Array> conditions{i > 7, i > 3}, choices{f, i};
  agree("np.select([i > 7, i > 3], [f[0], i], -1)", hd::select(conditions, choices, -1));
  agree(
      "np.choose(i % 2, [f[0], i]), np.choose(i, [i, i + 1], mode='wrap'), np.choose(i, [i, i + "
      "1], mode='clip')",
      {hd::choose(i % 2, choices), hd::choose(i, std::vector{i, i + 1}, "wrap"),
       hd::choose(i, std::vector{i, i + 1}, "clip")});
  hd::Array written = f, masked = f;
  hd::copyto(written, i(0), f > 0.0f);
  hd::putmask(masked, f > 0.0f, hd::array({1.0f, 2.0f, 3.0f, 4.0f, 5.0f}));
  agree(
      "[np.copyto(d := f[0].copy(), i[0], where=d > 0), np.putmask(p := f[0].copy(), p > 0, [1, 2, "
      "3, 4, 5]), (d, p)][2]",
      {written, masked});
  CHECK_THROWS_AS(hd::copyto(masked, hd::zeros({5})), hd::ShapeError);
  hd::Array led = i(0);
  hd::copyto(led, i(hd::slice(1, 2)).reshape({1, 1, 4}));
  agree("i[1]", led);
  CHECK_THROWS_AS(hd::copyto(led, i), hd::ShapeError);
  hd::Array target = i;
  CHECK_THROWS_AS(hd::copyto(target, f), hd::DTypeError);
  agree("np.polyval(i[0], f[0]), np.convolve(i[0], i[1]), np.convolve(i[0, :2], i[1], 'same')",
        {hd::polyval(i(0), f), hd::convolve(i(0), i(1)),
         hd::convolve(i(0, hd::slice(2)), i(1), "same")});
  agree(
      "np.correlate(i[0], i[1, :3]), np.correlate(f[0, 0, :3], f[0, 1], 'full'), "
      "np.lib.stride_tricks.sliding_window_view(i, 2, 0)",
      {hd::correlate(i(0), i(1, hd::slice(3))), hd::correlate(f(0, hd::slice(3)), f(1), "full"),
       hd::sliding_window_view(i, 2, 0)});
  agree("np.zeros_like(i, shape=(2,)), np.full_like(i, 2.5, dtype='f')",
        {hd::zeros_like(i, {}, hd::Shape{2}), hd::full_like(i, 2.5, hd::float32)});
  CHECK(hd::array_equiv(i, hd::stack({i, i})));
  CHECK(hd::array_equal(holes(), holes(), true));
  CHECK_FALSE(hd::array_equal(holes(), holes()));
}

TEST_CASE("scans along an axis, of the flattened array, and in other dtypes") {
  const hd::Array i = ints(), f = floats(), h = holes();
  agree("np.cumsum(i), np.cumsum(f, 1), np.cumsum(f, -1), np.cumsum(i > 3, 0)",
        {hd::cumsum(i), hd::cumsum(f, 1), hd::cumsum(f, -1), hd::cumsum(i > 3, 0)});
  agree("np.cumprod(f, 0), np.cumprod(i, 1), np.cumprod(i > 3)",
        {hd::cumprod(f, 0), hd::cumprod(i, 1), hd::cumprod(i > 3)});
  agree("np.cumsum(f * 10, 1, dtype=int), np.cumsum(i, 0, dtype=np.float32)",
        {hd::cumsum(f * 10.0, 1, hd::int64), hd::cumsum(i, 0, hd::float32)});
  agree("np.cumsum(i - 3, 1, dtype=bool), np.cumprod(i - 3, 1, dtype=bool)",
        {hd::cumsum(i - 3, 1, hd::bool_), hd::cumprod(i - 3, 1, hd::bool_)});
  agree("np.cumsum(f[0, 0, 0]), np.cumsum(f[0, 0, 0], 0), np.cumsum(f[:0], 0), np.cumsum(f[:0])",
        {hd::cumsum(f(0, 0, 0)), hd::cumsum(f(0, 0, 0), 0), hd::cumsum(f(hd::slice(0)), 0),
         hd::cumsum(f(hd::slice(0)))});
  agree("np.nancumsum(h, 0), np.nancumprod(h, 1), np.nancumsum(i)",
        {hd::nancumsum(h, 0), hd::nancumprod(h, 1), hd::nancumsum(i)});
  agree("np.maximum.accumulate(f, 1), np.minimum.accumulate(h), np.maximum.accumulate(i > 3)",
        {hd::cummax(f, 1), hd::cummin(h), hd::cummax(i > 3)});
  agree("np.logaddexp.accumulate(f, 1), np.logaddexp.accumulate(i.astype(float) * 99, 1)",
        {hd::logcumsumexp(f, 1), hd::logcumsumexp(i * 99, 1)});
  CHECK_THROWS_AS(hd::cumsum(f, {0, 1}), hd::ValueError);
  CHECK_THROWS_AS(hd::cumsum(f, std::vector<std::int64_t>{}), hd::ValueError);
  CHECK_THROWS_AS(hd::cumsum(f, 3), hd::IndexError);
  CHECK_THROWS_AS(hd::cummax(f(0, 0, 0)), hd::IndexError);
}

TEST_CASE("cumulative sums and products of the array API start from nothing if asked") {
  const hd::Array i = ints(), f = floats();
  agree("np.cumulative_sum(f[0, 0]), np.cumulative_sum(i, axis=1, dtype=np.float64)",
        {hd::cumulative_sum(f(0, 0)), hd::cumulative_sum(i, 1, hd::float64)});
  agree("np.cumulative_sum(f, axis=1, include_initial=True)", hd::cumulative_sum(f, 1, {}, true));
  agree("np.cumulative_prod(i, axis=0, include_initial=True)", hd::cumulative_prod(i, 0, {}, true));
  agree("np.cumulative_prod(f[:, :0], axis=1, include_initial=True)",
        hd::cumulative_prod(f(hd::_, hd::slice(0)), 1, {}, true));
  const hd::Array zeros =
      hd::signbit(hd::cumulative_sum(hd::full<float>({3}, -0.0f), {}, {}, true));
  CHECK(zeros.to_vector<bool>() == std::vector<bool>{false, true, true, true});
  CHECK(hd::signbit(hd::cumsum(hd::full<float>({2}, -0.0f))).to_vector<bool>() ==
        std::vector<bool>{true, true});
  CHECK_THROWS_AS(hd::cumulative_sum(f), hd::ValueError);
}

TEST_CASE("angles are unwrapped") {
  const hd::Array f = floats(), i = ints();
  agree("np.unwrap(f * 20), np.unwrap(f * 20, axis=0), np.unwrap(f * 20, 5.0, 1)",
        {hd::unwrap(f * 20.0), hd::unwrap(f * 20.0, {}, 0), hd::unwrap(f * 20.0, 5.0, 1)});
  agree("np.unwrap(i, period=4), np.unwrap(i, period=5), np.unwrap(i, axis=0, period=2.5)",
        {hd::unwrap(i, {}, -1, 4), hd::unwrap(i, {}, -1, 5), hd::unwrap(i, {}, 0, 2.5)});
  agree("np.unwrap(f[:, :, :1]), np.unwrap(f[:, :, :0])",
        {hd::unwrap(f(hd::_, hd::_, hd::slice(1))), hd::unwrap(f(hd::_, hd::_, hd::slice(0)))});
}

TEST_CASE("what comes before and after a scan is one kernel with it") {
  const auto f = hd::jit([](const hd::Array& x) { return hd::cumsum(hd::exp(x), 1) * 2.0f; });
  const auto with_initial =
      hd::jit([](const hd::Array& x) { return hd::cumulative_sum(x, 1, {}, true); });
  const auto angles = hd::jit([](const hd::Array& x) { return hd::unwrap(x); });
  const hd::Array x = hd::ones<float>({8, 100}).eval();
  for (const std::string& text : {f.explain(x), with_initial.explain(x), angles.explain(x)}) {
    CAPTURE(text);
    CHECK(hd::test::contains(text, "1 groups, 1 kernels"));
    CHECK(hd::test::contains(text, "[scan]"));
  }
  CHECK(hd::test::contains(f.explain(x), "(1.00 times)"));
}
