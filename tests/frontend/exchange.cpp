// Memory that is shared with other code of C and C++: DLPack tensors, pointers, views with strides.
#include <array>
#include <memory>
#include <numeric>
#include <vector>

#include "heddle/dlpack.h"
#include "heddle/host_view.h"

#include "frontend/array/access.h"
#include "frontend/evaluate/evaluate.h"
#include "frontend/exchange/foreign_memory.h"
#include "frontend/exchange/memory_layout.h"
#include "frontend/graph/record.h"
#include "runtime/device/device.h"
#include "runtime/device/memory.h"
#include "values.h"

using namespace hd;
using test::check;

namespace {

/// A tensor of another library, which counts how often it is deleted.
struct Tensor {
  std::vector<float> elements;
  std::vector<std::int64_t> shape, strides;
  int deleted = 0;

  explicit Tensor(std::size_t count) : elements(count) {
    std::iota(elements.begin(), elements.end(), 0.0f);
  }
  dlpack::Tensor describe(std::uint64_t offset = 0) {
    return {elements.data(),
            {dlpack::cpu, 0},
            static_cast<std::int32_t>(shape.size()),
            {dlpack::floating, 32, 1},
            shape.data(),
            strides.empty() ? nullptr : strides.data(),
            offset};
  }
  static Tensor& of(void* context) { return *static_cast<Tensor*>(context); }
  dlpack::VersionedTensor* versioned(std::uint64_t offset = 0) {
    return new dlpack::VersionedTensor{1,
                                       1,
                                       this,
                                       [](dlpack::VersionedTensor* tensor) {
                                         ++of(tensor->context).deleted;
                                         delete tensor;
                                       },
                                       0,
                                       describe(offset)};
  }
  dlpack::ManagedTensor* unversioned() {
    return new dlpack::ManagedTensor{describe(), this, [](dlpack::ManagedTensor* tensor) {
                                       ++of(tensor->context).deleted;
                                       delete tensor;
                                     }};
  }
};

/// What host_view() needs of std::mdspan with layout_stride.
struct Strided {
  using element_type = const double;
  using extents_type = std::array<std::int64_t, 2>;
  struct mapping_type {
    extents_type extents;
    std::array<std::int64_t, 2> strides;
  };
  const double* pointer;
  mapping_type mapping;
  Strided(const double* data, const mapping_type& how) : pointer(data), mapping(how) {}
  static constexpr std::size_t rank() { return 2; }
  const double* data_handle() const { return pointer; }
  std::int64_t extent(std::size_t axis) const { return mapping.extents[axis]; }
  std::int64_t stride(std::size_t axis) const { return mapping.strides[axis]; }
};

}  // namespace

TEST_CASE("tensors of DLPack are read where they lie, and deleted when nothing reads them") {
  const runtime::DeviceScope cpu(runtime::Device{});
  Tensor tensor(6);
  tensor.shape = {3, 2};
  tensor.strides = {1, 3};  // in Fortran order
  {
    Array x = from_dlpack(tensor.versioned());
    check(x, {3, 2}, std::vector<float>{0, 3, 1, 4, 2, 5});
    const Array y = x * 2.0f, before = x;
    x.at(0) = 7.0f;  // another value: the tensor is not written
    check(x, {3, 2}, std::vector<float>{7, 7, 1, 4, 2, 5});
    CHECK(tensor.elements[0] == 0);
    x = Array();
    check(y, {3, 2}, std::vector<float>{0, 6, 2, 8, 4, 10});
    check(before, {3, 2}, std::vector<float>{0, 3, 1, 4, 2, 5});
  }
  CHECK(tensor.deleted == 1);
  tensor.strides.clear();
  {
    const Array x = from_dlpack(tensor.unversioned());
    CHECK(x.span<float>().data() == tensor.elements.data());
    CHECK(tensor.deleted == 1);
  }
  CHECK(tensor.deleted == 2);
  tensor.shape = {2};
  check(from_dlpack(tensor.versioned(8)), {2}, std::vector<float>{2, 3});
  tensor.shape = {3, 4};
  tensor.strides = {1, 0};  // broadcast
  check(from_dlpack(tensor.versioned()), {3, 4},
        std::vector<float>{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2});
  tensor.shape = {0, 4};
  check(from_dlpack(tensor.versioned()), {0, 4}, std::vector<float>());
  tensor.shape.clear();
  tensor.strides.clear();
  CHECK(from_dlpack(tensor.versioned()).item<float>() == 0);
}

