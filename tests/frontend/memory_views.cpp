// C++ programs around arrays: memory that is shared with them, iteration, lists of arrays.
#include <algorithm>
#include <memory>
#include <numeric>
#include <ranges>
#include <sstream>

#include "runtime/device/device.h"
#include "values.h"

using namespace hd;
using test::check;

namespace {

std::vector<float> ramp(std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

}  // namespace

TEST_CASE("a view reads memory of the host where it lies") {
  const runtime::DeviceScope cpu(runtime::Device{});
  const std::vector<float> memory = ramp(12);
  const Array x = view(memory, {3, 4});
  CHECK(x.span<float>().data() == memory.data());
  check(Array(x.T()(1) * 2.0f), {3}, std::vector<float>{4, 12, 20});
  // Memory at any address: an element further on.
  const Array odd = view(std::span<const float>(memory).subspan(1), {11});
  check(Array(odd + 1.0f), {11}, [&] {
    std::vector<float> expected(memory.begin() + 1, memory.end());
    for (float& value : expected) ++value;
    return expected;
  }());
  check(view(std::span<const float>(), {0, 3}), {0, 3}, std::vector<float>());
  std::vector<float> writable = memory;
  check(view(std::span<float>(writable), {12}), {12}, memory);
  const Array untyped = view_memory(memory.data(), 12, DType::f32, {2, 6});
  check(Array(untyped(1, slice(0, 2))), {2}, std::vector<float>{7, 8});
  CHECK_THROWS_AS(view(memory, {5}), ShapeError);
  CHECK_THROWS_AS(view(memory, {-1}), ShapeError);
}

TEST_CASE("a view is never written, and lets go of its owner when nothing reads it any more") {
  const runtime::DeviceScope cpu(runtime::Device{});
  auto owner = std::make_shared<std::vector<float>>(ramp(6));
  const std::weak_ptr<std::vector<float>> watch = owner;
  Array x = view(std::span<const float>(*owner), {2, 3}, owner);
  owner.reset();
  Array y = x + 1.0f;
  x.at(0) = 7.0f;
  x += 1.0f;
  check(x, {2, 3}, std::vector<float>{8, 8, 8, 5, 6, 7});
  REQUIRE(watch.lock() != nullptr);
  CHECK(*watch.lock() == ramp(6));
  check(y, {2, 3}, std::vector<float>{2, 3, 4, 5, 6, 7});
  CHECK_MESSAGE(watch.expired(), "both are computed");
  // A view is donated as a copy.
  const std::vector<float> memory = ramp(6);
  const auto step = jit([](const Array& a) { return a * 2.0f; }, {.donate = {0}});
  check(step(view(memory, {6})), {6}, std::vector<float>{2, 4, 6, 8, 10, 12});
  CHECK(memory == ramp(6));
}

TEST_CASE("results on the CPU are spans, of their dtype only") {
  const runtime::DeviceScope cpu(runtime::Device{});
  const Array x = arange<float>(6.0f).reshape({2, 3}).T() + 0.5f;
  const std::span<const float> elements = x.span<float>();
  CHECK(std::vector<float>(elements.begin(), elements.end()) ==
        std::vector<float>{0.5f, 3.5f, 1.5f, 4.5f, 2.5f, 5.5f});
  const Array nothing = zeros<double>({0});
  CHECK(nothing.span<double>().empty());
  CHECK(test::contains(test::message_of<DTypeError>([&] { static_cast<void>(x.span<double>()); }),
                       "does not have elements of type float64"));
  static_cast<void>(jit([](const Array& a) {
    CHECK_THROWS_AS(static_cast<void>(a.span<float>()), TraceError);
    return a;
  })(x));
}

TEST_CASE("range-for goes along the first axis") {
  const Array x = arange<int>(6).reshape({3, 2});
  std::vector<int> sums;
  for (const Array& row : x) sums.push_back(row.sum().item<int>());
  CHECK(sums == std::vector<int>{1, 5, 9});
  CHECK(std::ranges::distance(begin(x), end(x)) == 3);
  for (const Array& row : zeros({0, 2})) FAIL(row.size());
  CHECK_THROWS_AS(static_cast<void>(end(array(1.0f))), IndexError);
}

TEST_CASE("functions of several arrays take lists, vectors and spans") {
  const Array a = array({1.0f, 2.0f}), b = array({3.0f, 4.0f});
  check(hstack({a, b + 1.0f}), {4}, std::vector<float>{1, 2, 4, 5});
  check(vstack({a, b}), {2, 2}, std::vector<float>{1, 2, 3, 4});
  check(dstack({a, b}), {1, 2, 2}, std::vector<float>{1, 3, 2, 4});
  check(column_stack({a, b}), {2, 2}, std::vector<float>{1, 3, 2, 4});
  check(meshgrid({a, b})[1], {2, 2}, std::vector<float>{3, 3, 4, 4});
  check(broadcast_arrays({a, array(5.0f)})[1], {2}, std::vector<float>{5, 5});
  const std::vector<Array> list = {a, b};
  check(stack(list), {2, 2}, std::vector<float>{1, 2, 3, 4});
  check(concatenate(std::span<const Array>(list)), {4}, std::vector<float>{1, 2, 3, 4});
  check(concatenate({a}), {2}, std::vector<float>{1, 2});
  check(select({a > 1.0f}, {b}), {2}, std::vector<float>{0, 4});
  const Array x = a * 2.0f, y = b * 2.0f;
  eval({x, y});
  eval(x + y);
  eval(list);
  check(x, {2}, std::vector<float>{2, 4});
}

TEST_CASE("a dtype is written as NumPy writes it") {
  std::ostringstream text;
  text << float32 << ' ' << bool_ << ' ' << array({1, 2}).dtype();
  CHECK(text.str() == "float32 bool int32");
}
