#include "tests/emulator/engine/emulated_product.h"

#include <cmath>

#include <fmt/format.h>

#include "ir/interpreter/functions.h"
#include "ir/types/element.h"
#include "tests/emulator/emulator.h"

namespace heddle::emulator {

namespace {

/// Replaces complex numbers by their conjugates.
void conjugate(std::vector<std::byte>& numbers, DType dtype) {
  ir::with_element(dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (heddle_scalar::is_complex<T>) {
      for (std::size_t at = 0; at < numbers.size(); at += sizeof(T)) {
        T value;
        std::memcpy(&value, numbers.data() + at, sizeof value);
        value.im = -value.im;
        std::memcpy(numbers.data() + at, &value, sizeof value);
      }
    } else {
      throw EmulationError("a product conjugates real numbers");
    }
  });
}

/// A matrix of a batched operand as a dense one, whatever its layout.
std::vector<std::byte> gather(const Memory& memory, std::size_t element, std::int64_t offset,
                              std::int64_t rows, std::int64_t columns, std::int64_t leading,
                              bool transposed) {
  std::vector<std::byte> dense(static_cast<std::size_t>(rows * columns) * element);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      const std::int64_t at = offset + (transposed ? j * leading + i : i * leading + j);
      const std::size_t byte = static_cast<std::size_t>(at) * element;
      if (at < 0 || byte + element > memory.bytes() || memory.defined[byte] == 0) {
        throw EmulationError(
            fmt::format("matmul reads element {}, which does not exist or is "
                        "not written, of a buffer of {}",
                        at, memory.bytes() / element));
      }
      std::memcpy(dense.data() + static_cast<std::size_t>(i * columns + j) * element,
                  memory.data + byte, element);
    }
  }
  return dense;
}

void store(std::byte* element, DType dtype, double value) {
  ir::with_element(dtype, [&]<class T>(std::type_identity<T>) {
    const T rounded = heddle_scalar::cast<T>(value);
    std::memcpy(element, &rounded, sizeof rounded);
  });
}

/// The elements of a gathered matrix in another dtype.
std::vector<std::byte> converted(const std::vector<std::byte>& from, DType dtype, DType wanted) {
  if (dtype == wanted) return from;
  const std::size_t count = from.size() / size_of(dtype);
  std::vector<std::byte> to(count * size_of(wanted));
  for (std::size_t i = 0; i < count; ++i)
    store(to.data() + i * size_of(wanted), wanted, number(from.data() + i * size_of(dtype), dtype));
  return to;
}

/// An element of a bias or a residual.
double added(const Memory& memory, DType dtype, std::size_t place) {
  const std::size_t byte = place * size_of(dtype);
  if (byte + size_of(dtype) > memory.bytes() || memory.defined[byte] == 0)
    throw EmulationError(fmt::format("an epilogue reads element {}, which is not there", place));
  return number(memory.data + byte, dtype);
}

double activated(double x, passes::Activation activation) {
  switch (activation) {
    case passes::Activation::none:
      break;
    case passes::Activation::relu:
      return x > 0 ? x : 0;
    case passes::Activation::gelu:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  }
  return x;
}

}  // namespace

double number(const std::byte* element, DType dtype) {
  return ir::with_element(dtype, [&]<class T>(std::type_identity<T>) -> double {
    if constexpr (heddle_scalar::is_complex<T>) {
      throw EmulationError("an epilogue of complex numbers");
    } else {
      T value;
      std::memcpy(&value, element, sizeof value);
      return heddle_scalar::cast<double>(value);
    }
  });
}

EmulatedProduct::Extents EmulatedProduct::extents() const {
  const auto extent = [&](ir::Dim dim) { return static_cast<std::size_t>(value(dim)); };
  return {extent(step_.rows), extent(step_.depth), extent(step_.columns)};
}

template <class Function>
void EmulatedProduct::for_each_product(DType dtype, const Function& function) const {
  const std::size_t element = size_of(step_.operand_dtype);
  const Memory a = memory_of_(step_.a), b = memory_of_(step_.b);
  for (std::int64_t i = 0; i < value(step_.batch); ++i) {
    auto left =
        gather(a, element, value(step_.a_start) + i * value(step_.a_batch_stride),
               value(step_.rows), value(step_.depth), value(step_.a_leading), step_.a_transposed);
    auto right = gather(b, element, value(step_.b_start) + i * value(step_.b_batch_stride),
                        value(step_.depth), value(step_.columns), value(step_.b_leading),
                        step_.b_transposed);
    if (step_.a_conjugated) conjugate(left, step_.operand_dtype);
    if (step_.b_conjugated) conjugate(right, step_.operand_dtype);
    function(i * value(step_.out_batch_stride), converted(left, step_.operand_dtype, dtype),
             converted(right, step_.operand_dtype, dtype));
  }
}

void EmulatedProduct::multiply() const {
  const Memory out = memory_of_(step_.out);
  const DType dtype = step_.dtype;
  const Extents n = extents();
  for_each_product(dtype, [&](std::int64_t first, const auto& left, const auto& right) {
    const std::size_t at = static_cast<std::size_t>(first) * size_of(dtype);
    const std::size_t bytes = n.rows * n.columns * size_of(dtype);
    if (at + bytes > out.bytes()) throw EmulationError("matmul writes behind its result");
    ir::interpreter::matmul_function(dtype)(left.data(), right.data(), out.data + at, n.rows,
                                            n.depth, n.columns);
    std::ranges::fill(out.defined.subspan(at, bytes), std::uint8_t{1});
  });
}

void EmulatedProduct::multiply_and_finish(double alpha, double beta) const {
  const Memory out = memory_of_(step_.out);
  const Extents n = extents();
  std::vector<double> product(n.rows * n.columns);
  for_each_product(DType::f64, [&](std::int64_t first, const auto& left, const auto& right) {
    ir::interpreter::matmul_function(DType::f64)(left.data(), right.data(),
                                                 reinterpret_cast<std::byte*>(product.data()),
                                                 n.rows, n.depth, n.columns);
    for (std::size_t i = 0; i < product.size(); ++i) {
      const std::size_t place = static_cast<std::size_t>(first) + i;
      double x = alpha * product[i];
      if (step_.residual) x += beta * added(memory_of_(*step_.residual), step_.dtype, place);
      if (step_.bias) x += added(memory_of_(*step_.bias), step_.dtype, i % n.columns);
      const std::size_t byte = place * size_of(step_.dtype);
      if (byte + size_of(step_.dtype) > out.bytes())
        throw EmulationError("matmul writes behind its result");
      store(out.data + byte, step_.dtype, activated(x, step_.activation));
      std::ranges::fill(out.defined.subspan(byte, size_of(step_.dtype)), std::uint8_t{1});
    }
  });
}

}  // namespace heddle::emulator