TEST_CASE("tensors with gaps are read where they lie") {
  const runtime::DeviceScope cpu(runtime::Device{});
  Tensor tensor(24);
  tensor.shape = {2, 3};
  tensor.strides = {12, 2};
  {
    const Array x = from_dlpack(tensor.versioned());
    CHECK(tensor.deleted == 0);
    check(x + 1.0f, {2, 3}, std::vector<float>{1, 3, 5, 13, 15, 17});
    check(sum(x, {1}), {2}, std::vector<float>{6, 42});
  }
  CHECK(tensor.deleted == 1);
  tensor.shape = {3, 2};
  tensor.strides = {-2, -9};  // backwards
  check(from_dlpack(tensor.versioned(15 * sizeof(float))), {3, 2},
        std::vector<float>{15, 6, 13, 4, 11, 2});
}

TEST_CASE("overlapping tensors, odd addresses and copies leave their memory at once") {
  const runtime::DeviceScope cpu(runtime::Device{});
  Tensor tensor(24);
  tensor.shape = {2, 3};
  tensor.strides = {1, 1};
  Array x = from_dlpack(tensor.versioned());
  CHECK(tensor.deleted == 1);
  check(x, {2, 3}, std::vector<float>{0, 1, 2, 1, 2, 3});
  tensor.strides = {3, 1};
  x = from_dlpack(tensor.versioned(), {.copy = true});
  CHECK(tensor.deleted == 2);
  tensor.elements[0] = 9;
  CHECK(x(0, 0).item<float>() == 0);
  x = from_dlpack(tensor.versioned(2));  // between two elements
  CHECK(tensor.deleted == 3);
  CHECK(x.shape() == Shape{2, 3});
}

namespace {

/// Offsets of the elements, in C order.
void visit(const Shape& shape, const frontend::Strides& strides, std::size_t axis, std::int64_t at,
           std::vector<std::int64_t>& offsets) {
  if (axis == shape.size()) return offsets.push_back(at);
  for (std::int64_t i = 0; i < shape[axis]; ++i)
    visit(shape, strides, axis + 1, at + i * strides[axis], offsets);
}

/// Reads the elements of a layout, and writes to them in place and to nothing else.
void check_layout(const Shape& shape, const frontend::Strides& strides) {
  const auto layout = frontend::layout_of(shape, strides);
  REQUIRE(layout.has_value());
  std::vector<std::int64_t> offsets;
  visit(shape, strides, 0, -layout->offset, offsets);
  constexpr std::int64_t before = 16;  // elements in front, which must stay as they are
  std::vector<float> memory(static_cast<std::size_t>(layout->reach + 2 * before));
  std::iota(memory.begin(), memory.end(), 0.0f);
  CHECK(std::ranges::max(offsets) == layout->reach - 1);
  CHECK(std::ranges::min(offsets) == 0);
  const auto node = [&] {
    return frontend::array_node(
        {{DType::f32, frontend::to_ir(layout->memory)},
         runtime::borrow(memory.data() + before, static_cast<std::size_t>(layout->reach) * 4,
                         runtime::Stream::current({}), {}, true),
         0});
  };
  const SourceLocation here = SourceLocation::current();
  const Array x = frontend::Access::make(frontend::elements_in(node(), *layout, here));
  std::vector<float> expected;
  for (const std::int64_t offset : offsets)
    expected.push_back(memory[static_cast<std::size_t>(offset + before)]);
  check(x, shape, expected);
  const Array value = (x * -1.0f).eval();
  frontend::NodeRef base = node();
  const frontend::NodeRef updated =
      frontend::with_elements(base, *layout, frontend::Access::node(value, here), here);
  base = {};
  frontend::evaluate(updated);
  CHECK(updated->value.buffer->pointer() == memory.data() + before);
  std::vector<float> after(memory.size());
  std::iota(after.begin(), after.end(), 0.0f);
  for (const std::int64_t offset : offsets) after[static_cast<std::size_t>(offset + before)] *= -1;
  CHECK(memory == after);
}

}  // namespace

