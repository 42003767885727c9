#include <algorithm>
#include <functional>

#include "values.h"

using hd::test::check;

namespace {

/// Programs that `run` asks for.
std::uint64_t programs_of(const std::function<void()>& run) {
  const std::uint64_t before = hd::statistics().programs;
  run();
  return hd::statistics().programs - before;
}

/// Changes with each call, so that no program of another test or turn is met again.
std::int64_t unique_extent() {
  static std::int64_t extent = 3;
  return ++extent;
}

/// The length of a row, 1 to `most`, in no order.
std::int64_t length_of(std::int64_t row, std::int64_t most) {
  return 1 +
         static_cast<std::int64_t>((static_cast<std::uint64_t>(row) * 0x9e3779b97f4a7c15) >> 40) %
             most;
}

}  // namespace

TEST_CASE("a loop makes at most three programs whatever the length of its body") {
  for (int body = 1; body <= 50; ++body) {
    CAPTURE(body);
    hd::Array x = hd::ones<float>({unique_extent()});
    const std::uint64_t programs = programs_of([&] {
      for (int i = 0; i < 1000; ++i) {
        for (int k = 0; k < body; ++k) x = k % 2 == 0 ? x * 1.0009765625f : hd::sqrt(x);
      }
      x.eval();
    });
    CHECK(programs <= 3);
    CHECK(hd::statistics().pending_ops < 8);
  }
}

TEST_CASE("a loop whose values sit in a helper function makes at most three programs") {
  const auto turn = [](const hd::Array& x, double s) { return hd::tanh(x * s) + 0.25; };
  for (int calls = 1; calls <= 16; ++calls) {
    CAPTURE(calls);
    hd::Array x = hd::ones<float>({unique_extent()});
    CHECK(programs_of([&] {
            for (int i = 0; i < 1000; ++i) {
              for (int k = 0; k < calls; ++k) x = turn(x, 0.5 + i);
            }
            x.eval();
          }) <= 3);
  }
}

TEST_CASE("rows of many lengths are computed one by one, once that has proved better") {
  // A program of many such rows would hardly ever come up twice.
  constexpr std::int64_t lengths = 9, rows = 3000;
  const std::int64_t columns = 400 + unique_extent();
  const hd::Array values = hd::linspace(0.0, 1.0, columns);
  const hd::Array weights = hd::linspace(1.0, 2.0, columns);
  hd::Array sums = hd::zeros({rows});
  std::int64_t turn = 0;
  const auto first_of = [&](std::int64_t row) { return row * 7 % (columns - lengths); };
  const auto end_of = [&](std::int64_t row) {
    return first_of(row) + length_of(row + turn * rows, lengths);
  };
  const auto pass = [&] {
    for (std::int64_t row = 0; row < rows; ++row) {
      const hd::Slice part = hd::slice(first_of(row), end_of(row));
      sums.at(row) = hd::sum(values(part) * weights(part));
    }
    sums.eval();
  };
  pass();
  turn = 1;  // other lengths in each row
  CHECK(programs_of(pass) <= 4);
  const std::vector<double> found = sums.to_vector<double>();
  const std::vector<double> x = values.to_vector<double>(), w = weights.to_vector<double>();
  double largest = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    double sum = 0;
    for (std::int64_t i = first_of(row); i < end_of(row); ++i)
      sum += x[static_cast<std::size_t>(i)] * w[static_cast<std::size_t>(i)];
    largest = std::max(largest, std::abs(sum - found[static_cast<std::size_t>(row)]));
  }
  CHECK(largest < 1e-12);
}

TEST_CASE("a loop that becomes regular is evaluated in long programs again") {
  const hd::Array values = hd::linspace(0.0, 1.0, 500 + unique_extent());
  hd::Array sums = hd::zeros({4096});
  const auto pass = [&](std::int64_t lengths) {
    const std::uint64_t before = hd::statistics().evaluations;
    for (std::int64_t row = 0; row < 4096; ++row)
      sums.at(row) = hd::sum(values(hd::slice(row % 100, row % 100 + length_of(row, lengths))));
    sums.eval();
    return hd::statistics().evaluations - before;
  };
  CHECK(pass(7) > 2000);
  CHECK(pass(1) < 400);
}

TEST_CASE("several variables, temporaries and in-place writes make at most three programs") {
  hd::Array position = hd::linspace(0.0, 1.0, unique_extent());
  hd::Array velocity = hd::zeros_like(position), energy = hd::zeros({1});
  hd::Array steps = hd::zeros({1}, hd::int64);
  CHECK(programs_of([&] {
          for (int i = 0; i < 1000; ++i) {
            const hd::Array force = -position + 0.01 * hd::sin(position * (2.5 + i));
            velocity += force * 0.01;
            position += velocity * 0.01;
            energy = hd::sum(velocity * velocity, 0, true) * 0.5;
            steps += 1;
          }
          hd::eval({position, velocity, energy, steps});
        }) <= 3);
  CHECK(steps.item<int>() == 1000);
}

