#include <alloca.h>

#include "values.h"

namespace {

/// Calls from `bytes` further down the stack.
template <class Call>
[[gnu::noinline]] auto deeper(std::size_t bytes, Call call) {
  volatile auto* const below = static_cast<char*>(alloca(bytes));
  below[0] = 0;
  auto result = call();
  below[0] = 1;
  return result;
}

TEST_CASE("kernels run wherever their caller's stack stands") {
  const hd::Array ones = hd::ones<float>({}).astype(hd::float16);
  for (const std::size_t bytes : {16, 32, 48, 64}) {
    const hd::Array last = deeper(bytes, [&] {
      const hd::Array x = hd::fmin(hd::fmax(hd::cos(hd::broadcast_to(ones - 1, {1000})), 0.5), 2);
      hd::Array products = hd::cumprod(x, 0);
      products.eval();
      return products(-1);
    });
    CHECK(last.item<float>() == 1.0f);
  }
}

}  // namespace
