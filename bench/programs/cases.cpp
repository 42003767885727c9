#include "bench/programs/cases.h"

#include <algorithm>
#include <cmath>

namespace heddle::bench {

Case make_case(std::string name, Inputs inputs, Shape result, Call call, Reference reference) {
  Case made;
  made.name = std::move(name);
  made.fewest_bytes = static_cast<std::int64_t>(size_of(inputs.at(0).dtype));
  for (const std::int64_t extent : result) made.fewest_bytes *= extent;
  for (const Input& input : inputs) made.fewest_bytes += input.bytes();
  made.inputs = std::move(inputs);
  made.result = std::move(result);
  made.call = std::move(call);
  made.reference = std::move(reference);
  for (std::size_t i = 0; i < made.inputs.size(); ++i)
    made.inputs[i].seed = static_cast<std::uint32_t>(i) * 77777777u;
  return made;
}

Case softmax(std::string name, std::int64_t rows, std::int64_t columns, DType dtype) {
  const auto f = jit([](const Array& x) {
    const Array e = exp(x - max(x, -1, true));
    return e / sum(e, -1, true);
  });
  Case made = make_case(
      std::move(name), {{{rows, columns}, 0.1f, 1, dtype}}, {rows, columns},
      [f](const std::vector<Array>& x) { return f(x[0]); },
      [columns](const Inputs& in, std::int64_t flat) {
        const std::int64_t begin = flat / columns * columns;
        double total = 0;
        for (std::int64_t j = 0; j < columns; ++j) total += std::exp(in[0][begin + j]);
        // Scaled to about 1, so that the error is relative.
        return std::exp(in[0][flat]) / total;
      });
  made.scale = 1.0 / static_cast<double>(columns);
  return made;
}

namespace {

std::string sized(const char* name, std::int64_t rows, std::int64_t columns) {
  return name + std::to_string(rows) + " x " + std::to_string(columns);
}

Case scaled_sum(std::int64_t n) {
  const auto f = jit([](const Array& x, const Array& w, const Array& b) { return x * w + b; });
  return make_case(
      "x*w+b", {{{n}}, {{n}}, {{n}}}, {n},
      [f](const std::vector<Array>& x) { return f(x[0], x[1], x[2]); },
      [](const Inputs& in, std::int64_t i) { return in[0][i] * in[1][i] + in[2][i]; });
}

// Abramowitz and Stegun 26.2.17.
Array normal_distribution(const Array& x) {
  const Array k = 1.0 / (1.0 + 0.2316419 * absolute(x));
  const Array p =
      k *
      (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))));
  const Array c = 1.0 - 0.3989422804014327 * exp(-0.5 * x * x) * p;
  return where(x > 0, c, 1.0 - c);
}

double normal_distribution(double x) {
  const double k = 1.0 / (1.0 + 0.2316419 * std::abs(x));
  const double p =
      k *
      (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))));
  const double c = 1.0 - 0.3989422804014327 * std::exp(-0.5 * x * x) * p;
  return x > 0 ? c : 1.0 - c;
}

constexpr double rate = 0.02, volatility = 0.30;

Case black_scholes(std::int64_t n, bool approximate) {
  const auto f = jit(
      [](const Array& s, const Array& k, const Array& t) {
        const Array root = sqrt(t);
        const Array d1 =
            (log(s / k) + (rate + 0.5 * volatility * volatility) * t) / (volatility * root);
        const Array d2 = d1 - volatility * root;
        const Array e = exp(-rate * t);
        return s * normal_distribution(d1) - k * e * normal_distribution(d2);
      },
      {.name = "black_scholes", .approximate = approximate});
  Case made = make_case(
      approximate ? "Black-Scholes, approximate" : "Black-Scholes",
      {{{n}, 10, 100}, {{n}, 10, 100}, {{n}, 0.1f, 2}}, {n},
      [f](const std::vector<Array>& x) { return f(x[0], x[1], x[2]); },
      [](const Inputs& in, std::int64_t i) {
        const double s = in[0][i], k = in[1][i], t = in[2][i];
        const double d1 = (std::log(s / k) + (rate + 0.5 * volatility * volatility) * t) /
                          (volatility * std::sqrt(t));
        const double d2 = d1 - volatility * std::sqrt(t);
        return s * normal_distribution(d1) - k * std::exp(-rate * t) * normal_distribution(d2);
      });
  made.tolerance = 1e-4;  // results are differences of prices near 100, in float32
  return made;
}

