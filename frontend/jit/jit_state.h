#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "heddle/jit.h"

#include "frontend/graph/check.h"
#include "frontend/graph/node.h"
#include "frontend/graph/trace.h"
#include "ir/base/fork_gate.h"
#include "ir/graph/graph.h"
#include "runtime/base/bounded_map.h"
#include "runtime/execute/call_site.h"
#include "runtime/execute/executable.h"

namespace heddle::frontend {

class ExtentChoices;
struct TracedFunction;

/// The flattened arguments of one call, in order.
struct CallState {
  struct Input {
    enum class Kind : std::uint8_t { array, scalar, spec };
    Kind kind = Kind::array;
    bool donate = false;     ///< donation was requested
    bool donated = false;    ///< the call may reuse the memory
    Array* taken = nullptr;  ///< the Array from which the value was taken
    Cell* hidden = nullptr;  ///< the variable of an array that is not an argument
    int argument = 0;        ///< position, for messages
    NodeRef node;            ///< array
    Scalar scalar = 0;       ///< scalar
    ir::Type type;           ///< for specs; for arrays after resolve_types()
  };
  std::vector<Input> inputs;
  std::string key;  ///< all static data as bytes; launch() hashes it into a signature
  const void* types = nullptr;
  int argument = 0;
  int positions = 0;  ///< number of positional arguments; INT_MAX if unknown
  bool donate = false;
  std::vector<NodeRef> results;
  std::size_t next_result = 0;
  std::shared_ptr<const TracedFunction> function;  ///< the launched function

  // Buffers of a launch, kept to avoid allocation in the next call.
  std::vector<std::shared_ptr<const TracedFunction>> candidates;
  std::vector<NodeRef> captured;
  std::vector<runtime::ArgumentView> arguments;
  std::vector<runtime::DeviceArray> values;
  std::vector<NodeRef> nodes;
  std::vector<std::string> names;  ///< of the inputs, where known
};

/// A function traced for one signature.
struct TracedFunction {
  /// Origin of a program parameter, or of a result of the function.
  struct Source {
    enum class Kind : std::uint8_t { input, scalar, capture, draw, output };
    Kind kind;
    std::uint32_t index;  ///< into the call's inputs, captures, draws, or the program's outputs
    DType dtype;
    bool by_value() const { return kind == Kind::scalar || kind == Kind::draw; }
  };
  /// The status of a call that may fail; see Check::status.
  struct Status {
    std::uint32_t output;  ///< of the program
    FailureMessage message;
    FailureKind kind;
  };
  ir::Graph graph;
  runtime::CompileOptions options;
  std::vector<Source> parameters;
  std::vector<Source> results;
  std::vector<Status> statuses;
  std::vector<Trace::Assumption> assumptions;
  std::vector<Trace::HeldValue> held_values;
  std::vector<CellRef> captures;
  std::vector<std::shared_ptr<GeneratorState>> draws;
  std::vector<ir::Type> capture_types;
  std::vector<bool> capture_aligned;
  std::vector<runtime::Device> capture_devices;
  runtime::Device device;                        ///< on which it runs
  std::shared_ptr<const ExtentChoices> extents;  ///< what it assumes of its inputs' extents
  std::shared_ptr<const void> structure;
  std::shared_ptr<const runtime::Executable> executable;  ///< null if nothing has to be computed
  std::vector<runtime::Argument> extras;                  ///< follow the parameters' arguments
  std::shared_ptr<const ir::Graph> general;               ///< runtime::SiteProgram::general
};

struct JitState {
  JitState() = default;
  JitState(const JitState&) = delete;
  JitState& operator=(const JitState&) = delete;
  ~JitState() { runtime::forget_call_site(place); }

  JitOptions options;
  ir::Mutex mutex;  ///< guards `functions`
  runtime::BoundedMap<ir::Hash128, std::vector<std::shared_ptr<const TracedFunction>>,
                      ir::Hash128Hasher>
      functions{4096};    ///< by signature
  ir::Hash128 place;      ///< identifies this function
  ir::LongMutex tracing;  ///< held while tracing and compiling, so that only one thread does it
  std::once_flag donation_reported, move_reported;
};

struct LoweredState {
  ir::Graph graph;
  runtime::CompileOptions options;
  std::size_t arguments = 0;             ///< number of arrays and numbers of a call
  std::vector<std::uint32_t> sources{};  ///< for each parameter: its argument
  std::vector<std::string> names{};      ///< of the arguments; "" if unknown
  /// Data other than arguments that the program depends on: captures, hidden arrays, draws,
  /// assumptions.
  std::string extra_dependencies{};
};

/// The extent that a name in a Spec or in JitOptions::dynamic stands for: a symbol or, for a name
/// with
/// + or *, a sum or product of symbols and numbers, such as n+k.
ir::Dim named_extent(const std::string& name);
/// Sets the types of arrays, with the symbols requested by JitOptions::dynamic.
void resolve_types(const JitOptions& options, CallState& call);
/// Runs the body on new inputs and builds the graph of its results.
TracedFunction trace_function(const JitOptions& options, const CallState& call,
                              const TraceBody& body);

}  // namespace heddle::frontend