TEST_CASE("memory of any strides is read as a slice, and written in place") {
  const runtime::DeviceScope cpu(runtime::Device{});
  check_layout({4, 3}, {6, 2});
  check_layout({4, 3, 6}, {30, 12, 1});
  check_layout({3, 4, 6}, {12, 30, 1});
  check_layout({6, 4, 3}, {-1, 30, -12});
  check_layout({5}, {-3});
  check_layout({3, 1, 2}, {1, 99, 7});
  check_layout({2, 3, 2, 2}, {100, 20, 10, 2});
  check_layout({3}, {11});
  CHECK(frontend::layout_of({}, {})->is_whole());
  check_layout({300, 70}, {80, 1});
  check_layout({2, 2}, {6, 4});
  CHECK_MESSAGE(!frontend::layout_of({3, 4}, {1, 1}), "a window that slides");
  CHECK_MESSAGE(!frontend::layout_of({2, 4}, {6, 4}), "rows that run into each other");
}

TEST_CASE("a tensor that is refused remains the caller's") {
  Tensor tensor(4);
  tensor.shape = {4};
  dlpack::OwnedTensor managed(tensor.versioned());
  managed->tensor.dtype.lanes = 2;
  CHECK_THROWS_AS(from_dlpack(managed.get()), DTypeError);
  managed->tensor.dtype = {dlpack::floating, 8, 1};
  CHECK_THROWS_AS(from_dlpack(managed.get()), DTypeError);
  managed->tensor.dtype = {dlpack::floating, 32, 1};
  managed->tensor.device.type = 7;  // Vulkan
  CHECK_THROWS_AS(from_dlpack(managed.get()), DeviceError);
  managed->tensor.device = {dlpack::cuda, 99};
  CHECK_THROWS_AS(from_dlpack(managed.get()), DeviceError);
  managed->tensor.device = {dlpack::cpu, 0};
  managed->major = 2;
  CHECK(test::contains(test::message_of<ValueError>([&] { from_dlpack(managed.get()); }),
                       "version 2"));
  managed->major = 1;
  static_cast<void>(jit([&](const Array& a) {
    CHECK_THROWS_AS(from_dlpack(managed.get()), TraceError);
    CHECK_THROWS_AS(to_dlpack(a), TraceError);
    return a;
  })(ones({2}, DType::f32)));
  CHECK(tensor.deleted == 0);
  managed.reset();
  CHECK(tensor.deleted == 1);
}

TEST_CASE("arrays are exported with their dtype, read-only unless they are copies") {
  const runtime::DeviceScope cpu(runtime::Device{});
  const Array x = arange<double>(6.0).reshape({2, 3}).T() + 1.0;
  dlpack::OwnedTensor shared = to_dlpack(x), copy = to_dlpack(x, {.copy = true});
  CHECK(shared->major == 1);
  CHECK(shared->flags == dlpack::read_only_flag);
  CHECK(copy->flags == dlpack::copied_flag);
  for (const dlpack::Tensor& tensor : {shared->tensor, copy->tensor}) {
    CHECK(tensor.device.type == dlpack::cpu);
    CHECK(tensor.dtype.code == dlpack::floating);
    CHECK(tensor.dtype.bits == 64);
    CHECK(std::vector<std::int64_t>(tensor.shape, tensor.shape + tensor.ndim) == Shape{3, 2});
    CHECK(std::vector<std::int64_t>(tensor.strides, tensor.strides + 2) == Shape{2, 1});
    CHECK(static_cast<const double*>(tensor.data)[1] == 4.0);
  }
  CHECK(shared->tensor.data == x.span<double>().data());
  CHECK(copy->tensor.data != shared->tensor.data);
  static_cast<double*>(copy->tensor.data)[0] = 9.0;
  CHECK(x(0, 0).item<double>() == 1.0);
  // What is exported stays as it is, whatever happens to the array.
  Array y = ones({3}, DType::f32).eval();
  dlpack::OwnedUnversionedTensor old = to_unversioned_dlpack(y);
  y += 1.0f;
  y.eval();
  y = Array();
  const auto* const elements = static_cast<const float*>(old->tensor.data);
  CHECK(std::vector<float>(elements, elements + 3) == std::vector<float>{1, 1, 1});
  // There and back.
  check(from_dlpack(to_dlpack(x).release()), {3, 2}, x.to_vector<double>());
  check(from_dlpack(old.release()), {3}, std::vector<float>{1, 1, 1});
  for (const DType dtype :
       {DType::boolean, DType::i8, DType::u64, DType::f16, DType::bf16, DType::c64, DType::c128}) {
    const Array each = ones({2}, DType::f64).astype(dtype);
    CHECK(from_dlpack(to_dlpack(each).release()).dtype() == dtype);
  }
  CHECK(to_dlpack(zeros({0, 2}, DType::f32))->tensor.shape[1] == 2);
}