Case layernorm(std::int64_t rows, std::int64_t columns) {
  const auto f = jit([](const Array& x, const Array& g, const Array& b) {
    const Array d = x - mean(x, -1, true);
    return d / sqrt(mean(d * d, -1, true) + 1e-5) * g + b;
  });
  return make_case(
      "layernorm", {{{rows, columns}}, {{columns}}, {{columns}}}, {rows, columns},
      [f](const std::vector<Array>& x) { return f(x[0], x[1], x[2]); },
      [columns](const Inputs& in, std::int64_t flat) {
        const std::int64_t begin = flat / columns * columns;
        double mean = 0, variance = 0;
        for (std::int64_t j = 0; j < columns; ++j)
          mean += in[0][begin + j] / static_cast<double>(columns);
        for (std::int64_t j = 0; j < columns; ++j) {
          const double d = in[0][begin + j] - mean;
          variance += d * d / static_cast<double>(columns);
        }
        const std::int64_t j = flat - begin;
        return (in[0][flat] - mean) / std::sqrt(variance + 1e-5) * in[1][j] + in[2][j];
      });
}

Case sum_of_all(std::int64_t n) {
  const auto f = jit([](const Array& x) { return sum(x); });
  Case made = make_case(
      "sum of all", {{{n}}}, {}, [f](const std::vector<Array>& x) { return f(x[0]); },
      [n](const Inputs& in, std::int64_t) {
        double total = 0;
        for (std::int64_t i = 0; i < n; ++i) total += in[0][i];
        return total;
      });
  made.mostly_reads = true;
  return made;
}

Case scan_of_all(std::int64_t n) {
  const auto f = jit([](const Array& x) { return cumsum(x); });
  Case made = make_case(
      "cumsum of all", {{{n}}}, {n}, [f](const std::vector<Array>& x) { return f(x[0]); },
      [](const Inputs& in, std::int64_t last) {
        double total = 0;
        for (std::int64_t i = 0; i <= last; ++i) total += in[0][i];
        return total;
      });
  made.samples = 9;
  return made;
}

Case scan_of_lines(std::int64_t n, int axis) {
  const auto f = jit([axis](const Array& x) { return cumsum(x, axis); });
  return make_case(
      axis == 0 ? "cumsum of columns" : "cumsum of rows", {{{n, n}}}, {n, n},
      [f](const std::vector<Array>& x) { return f(x[0]); },
      [n, axis](const Inputs& in, std::int64_t flat) {
        const std::int64_t step = axis == 0 ? n : 1;
        double total = 0;
        for (std::int64_t i = axis == 0 ? flat % n : flat / n * n; i <= flat; i += step)
          total += in[0][i];
        return total;
      });
}

Case sum_of_lines(std::int64_t n, int axis) {
  const auto f = jit([axis](const Array& x) { return sum(x, axis); });
  Case made = make_case(
      axis == 0 ? "sum of columns" : "sum of rows", {{{n, n}}}, {n},
      [f](const std::vector<Array>& x) { return f(x[0]); },
      [n, axis](const Inputs& in, std::int64_t line) {
        double total = 0;
        for (std::int64_t i = 0; i < n; ++i)
          total += in[0][axis == 0 ? i * n + line : line * n + i];
        return total;
      });
  made.mostly_reads = true;
  return made;
}

Case transposed(std::int64_t n) {
  const auto f = jit([](const Array& x) { return x.T() * 2 + 1; });
  return make_case(
      "x.T*2+1", {{{n, n}}}, {n, n}, [f](const std::vector<Array>& x) { return f(x[0]); },
      [n](const Inputs& in, std::int64_t flat) { return in[0][flat % n * n + flat / n] * 2 + 1; });
}

