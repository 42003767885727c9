#include <algorithm>
#include <cmath>
#include <utility>

#include "bench/programs/cases.h"

// Programs of the same kinds as on the performance page, with other sizes, dtypes and axes. They
// test that plans are fast in general, not only in special cases.

namespace heddle::bench {

namespace {

using std::int64_t;

Case scaled_sum(std::string name, int64_t n, DType dtype, float low, float high, double tolerance) {
  const auto f = jit([](const Array& x, const Array& w, const Array& b) { return x * w + b; });
  const Input input{{n}, low, high, dtype};
  Case made = make_case(
      std::move(name), {input, input, input}, {n},
      [f](const std::vector<Array>& x) { return f(x[0], x[1], x[2]); },
      [](const Inputs& in, int64_t i) { return in[0][i] * in[1][i] + in[2][i]; });
  made.tolerance = tolerance;
  return made;
}

Case tanh_of_outer_sum(int64_t rows, int64_t columns) {
  const auto f = jit([](const Array& x, const Array& y) { return tanh(x.reshape({-1, 1}) + y); });
  return make_case(
      "tanh of outer sum", {{{rows}}, {{columns}}}, {rows, columns},
      [f](const std::vector<Array>& x) { return f(x[0], x[1]); },
      [columns](const Inputs& in, int64_t flat) {
        return std::tanh(in[0][flat / columns] + in[1][flat % columns]);
      });
}

/// The deviation of the moments in standard errors, divided by six. Above 1 is not due to chance.
double error_of_normal(const Inputs&, const std::vector<double>& numbers) {
  double mean = 0, square = 0, cube = 0;
  for (const double x : numbers) {
    mean += x;
    square += x * x - 1;
    cube += x * x * x;
  }
  const double worst =
      std::max({std::abs(mean), std::abs(square) / std::sqrt(2.0), std::abs(cube) / std::sqrt(15)});
  return worst / std::sqrt(static_cast<double>(numbers.size())) / 6;
}

Case normal_numbers(int64_t n) {
  const auto f = jit([generator = random::Generator(1), n]() mutable {
    return generator.standard_normal({n}, DType::f32);
  });
  Case made;
  made.name = "normal numbers";
  made.result = {n};
  made.fewest_bytes = n * 4;
  made.call = [f](const std::vector<Array>&) { return f(); };
  made.error_of_all = error_of_normal;
  made.tolerance = 1;
  return made;
}

Case softmax_of_columns(int64_t n) {
  const auto f = jit([](const Array& x) {
    const Array e = exp(x - max(x, 0, true));
    return e / sum(e, 0, true);
  });
  Case made = make_case(
      "softmax of columns", {{{n, n}}}, {n, n},
      [f](const std::vector<Array>& x) { return f(x[0]); },
      [n](const Inputs& in, int64_t flat) {
        double total = 0;
        for (int64_t i = flat % n; i < n * n; i += n) total += std::exp(in[0][i]);
        return std::exp(in[0][flat]) / total;
      });
  made.scale = 1.0 / static_cast<double>(n);
  return made;
}

Case softmax_in_half(int64_t rows, int64_t columns) {
  Case made = softmax("softmax, float16", rows, columns, DType::f16);
  made.tolerance = 0x1p-8;  // up to four roundings to 11 bits
  return made;
}

Case root_mean_square_norm(int64_t rows, int64_t columns) {
  const auto f = jit(
      [](const Array& x, const Array& g) { return x / sqrt(mean(x * x, -1, true) + 1e-5) * g; });
  Case made = make_case(
      "RMS norm, float16",
      {{{rows, columns}, 0.1f, 1, DType::f16}, {{columns}, 0.1f, 1, DType::f16}}, {rows, columns},
      [f](const std::vector<Array>& x) { return f(x[0], x[1]); },
      [columns](const Inputs& in, int64_t flat) {
        const int64_t begin = flat / columns * columns;
        double squares = 0;
        for (int64_t j = 0; j < columns; ++j) squares += in[0][begin + j] * in[0][begin + j];
        const double root = std::sqrt(squares / static_cast<double>(columns) + 1e-5);
        return in[0][flat] / root * in[1][flat - begin];
      });
  made.tolerance = 0x1p-8;
  return made;
}

/// Element `flat` of an input, standardized over the elements at begin + k * step.
double standardized(const Input& x, int64_t flat, int64_t begin, int64_t step, int64_t count) {
  double mean = 0, variance = 0;
  for (int64_t k = 0; k < count; ++k) mean += x[begin + k * step];
  mean /= static_cast<double>(count);
  for (int64_t k = 0; k < count; ++k) {
    const double d = x[begin + k * step] - mean;
    variance += d * d;
  }
  return (x[flat] - mean) / std::sqrt(variance / static_cast<double>(count) + 1e-6);
}

Array standardize(const Array& x, const Axes& axes) {
  const Array d = x - mean(x, axes, true);
  return d / sqrt(mean(d * d, axes, true) + 1e-6);
}

Case standardize_middle(int64_t outer, int64_t middle, int64_t inner) {
  const auto f = jit([](const Array& x) { return standardize(x, 1); });
  return make_case(
      "standardize the middle", {{{outer, middle, inner}}}, {outer, middle, inner},
      [f](const std::vector<Array>& x) { return f(x[0]); },
      [middle, inner](const Inputs& in, int64_t flat) {
        const int64_t begin = flat / (middle * inner) * middle * inner + flat % inner;
        return standardized(in[0], flat, begin, inner, middle);
      });
}

Case standardize_all(int64_t rows, int64_t columns) {
  const auto f = jit([](const Array& x) { return standardize(x, {}); });
  Case made = make_case(
      "standardize all", {{{rows, columns}}}, {rows, columns},
      [f](const std::vector<Array>& x) { return f(x[0]); },
      [count = rows * columns](const Inputs& in, int64_t flat) {
        return standardized(in[0], flat, 0, 1, count);
      });
  made.samples = 3;
  return made;
}

/// A reduction of lines of `count` elements with stride `step`. Element i of the result is `reduce`
/// of line i.
template <class F, class Reduce>
Case reduction(std::string name, Input input, Shape result, F function, int64_t count, int64_t step,
               Reduce reduce) {
  const auto f = jit(std::move(function));
  Case made = make_case(
      std::move(name), {std::move(input)}, std::move(result),
      [f](const std::vector<Array>& x) { return f(x[0]); },
      [=](const Inputs& in, int64_t i) {
        const int64_t begin = i / step * step * count + i % step;
        return reduce(in[0], begin, count, step);
      });
  made.mostly_reads = true;
  return made;
}

double total(const Input& x, int64_t begin, int64_t count, int64_t step) {
  double sum = 0;
  for (int64_t k = 0; k < count; ++k) sum += x[begin + k * step];
  return sum;
}

double place_of_largest(const Input& x, int64_t begin, int64_t count, int64_t step) {
  int64_t best = 0;
  for (int64_t k = 1; k < count; ++k) {
    if (x[begin + k * step] > x[begin + best * step]) best = k;
  }
  return static_cast<double>(best);
}

double largest(const Input& x, int64_t begin, int64_t count, int64_t step) {
  const auto place = static_cast<int64_t>(place_of_largest(x, begin, count, step));
  return x[begin + place * step];
}

std::vector<Case> reductions(int64_t scale) {
  const int64_t n = (1 << 26) / (scale * scale), side = 8192 / scale;
  const int64_t outer = 256 / scale, middle = 512 / scale, inner = 500;
  const Input square{{side, side}, 0.1f, 1, DType::f16}, uneven{{side - 1, side + 1}};
  const auto sum_of_rows = [](const Array& x) { return sum(x, -1); };
  const auto max_of_rows = [](const Array& x) { return max(x, -1); };
  const auto argmax_of_rows = [](const Array& x) { return argmax(x, -1); };
  std::vector<Case> cases{
      reduction(
          "sum of all, float64", {{n / 2}, 0.1f, 1, DType::f64}, {},
          [](const Array& x) { return sum(x); }, n / 2, 1, total),
      reduction("sum of rows, float16", square, {side}, sum_of_rows, side, 1, total),
      reduction("max of rows", uneven, {side - 1}, max_of_rows, side + 1, 1, largest),
      reduction("argmax of rows", uneven, {side - 1}, argmax_of_rows, side + 1, 1,
                place_of_largest),
      reduction(
          "sum of the middle", {{outer, middle, inner}}, {outer, inner},
          [](const Array& x) { return sum(x, 1); }, middle, inner, total)};
  const double tolerances[] = {1e-13, 0x1p-10, 0, 0, 1e-5};
  for (std::size_t i = 0; i < cases.size(); ++i) cases[i].tolerance = tolerances[i];
  return cases;
}

Case permuted(int64_t a, int64_t b, int64_t c) {
  const auto f = jit([](const Array& x) { return transpose(x, {2, 0, 1}) * 2 + 1; });
  return make_case(
      "permute and scale", {{{a, b, c}}}, {c, a, b},
      [f](const std::vector<Array>& x) { return f(x[0]); },
      [a, b, c](const Inputs& in, int64_t flat) {
        return in[0][flat % (a * b) * c + flat / (a * b)] * 2 + 1;
      });
}

Case heat(int64_t n) {
  const auto f = jit([](const Array& u) {
    const Slice inside = slice(1, -1), before = slice(-2), after = slice(2, none);
    const Array middle = u(inside, inside, inside);
    const Array around = u(before, inside, inside) + u(after, inside, inside) +
                         u(inside, before, inside) + u(inside, after, inside) +
                         u(inside, inside, before) + u(inside, inside, after);
    return middle + 0.1 * (around - 6.0 * middle);
  });
  return make_case(
      "heat, 7 points", {{{n, n, n}}}, {n - 2, n - 2, n - 2},
      [f](const std::vector<Array>& x) { return f(x[0]); },
      [n](const Inputs& in, int64_t flat) {
        const int64_t m = n - 2;
        const int64_t at = (flat / (m * m) + 1) * n * n + (flat / m % m + 1) * n + flat % m + 1;
        const Input& u = in[0];
        const double around =
            u[at - n * n] + u[at + n * n] + u[at - n] + u[at + n] + u[at - 1] + u[at + 1];
        return u[at] + 0.1 * (around - 6 * u[at]);
      });
}

Case take_of_rows(int64_t rows, int64_t columns, int64_t count) {
  const auto f = jit([](const Array& x, const Array& i) { return take(x, i, 0); });
  Case made = make_case(
      "take of rows", {{{rows, columns}}, {{count}, 0, static_cast<float>(rows), DType::i64}},
      {count, columns}, [f](const std::vector<Array>& x) { return f(x[0], x[1]); },
      [columns](const Inputs& in, int64_t flat) {
        const auto row = static_cast<int64_t>(in[1][flat / columns]);
        return in[0][row * columns + flat % columns];
      });
  made.tolerance = 0;
  return made;
}

Case sorted_integers(int64_t n) {
  const auto f = jit([](const Array& x) { return sort(x); });
  Case made = make_case(
      "sort, int32", {{{n}, -0x1p31f, 0x1p31f - 256, DType::i32}}, {n},
      [f](const std::vector<Array>& x) { return f(x[0]); },
      [n](const Inputs&, int64_t i) {
        const double share = (static_cast<double>(i) + 0.5) / static_cast<double>(n);
        return 0x1p31 * (2 * share - 1);
      });
  made.scale = 0x1p31;
  made.tolerance = 5 / std::sqrt(static_cast<double>(n));
  made.fewest_bytes = 0;
  return made;
}

Case dense(std::string name, int64_t batch, int64_t width, int64_t outputs, DType dtype) {
  const auto f = jit(
      [](const Array& x, const Array& w, const Array& b) { return maximum(matmul(x, w) + b, 0); });
  Case made = make_case(
      std::move(name),
      {{{batch, width}, -1, 1, dtype},
       {{width, outputs}, -0.1f, 0.1f, dtype},
       {{outputs}, 0.1f, 1, dtype}},
      {batch, outputs}, [f](const std::vector<Array>& x) { return f(x[0], x[1], x[2]); },
      [width, outputs](const Inputs& in, int64_t flat) {
        double sum = in[2][flat % outputs];
        for (int64_t k = 0; k < width; ++k)
          sum += in[0][flat / outputs * width + k] * in[1][k * outputs + flat % outputs];
        return std::max(sum, 0.0);
      });
  const bool half = dtype == DType::f16;
  made.tolerance = half ? 0x1p-9 : 1e-4;
  made.scale = half ? 16 : 1;  // magnitude of the largest results, which are rounded once more
  made.fewest_bytes = 0;
  return made;
}

Case batched_product(int64_t batch, int64_t n) {
  const auto f = jit([](const Array& x, const Array& w) { return matmul(x, w); });
  const Input input{{batch, n, n}, -1, 1};
  Case made = make_case(
      "batched x@w", {input, input}, {batch, n, n},
      [f](const std::vector<Array>& x) { return f(x[0], x[1]); },
      [n](const Inputs& in, int64_t flat) {
        const int64_t first = flat / (n * n) * n * n, row = flat % (n * n) / n;
        double sum = 0;
        for (int64_t k = 0; k < n; ++k)
          sum += in[0][first + row * n + k] * in[1][first + k * n + flat % n];
        return sum;
      });
  made.tolerance = 1e-4;
  made.fewest_bytes = 0;
  return made;
}

}  // namespace

std::vector<Case> further_cases(int64_t scale) {
  const int64_t shrink = scale * scale, side = 8192 / scale, odd = 50'000'003 / shrink;
  const int64_t cube = 400 / scale, narrow = 65535 / shrink, half_rows = 16384 / shrink;
  std::vector<Case> cases{
      scaled_sum("x*w+b, 1024 elements", 1024, DType::f32, 0.1f, 1, 1e-5),
      scaled_sum("x*w+b, float16", odd, DType::f16, 0.1f, 1, 0x1p-10),
      scaled_sum("x*w+b, float64", odd / 2, DType::f64, 0.1f, 1, 1e-14),
      scaled_sum("x*w+b, int32", odd, DType::i32, 1, 1000, 0),
      tanh_of_outer_sum(8191 / scale, 8193 / scale),
      normal_numbers(odd),
      softmax("softmax " + std::to_string(narrow) + " x 1000", narrow, 1000),
      softmax_of_columns(side),
      softmax_in_half(half_rows, 5120),
      root_mean_square_norm(half_rows, 5120),
      standardize_middle(512 / scale, 1000 / scale, 131),
      standardize_all(side, side + 1),
      permuted(cube, cube + 100, cube - 100 / scale),
      heat(cube),
      take_of_rows(50000 / shrink, 512, 100000 / shrink),
      sorted_integers((1 << 24) / shrink),
      dense("relu(x@w+b), float16", 8192 / scale, 4096 / scale, 4096 / scale, DType::f16),
      dense("relu(x@w+b), uneven", 1000 / scale, 3001 / scale, 2003 / scale, DType::f32),
      batched_product(64, 512 / scale)};
  for (Case& each : reductions(scale)) cases.push_back(std::move(each));
  return cases;
}

}  // namespace heddle::bench
