#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "heddle/dtype.h"

#include "ir/base/hash.h"
#include "ir/types/op.h"
#include "ir/types/type.h"

namespace heddle::ir {

class Graph;
struct Call;           // ir/infer/call.h
struct CallArguments;  // ir/interpreter/host_array.h
struct HostArray;      // ir/interpreter/host_array.h

/// The value of a call's attribute.
using AttributeValue =
    std::variant<bool, std::int64_t, double, std::string, DType, std::vector<std::int64_t>, Dims>;

/// An attribute of a call op. Its type is the type of `initial`.
struct CallAttribute {
  std::string_view name;
  AttributeValue initial;
  std::vector<std::string_view> choices = {};  ///< valid values of a string; empty: any
  bool is_axis = false;                        ///< an axis of operand 0, counted from 0
};

/// A result that may reuse an operand's memory. The call then overwrites the operand.
struct SharedMemory {
  std::size_t result = 0, operand = 0;
};

/// A number of operands or regions that `infer` checks.
inline constexpr int any_number = -1;

/// An operation that is not a loop over elements: one entry of the registry (ir/calls/calls.h),
/// with all properties that the passes and the interpreter need.
struct CallOp {
  std::string_view name;   ///< name in the text form: "matmul", "linalg.cholesky"
  std::string_view numpy;  ///< the NumPy function with the same semantics
  int operands = 1;        ///< or any_number
  DTypeSet dtypes = all_dtypes;
  std::vector<CallAttribute> attributes = {};
  int regions = 0;  ///< or any_number
  /// Infers the results' types. Throws ShapeError, DTypeError, IndexError or ValueError, as
  /// ir::infer.
  std::vector<Type> (*infer)(const Call& call) = nullptr;
  /// Computes the results: the reference implementation.
  std::vector<HostArray> (*interpret)(const CallArguments& arguments) = nullptr;
  /// The number of last axes of operand 0 that form one item of a batch. The axes before them are
  /// batch axes: of all operands, which broadcast or are equal (calls.h). 0: an item is an array.
  std::size_t core_axes = 0;
  std::vector<SharedMemory> shared = {};
};

/// A sub-graph of a call. Isolated: it uses no outside values except those that are passed to it.
struct Region {
  std::shared_ptr<const Graph> graph;
  Hash128 hash;  ///< Graph::hash()
  std::vector<Type> parameters, results;
  friend bool operator==(const Region& a, const Region& b) { return a.hash == b.hash; }
};

/// What a call node has besides operands: the call op, its attributes in the op's order, and
/// regions.
struct CallData {
  const CallOp* op = nullptr;
  std::vector<AttributeValue> attributes;
  std::vector<Region> regions;
  friend bool operator==(const CallData&, const CallData&) = default;

  /// The value of an attribute. Throws InternalError if the op has no attribute of this name and
  /// type.
  template <class T>
  const T& get(std::string_view name) const {
    return std::get<T>(attributes[position_of(name)]);
  }
  std::size_t position_of(std::string_view name) const;
};

/// Immutable call data that nodes share; compared by value.
class CallRef {
 public:
  CallRef() = default;
  explicit CallRef(CallData data);
  explicit operator bool() const { return shared_ != nullptr; }
  const CallData& operator*() const { return shared_->data; }
  const CallData* operator->() const { return &shared_->data; }
  /// Hash of all of the call data.
  const Hash128& hash() const { return shared_->hash; }
  friend bool operator==(const CallRef& a, const CallRef& b) {
    return a.shared_ == b.shared_ ||
           (a.shared_ != nullptr && b.shared_ != nullptr && a->op == b->op && a.hash() == b.hash());
  }

 private:
  struct Shared {
    CallData data;
    Hash128 hash;
  };
  std::shared_ptr<const Shared> shared_;
};

using NamedAttribute = std::pair<std::string_view, AttributeValue>;

/// A call of `op`. Attributes that are not given have their initial values. Throws ValueError for a
/// string that is not one of the attribute's choices, InternalError for an unknown name or a wrong
/// type.
CallRef make_call(const CallOp& op, std::span<const NamedAttribute> attributes,
                  std::vector<Region> regions = {});

}  // namespace heddle::ir
