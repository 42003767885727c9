// The C++ form of apply_along_axis; tests/python/test_along_axis.py holds it to NumPy.
#include "against_numpy.h"

namespace heddle::test {
namespace {

TEST_CASE("a function of a line is recorded of all lines") {
  const Both x(moderate_sample(DType::f64, {3, 4, 5}, 1));
  int calls = 0;
  const auto centred = [&](const Array& v) {
    ++calls;
    return hd::stack({v - hd::min(v), hd::sort(v)}, 1);
  };
  for (const std::int64_t axis : {0, 1, 2}) {
    CAPTURE(axis);
    check_like_numpy(
        {hd::apply_along_axis(centred, axis, x.array)},
        "result = np.apply_along_axis(lambda v: np.stack([v - v.min(), np.sort(v)], 1), " +
            std::to_string(axis) + ", x)",
        {{"x", x.host}});
  }
  CHECK(calls == 3);
}

TEST_CASE("a function that asks for values is called for each line") {
  const Array x = hd::arange<int>(6).reshape({2, 3}) - 2;
  int calls = 0;
  const auto chosen = [&](const Array& v) {
    ++calls;
    return v(0).item<int>() < 0 ? -v : v;
  };
  check<int>(hd::apply_along_axis(chosen, 1, x), {2, 3}, {2, 1, 0, 1, 2, 3});
  CHECK(calls == 3);
  const auto traced = hd::jit([&](const Array& a) { return hd::apply_along_axis(chosen, 1, a); });
  CHECK_THROWS_AS(traced(x.eval()), hd::TraceError);
  const auto one = [](const Array& v) { return hd::sum(v); };
  CHECK_THROWS_AS(hd::apply_along_axis(one, 2, x), hd::IndexError);
  CHECK(contains(
      message_of<hd::ValueError>([&] { hd::apply_along_axis(one, 0, hd::zeros<float>({2, 0})); }),
      "apply_along_axis: float32[2,0] has no 1-d slices along axis 0 ("));
}

TEST_CASE("values of a traced function are there for functions of lines") {
  const auto weighted = hd::jit(
      [](const Array& x, const Array& w) {
        const Array twice = w * 2.0f;
        return hd::apply_along_axis([&](const Array& v) { return hd::sum(v * twice); }, 1, x);
      },
      {.dynamic = {{"n", 3}}});
  const Array w = hd::array<float>({1, 2, 3}).eval();
  check<float>(weighted(hd::ones<float>({2, 3}).eval(), w), {2}, {12, 12});
  check<float>(weighted(hd::ones<float>({4, 3}).eval(), w), {4}, {12, 12, 12, 12});
}

}  // namespace
}  // namespace heddle::test
