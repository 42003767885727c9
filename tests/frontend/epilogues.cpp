#include <cmath>
#include <dlfcn.h>
#include <functional>
#include <random>
#include <vector>

#include "tests/runtime/helpers.h"
#include "values.h"

// What follows matrix products, on whatever device there is, against float64. On a GPU that is one
// call of its library, and, in a process that does not find it, the call's fallback.

namespace {

using A = hd::Array;
constexpr std::int64_t rows = 65, depth = 48, columns = 33;

std::vector<float> random_numbers(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> number(-1, 1);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = number(random);
  return values;
}

double tanh_gelu(double x) {
  return 0.5 * x * (1 + std::tanh(0.7978845608 * (x + 0.044715 * x * x * x)));
}

/// x @ w, a row b, a column d and an array c: as arrays and in float64.
struct Layer {
  std::vector<float> x = random_numbers(rows * depth, 1), w = random_numbers(depth * columns, 2);
  std::vector<float> b = random_numbers(columns, 3), c = random_numbers(rows * columns, 4);
  std::vector<float> d = random_numbers(rows, 5);

  using Function = std::function<A(const A& x, const A& w, const A& b, const A& c, const A& d)>;
  using Exactly = std::function<double(double product, double b, double c, double d)>;

  void check(const Function& function, const Exactly& exactly, double tolerance,
             const hd::JitOptions& options = {}, hd::DType dtype = hd::float32) const {
    const auto array = [&](const std::vector<float>& values, const hd::Shape& shape) {
      return hd::array(values).reshape(shape).astype(dtype).eval();
    };
    const auto jitted = hd::jit([&](const A& x, const A& w, const A& b, const A& c,
                                    const A& d) { return function(x, w, b, c, d); },
                                options);
    const A result = jitted(array(x, {rows, depth}), array(w, {depth, columns}),
                            array(b, {columns}), array(c, {rows, columns}), array(d, {rows, 1}));
    REQUIRE(result.shape() == hd::Shape{rows, columns});
    const std::vector<float> got = result.astype(hd::float32).to_vector<float>();
    // Elements as they are in the dtype.
    const auto rounded = [&](const std::vector<float>& values) {
      return hd::array(values).astype(dtype).astype(hd::float32).to_vector<float>();
    };
    const std::vector<float> left = rounded(x), right = rounded(w), row = rounded(b);
    const std::vector<float> whole = rounded(c), column = rounded(d);
    double worst = 0;
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) {
        double product = 0;
        for (std::int64_t k = 0; k < depth; ++k)
          product += static_cast<double>(left[i * depth + k]) * right[k * columns + j];
        const double exact = exactly(product, row[j], whole[i * columns + j], column[i]);
        worst = std::max(worst, std::abs(got[i * columns + j] - exact));
      }
    }
    CHECK(worst <= tolerance);
  }
};

void check_layers() {
  const Layer layer;
  constexpr double exact = 2e-5, of_tf32 = 2e-2;
  const auto with = [](hd::Precision precision) {
    hd::JitOptions options;
    options.matmul_precision = precision;
    return options;
  };
  const auto biased = [](const A& x, const A& w, const A& b, const A&, const A&) -> A {
    return hd::matmul(x, w) + b;
  };
  const auto sum = [](double p, double b, double, double) { return p + b; };
  layer.check(biased, sum, exact);
  layer.check(biased, sum, of_tf32, with(hd::Precision::tf32));
  layer.check(biased, sum, 8 * of_tf32, with(hd::Precision::bf16));
  layer.check([](const A& x, const A& w, const A&, const A&,
                 const A& d) -> A { return hd::matmul(x, w) + d; },
              [](double p, double, double, double d) { return p + d; }, exact);
  layer.check([](const A& x, const A& w, const A& b, const A&,
                 const A&) -> A { return 2.5 * (hd::matmul(x, w) + b); },
              [](double p, double b, double, double) { return 2.5 * (p + b); }, exact);
  layer.check([](const A& x, const A& w, const A& b, const A& c,
                 const A&) -> A { return -3 * hd::matmul(x, w) + 0.5 * c + b; },
              [](double p, double b, double c, double) { return -3 * p + 0.5 * c + b; }, exact);
  layer.check([](const A& x, const A& w, const A& b, const A&,
                 const A&) -> A { return hd::maximum(hd::matmul(x, w) + b, 0.0); },
              [](double p, double b, double, double) { return std::max(p + b, 0.0); }, exact,
              {.approximate = true});
  const auto gelu = [](const A& x, const A& w, const A& b, const A&, const A&) -> A {
    const A h = hd::matmul(x, w) + b;
    return 0.5 * h * (1.0 + hd::tanh(0.7978845608 * (h + 0.044715 * h * h * h)));
  };
  const auto exact_gelu = [](double p, double b, double, double) { return tanh_gelu(p + b); };
  layer.check(gelu, exact_gelu, 5e-5);
  layer.check(gelu, exact_gelu, 1e-2, {.approximate = true});
  layer.check(gelu, exact_gelu, of_tf32, with(hd::Precision::tf32));
  layer.check(biased, sum, 2e-2, {}, hd::float16);
  layer.check(
      [](const A& x, const A& w, const A& b, const A&, const A&) -> A {
        return hd::matmul(x.astype(hd::float32), w.astype(hd::float32)) + b.astype(hd::float32);
      },
      sum, exact, {}, hd::float16);
  layer.check(
      [](const A& x, const A& w, const A& b, const A&, const A&) -> A {
        return (hd::matmul(x.astype(hd::float32), w.astype(hd::float32)) + b.astype(hd::float32))
            .astype(hd::bfloat16);
      },
      sum, 8e-2, {}, hd::bfloat16);
}

}  // namespace

TEST_CASE("what follows a product is right on this device") { check_layers(); }

TEST_CASE("child: what follows a product" * doctest::skip()) { check_layers(); }

TEST_CASE("what follows a product is right without the library that does it") {
  // Another library in its place.
  Dl_info other{};
  REQUIRE(dladdr(reinterpret_cast<void*>(static_cast<double (*)(double)>(std::tanh)), &other) != 0);
  const auto result = hd::test::run_child("child: what follows a product",
                                          {std::string("HEDDLE_CUBLASLT=") + other.dli_fname});
  CHECK_MESSAGE(result.status == 0, result.output);
}

TEST_CASE("a residual that is donated is overwritten, and nothing else") {
  const auto step =
      hd::jit([](const A& x, const A& w, const A& c) { return hd::matmul(x, w) + c; });
  const A x = hd::array({1.0f, 2.0f, 3.0f, 4.0f}).reshape({2, 2}).eval();
  const A w = hd::array({1.0f, 0.0f, 0.0f, -1.0f}).reshape({2, 2}).eval();
  A state = hd::zeros<float>({2, 2}).eval();
  for (int i = 0; i < 3; ++i) state = step(x, w, std::move(state));
  hd::test::check<float>(state, {2, 2}, {3, -6, 9, -12});
  hd::test::check<float>(x, {2, 2}, {1, 2, 3, 4});
}
