#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "heddle/dtype.h"
#include "heddle/error.h"
#include "heddle/half.h"
#include "heddle/indexing.h"
#include "heddle/source_location.h"

namespace heddle {

class Array;
class IndexedArray;
class Operand;

namespace frontend {
struct Access;
struct Cell;
}  // namespace frontend

/// Extents, outermost first; {} is a scalar.
using Shape = std::vector<std::int64_t>;

/// NumPy's `axis` argument: the axes that a function runs over. Axes{} is NumPy's None and means
/// all axes. An empty list is NumPy's () and means no axis. Negative axes count from the end.
class Axes {
 public:
  Axes() = default;
  // NOLINTBEGIN: sum(x, -1), sum(x, {0, 1})
  Axes(std::int64_t axis) : values_{axis}, all_(false) {}
  Axes(std::initializer_list<std::int64_t> axes) : values_(axes), all_(false) {}
  Axes(std::vector<std::int64_t> axes) : values_(std::move(axes)), all_(false) {}
  // NOLINTEND
  bool all() const { return all_; }
  const std::vector<std::int64_t>& values() const { return values_; }

 private:
  std::vector<std::int64_t> values_;
  bool all_ = true;
};

/// An N-dimensional array. It is a handle to a recorded value, which is computed when it is read
/// (item, to_vector, eval, printing, saving). A copy is an independent value: writing to one array
/// never changes another. A default-constructed or moved-from Array holds no value, and using it
/// throws ValueError. Different threads may use different Arrays, even if those share memory
/// internally.
class Array {
 public:
  Array() = default;
  Array(const Array& other);
  Array(Array&& other) noexcept;
  Array& operator=(const Array& other);
  Array& operator=(Array&& other);  // NOLINT(performance-noexcept-move-constructor): may evaluate
  ~Array();

  /// False when default-constructed or moved from.
  bool has_value() const;
  DType dtype() const;
  /// Throws TraceError inside a trace with symbolic extents. shape(axis) reads the extent of one
  /// axis.
  Shape shape() const;
  std::int64_t shape(int axis, SourceLocation where = SourceLocation::current()) const;
  int ndim() const;
  /// Number of elements.
  std::int64_t size() const;
  std::int64_t nbytes() const;

  /// Computes the value now, without waiting for the device. Returns *this.
  const Array& eval() const;
  /// The only element, converted to T; evaluates and waits. ValueError unless size() is 1,
  /// TraceError inside a trace.
  template <Element T>
  T item(SourceLocation where = SourceLocation::current()) const {
    T value{};
    read_item(&value, dtype_of<T>, where);
    return value;
  }
  /// All elements in C order, converted to T; evaluates and waits.
  template <Element T>
  std::vector<T> to_vector(SourceLocation where = SourceLocation::current()) const {
    if constexpr (std::is_same_v<T, bool>) {
      std::vector<std::uint8_t> bytes(read_size(where));
      read_elements(bytes.data(), DType::boolean, where);
      return {bytes.begin(), bytes.end()};
    } else {
      std::vector<T> values(read_size(where));
      read_elements(values.data(), dtype_of<T>, where);
      return values;
    }
  }
  /// All elements in C order, without a copy; CPU only. Evaluates and waits. The span is valid
  /// until the array is written to, moved from or destroyed. DTypeError unless T is the array's
  /// dtype, DeviceError on a GPU, TraceError inside a trace.
  template <Element T>
  std::span<const T> span(SourceLocation where = SourceLocation::current()) const& {
    return {static_cast<const T*>(read_memory(dtype_of<T>, where)),
            static_cast<std::size_t>(size())};
  }
  template <Element T>
  std::span<const T> span(SourceLocation where = SourceLocation::current()) const&& = delete;
  /// Same as item<T>().
  template <Element T>
  explicit operator T() const {
    return item<T>();
  }

  /// Reads x[a, b, ...] as a new array. IndexError for an integer out of range. IndexItem describes
  /// index arrays and masks. TraceError for a mask inside a trace.
  Array operator()(const IndexItem& a, const IndexItem& b = {}, const IndexItem& c = {},
                   const IndexItem& d = {}, const IndexItem& e = {}, const IndexItem& f = {},
                   const IndexItem& g = {}, const IndexItem& h = {}) const;
  /// The same with any number of subscripts.
  Array index(const std::vector<IndexItem>& items,
              SourceLocation where = SourceLocation::current()) const;
  /// A writable selection: x.at(0) = y, x.at(hd::_, hd::slice(1, 4)) += 1.
  IndexedArray at(const IndexItem& a, const IndexItem& b = {}, const IndexItem& c = {},
                  const IndexItem& d = {}, const IndexItem& e = {}, const IndexItem& f = {},
                  const IndexItem& g = {}, const IndexItem& h = {});
  IndexedArray at(std::vector<IndexItem> items, SourceLocation where = SourceLocation::current());