Case jacobi(std::int64_t n) {
  const auto f = jit([](const Array& u) {
    const Slice inside = slice(1, -1), before = slice(-2), after = slice(2, none);
    return 0.2 * (u(inside, inside) + u(before, inside) + u(after, inside) + u(inside, before) +
                  u(inside, after));
  });
  return make_case(
      "Jacobi", {{{n, n}}}, {n - 2, n - 2}, [f](const std::vector<Array>& x) { return f(x[0]); },
      [n](const Inputs& in, std::int64_t flat) {
        const std::int64_t at = (flat / (n - 2) + 1) * n + flat % (n - 2) + 1;
        return 0.2 * (in[0][at] + in[0][at - n] + in[0][at + n] + in[0][at - 1] + in[0][at + 1]);
      });
}

Case standardize(std::int64_t n) {
  const auto f = jit([](const Array& x) {
    const Array d = x - mean(x, 0, true);
    return d / sqrt(mean(d * d, 0, true) + 1e-6);
  });
  return make_case(
      "standardize columns", {{{n, n}}}, {n, n},
      [f](const std::vector<Array>& x) { return f(x[0]); },
      [n](const Inputs& in, std::int64_t flat) {
        const std::int64_t column = flat % n;
        double mean = 0, variance = 0;
        for (std::int64_t i = 0; i < n; ++i) mean += in[0][i * n + column] / static_cast<double>(n);
        for (std::int64_t i = 0; i < n; ++i) {
          const double d = in[0][i * n + column] - mean;
          variance += d * d / static_cast<double>(n);
        }
        return (in[0][flat] - mean) / std::sqrt(variance + 1e-6);
      });
}

double gelu(double h) {
  return 0.5 * h * (1.0 + std::tanh(0.7978845608 * (h + 0.044715 * h * h * h)));
}

Case perceptron(std::string name, std::int64_t batch, std::int64_t width, std::int64_t hidden,
                DType dtype, Precision precision, double tolerance) {
  const auto f = jit(
      [](const Array& x, const Array& w1, const Array& b1, const Array& w2, const Array& b2) {
        const Array h = matmul(x, w1) + b1;
        const Array g = 0.5 * h * (1.0 + tanh(0.7978845608 * (h + 0.044715 * h * h * h)));
        return matmul(g, w2) + b2;
      },
      {.matmul_precision = precision});
  // Weights are around 0, as in practice, so that sums stay of the size of their terms.
  Case made = make_case(
      std::move(name),
      {{{batch, width}, -1, 1, dtype},
       {{width, hidden}, -0.1f, 0.1f, dtype},
       {{hidden}, 0.1f, 1, dtype},
       {{hidden, width}, -0.1f, 0.1f, dtype},
       {{width}, 0.1f, 1, dtype}},
      {batch, width}, [f](const std::vector<Array>& x) { return f(x[0], x[1], x[2], x[3], x[4]); },
      [width, hidden](const Inputs& in, std::int64_t flat) {
        const std::int64_t row = flat / width, column = flat % width;
        double out = in[4][column];
        for (std::int64_t j = 0; j < hidden; ++j) {
          double h = in[2][j];
          for (std::int64_t i = 0; i < width; ++i)
            h += in[0][row * width + i] * in[1][i * hidden + j];
          out += gelu(h) * in[3][j * width + column];
        }
        return out;
      });
  made.samples = 4;
  made.tolerance = tolerance;
  made.fewest_bytes = 0;
  return made;
}

/// The MLP of the page, and variants with products and elements of lower precision, whose errors
/// add up over the sums.
std::vector<Case> perceptrons(std::int64_t scale) {
  const auto sized = [&](std::string name, DType dtype, Precision precision, double tolerance) {
    return perceptron(std::move(name), 8192 / (scale * scale), 1024 / scale, 4096 / scale, dtype,
                      precision, tolerance);
  };
  return {sized("MLP", DType::f32, Precision::ieee, 1e-4),
          sized("MLP, tf32", DType::f32, Precision::tf32, 1e-2),
          sized("MLP, float16", DType::f16, Precision::ieee, 0x1p-5)};
}

