#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "heddle/creation.h"
#include "heddle/dtype_info.h"
#include "heddle/elementwise.h"
#include "heddle/error.h"
#include "heddle/manipulation.h"

#include "frontend/array/access.h"
#include "frontend/array/promote.h"
#include "frontend/python/bindings.h"
#include "frontend/python/dtypes.h"
#include "frontend/python/errors.h"
#include "frontend/python/foreign.h"
#include "frontend/python/ufunc.h"

namespace heddle::python {
namespace {

using ir::TypeRule;

/// The parameters after the operands, in the declaration's order.
enum class Option : std::uint8_t { out, where, casting, order, dtype, subok, signature };

constexpr std::size_t most_operands = 8;

/// The arguments of a call, by kind.
class Call {
 public:
  Call(const Function& function, PyObject* const* values, const SourceLocation& where)
      : function_(function), ufunc_(*function.ufunc), where_(where) {
    const auto inputs = static_cast<std::size_t>(ufunc_.inputs);
    const std::size_t placed = ufunc_.outputs == 1 ? 0 : static_cast<std::size_t>(ufunc_.outputs);
    std::copy_n(values, inputs, values_.begin());
    options_ = values + inputs + placed;
    casting_ = to_casting(name(), option(Option::casting));
    read_outs(values + inputs, placed);
    read_signature();
    check_order();
  }

  nb::object operator()() {
    for (std::size_t i = 0; i < inputs(); ++i) cast_input(i);
    if (casting_ == Casting::equiv) check_equivalent();
    const nb::object results =
        function_.implementation(Arguments(function_.signature, values_.data(), where_));
    if (ufunc_.outputs == 1) return finished(results, 0);
    nb::list finished_results;
    for (std::size_t i = 0; i < outputs(); ++i) {
      finished_results.append(finished(results[i], i));
    }
    return nb::tuple(finished_results);
  }

 private:
  std::size_t inputs() const { return static_cast<std::size_t>(ufunc_.inputs); }
  std::size_t outputs() const { return static_cast<std::size_t>(ufunc_.outputs); }
  nb::handle option(Option which) const { return options_[static_cast<std::size_t>(which)]; }
  const std::string& name() const { return function_.signature.name; }

  template <class Error>
  [[noreturn]] void fail(const std::string& message) const {
    throw Error(frontend::at(name() + ": " + message, where_));
  }
  [[noreturn]] void no_loop() const {
    fail<DTypeError>("no implementation for the dtypes in `dtype` or `signature`");
  }

  /// Reads `out`: the first `placed` by position, or all by keyword, as an Array or a tuple.
  void read_outs(PyObject* const* positions, std::size_t placed) {
    outs_.resize(outputs());
    bool any_placed = false;
    for (std::size_t i = 0; i < placed; ++i) {
      if (positions[i] == Py_None) continue;
      any_placed = true;
      outs_[i] = out_of(positions[i]);
    }
    const nb::handle given = option(Option::out);
    if (given.is_none() || given.is(function_.signature.parameters[inputs() + placed].fallback)) {
      return;
    }
    if (any_placed) raise(PyExc_TypeError, name() + ": `out` is given by position and by name");
    if (!PyTuple_Check(given.ptr())) {
      if (outputs() != 1) raise(PyExc_TypeError, name() + ": `out` must be a tuple of Arrays");
      outs_[0] = out_of(given);
      return;
    }
    const auto entries = nb::borrow<nb::tuple>(given);
    if (entries.size() != outputs()) {
      raise(PyExc_ValueError, fmt::format("{}: the tuple `out` has {} entries for {} results",
                                          name(), entries.size(), outputs()));
    }
    for (std::size_t i = 0; i < outputs(); ++i) outs_[i] = out_of(entries[i]);
  }

  nb::object out_of(nb::handle value) const {
    if (value.is_none()) return {};
    static_cast<void>(out_array(value, name()));
    return nb::borrow(value);
  }

