#include <thread>

#include "values.h"

using hd::Precision;
using hd::test::contains;

namespace {

/// The graph of a product of such arrays, as it is recorded now.
std::string text_of(hd::DType dtype, const hd::JitOptions& options = {},
                    const hd::MatmulOptions& product = {}) {
  const auto f = hd::jit([&](const hd::Array& a) { return hd::matmul(a, a, product); }, options);
  return f.lower({hd::spec(dtype, {4, 4})}).ir();
}

std::string name_in(const std::string& text) {
  const std::string before = "precision = \"";
  const std::size_t place = text.find(before);
  if (place == std::string::npos) return "ieee";
  const std::size_t begin = place + before.size();
  return text.substr(begin, text.find('"', begin) - begin);
}

/// Restores what was set.
struct Default {
  explicit Default(Precision precision) : before(hd::set_matmul_precision(precision)) {}
  ~Default() { hd::set_matmul_precision(before); }
  Precision before;
};

}  // namespace

TEST_CASE("what is closest to a product decides its precision") {
  CHECK(name_in(text_of(hd::float32)) == "ieee");
  const Default outer(Precision::bf16);
  CHECK(outer.before == Precision::ieee);
  CHECK(name_in(text_of(hd::float32)) == "bf16");
  {
    const hd::MatmulPrecision scope(Precision::tf32);
    CHECK(hd::matmul_precision() == Precision::tf32);
    CHECK(name_in(text_of(hd::float32)) == "tf32");
    {
      const hd::MatmulPrecision inner(Precision::ieee);
      const hd::MatmulPrecision same(std::nullopt);
      CHECK(name_in(text_of(hd::float32)) == "ieee");
    }
    CHECK(name_in(text_of(hd::float32)) == "tf32");
    CHECK(name_in(text_of(hd::float32, {.matmul_precision = Precision::bf16})) == "bf16");
    CHECK(name_in(text_of(hd::float32, {.matmul_precision = Precision::bf16},
                          {.precision = Precision::ieee})) == "ieee");
    std::thread([] { CHECK(hd::matmul_precision() == Precision::bf16); }).join();
  }
  CHECK(name_in(text_of(hd::float32)) == "bf16");
}

TEST_CASE("dtypes without a choice ignore it") {
  const hd::MatmulPrecision scope(Precision::tf32);
  for (const hd::DType dtype :
       {hd::float16, hd::bfloat16, hd::float64, hd::complex128, hd::int32, hd::bool_}) {
    CAPTURE(hd::numpy_name_of(dtype));
    CHECK(name_in(text_of(dtype)) == "ieee");
  }
  CHECK(name_in(text_of(hd::complex64)) == "tf32");
}

TEST_CASE("all that is composed of products has the precision") {
  using A = hd::Array;
  const auto text = [](auto function) {
    const auto f = hd::jit(function, {.matmul_precision = Precision::tf32});
    return name_in(f.lower({hd::spec<float>({4, 4}), hd::spec<float>({4, 4})}).ir());
  };
  CHECK(text([](const A& a, const A& b) { return hd::dot(a, b); }) == "tf32");
  CHECK(text([](const A& a, const A& b) { return hd::inner(a, b); }) == "tf32");
  CHECK(text([](const A& a, const A& b) { return hd::tensordot(a, b, 1); }) == "tf32");
  CHECK(text([](const A& a, const A& b) { return hd::einsum("ij,kj->ik", {a, b}); }) == "tf32");
  CHECK(text([](const A& a, const A& b) { return hd::matvec(a, b); }) == "tf32");
  CHECK(text([](const A& a, const A& b) { return hd::vecmat(a, b); }) == "tf32");
}

TEST_CASE("a jitted function is traced anew for another precision, and inlined with its own") {
  const auto f = hd::jit([](const hd::Array& a) { return hd::matmul(a, a); });
  const hd::Array a = hd::ones<float>({3, 3}).eval();
  const std::uint64_t before = hd::statistics().traces;
  f(a);
  {
    const hd::MatmulPrecision scope(Precision::tf32);
    f(a);
    f(a);
  }
  f(a);
  CHECK(hd::statistics().traces == before + 2);
  const auto inner = hd::jit([](const hd::Array& x) { return hd::matmul(x, x); },
                             {.matmul_precision = Precision::tf32});
  const auto both = hd::jit([&](const hd::Array& x) { return std::pair(inner(x), f(x)); });
  CHECK(contains(both.ir(a), "precision = \"tf32\""));
  CHECK(contains(both.ir(a), "matmul %0, %0 : f32"));
}

TEST_CASE("products of different precisions are different programs of lazy evaluation") {
  const hd::Array a = hd::array({1.0f, 2.0f, 3.0f, 4.0f}).reshape({2, 2}).eval();
  const std::uint64_t before = hd::statistics().programs;
  for (const Precision precision : {Precision::ieee, Precision::tf32, Precision::bf16}) {
    // Small whole numbers are exact in all of them.
    hd::test::check<float>(hd::matmul(a, a, {.precision = precision}), {2, 2}, {7, 10, 15, 22});
  }
  CHECK(hd::statistics().programs == before + 3);
}
