#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "heddle/array.h"

#include "frontend/array/strided_elements.h"
#include "frontend/graph/node.h"
#include "frontend/python/strides.h"
#include "ir/graph/graph.h"

namespace heddle::python {

class ArrayObject;
class View;

/// A variable that several Python arrays share: a write through one of them is visible to all.
struct Base {
  Base() = default;
  Base(const Base&) = delete;
  Base& operator=(const Base&) = delete;
  ~Base();

  Array value;
  /// Memory that is shared with other libraries, because it was exported or imported. Writes go
  /// into it, and ops that read it are computed immediately, before it may change. Null for other
  /// arrays.
  frontend::NodeRef pinned;
  bool read_only = false;  ///< memory that its owner does not allow to be written
  /// Memory of which only the elements of its views may be read and written.
  bool has_gaps = false;
  /// A 0-d result where NumPy returns a scalar. Scalars are immutable: `x += 1` makes a new array,
  /// and other names for this one keep the old value.
  bool is_scalar = false;
  /// A scalar that indexing read from an array. Assignment raises TypeError, as it would not reach
  /// the array.
  bool is_element = false;
  const ArrayObject* owner = nullptr;  ///< the array with these views, while it is alive
  View* first_view = nullptr;          ///< of the list of live views

  /// For a write, which makes the views' cached values stale.
  void forget_views();
};

/// One op that only changes the addressing of its operand (or takes a part of complex numbers).
struct ViewStep {
  ir::Op op;  ///< slice, transpose, reshape or broadcast_to; real or imag of complex numbers
  ir::Attributes attributes;
  ir::Shape operand;  ///< shape of the operand
};

/// How an array views its base: the view ops that the C++ functions recorded. Reading replays them;
/// writing inverts them in reverse order. So aliasing is as in NumPy, while values stay immutable
/// and fuse.
class View {
 public:
  /// With `at_once`, few elements of an array at hand are read without recording.
  View(std::shared_ptr<Base> base, std::vector<ViewStep> steps, bool writable, bool at_once);
  ~View();
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  const Array& read(const SourceLocation& where);
  void write(const frontend::NodeRef& value, const SourceLocation& where);
  /// Writes few elements of an array at hand to its memory, cast and broadcast. Returns false if
  /// the write has to be recorded.
  bool write_at_once(const Operand& value, const SourceLocation& where);
  /// Sets the result of read() until the next write.
  void remember(Array value);
  void forget() { cached_.reset(); }

  const std::shared_ptr<Base>& base() const { return base_; }
  const std::vector<ViewStep>& steps() const { return steps_; }
  bool writable() const { return writable_; }

 private:
  /// The elements of the base's value that the view has, if that is at hand.
  std::optional<frontend::StridedElements> elements_at_hand() const;
  frontend::NodeRef read_at_once(const SourceLocation& where) const;

  std::shared_ptr<Base> base_;
  std::vector<ViewStep> steps_;
  bool writable_, at_once_;
  std::optional<Array> cached_;
  std::uint64_t cached_in_ = 0;  ///< the trace to which the cached value belongs

  friend struct Base;
  View* previous_ = nullptr;  ///< in the base's list
  View* next_ = nullptr;
};

/// Implementation of heddle.Array: a variable, or a view of one. Copying the object gives a view.
class ArrayObject {
 public:
  explicit ArrayObject(Array value);
  explicit ArrayObject(std::shared_ptr<Base> base) : base_(std::move(base)) {}
  explicit ArrayObject(std::shared_ptr<View> view) : base_(view->base()), view_(std::move(view)) {}
  ArrayObject(const ArrayObject& other);
  ArrayObject(ArrayObject&& other) noexcept;
  ArrayObject& operator=(const ArrayObject&) = delete;
  ArrayObject& operator=(ArrayObject&& other) noexcept;
  ~ArrayObject();

  /// The current value. Valid until the array is written, or read in another trace.
  const Array& read(const SourceLocation& where = SourceLocation()) const;
  /// Replaces the elements, visibly for all arrays that share them. `value` has the array's shape
  /// and dtype. ValueError for a read-only array.
  void write(const Array& value, const SourceLocation& where);
  /// View::write_at_once; false for read-only arrays.
  bool write_at_once(const Operand& value, const SourceLocation& where) {
    return view_ != nullptr && !read_only() && view_->write_at_once(value, where);
  }
  /// Writes values, one for each true element of a mask, to the memory at once. Returns false if
  /// the write has to be recorded.
  bool write_where(const Array& mask, const Array& value, const SourceLocation& where);

  /// An array that views `result`, which a view function computed from read().
  ArrayObject view_of(const Array& result, const SourceLocation& where) const;
  /// An array that views this one through `added` steps; nullopt if a copy would be needed.
  std::optional<ArrayObject> view_through(std::vector<ViewStep> added, const SourceLocation& where,
                                          bool at_once = false) const;
  /// The same for steps that lead to `result`, whose value is known, or an array of its own.
  ArrayObject view_through(std::vector<ViewStep> added, Array result,
                           const SourceLocation& where) const;
  /// Makes this array view `result` from now on, as view_of() would. Other arrays that share the
  /// elements do not change. Returns false if a copy would be needed.
  bool look_through(const Array& result, const SourceLocation& where);
  /// A view of the same memory in another dtype; see reinterpret.cpp.
  ArrayObject reinterpreted(DType dtype, const SourceLocation& where);
  /// Replaces the elements by others of another shape. The array must own its elements; ValueError
  /// if they are shared.
  void replace(Array value, const SourceLocation& where);

  /// The real or imaginary parts: a view for complex numbers. Real numbers are their own real
  /// parts, and have read-only zeros as imaginary parts.
  ArrayObject part(bool imaginary, const SourceLocation& where) const;
  /// A read-only view of the whole array.
  ArrayObject as_read_only() const;
  /// numpy.ndarray.setflags(write=). ValueError if the memory is read-only.
  void set_writable(bool writable, const SourceLocation& where);

  /// Layout of the elements in the base's memory, in units of the array's elements. Equal to that
  /// of a NumPy array after the same operations.
  Layout layout() const;
  bool is_scalar() const { return base_->is_scalar && view_ == nullptr; }
  bool read_only() const {
    return locked_ || base_->read_only || (view_ != nullptr && !view_->writable());
  }
  const std::vector<ViewStep>& steps() const;
  bool is_view() const { return view_ != nullptr; }
  /// True if the array owns its elements, false if it views those of another array.
  bool owns() const { return owns_; }
  Base& base() const { return *base_; }
  const std::shared_ptr<Base>& shared_base() const { return base_; }

 private:
  std::shared_ptr<Base> base_;
  std::shared_ptr<View> view_;  ///< null: the whole base
  bool owns_ = false;
  bool locked_ = false;  ///< by set_writable()
};

}  // namespace heddle::python