  /// In-place operators. They keep dtype and shape; DTypeError if the result's kind does not fit
  /// the dtype's kind.
  Array& operator+=(const Operand& other);
  Array& operator-=(const Operand& other);
  Array& operator*=(const Operand& other);
  Array& operator/=(const Operand& other);
  Array& operator%=(const Operand& other);
  Array& operator&=(const Operand& other);
  Array& operator|=(const Operand& other);
  Array& operator^=(const Operand& other);
  Array& operator<<=(const Operand& other);
  Array& operator>>=(const Operand& other);

  // The methods of numpy.ndarray. Each is documented at the free function of the same name.
  Array T(SourceLocation where = SourceLocation::current()) const;
  Array astype(DType dtype, SourceLocation where = SourceLocation::current()) const;
  template <Element E>
  Array astype(SourceLocation where = SourceLocation::current()) const {
    return astype(dtype_of<E>, where);
  }
  Array reshape(const Shape& shape, SourceLocation where = SourceLocation::current()) const;
  Array ravel(SourceLocation where = SourceLocation::current()) const;
  Array flatten(SourceLocation where = SourceLocation::current()) const;
  Array transpose(const std::vector<std::int64_t>& axes = {},
                  SourceLocation where = SourceLocation::current()) const;
  Array swapaxes(std::int64_t a, std::int64_t b,
                 SourceLocation where = SourceLocation::current()) const;
  Array squeeze(const Axes& axes = {}, SourceLocation where = SourceLocation::current()) const;
  Array sum(const Axes& axes = {}, bool keepdims = false,
            SourceLocation where = SourceLocation::current()) const;
  Array prod(const Axes& axes = {}, bool keepdims = false,
             SourceLocation where = SourceLocation::current()) const;
  Array min(const Axes& axes = {}, bool keepdims = false,
            SourceLocation where = SourceLocation::current()) const;
  Array max(const Axes& axes = {}, bool keepdims = false,
            SourceLocation where = SourceLocation::current()) const;
  Array mean(const Axes& axes = {}, bool keepdims = false,
             SourceLocation where = SourceLocation::current()) const;
  Array var(const Axes& axes = {}, double correction = 0, bool keepdims = false,
            SourceLocation where = SourceLocation::current()) const;
  Array std(const Axes& axes = {}, double correction = 0, bool keepdims = false,
            SourceLocation where = SourceLocation::current()) const;
  Array any(const Axes& axes = {}, bool keepdims = false,
            SourceLocation where = SourceLocation::current()) const;
  Array all(const Axes& axes = {}, bool keepdims = false,
            SourceLocation where = SourceLocation::current()) const;
  Array argmin(const Axes& axis = {}, bool keepdims = false,
               SourceLocation where = SourceLocation::current()) const;
  Array argmax(const Axes& axis = {}, bool keepdims = false,
               SourceLocation where = SourceLocation::current()) const;
  Array clip(const Operand& low, const Operand& high) const;
  Array round(int decimals = 0, SourceLocation where = SourceLocation::current()) const;
  Array dot(const Operand& other) const;
  Array real(SourceLocation where = SourceLocation::current()) const;
  Array imag(SourceLocation where = SourceLocation::current()) const;
  Array conj(SourceLocation where = SourceLocation::current()) const;

 private:
  friend struct frontend::Access;
  explicit Array(frontend::Cell* cell) : cell_(cell) {}
  void read_item(void* out, DType dtype, SourceLocation where) const;
  std::size_t read_size(SourceLocation where) const;
  void read_elements(void* out, DType dtype, SourceLocation where) const;
  const void* read_memory(DType dtype, SourceLocation where) const;

  frontend::Cell* cell_ = nullptr;
};

/// A C++ scalar as an operand. It is weak: within its kind it takes the dtype of the arrays that it
/// is combined with (NEP 50). So float32 * 2.0 stays float32, and float32 * std::complex(0.0, 1.0)
/// is complex64.
struct Scalar {
  enum class Kind : std::uint8_t {
    boolean,
    integer,
    unsigned_integer,
    floating,
    complex,
    large_integer  ///< beyond 64 bits; see large_integer()
  };
  Kind kind = Kind::floating;
  DType dtype = DType::f64;  ///< of the C++ type
  union {
    std::int64_t integer;
    std::uint64_t unsigned_integer;
    double floating;  ///< complex: the real part; large_integer: the nearest double
  };
  double imaginary = 0;

  /// An integer beyond 64 bits, stored as the nearest double, which may be infinite. Inexact dtypes
  /// use that value. With other dtypes such an integer can only be compared, or be a bound that
  /// changes nothing; any other use throws DTypeError.
  static constexpr Scalar large_integer(double nearest) {
    Scalar result(nearest);
    result.kind = Kind::large_integer;
    result.dtype = nearest < 0 ? DType::i64 : DType::u64;
    return result;
  }

  bool is_inexact() const { return kind == Kind::floating || kind == Kind::complex; }

