#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_set>
#include <vector>

#include "heddle/array.h"

#include "frontend/graph/node.h"
#include "frontend/python/strides.h"
#include "ir/graph/graph.h"

namespace heddle::python {

class ArrayObject;
class View;

/// A variable that arrays of Python share: what they all see when one of them writes.
struct Base {
  Base() = default;
  Base(const Base&) = delete;
  Base& operator=(const Base&) = delete;
  ~Base();

  Array value;
  /// Memory that others see too, because it was exported or imported: writes go into it, and what
  /// reads it is computed at once, before it may change. Null for all other arrays.
  frontend::NodeRef pinned;
  bool read_only = false;  ///< memory that others do not let us write
  /// A 0-d result where NumPy returns a scalar. Scalars are immutable: `x += 1` makes a new array,
  /// and other names for this one keep the old value.
  bool is_scalar = false;
  const ArrayObject* owner = nullptr;  ///< whose views these are, while it lives
  std::unordered_set<View*> views;     ///< those that are alive, to forget what they have cached
};

/// One op that only changes how its operand is addressed.
struct ViewStep {
  ir::Op op;  ///< slice, transpose, reshape or broadcast_to; real or imag of complex numbers
  ir::Attributes attributes;
  ir::Shape operand;  ///< its operand's shape
};

/// How an array sees its base: as the ops that the C++ functions recorded for it. Reading replays
/// them, writing goes through them backwards, so that aliasing is NumPy's while values stay
/// immutable underneath and fuse.
class View {
 public:
  View(std::shared_ptr<Base> base, std::vector<ViewStep> steps, bool writable);
  ~View();
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  const Array& read(const SourceLocation& where);
  void write(const Array& value, const SourceLocation& where);
  /// What read() answers as long as nobody writes.
  void remember(const Array& value);
  void forget() { cached_.reset(); }

  const std::shared_ptr<Base>& base() const { return base_; }
  const std::vector<ViewStep>& steps() const { return steps_; }
  bool writable() const { return writable_; }

 private:
  std::shared_ptr<Base> base_;
  std::vector<ViewStep> steps_;
  bool writable_;
  std::optional<Array> cached_;
  std::uint64_t cached_in_ = 0;  ///< the trace that it is a value of
};

/// What stands behind heddle.Array: a variable of its own, or a view of one. A copy is a view.
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

  /// The value as it is now. Valid until the array is written, or read in another trace.
  const Array& read(const SourceLocation& where = SourceLocation()) const;
  /// Replaces the elements, for everybody who sees them; `value` has the array's shape and dtype.
  /// ValueError for a read-only array.
  void write(const Array& value, const SourceLocation& where);

  /// An array that sees through `result`, which a function of views made of read().
  ArrayObject view_of(const Array& result, const SourceLocation& where) const;
  /// From now on this array sees its elements through `result`, as view_of() would; false where
  /// that needs a copy. Others that share the elements see them as before.
  bool look_through(const Array& result, const SourceLocation& where);
  /// A view of the same memory in another dtype; see reinterpret.cpp.
  ArrayObject reinterpreted(DType dtype, const SourceLocation& where);
  /// Gives the array, which owns its elements, others in another shape. ValueError where somebody
  /// shares them.
  void replace(Array value, const SourceLocation& where);

  /// The real or the imaginary parts: a view of complex numbers. Real numbers are their own real
  /// parts; their imaginary ones are zeros, which are read-only.
  ArrayObject part(bool imaginary, const SourceLocation& where) const;
  /// A view of all of the array that refuses to be written.
  ArrayObject as_read_only() const;
  /// numpy.ndarray.setflags(write=). ValueError where the memory is read-only.
  void set_writable(bool writable, const SourceLocation& where);

  /// Where the elements lie in the base's memory, counted in the array's own elements, as in
  /// NumPy's array of the same history.
  Layout layout() const;
  bool is_scalar() const { return base_->is_scalar && view_ == nullptr; }
  bool read_only() const {
    return locked_ || base_->read_only || (view_ != nullptr && !view_->writable());
  }
  const std::vector<ViewStep>& steps() const;
  bool is_view() const { return view_ != nullptr; }
  /// Whether the elements are its own, rather than seen in another array.
  bool owns() const { return owns_; }
  Base& base() const { return *base_; }
  const std::shared_ptr<Base>& shared_base() const { return base_; }

 private:
  std::shared_ptr<Base> base_;
  std::shared_ptr<View> view_;  ///< null: all of the base
  bool owns_ = false;
  bool locked_ = false;  ///< by set_writable
};

}  // namespace heddle::python
