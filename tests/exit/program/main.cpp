#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <heddle/heddle.h>

namespace hd = heddle;

namespace {

hd::Array counted(const hd::Array& start) {
  hd::Array sum = start;
  for (int i = 0; i < 100; ++i) sum = sum(hd::slice(0, 3)) + start(hd::slice(i % 3, i % 3 + 3));
  return sum;
}

/// The sum of products of small integers, which are exact.
double products() {
  double sum = 0;
  for (const hd::DType dtype : {hd::float32, hd::float64, hd::complex64, hd::complex128}) {
    const hd::Array matrices = hd::arange(24.0f).astype(dtype).reshape({2, 3, 4});
    const hd::Array across = hd::matrix_transpose(matrices), vector = matrices(1, 2);
    const hd::Array results[] = {hd::matmul(matrices, across), hd::matmul(across, matrices),
                                 hd::matmul(matrices, vector)};
    for (const hd::Array& result : results) {
      const hd::Array weights =
          hd::arange(static_cast<float>(result.size())).reshape(result.shape());
      sum += static_cast<double>(hd::sum(result.real() * weights).item<float>());
    }
  }
  return sum;
}

/// Is destroyed after the library's own statics where the program contains the library.
struct Multiplies {
  double before = 0;
  ~Multiplies() {
    if (before != 0 && products() != before) std::puts("another product");
  }
};
Multiplies multiplies;

/// Records, compiles, evaluates, uploads and prints while the process ends.
struct Last {
  hd::Array values;

  ~Last() {
    try {
      work();
    } catch (const hd::Error&) {
      std::puts("refused");
    }
    std::fflush(stdout);
  }

  void work() const {
    const hd::Array copy = values;
    const hd::Array sum = counted(copy);
    const auto f = hd::jit([&](const hd::Array& x) { return x * copy(hd::slice(0, 3)); });
    const hd::Array uploaded = hd::array({1.0f, 2.0f, 3.0f});
    std::printf("%g %g %s\n", static_cast<double>(hd::sum(sum).item<float>()),
                static_cast<double>(hd::sum(f(uploaded)).item<float>()),
                hd::to_string(uploaded).c_str());
  }
};

Last& last() {
  static Last instance;
  return instance;
}

}  // namespace

int main(int, char** words) {
  const bool made_first = std::strcmp(words[1], "before") == 0;
  if (made_first) last();
  const hd::Array start = hd::arange(6.0f);
  std::printf("%g\n", static_cast<double>(hd::sum(counted(start)).item<float>()));
  last().values = start + 1.0f;
  const char* const device = std::getenv("HEDDLE_DEVICE");
  if (device != nullptr && std::strcmp(device, "cpu") == 0) multiplies.before = products();
}
