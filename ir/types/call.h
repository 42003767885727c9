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
using AttributeValue = std::variant<bool, std::int64_t, double, std::string, DType,
                                    std::vector<std::int64_t>, std::vector<Dim>>;

/// An attribute that a call op names: its type is that of `initial`.
struct CallAttribute {
  std::string_view name;
  AttributeValue initial;
  std::vector<std::string_view> choices = {};  ///< of a string; empty: any
  bool is_axis = false;                        ///< an axis of operand 0, counted from 0
};

/// A result that may lie in the memory of an operand, which the call then destroys.
struct SharedMemory {
  std::size_t result = 0, operand = 0;
};

/// An operation that is not a loop over elements: one entry of the registry (ir/calls/calls.h),
/// with everything that the passes and the interpreter ask of it.
struct CallOp {
  std::string_view name;   ///< in the text form: "matmul", "linalg.cholesky"
  std::string_view numpy;  ///< the function that it follows
  int operands = 1;        ///< -1: any number
  DTypeSet dtypes = all_dtypes;
  std::vector<CallAttribute> attributes = {};
  int regions = 0;
  /// The results' types. Throws ShapeError, DTypeError, IndexError or ValueError, as ir::infer.
  std::vector<Type> (*infer)(const Call& call) = nullptr;
  /// The results, by the book.
  std::vector<HostArray> (*interpret)(const CallArguments& arguments) = nullptr;
  /// How many of each operand's last axes one item of a batch has. Axes in front of those are the
  /// batch's, and broadcast. 0: an item is a whole array.
  std::size_t core_axes = 0;
  std::vector<SharedMemory> shared = {};
};

/// A sub-graph of a call. Isolated: what it uses from outside is passed to it.
struct Region {
  std::shared_ptr<const Graph> graph;
  Hash128 hash;  ///< Graph::hash()
  std::vector<Type> parameters, results;
  friend bool operator==(const Region& a, const Region& b) { return a.hash == b.hash; }
};

/// What a call node holds beside its operands: its op, the op's attributes in their order, regions.
struct CallData {
  const CallOp* op = nullptr;
  std::vector<AttributeValue> attributes;
  std::vector<Region> regions;
  friend bool operator==(const CallData&, const CallData&) = default;

  /// Throws InternalError for a name or type that the op's table does not have.
  template <class T>
  const T& get(std::string_view name) const {
    return std::get<T>(attributes[position_of(name)]);
  }
  std::size_t position_of(std::string_view name) const;
};

/// Call data that nodes share; compared by value.
class CallRef {
 public:
  CallRef() = default;
  explicit CallRef(CallData data);
  explicit operator bool() const { return shared_ != nullptr; }
  const CallData& operator*() const { return shared_->data; }
  const CallData* operator->() const { return &shared_->data; }
  /// Of all that the data holds.
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

/// A call of `op` with these attributes, and the initial values of all others. Throws ValueError
/// for a value that is no choice of the op, InternalError for a name or type that it does not have.
CallRef make_call(const CallOp& op, std::span<const NamedAttribute> attributes,
                  std::vector<Region> regions = {});

}  // namespace heddle::ir