  void read_signature() {
    asked_.assign(inputs() + outputs(), std::nullopt);
    const nb::handle given = option(Option::signature);
    if (!option(Option::dtype).is_none()) {
      if (!given.is_none()) {
        raise(PyExc_TypeError, name() + ": pass `dtype` or `signature`, not both");
      }
      std::fill(asked_.begin() + ufunc_.inputs, asked_.end(), to_dtype(option(Option::dtype)));
    } else if (nb::isinstance<nb::str>(given)) {
      read_type_string(utf8_of(given));
    } else if (!given.is_none()) {
      const nb::object sequence = nb::steal(PySequence_Tuple(given.ptr()));
      if (!sequence.is_valid()) throw nb::python_error();
      if (nb::len(sequence) != asked_.size()) bad_signature();
      for (std::size_t i = 0; i < asked_.size(); ++i) {
        if (!sequence[i].is_none()) asked_[i] = to_dtype(sequence[i]);
      }
    }
  }

  /// "dd->d"
  void read_type_string(std::string text) {
    const std::size_t arrow = text.find("->");
    if (arrow != inputs() || text.size() != asked_.size() + 2) bad_signature();
    text.erase(arrow, 2);
    for (std::size_t i = 0; i < text.size(); ++i) {
      asked_[i] = to_dtype(nb::str(text.substr(i, 1).c_str()));
    }
  }

  [[noreturn]] void bad_signature() const {
    raise(PyExc_ValueError, fmt::format("{}: signature must be a string of {} dtype codes, '->' "
                                        "and {} more, or a tuple of as many dtypes",
                                        name(), inputs(), outputs()));
  }

  void check_order() const {
    const nb::handle given = option(Option::order);
    if (given.is_none()) return;
    if (!nb::isinstance<nb::str>(given)) {
      raise(PyExc_TypeError, name() + ": order must be a string");
    }
    const std::string text = utf8_of(given);
    if (text.size() != 1 || std::string_view("CFAKcfak").find(text) == std::string_view::npos) {
      raise(PyExc_ValueError,
            fmt::format("{}: order must be 'C', 'F', 'A' or 'K', not '{}'", name(), text));
    }
  }

  /// The requested dtype of an operand; nullopt if the function should choose.
  std::optional<DType> wanted_input(std::size_t i, const Operand& operand) const {
    if (asked_[i]) return asked_[i];
    const std::optional<DType> result = asked_[inputs()];
    if (!result) return std::nullopt;
    switch (ufunc_.rule) {
      case TypeRule::comparison:
      case TypeRule::predicate:
      case TypeRule::logical:
      case TypeRule::bit_count:
      case TypeRule::exponent:
        return std::nullopt;
      case TypeRule::load_exponent:
        return i == 0 ? result : std::nullopt;
      case TypeRule::real_part:
        if (operand.array() != nullptr && is_complex(operand.array()->dtype())) {
          return is_complex(*result) ? result : complex_dtype(*result);
        }
        return result;
      default:
        return result;
    }
  }

  void cast_input(std::size_t i) {
    const Arguments arguments(function_.signature, values_.data(), where_);
    const Operand operand = arguments.operand(i);
    const std::optional<DType> wanted = wanted_input(i, operand);
    if (!wanted) return;
    held_.push_back(nb::cast(ArrayObject(cast(operand, *wanted, fmt::format("operand {}", i)))));
    values_[i] = held_.back().ptr();
  }

  /// Python numbers have only a kind, not a dtype.
  Array cast(const Operand& operand, DType to, const std::string& what) const {
    if (operand.array() == nullptr && frontend::holds_kind_of(operand, to)) {
      return frontend::Access::make(frontend::node_of(name(), operand, to));
    }
    const Array array = asarray(operand);
    require_cast(array.dtype(), to, what);
    return astype({array, where_}, to);
  }

  void require_cast(DType from, DType to, const std::string& what) const {
    if (can_cast(from, to, casting_)) return;
    fail<DTypeError>(fmt::format("{} is {} and cannot be cast to {} under casting='{}'", what,
                                 numpy_name_of(from), numpy_name_of(to),
                                 utf8_of(option(Option::casting))));
  }

