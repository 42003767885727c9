#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "heddle/error.h"

#include "ir/types/dim.h"
#include "ir/types/dim_division.h"

using namespace heddle;
using namespace heddle::ir;

namespace {

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t smallest = std::numeric_limits<std::int64_t>::min();

Dim dim(std::string_view text) { return Dim::parse(text); }

/// A random polynomial together with its value for fixed bindings, computed on its own.
struct Sample {
  Dim dim;
  std::int64_t value;
};

class Samples {
 public:
  explicit Samples(std::uint64_t seed) : random_(seed) {
    for (const char* name : {"p", "q", "r"}) {
      bindings.push_back({intern_symbol(name), static_cast<std::int64_t>(random_() % 9)});
    }
  }

  Sample make(int operations) {
    Sample result = leaf();
    for (int i = 0; i < operations; ++i) {
      const Sample other = leaf();
      switch (random_() % 3) {
        case 0:
          result = {result.dim + other.dim, result.value + other.value};
          break;
        case 1:
          result = {result.dim - other.dim, result.value - other.value};
          break;
        default:
          result = {result.dim * other.dim, result.value * other.value};
          break;
      }
    }
    return result;
  }

  SymbolBindings bindings;

 private:
  Sample leaf() {
    const std::size_t pick = random_() % 6;
    if (pick < 3) return {Dim::symbol(bindings[pick].symbol), bindings[pick].value};
    const auto value = static_cast<std::int64_t>(random_() % 11) - 5;
    return {value, value};
  }

  std::mt19937_64 random_;
};

}  // namespace

TEST_CASE("polynomials have one normal form, ordered by names and not by first use") {
  const Dim z = Dim::symbol("zz_interned_first"), a = Dim::symbol("aa_interned_later");
  CHECK((z + a).to_string() == "aa_interned_later+zz_interned_first");
  CHECK((z * a).to_string() == "aa_interned_later*zz_interned_first");
  const Dim n = Dim::symbol("n"), m = Dim::symbol("m");
  CHECK((n - 2).to_string() == "n-2");
  CHECK((Dim(3) - n).to_string() == "-n+3");
  CHECK((n * 64 * m).to_string() == "64*m*n");
  CHECK((n * n + m + 1).to_string() == "n*n+m+1");
  CHECK(((n + m) * (n - m)).to_string() == "-m*m+n*n");
  CHECK((n + m) * (n - m) == n * n - m * m);
  CHECK((n + m) * (n + m) == n * n + 2 * m * n + m * m);
  CHECK(n - n == Dim(0));
  CHECK((n - n).is_constant());
  CHECK(n * 0 == Dim(0));
  CHECK(n + 1 - n == Dim(1));
  CHECK_FALSE(n == m);
  CHECK_FALSE(n == Dim(0));
}