TEST_CASE("pointers of other code are read, with an owner and an event") {
  const runtime::DeviceScope cpu(runtime::Device{});
  auto owner =
      std::make_shared<std::vector<std::int32_t>>(std::vector<std::int32_t>{1, 2, 3, 4, 5, 6});
  const std::weak_ptr<std::vector<std::int32_t>> watch = owner;
  Event ready({.timed = false}, "cpu");
  ready.record(Stream::current("cpu"));
  BorrowedMemory memory{
      .data = owner->data(), .dtype = DType::i32, .shape = {3, 2}, .ready = ready};
  memory.owner = std::move(owner);
  Array x = borrow(memory);
  memory.owner.reset();
  check(x, {3, 2}, std::vector<std::int32_t>{1, 2, 3, 4, 5, 6});
  REQUIRE(!watch.expired());
  memory.strides = {1, 3};
  check(borrow(memory), {3, 2}, std::vector<std::int32_t>{1, 4, 2, 5, 3, 6});
  x = Array();
  CHECK(watch.expired());
  memory.strides = {1};
  CHECK_THROWS_AS(borrow(memory), ShapeError);
  memory.shape = {-1};
  CHECK_THROWS_AS(borrow(memory), ShapeError);
  memory.device = "cuda:99";
  memory.shape = {1};
  CHECK_THROWS_AS(borrow(memory), DeviceError);

  Array y = ones({2, 2}, DType::f32) * 3.0f;
  const ReadyMemory out = ready_memory(y);
  CHECK(out.ready.done());
  CHECK(out.bytes == 16);
  CHECK(out.device == "cpu");
  y += 1.0f;
  y.eval();
  const auto* const elements = static_cast<const float*>(out.data);
  CHECK(std::vector<float>(elements, elements + 4) == std::vector<float>{3, 3, 3, 3});
}

TEST_CASE("views have extents and strides, as std::mdspan") {
  const runtime::DeviceScope cpu(runtime::Device{});
  const Array x = arange<double>(6.0).reshape({2, 3}) + 0.5;
  const HostView<const double, 2> elements = host_view<double, 2>(x);
  CHECK(elements.data() == x.span<double>().data());
  CHECK(elements.extents() == std::array<std::int64_t, 2>{2, 3});
  CHECK(elements.strides() == std::array<std::int64_t, 2>{3, 1});
  CHECK(elements(1, 2) == 5.5);
  CHECK(elements.size() == 6);
  CHECK_THROWS_AS((host_view<double, 1>(x)), ShapeError);
  CHECK_THROWS_AS((host_view<float, 2>(x)), DTypeError);

  const Strided transposed =
      HostView<const double, 2>(elements.data(), {3, 2}, {1, 3}).to<Strided>();
  CHECK(transposed.mapping.extents == std::array<std::int64_t, 2>{3, 2});
  const HostView<const double, 2> back = transposed;
  CHECK(back(2, 1) == 5.5);
  check(view(back), {3, 2}, std::vector<double>{0.5, 3.5, 1.5, 4.5, 2.5, 5.5});

  std::vector<float> memory(12);
  std::iota(memory.begin(), memory.end(), 0.0f);
  const HostView<float, 2> writable(memory.data(), {3, 4});
  writable(2, 3) = 7.0f;
  const Array whole = view(writable);
  CHECK(whole.span<float>().data() == memory.data());
  check(view(HostView<float, 2>(memory.data() + 1, {2, 2}, {8, 2})), {2, 2},
        std::vector<float>{1, 3, 9, 7});
  const HostView<const float, 2> constant = writable;
  CHECK(constant(2, 3) == 7.0f);
  CHECK(HostView<float, 0>(memory.data(), {})() == 0.0f);
#ifdef __cpp_lib_mdspan
  const std::mdspan<const double, std::dextents<std::int64_t, 2>, std::layout_stride> span =
      elements;
  CHECK(span.stride(0) == 3);
#endif
}
