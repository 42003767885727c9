#include "frontend/python/array_object.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <ranges>
#include <utility>

#include "heddle/error.h"

#include "frontend/array/access.h"
#include "frontend/array/at_once.h"
#include "frontend/array/masked.h"
#include "frontend/array/promote.h"
#include "frontend/evaluate/evaluate.h"
#include "frontend/graph/placement.h"
#include "frontend/graph/record.h"
#include "frontend/graph/trace.h"
#include "frontend/python/evaluation.h"
#include "frontend/python/gil.h"
#include "frontend/python/shared_writes.h"
#include "frontend/python/strides.h"

namespace heddle::python {
namespace {

using frontend::Access;
using frontend::NodeRef;
using frontend::Site;
using ir::Op;

std::uint64_t current_trace_id() {
  const frontend::Trace* trace = frontend::Trace::current();
  return trace == nullptr ? 0 : trace->id();
}

/// The extents, if all of them are constant.
std::optional<Shape> known_shape(const ir::Shape& shape) {
  Shape result;
  for (const ir::Dim& extent : shape) {
    if (!extent.is_constant()) return std::nullopt;
    result.push_back(extent.constant());
  }
  return result;
}

/// The layout after a step; nullopt for a reshape that needs a copy.
std::optional<Layout> layout_after(const ViewStep& step, const Layout& layout) {
  const Strides& strides = layout.strides;
  Layout result{layout.offset, {}};
  switch (step.op) {
    case Op::slice:
      for (std::size_t i = 0; i < strides.size(); ++i) {
        result.offset += step.attributes.starts[i].constant() * strides[i];
        result.strides.push_back(strides[i] * step.attributes.steps[i].constant());
      }
      return result;
    case Op::transpose:
      for (std::int64_t axis : step.attributes.axes) {
        result.strides.push_back(strides[static_cast<std::size_t>(axis)]);
      }
      return result;
    case Op::real:
    case Op::imag:
      // Elements are half as large from here on.
      result.offset = 2 * layout.offset + (step.op == Op::imag ? 1 : 0);
      for (const std::int64_t stride : strides) result.strides.push_back(2 * stride);
      return result;
    case Op::broadcast_to: {
      const std::size_t added = step.attributes.shape.size() - step.operand.size();
      result.strides.assign(added, 0);
      for (std::size_t i = 0; i < strides.size(); ++i) {
        const bool spread = step.operand[i] != step.attributes.shape[added + i];
        result.strides.push_back(spread ? 0 : strides[i]);
      }
      return result;
    }
    default: {
      auto reshaped = reshaped_strides(known_shape(step.operand).value(), strides,
                                       known_shape(step.attributes.shape).value());
      if (!reshaped) return std::nullopt;
      result.strides = std::move(*reshaped);
      return result;
    }
  }
}

std::optional<Layout> layout_through(const ir::Shape& base, const std::vector<ViewStep>& steps) {
  const std::optional<Shape> shape = known_shape(base);
  if (!shape) return std::nullopt;
  std::optional<Layout> layout = Layout{0, c_strides(*shape)};
  for (const ViewStep& step : steps) {
    if (layout) layout = layout_after(step, *layout);
  }
  return layout;
}

bool is_part(Op op) { return op == Op::real || op == Op::imag; }

/// Whether the step is a view of every layout: all are but reshapes that do more than add or drop
/// axes of extent 1.
bool fits_every_layout(const ViewStep& step) {
  if (step.op != Op::reshape) return true;
  const auto other = [](ir::Dim extent) { return extent != ir::Dim(1); };
  return std::ranges::equal(step.operand | std::views::filter(other),
                            step.attributes.shape | std::views::filter(other));
}

bool all_known(const ir::Shape& base, const std::vector<ViewStep>& steps) {
  return known_shape(base) && std::all_of(steps.begin(), steps.end(), [](const ViewStep& step) {
           return known_shape(step.operand) && known_shape(step.attributes.shape);
         });
}

/// Merges two steps of the same op, so that views of views do not grow. Returns false if
/// impossible.
bool merge(ViewStep& first, const ViewStep& second) {
  if (first.op != second.op || first.op == Op::broadcast_to || is_part(first.op)) return false;
  ir::Attributes& into = first.attributes;
  const ir::Attributes& next = second.attributes;
  if (first.op == Op::slice) {
    for (std::size_t i = 0; i < into.starts.size(); ++i) {
      into.starts[i] = into.starts[i] + next.starts[i] * into.steps[i];
      into.steps[i] *= next.steps[i];
    }
    into.shape = next.shape;
  } else if (first.op == Op::transpose) {
    std::vector<std::int64_t> axes;
    for (std::int64_t axis : next.axes) axes.push_back(into.axes[static_cast<std::size_t>(axis)]);
    into.axes.assign(axes.begin(), axes.end());
  } else {
    into.shape = next.shape;
  }
  return true;
}

/// Merges each step with those before it, where that is possible.
void merge_all(std::vector<ViewStep>& steps) {
  std::size_t kept = 0;
  for (std::size_t i = 1; i < steps.size(); ++i) {
    if (merge(steps[kept], steps[i])) continue;
    if (++kept != i) steps[kept] = std::move(steps[i]);
  }
  steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(kept) + 1, steps.end());
}

std::vector<ViewStep> joined(const std::vector<ViewStep>& first, std::vector<ViewStep>& second) {
  std::vector<ViewStep> all;
  all.reserve(first.size() + second.size());
  std::ranges::copy(first, std::back_inserter(all));
  std::ranges::move(second, std::back_inserter(all));
  return all;
}

/// The view steps from one node to another, in order; nullopt if another op is in between.
std::optional<std::vector<ViewStep>> steps_between(const NodeRef& from, NodeRef to) {
  std::vector<ViewStep> steps;
  steps.reserve(2);
  while (!(to == from)) {
    if (to->kind != frontend::Node::Kind::operation || to->evaluated()) return std::nullopt;
    if (!ir::is_view(to->op) && !is_part(to->op)) return std::nullopt;
    const NodeRef operand = to->operands()[0];
    if (is_part(to->op) && !is_complex(operand->dtype)) return std::nullopt;
    steps.push_back({to->op, to->attributes ? *to->attributes : ir::Attributes{}, operand->shape});
    to = operand;
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}

NodeRef replay(const ViewStep& step, const NodeRef& operand, const Site& site) {
  if (step.op == Op::slice || step.op == Op::reshape)
    return frontend::record_valid(step.op, operand, step.attributes,
                                  {operand->dtype, step.attributes.shape}, site);
  return frontend::record(step.op, {operand}, step.attributes, site);
}

/// Inverts a step: returns the step's operand with the element written into it.
NodeRef put_back(const ViewStep& step, const NodeRef& operand, const NodeRef& element,
                 const Site& site) {
  if (step.op == Op::slice) {
    const std::array operands = {operand, element};
    return frontend::record_valid(Op::slice_update, operands, step.attributes,
                                  {operand->dtype, operand->shape}, site);
  }
  if (step.op == Op::reshape) {
    ir::Attributes attributes;
    attributes.shape = step.operand;
    return frontend::record_valid(Op::reshape, element, std::move(attributes),
                                  {element->dtype, step.operand}, site);
  }
  if (is_part(step.op)) {
    const bool imaginary = step.op == Op::imag;
    const NodeRef other = frontend::record(imaginary ? Op::real : Op::imag, {operand}, site);
    return frontend::record(Op::make_complex,
                            {imaginary ? other : element, imaginary ? element : other}, site);
  }
  ir::Attributes inverse;
  inverse.axes.resize(step.attributes.axes.size());
  for (std::size_t i = 0; i < inverse.axes.size(); ++i) {
    inverse.axes[static_cast<std::size_t>(step.attributes.axes[i])] = static_cast<std::int64_t>(i);
  }
  return frontend::record(Op::transpose, {element}, std::move(inverse), site);
}

bool shares_memory(const NodeRef& a, const NodeRef& b) {
  return a && a->evaluated() && b->evaluated() && a->value.buffer == b->value.buffer;
}

/// Computes a pending operation. Returns false if there is no memory for it now.
bool compute_now(const NodeRef& node) {
  if (node->kind != frontend::Node::Kind::operation || node->evaluated()) return true;
  try {
    const ReleaseGil release;
    frontend::evaluate(node);
    return true;
  } catch (const OutOfMemory&) {
    return false;
  }
}

void assign(Base& base, const NodeRef& node) {
  base.forget_views();
  if (base.pinned) {
    copy_into(base.pinned, node);
  } else {
    Access::assign(base.value, Access::raw(own_value(Access::make(node))));
  }
}

}  // namespace

Base::~Base() {
  if (pinned) unregister_pinned(pinned);
}

void Base::forget_views() {
  for (View* view = first_view; view != nullptr; view = view->next_) view->forget();
}

View::View(std::shared_ptr<Base> base, std::vector<ViewStep> steps, bool writable, bool at_once)
    : base_(std::move(base)), steps_(std::move(steps)), writable_(writable), at_once_(at_once) {
  next_ = std::exchange(base_->first_view, this);
  if (next_ != nullptr) next_->previous_ = this;
}

View::~View() {
  (previous_ != nullptr ? previous_->next_ : base_->first_view) = next_;
  if (next_ != nullptr) next_->previous_ = previous_;
}

void View::remember(Array value) {
  cached_.emplace(std::move(value));  // avoids an assignment, which a trace would reject
  cached_in_ = current_trace_id();
}

const Array& View::read(const SourceLocation& where) {
  // If the memory is pinned, a computed value may be stale, since others may have written since.
  const bool stale = cached_ && base_->pinned && Access::raw(*cached_)->evaluated();
  if (cached_ && cached_in_ == current_trace_id() && !stale) return *cached_;
  NodeRef node = at_once_ ? read_at_once(where) : NodeRef();
  if (!node) {
    node = Access::node(base_->value, where);
    for (const ViewStep& step : steps_) node = replay(step, node, where);
  }
  remember(Access::make(std::move(node)));
  return *cached_;
}

void View::write(const NodeRef& value, const SourceLocation& where) {
  if (base_->pinned && frontend::Trace::current() == nullptr) {
    const Layout layout = layout_through(base_->pinned->shape, steps_).value();
    base_->forget_views();
    return write_elements(base_->pinned, layout, value, where);
  }
  std::vector<NodeRef> operands{Access::node(base_->value, where)};
  for (std::size_t i = 0; i + 1 < steps_.size(); ++i) {
    operands.push_back(replay(steps_[i], operands.back(), where));
  }
  NodeRef element = value;
  for (std::size_t i = steps_.size(); i-- > 0;) {
    element = put_back(steps_[i], operands[i], element, where);
  }
  operands.clear();
  assign(*base_, element);
}

std::optional<frontend::StridedElements> View::elements_at_hand() const {
  const NodeRef& node = Access::raw(base_->value);
  if (!node || base_->pinned || !frontend::is_at_hand(*node)) return std::nullopt;
  frontend::StridedElements elements = frontend::all_elements(node->shape);
  for (const ViewStep& step : steps_) {
    if (!frontend::apply_view(step.op, step.attributes, elements)) return std::nullopt;
  }
  return elements.count() <= frontend::most_at_once ? std::optional(elements) : std::nullopt;
}

NodeRef View::read_at_once(const SourceLocation& where) const {
  if (frontend::Trace::current() != nullptr) return {};
  const auto elements = elements_at_hand();
  if (!elements) return {};
  return frontend::array_of_elements(Access::raw(base_->value)->value, *elements, where);
}

bool View::write_at_once(const Operand& value, const SourceLocation& where) {
  const ir::Dim count = ir::element_count(steps_.back().attributes.shape);
  if (!count.is_constant() || count.constant() > frontend::most_at_once ||
      !frontend::computes_at_once(where))
    return false;
  const NodeRef held = value.array() == nullptr ? NodeRef() : Access::raw(*value.array());
  // Else the array would be pending again, and with it all that the loop computes from it.
  if (held && elements_at_hand() && !compute_now(held)) return false;
  const auto elements = elements_at_hand();
  if (!elements || shares_memory(held, Access::raw(base_->value))) return false;
  const std::byte* const from = frontend::elements_of(value, Access::raw(base_->value)->dtype,
                                                      frontend::shape_of(*elements), 0, "setitem");
  if (from == nullptr) return false;
  base_->forget_views();
  // Nobody else may see the old elements, pending ops included.
  const NodeRef& node = Access::raw(base_->value);
  if (!node->unique() || !node->value.buffer.unique() || !node->value.buffer->pooled())
    return false;
  frontend::scatter(from, *elements, size_of(node->dtype), frontend::address_of(node->value));
  // A node is one value for ever: the new elements are that of another.
  Access::assign(base_->value, frontend::array_node(runtime::DeviceArray(node->value)));
  return true;
}

ArrayObject::ArrayObject(Array value) : base_(std::make_shared<Base>()), owns_(true) {
  base_->value = own_value(std::move(value));
}

ArrayObject::ArrayObject(const ArrayObject& other)
    : base_(other.base_), view_(other.view_), locked_(other.locked_) {}

ArrayObject::ArrayObject(ArrayObject&& other) noexcept { *this = std::move(other); }

ArrayObject& ArrayObject::operator=(ArrayObject&& other) noexcept {
  if (base_ && base_->owner == this) base_->owner = nullptr;
  base_ = std::move(other.base_);
  view_ = std::move(other.view_);
  owns_ = std::exchange(other.owns_, false);
  locked_ = other.locked_;
  if (base_ && base_->owner == &other) base_->owner = this;
  return *this;
}

ArrayObject::~ArrayObject() {
  if (base_ && base_->owner == this) base_->owner = nullptr;
}

const Array& ArrayObject::read(const SourceLocation& where) const {
  if (base_->pinned) note_pinned_read();
  return view_ == nullptr ? base_->value : view_->read(where);
}

void ArrayObject::write(const Array& value, const SourceLocation& where) {
  if (read_only()) {
    throw ValueError(
        frontend::at("the array is read-only: it comes from broadcast_to, broadcast_arrays, "
                     "diagonal or imag, or from read-only memory; write to a copy()",
                     where));
  }
  // Held, because views forget the arrays that they have read.
  const NodeRef node = Access::node(value, where);
  if (view_ != nullptr && view_->write_at_once({value, where}, where)) return;
  frontend::require_same_device("assignment", *Access::borrow(base_->value, where), *node, where);
  view_ != nullptr ? view_->write(node, where) : assign(*base_, node);
}

bool ArrayObject::write_where(const Array& mask, const Array& value, const SourceLocation& where) {
  if (view_ != nullptr || read_only() || base_->pinned) return false;
  const DType dtype = base_->value.dtype();
  const NodeRef values = frontend::node_of("setitem", {value, where}, dtype);
  const NodeRef written = frontend::with_elements_where(
      base_->value, mask, values,
      [](const frontend::Node& node) {
        return node.unique() && node.value.buffer.unique() && node.value.buffer->pooled();
      },
      where);
  if (!written) return false;
  base_->forget_views();
  Access::assign(base_->value, written);
  return true;
}

ArrayObject ArrayObject::view_of(const Array& result, const SourceLocation& where) const {
  const NodeRef from = Access::node(read(where), where);
  auto added = steps_between(from, Access::borrow(result, where));
  if (!added) return ArrayObject(result);
  if (is_scalar()) {  // a value, which nobody else may write
    if (added->empty()) return *this;
    ArrayObject own(result);
    own.base_->is_scalar = result.ndim() == 0;
    return own;
  }
  return view_through(std::move(*added), result, where);
}

ArrayObject ArrayObject::view_through(std::vector<ViewStep> added, Array result,
                                      const SourceLocation& where) const {
  std::optional<ArrayObject> view = view_through(std::move(added), where);
  if (!view) return ArrayObject(std::move(result));
  if (view->view_ != view_) view->view_->remember(std::move(result));
  return std::move(*view);
}

std::optional<ArrayObject> ArrayObject::view_through(std::vector<ViewStep> added,
                                                     const SourceLocation& where,
                                                     bool at_once) const {
  if (owns_) base_->owner = this;
  if (added.empty()) return *this;
  bool writable = !read_only();
  for (const ViewStep& step : added) writable &= step.op != Op::broadcast_to;
  std::vector<ViewStep> steps = view_ == nullptr ? std::move(added) : joined(view_->steps(), added);
  merge_all(steps);
  if (!std::ranges::all_of(steps, fits_every_layout)) {
    const ir::Shape& shape = Access::borrow(base_->value, where)->shape;
    if (all_known(shape, steps) && !layout_through(shape, steps)) return std::nullopt;
  }
  return ArrayObject(std::make_shared<View>(base_, std::move(steps), writable, at_once));
}

bool ArrayObject::look_through(const Array& result, const SourceLocation& where) {
  ArrayObject view = view_of(result, where);
  if (view.base_ != base_) return false;
  view_ = std::move(view.view_);
  return true;
}

void ArrayObject::replace(Array value, const SourceLocation& where) {
  const bool is_alone = owns_ && base_.use_count() == (view_ == nullptr ? 1 : 2) && !base_->pinned;
  if (!is_alone) {
    throw ValueError(frontend::at(
        "resize: the array shares its elements with others; use heddle.resize", where));
  }
  view_ = nullptr;
  base_ = std::make_shared<Base>();
  base_->value = own_value(std::move(value));
}

ArrayObject ArrayObject::part(bool imaginary, const SourceLocation& where) const {
  const Array& value = read(where);
  if (is_complex(value.dtype()))
    return view_of(imaginary ? value.imag(where) : value.real(where), where);
  return imaginary ? ArrayObject(value.imag(where)).as_read_only() : *this;
}

ArrayObject ArrayObject::as_read_only() const {
  if (owns_) base_->owner = this;
  return ArrayObject(std::make_shared<View>(base_, steps(), false, false));
}

void ArrayObject::set_writable(bool writable, const SourceLocation& where) {
  if (writable && (base_->read_only || (view_ != nullptr && !view_->writable()))) {
    throw ValueError(
        frontend::at("the array cannot be made writable: it is a view of read-only elements, or "
                     "several of its elements share memory",
                     where));
  }
  locked_ = !writable;
}

const std::vector<ViewStep>& ArrayObject::steps() const {
  static const std::vector<ViewStep>& none = *new std::vector<ViewStep>;
  return view_ == nullptr ? none : view_->steps();
}

Layout ArrayObject::layout() const {
  const NodeRef base = Access::node(base_->value, SourceLocation());
  return layout_through(base->shape, steps()).value();
}

}  // namespace heddle::python
