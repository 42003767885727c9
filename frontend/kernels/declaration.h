#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heddle/array.h"

#include "frontend/graph/node.h"
#include "ir/base/fork_gate.h"
#include "ir/calls/user_map.h"

namespace heddle::frontend {

/// A parameter of a user's kernel: "raw float32 x", "T y".
struct KernelParameter {
  std::string name;
  std::string type;            ///< as declared
  std::optional<DType> dtype;  ///< none: `type` is a letter that stands for a dtype
  bool raw = false;
};

/// The dtypes of a kernel's letters in one call.
class KernelTypes {
 public:
  KernelTypes(std::string_view kernel, Site site) : kernel_(kernel), site_(site) {}

  /// An array is passed for the parameter. DTypeError if the parameter has another dtype.
  void bind(const KernelParameter& parameter, DType dtype);
  /// A scalar is passed: it binds a letter that no array has bound.
  void suggest(const KernelParameter& parameter, DType dtype);
  /// DTypeError for a letter that nothing has bound.
  DType of(const KernelParameter& parameter) const;
  std::vector<ir::UserFunction::Named> letters() const;
  /// The letters and their dtypes, as text that no others give.
  std::string key() const;

 private:
  std::string_view kernel_;
  Site site_;
  std::map<std::string, DType> letters_;
};

/// The call of a user's function that computes an output.
struct UserCall {
  ir::Attributes attributes;
  DType dtype;  ///< of the output
};
/// The calls of a user's function, one for each output.
using UserCalls = std::vector<UserCall>;

/// The name and the parameters of a user's kernel. Immutable.
class KernelDeclaration {
 public:
  KernelDeclaration(std::string_view in_params, std::string_view out_params,
                    std::string_view operation, std::string_view name, std::string_view preamble);

  /// The inputs as nodes of the declared dtypes.
  std::vector<NodeRef> nodes(std::span<const Operand> inputs, KernelTypes& types,
                             const Site& site) const;
  /// The shape to which the inputs that are arrays and not raw broadcast. Of numbers alone: that of
  /// a scalar. None if no input says how many elements there are.
  std::optional<ir::Shape> shape(std::span<const Operand> inputs, std::span<const NodeRef> nodes,
                                 const Site& site) const;
  /// Whether the operation or the preamble has a word.
  struct Words {
    bool i = false, n = false, indexer = false;
  };
  const Words& words() const { return words_; }
  std::vector<ir::UserFunction::Named> outputs(const KernelTypes& types) const;
  std::vector<ir::UserFunction::Parameter> inputs() const;

  std::string name, operation, preamble;
  std::vector<KernelParameter> in, out;
  bool writes = false;  ///< the only output is raw

  /// What make() returns, which is kept for the key: calls with the same dtypes share it.
  template <class Make>
  std::shared_ptr<const UserCalls> kept(const std::string& key, const Make& make) const {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<const UserCalls>& found = calls_[key];
    if (found == nullptr) found = std::make_shared<const UserCalls>(make());
    return found;
  }

 private:
  Words words_;
  mutable ir::Mutex mutex_;  ///< guards calls_
  mutable std::unordered_map<std::string, std::shared_ptr<const UserCalls>> calls_;
};

/// The parameters in "T x, raw float32 y". ValueError, naming the kernel, for anything else.
std::vector<KernelParameter> parse_parameters(std::string_view kernel, std::string_view text);
/// A dtype by a name of NumPy or, if `of_c`, by one of C: "float" is float64 in NumPy.
std::optional<DType> dtype_of_type(std::string_view type, bool of_c);

/// Calls of user.map, one for each output, or a call of user.write.
struct UserMap {
  std::string_view name, operation, preamble;
  std::vector<ir::UserFunction::Parameter> inputs;
  std::vector<ir::UserFunction::Named> outputs, types;
  bool has_initial = false;  ///< the outputs' initial values follow the inputs
  bool writes = false;       ///< user.write
};
UserCalls user_calls(const UserMap& map);
/// `shape` is that of the outputs, if it is known.
std::vector<NodeRef> record_user_calls(const UserCalls& calls, std::span<const NodeRef> operands,
                                       const std::optional<ir::Shape>& shape, const Site& site);

/// The numbers of the elements of an array, in C order, i64.
NodeRef element_numbers(const ir::Shape& shape, const Site& site);
/// The number of elements, 0-d, i64.
NodeRef element_count(const ir::Shape& shape, const SourceLocation& where);

}  // namespace heddle::frontend