TEST_CASE("text reads back to the same dim") {
  for (const char* text :
       {"0", "64", "-3", "n", "-n", "64*n", "n-2", "-n+3", "64*m*n", "n*n+m+1",
        "9223372036854775807", "-9223372036854775808", "-9223372036854775808*n", "_x1*n"}) {
    CHECK(dim(text).to_string() == text);
  }
  CHECK(dim(" 2 * n - 1 ").to_string() == "2*n-1");
  CHECK(dim("n*2+n").to_string() == "3*n");
  CHECK(dim("-2*n*3").to_string() == "-6*n");
  for (const char* text : {"", "+", "n+", "*n", "2n", "n m", "n/2", "(n)", "2**n", "1.5"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(dim(text), ParseError);
  }
  CHECK_THROWS_WITH_AS(dim("9223372036854775808"),
                       "integer '9223372036854775808' does not fit 64 bits", ParseError);
  CHECK_THROWS_WITH_AS(dim("2n"),
                       "'2n' is not an extent: expected integers and names joined by +, - and *, "
                       "such as 64*n-2",
                       ParseError);
}

TEST_CASE("arithmetic agrees with arithmetic on values") {
  Samples samples(17);
  for (int i = 0; i < 3000; ++i) {
    const Sample a = samples.make(i % 7), b = samples.make(i % 5);
    CHECK(a.dim.evaluate(samples.bindings) == a.value);
    CHECK((a.dim + b.dim).evaluate(samples.bindings) == a.value + b.value);
    CHECK((a.dim - b.dim).evaluate(samples.bindings) == a.value - b.value);
    CHECK((a.dim * b.dim).evaluate(samples.bindings) == a.value * b.value);
    CHECK(a.dim + b.dim == b.dim + a.dim);
    CHECK(a.dim * b.dim == b.dim * a.dim);
    CHECK(a.dim - b.dim + b.dim == a.dim);
    CHECK(dim(a.dim.to_string()) == a.dim);
    CHECK((dim(a.dim.to_string()).hash() == a.dim.hash()));
    if (a.dim.is_non_negative()) CHECK(a.value >= 0);
  }
}

TEST_CASE("results are right however many other operations came between equal ones") {
  SymbolBindings bindings;
  std::vector<Dim> dims = {Dim(-1), Dim(0), Dim(1), Dim(64)};
  for (int i = 0; i < 30; ++i) {
    bindings.push_back({intern_symbol("n" + std::to_string(i)), 2 * i + 3});
    dims.push_back(Dim(i + 1) * Dim::symbol(bindings.back().symbol) + Dim(i));
  }
  std::size_t wrong = 0;
  for (int round = 0; round < 2; ++round) {
    for (const Dim a : dims) {
      for (const Dim b : dims) {
        const std::int64_t x = a.evaluate(bindings), y = b.evaluate(bindings);
        wrong += (a + b).evaluate(bindings) != x + y;
        wrong += (a - b).evaluate(bindings) != x - y;
        wrong += (a * b).evaluate(bindings) != x * y;
      }
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("equal dims hash equally and different ones differently") {
  CHECK(Dim(5).hash() == Dim(5).hash());
  CHECK(Dim(5).hash() != Dim(6).hash());
  CHECK(dim("n+m").hash() == dim("m+n").hash());
  CHECK(dim("n+m").hash() != dim("n*m").hash());
}

TEST_CASE("division is by common factors only") {
  CHECK(dim("64*n+32").divisible_by(32));
  CHECK_FALSE(dim("64*n+32").divisible_by(64));
  CHECK_FALSE(dim("n").divisible_by(2));
  CHECK(dim("64*n+32").divided_by(32) == dim("2*n+1"));
  CHECK(Dim(12).divided_by(4) == Dim(3));
  CHECK(dim("n-1").divided_by(-1) == dim("1-n"));
  CHECK(Dim(0).divisible_by(7));
  CHECK(Dim(smallest).divisible_by(-1));
  CHECK_THROWS_AS(Dim(smallest).divided_by(-1), ShapeError);
  CHECK_THROWS_AS(dim("n").divided_by(2), InternalError);
  CHECK_THROWS_AS(Dim(4).divisible_by(0), InternalError);
}

TEST_CASE("division of polynomials leaves a remainder") {
  const auto divided = [](const char* value, const char* divisor) {
    const DimDivision division = divide_polynomials(dim(value), dim(divisor));
    return division.quotient.to_string() + " rest " + division.remainder.to_string();
  };
  CHECK(divided("n+5", "n+4") == "1 rest 1");
  CHECK(divided("n*n+5*n+4", "n+4") == "n+1 rest 0");
  CHECK(divided("m*n*n+5*m*n+4*m+3", "n+4") == "m*n+m rest 3");
  CHECK(divided("m+3", "n+4") == "0 rest m+3");
  CHECK(divided("3*n+1", "2*n") == "0 rest 3*n+1");
  CHECK(divided("38", "18") == "0 rest 38");
  CHECK_THROWS_AS(divide_polynomials(dim("n"), 0), InternalError);
  CHECK(dim("n*n+5*n+4").exact_quotient(dim("n+1")) == dim("n+4"));
  CHECK_FALSE(dim("n*n+5*n+5").exact_quotient(dim("n+1")));
  Samples samples(5);
  for (int i = 0; i < 1000; ++i) {
    const Dim a = samples.make(i % 7).dim, b = samples.make(i % 4).dim;
    if (b == Dim(0)) continue;
    const DimDivision division = divide_polynomials(a, b);
    CHECK(division.quotient * b + division.remainder == a);
    CHECK((a * b).exact_quotient(b) == a);
  }
}

TEST_CASE("non-negativity is claimed only where coefficients show it") {
  CHECK(Dim(0).is_non_negative());
  CHECK_FALSE(Dim(-1).is_non_negative());
  CHECK(dim("2*n*m+n+1").is_non_negative());
  CHECK_FALSE(dim("n-1").is_non_negative());
}

TEST_CASE("overflow throws and never wraps") {
  CHECK_THROWS_WITH_AS(Dim(largest) + 1, "extent 9223372036854775807 + 1 does not fit 64 bits",
                       ShapeError);
  CHECK_THROWS_AS(Dim(smallest) - 1, ShapeError);
  CHECK_THROWS_AS(Dim(largest) * 2, ShapeError);
  CHECK_THROWS_AS(dim("n") * largest * 2, ShapeError);
  CHECK_THROWS_AS(dim("n") * largest + dim("n"), ShapeError);
  CHECK_THROWS_AS(dim("n+1") * largest + largest, ShapeError);
  CHECK(Dim(largest) + 0 == Dim(largest));
  const SymbolBindings huge = {{intern_symbol("n"), largest}};
  CHECK(dim("n-1").evaluate(huge) == largest - 1);
  CHECK_THROWS_AS(dim("n*n").evaluate(huge), ValueError);
  CHECK_THROWS_AS(dim("n+1").evaluate(huge), ValueError);
}

TEST_CASE("evaluation needs every symbol, constants none") {
  CHECK(Dim(7).evaluate({}) == 7);
  CHECK(Dim(7).constant() == 7);
  CHECK_THROWS_WITH_AS(dim("n+m").evaluate({}), "symbol m of extent m+n is not bound",
                       InternalError);
  CHECK_THROWS_AS(dim("n").constant(), InternalError);
}

TEST_CASE("symbols are collected once each and can be spelled otherwise") {
  std::vector<SymbolId> symbols;
  dim("n*n+n*m+k").collect_symbols(symbols);
  Dim(3).collect_symbols(symbols);
  CHECK(symbols == std::vector{intern_symbol("m"), intern_symbol("n"), intern_symbol("k")});
  const auto spell = [](SymbolId symbol) { return "size_" + std::string(symbol_name(symbol)); };
  CHECK(dim("4*n-m").to_string(spell) == "-size_m+4*size_n");
  CHECK(Dim(4).to_string(spell) == "4");
}

TEST_CASE("symbol names are identifiers") {
  CHECK(symbol_name(intern_symbol("batch_size2")) == "batch_size2");
  CHECK(intern_symbol("n") == intern_symbol("n"));
  CHECK(intern_symbol("n") != intern_symbol("N"));
  for (const char* name : {"", "2n", "a b", "a-b", "n*m", "é"}) {
    CHECK_THROWS_AS(intern_symbol(name), ValueError);
  }
}

TEST_CASE("threads that intern the same polynomials get the same dims") {
  constexpr int count = 200;
  std::vector<std::vector<Dim>> made(4);
  std::vector<std::thread> threads;
  for (std::vector<Dim>& dims : made) {
    threads.emplace_back([&dims] {
      for (int i = 0; i < count; ++i) {
        const Dim x = Dim::symbol("thread_symbol_" + std::to_string(i));
        dims.push_back((x + i) * (x - 1));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<Dim>& dims : made) CHECK(dims == made[0]);
}

TEST_CASE("a product with a factor of 0 is 0, however large the others are") {
  const SymbolBindings bindings{{intern_symbol("n"), 0}, {intern_symbol("m"), 4000000000}};
  CHECK((Dim::symbol("m") * Dim::symbol("m") * Dim::symbol("n")).evaluate(bindings) == 0);
  CHECK((Dim::symbol("n") * Dim::symbol("m") * Dim::symbol("m")).evaluate(bindings) == 0);
  CHECK_THROWS_AS((Dim::symbol("m") * Dim::symbol("m")).evaluate(bindings), ValueError);
}
