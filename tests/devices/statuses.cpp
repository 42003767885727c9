// Statuses of factorisations on a GPU are read together, with one wait.

#include "tests/devices/fake_gpus.h"

using namespace heddle;
using namespace heddle::test;

TEST_CASE("a wait reads the statuses of all calls together") {
  const auto result = run_on_fake_gpus("child: statuses");
  CHECK_MESSAGE(result.status == 0, result.output);
}

TEST_CASE("child: statuses" * doctest::skip()) {
  REQUIRE(is_fake());
  constexpr std::uint64_t calls = 20;
  set_device("cuda:0");
  const auto program = jit([](const Array& a) { return linalg::cholesky(a); });
  const Array matrices = zeros({4, 3, 3}, DType::f32);
  for (std::uint64_t i = 0; i < calls; ++i) program(matrices).eval();
  const std::uint64_t waits = control().calls("cuStreamSynchronize");
  const std::uint64_t copies = control().calls("cuMemcpyDtoHAsync_v2");
  // The kernels do nothing, and the fake memory's bytes are negative integers: no call has failed.
  synchronize();
  CHECK(control().calls("cuMemcpyDtoHAsync_v2") - copies == calls);
  // One for the statuses, and one for the stream.
  CHECK(control().calls("cuStreamSynchronize") - waits == 2);
}