Case norms_of_rows(std::int64_t rows, std::int64_t columns) {
  const auto f = jit([](const Array& a) { return sqrt(sum(a * a, -1)); });
  Case made = make_case(
      "sqrt(sum(a*a, -1))", {{{rows, columns}}}, {rows},
      [f](const std::vector<Array>& x) { return f(x[0]); },
      [columns](const Inputs& in, std::int64_t row) {
        double total = 0;
        for (std::int64_t i = 0; i < columns; ++i)
          total += in[0][row * columns + i] * in[0][row * columns + i];
        return std::sqrt(total);
      });
  made.mostly_reads = true;
  return made;
}

Case chain_of_ten(std::int64_t n) {
  const auto f = jit([](const Array& x, const Array& y) {
    Array z = x + y;
    for (int i = 0; i < 3; ++i) z = (z * y + x) * 0.5;
    return exp(-z);
  });
  return make_case(
      "ten-op chain", {{{n}}, {{n}}}, {n},
      [f](const std::vector<Array>& x) { return f(x[0], x[1]); },
      [](const Inputs& in, std::int64_t i) {
        const double x = in[0][i], y = in[1][i];
        double z = x + y;
        for (int k = 0; k < 3; ++k) z = (z * y + x) * 0.5;
        return std::exp(-z);
      });
}

Case sorted_rows(std::int64_t rows, std::int64_t columns) {
  const auto f = jit([](const Array& x) { return sort(x); });
  Case made = make_case(
      sized("sort ", rows, columns), {{{rows, columns}}}, {rows, columns},
      [f](const std::vector<Array>& x) { return f(x[0]); },
      // Elements are uniform over [low, high), so that an element's rank approximates its value.
      [columns](const Inputs& in, std::int64_t flat) {
        const double share =
            (static_cast<double>(flat % columns) + 0.5) / static_cast<double>(columns);
        return in[0].low + (in[0].high - in[0].low) * share;
      });
  made.tolerance = 5 / std::sqrt(static_cast<double>(columns));
  made.fewest_bytes = 0;
  return made;
}

/// 0 if the indices are a permutation that sorts the input, else infinite.
double error_of_order(const Inputs& in, const std::vector<double>& order) {
  std::vector<bool> met(order.size());
  double last = -INFINITY;
  for (const double place : order) {
    if (!(place >= 0 && place < static_cast<double>(order.size()))) return INFINITY;
    const auto at = static_cast<std::size_t>(place);
    const double value = in[0][static_cast<std::int64_t>(at)];
    if (met[at] || value < last) return INFINITY;
    met[at] = true;
    last = value;
  }
  return 0;
}

Case argsorted(std::int64_t n) {
  const auto f = jit([](const Array& x) { return argsort(x); });
  Case made =
      make_case("argsort", {{{n}}}, {n}, [f](const std::vector<Array>& x) { return f(x[0]); }, {});
  made.error_of_all = error_of_order;
  made.tolerance = 0;
  made.fewest_bytes = 0;
  return made;
}

}  // namespace

std::vector<Case> all_cases(std::int64_t scale) {
  const std::int64_t shrink = scale * scale, n = (1 << 26) / shrink, side = 8192 / scale;
  const std::int64_t rows = 256 / scale, columns = 262144 / scale;
  std::vector<Case> cases{scaled_sum(n),
                          black_scholes(n, false),
                          black_scholes(n, true),
                          softmax(sized("softmax ", side, side), side, side),
                          softmax(sized("softmax ", rows, columns), rows, columns),
                          layernorm(65536 / shrink, 1024),
                          sum_of_all(n),
                          sum_of_lines(side, 1),
                          sum_of_lines(side, 0),
                          scan_of_all(n),
                          scan_of_lines(side, 1),
                          scan_of_lines(side, 0),
                          transposed(side),
                          jacobi(side),
                          standardize(side),
                          norms_of_rows(256, 1024),
                          chain_of_ten(1024),
                          sorted_rows(1, n / 4),
                          sorted_rows(65536 / shrink, 1024),
                          argsorted(n / 4)};
  for (Case& layers : perceptrons(scale)) cases.push_back(std::move(layers));
  for (Case& further : further_cases(scale)) cases.push_back(std::move(further));
  return cases;
}

}  // namespace heddle::bench