  /// With casting "no" and "equiv", no operand may be promoted.
  void check_equivalent() const {
    const Arguments arguments(function_.signature, values_.data(), where_);
    std::vector<Operand> operands;
    for (std::size_t i = 0; i < inputs(); ++i) operands.push_back(arguments.operand(i));
    const DType common = result_type(operands);
    for (std::size_t i = 0; i < inputs(); ++i) {
      if (operands[i].array() == nullptr || ufunc_.rule == TypeRule::load_exponent) continue;
      const DType loop = (ufunc_.dtypes & ir::set_of(common)) != 0 ? common : DType::f64;
      require_cast(operands[i].array()->dtype(), loop, fmt::format("operand {}", i));
    }
  }

  nb::object finished(nb::handle result, std::size_t i) const {
    Array value = as_array(result)->read(where_);
    if (asked_[inputs() + i] && value.dtype() != *asked_[inputs() + i]) no_loop();
    ArrayObject* const target = outs_[i].is_valid() ? as_array(outs_[i]) : nullptr;
    if (target != nullptr) {
      const DType to = target->read(where_).dtype();
      require_cast(value.dtype(), to, "the result");
      value = astype({value, where_}, to);
      value = broadcast_result(value, target->read(where_).shape());
    }
    const bool masked = !option(Option::where).is(Py_True);
    if (masked) value = selected(value, target);
    if (target == nullptr) return masked ? wrap(value) : nb::borrow(result);
    target->write(value, where_);
    return outs_[i];
  }

  Array broadcast_result(const Array& value, const Shape& shape) const {
    const Shape own = value.shape();
    const bool larger = own.size() > shape.size();
    bool fits = !larger;
    for (std::size_t i = 0; fits && i < own.size(); ++i) {
      const std::int64_t extent = own[own.size() - 1 - i], to = shape[shape.size() - 1 - i];
      fits = extent == to || extent == 1;
    }
    if (!fits) {
      fail<ShapeError>(fmt::format("the result's shape [{}] does not fit out's [{}]",
                                   fmt::join(own, ","), fmt::join(shape, ",")));
    }
    return own == shape ? value : broadcast_to({value, where_}, shape);
  }

  /// The result where the mask is true, else the elements of `out`. Without `out`, NumPy leaves
  /// such elements uninitialised; here they are 0.
  Array selected(const Array& value, const ArrayObject* target) const {
    const nb::handle given = option(Option::where);
    Array mask;
    if (const ArrayObject* array = as_array(given)) {
      mask = array->read(where_);
    } else {
      mask = from_python(given, std::nullopt, where_);
    }
    if (!is_boolean(mask.dtype())) {
      raise(PyExc_TypeError,
            fmt::format("{}: `where` must be bool, not {}", name(), numpy_name_of(mask.dtype())));
    }
    if (target != nullptr) mask = broadcast_result(mask, value.shape());
    const Array other = target != nullptr ? target->read(where_) : zeros({}, value.dtype(), where_);
    return heddle::where({mask, where_}, {value, where_}, {other, where_});
  }

  const Function& function_;
  const Ufunc& ufunc_;
  SourceLocation where_;
  std::array<PyObject*, most_operands> values_{};
  PyObject* const* options_;
  Casting casting_;
  std::vector<nb::object> outs_;             ///< one per result; invalid if not given
  std::vector<std::optional<DType>> asked_;  ///< requested dtypes of operands and results
  std::vector<nb::object> held_;             ///< operands that were cast
};

/// True if only operands were given.
bool is_plain(const Function& function, PyObject* const* values) {
  const std::vector<Parameter>& parameters = function.signature.parameters;
  for (std::size_t i = static_cast<std::size_t>(function.ufunc->inputs); i < parameters.size();
       ++i) {
    if (values[i] != parameters[i].fallback) return false;
  }
  return true;
}

}  // namespace

nb::object call_ufunc(const Function& function, PyObject* const* values,
                      const SourceLocation& where) {
  if (is_plain(function, values)) {
    return function.implementation(Arguments(function.signature, values, where));
  }
  return Call(function, values, where)();
}

}  // namespace heddle::python