  constexpr Scalar(std::complex<float> value)  // NOLINT: scalars convert
      : Scalar(std::complex<double>(value)) {
    dtype = DType::c64;
  }
  constexpr Scalar(std::complex<double> value)  // NOLINT
      : kind(Kind::complex), dtype(DType::c128), floating(value.real()), imaginary(value.imag()) {}
  template <class T>
    requires std::is_arithmetic_v<T>
  constexpr Scalar(T value) : floating(0) {  // NOLINT: scalars convert
    if constexpr (std::is_same_v<T, bool>) {
      kind = Kind::boolean;
      dtype = DType::boolean;
      integer = value ? 1 : 0;
    } else if constexpr (std::is_floating_point_v<T>) {
      dtype = std::is_same_v<T, float> ? DType::f32 : DType::f64;
      floating = static_cast<double>(value);
    } else if constexpr (std::is_signed_v<T>) {
      kind = Kind::integer;
      dtype = dtype_of<T>;
      integer = value;
    } else {
      kind = Kind::unsigned_integer;
      dtype = dtype_of<T>;
      unsigned_integer = value;
    }
  }
};

/// An argument of an operator or function: an Array or a C++ scalar, with the source location where
/// it was written. It holds a reference to the Array, so use it only as a function argument.
class Operand {
 public:
  // NOLINTBEGIN: operands convert
  Operand(const Array& array, SourceLocation where = SourceLocation::current())
      : array_(&array), scalar_(0), where_(where) {}
  template <class T>
    requires std::is_arithmetic_v<T>
  Operand(T value, SourceLocation where = SourceLocation::current())
      : scalar_(value), where_(where) {}
  template <class T>
  Operand(std::complex<T> value, SourceLocation where = SourceLocation::current())
      : scalar_(value), where_(where) {}
  Operand(Scalar value, SourceLocation where = SourceLocation::current())
      : scalar_(value), where_(where) {}
  // NOLINTEND

  /// Null for a scalar.
  const Array* array() const { return array_; }
  const Scalar& scalar() const { return scalar_; }
  const SourceLocation& where() const { return where_; }

 private:
  const Array* array_ = nullptr;
  Scalar scalar_;
  SourceLocation where_;
};

/// The result of x.at(...). Assigning to it writes into x, which must outlive it. Converting it to
/// Array reads.
class IndexedArray {
 public:
  /// Writes the value, cast to the array's dtype as NumPy's assignment does, and broadcast to the
  /// shape of the selection. If an element is selected several times, the last value is kept. A
  /// single mask, with a value that is the same for all selected elements, is not evaluated. Throws
  /// IndexError, ShapeError, or DTypeError for an integer that does not fit.
  IndexedArray& operator=(const Operand& value);
  IndexedArray& operator=(const IndexedArray& value);
  IndexedArray& operator+=(const Operand& value);
  IndexedArray& operator-=(const Operand& value);
  IndexedArray& operator*=(const Operand& value);
  IndexedArray& operator/=(const Operand& value);
  /// Reads the selection, as x(...) does.
  operator Array() const;  // NOLINT: reads as x(...)

  IndexedArray(const IndexedArray&) = default;

 private:
  friend class Array;
  IndexedArray(Array& base, std::vector<IndexItem> items, SourceLocation where)
      : base_(base), items_(std::move(items)), where_(where) {}
  template <class Combine>
  IndexedArray& update(const Operand& value, Combine combine);

  Array& base_;
  std::vector<IndexItem> items_;
  SourceLocation where_;
};

/// The argument of functions that take several arrays: stack({a, b}), stack(vector). It holds
/// references to the arrays, so use it only as a function argument.
class Arrays : public std::span<const Array> {
 public:
  using std::span<const Array>::span;
  // NOLINTBEGIN: lists and ranges convert
  Arrays(std::initializer_list<Array> arrays) : span(arrays.begin(), arrays.size()) {}
  Arrays(std::span<const Array> arrays) : span(arrays) {}
  // NOLINTEND
};

/// Computes several arrays in one program, without waiting for the device.
void eval(Arrays arrays);
/// The same for one.
inline void eval(const Array& array) { array.eval(); }

// Operators record the elementwise function that NumPy's operator calls.
Array operator+(const Operand& a, const Operand& b);
Array operator-(const Operand& a, const Operand& b);
Array operator*(const Operand& a, const Operand& b);
Array operator/(const Operand& a, const Operand& b);
Array operator%(const Operand& a, const Operand& b);
Array operator&(const Operand& a, const Operand& b);
Array operator|(const Operand& a, const Operand& b);
Array operator^(const Operand& a, const Operand& b);
Array operator<<(const Operand& a, const Operand& b);
Array operator>>(const Operand& a, const Operand& b);
Array operator==(const Operand& a, const Operand& b);
Array operator!=(const Operand& a, const Operand& b);
Array operator<(const Operand& a, const Operand& b);
Array operator<=(const Operand& a, const Operand& b);
Array operator>(const Operand& a, const Operand& b);
Array operator>=(const Operand& a, const Operand& b);
Array operator-(const Operand& a);
Array operator+(const Operand& a);
Array operator~(const Operand& a);

/// Prints as NumPy 2 does; evaluates and waits.
std::ostream& operator<<(std::ostream& stream, const Array& array);

}  // namespace heddle
