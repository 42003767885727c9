// Results of steps that depend on no argument, which calls share.

#include <memory>
#include <vector>

#include <doctest/doctest.h>

#include "heddle/error.h"

#include "ir/graph/graph.h"
#include "runtime/base/statistics.h"
#include "runtime/device/stream.h"
#include "runtime/execute/executable.h"

namespace {

using namespace heddle;
using namespace heddle::runtime;

/// Multiplies numbers by the sums of 0, 1 ... read backwards.
class Products {
 public:
  Products()
      : device_(current_device()),
        stream_(Stream::current(device_)),
        executable_(Executable::get(ir::parse("func @main(%0: f32[1000]) -> f32[1000] {\n"
                                              " %1 = iota axes=[0] : f32[1000]\n"
                                              " %2 = cumsum %1 axes=[0] : f32[1000]\n"
                                              " %3 = slice %2 starts=[999] steps=[-1] : f32[1000]\n"
                                              " %4 = multiply %0, %3 : f32[1000]\n return %4\n}\n"),
                                    {}, device_)) {}

  /// Checks the products with `factor`. Returns the number of kernels.
  std::uint64_t run(float factor) {
    std::vector<float> values(1000, factor);
    const std::size_t bytes = values.size() * sizeof(float);
    const DeviceArray input{{DType::f32, {ir::Dim(1000)}}, allocate(bytes, stream_), 0};
    copy(input.buffer->pointer(), device_, values.data(), {}, bytes, stream_);
    const std::uint64_t before = statistics().kernel_launches;
    const std::vector<DeviceArray> results =
        executable_->run(std::vector<Argument>{input}, stream_);
    const std::uint64_t kernels = statistics().kernel_launches - before;
    copy(values.data(), {}, results[0].buffer->pointer(), device_, bytes, stream_);
    stream_.synchronize();
    for (std::size_t i = 0; i < values.size(); ++i)
      REQUIRE(values[i] == factor * static_cast<float>((999 - i) * (1000 - i) / 2));
    return kernels;
  }

  Stream& stream() { return stream_; }

 private:
  Device device_;
  Stream stream_;
  std::shared_ptr<const Executable> executable_;
};

}  // namespace

TEST_CASE("constants are computed in the first two calls, and kept until memory is short") {
  Products products;
  CHECK(products.run(1) == 2);
  CHECK(products.run(2) == 2);
  for (const float factor : {3.0f, 4.0f, 5.0f}) CHECK(products.run(factor) == 1);
  CHECK_THROWS_AS(allocate(std::size_t{1} << 60, products.stream()), OutOfMemory);
  CHECK(products.run(6) == 2);
  CHECK(products.run(7) == 2);
  CHECK(products.run(8) == 1);
}