TEST_CASE("a changing scalar compiles one program in 10,000 turns") {
  const hd::Array x = hd::ones<float>({unique_extent()});
  CHECK(programs_of([&] {
          for (int i = 0; i < 10000; ++i) (x * (2.0 + i) + 0.5).eval();
        }) == 1);
  hd::Array y = x;
  CHECK(programs_of([&] {
          for (int i = 0; i < 10000; ++i) y = y * 0.5 + (i + 2.0);
          y.eval();
        }) <= 3);
}

TEST_CASE("values kept in a container are computed once") {
  hd::Array x = hd::ones({unique_extent()});
  std::vector<hd::Array> losses;
  for (int i = 0; i < 200; ++i) {
    x = hd::sin(x) + 2.0;
    losses.push_back(hd::sum(x));
  }
  hd::eval(losses);
  CHECK(hd::statistics().pending_ops <= 2);
  double expected = 1;
  for (int i = 0; i < 200; ++i) {
    expected = std::sin(expected) + 2;
    CHECK(losses[static_cast<std::size_t>(i)].item<double>() ==
          doctest::Approx(expected * static_cast<double>(x.size())));
  }
}

TEST_CASE("auto_eval(false) records without bound") {
  CHECK(hd::auto_eval(false));
  hd::Array x = hd::ones<float>({4});
  const std::uint64_t before = hd::statistics().auto_evaluations;
  for (int i = 0; i < 500; ++i) x = x + 1;
  CHECK(hd::statistics().auto_evaluations == before);
  CHECK(hd::statistics().pending_ops >= 500);
  CHECK_FALSE(hd::auto_eval(true));
  check<float>(x, {4}, {501, 501, 501, 501});
}

TEST_CASE("a chain of a million ops is destroyed without a deep stack") {
  hd::auto_eval(false);
  {
    hd::Array x = hd::ones<float>({1});
    for (int i = 0; i < 1'000'000; ++i) x = -x;
    CHECK(hd::statistics().pending_ops >= 1'000'000);
  }
  CHECK(hd::statistics().pending_ops < 8);
  hd::auto_eval(true);
}

TEST_CASE("one evaluation computes what live arrays need, and only once") {
  const hd::Array x = hd::ones<float>({unique_extent()}).eval();
  const hd::Array a = hd::exp(x), b = a * 2.0f, c = b + 1.0f;
  const std::uint64_t before = hd::statistics().evaluations;
  c.eval();
  b.eval();
  a.eval();
  CHECK(hd::statistics().evaluations == before + 1);
  CHECK(a(0).item<float>() == doctest::Approx(std::exp(1.0f)));
}

TEST_CASE("several arrays evaluate in one program") {
  const hd::Array x = hd::ones<float>({unique_extent()}).eval();
  const hd::Array a = x + 1, b = x * 3.0f;
  const std::uint64_t before = hd::statistics().evaluations;
  hd::eval({a, b});
  CHECK(hd::statistics().evaluations == before + 1);
  CHECK(a(0).item<float>() == 2);
  CHECK(b(0).item<float>() == 3);
}

TEST_CASE("a held view does not make its base be computed again") {
  const hd::Array x = hd::ones<float>({2, unique_extent()}).eval();
  const hd::Array y = hd::exp(x), view = y.T();
  hd::sum(y).eval();
  const std::uint64_t before = hd::statistics().evaluations;
  y.eval();
  CHECK(hd::statistics().evaluations == before);
  CHECK(view(0, 1).item<float>() == doctest::Approx(std::exp(1.0f)));
}

TEST_CASE("scalars evaluate as arrays") {
  CHECK(hd::asarray(2.5).item<double>() == 2.5);
  CHECK(hd::asarray(1).dtype() == hd::int32);
  const hd::Array zero = hd::zeros<float>({});
  zero.eval();
  CHECK(zero.item<float>() == 0);
}

TEST_CASE("a changing index compiles no new program") {
  const std::int64_t rows = 1000;
  hd::Array x = hd::zeros<float>({rows, unique_extent()}).eval();
  hd::Array row = hd::ones<float>({x.shape(1)}).eval();
  CHECK(programs_of([&] {
          for (int i = 0; i < rows; ++i) x.at(i) = row * static_cast<double>(i + 2);
          x.eval();
        }) <= 4);
  CHECK(x(0, 0).item<float>() == 2);
  CHECK(x(999, -1).item<float>() == 1001);
  CHECK(hd::sum(x(hd::_, 0)).item<float>() == 1000 * 2 + 999 * 1000 / 2);
  double total = 0;
  CHECK(programs_of([&] {
          for (int i = 0; i < 300; ++i) total += hd::sum(x(i, hd::slice(0, 2))).item<double>();
        }) <= 2);
  CHECK(total == doctest::Approx(2 * (300 * 2 + 299 * 150)));
  CHECK(programs_of([&] {
          for (int i = 0; i < 100; ++i) {
            const hd::Array window = x(hd::slice(i + 4, i, -1), hd::slice(i % 2, hd::none));
            if (i % 2 == 0) REQUIRE(window(0, 0).item<float>() == i + 6);
          }
        }) <= 6);
}
