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

struct TracedFunction;

/// One call's arguments, flattened in order.
struct CallState {
  struct Input {
    enum class Kind : std::uint8_t { array, scalar, spec };
    Kind kind = Kind::array;
    bool donate = false;     ///< asked for
    bool donated = false;    ///< and the call may have its memory
    Array* taken = nullptr;  ///< where the value came from, when it was taken
    Cell* hidden = nullptr;  ///< the variable of an array that is no argument
    int argument = 0;        ///< position, for messages
    NodeRef node;            ///< array
    Scalar scalar = 0;       ///< scalar
    ir::Type type;           ///< of specs, and once resolve_types() was called of arrays
  };
  std::vector<Input> inputs;
  std::string key;  ///< bytes of everything static; launch() makes a signature of it
  const void* types = nullptr;
  int argument = 0;
  int positions = 0;  ///< arguments that have one; INT_MAX where there may be more
  bool donate = false;
  std::vector<NodeRef> results;
  std::size_t next_result = 0;
  std::shared_ptr<const TracedFunction> function;  ///< that was launched

  // What a launch needs room for; it stays from call to call.
  std::vector<std::shared_ptr<const TracedFunction>> candidates;
  std::vector<NodeRef> captured;
  std::vector<runtime::ArgumentView> arguments;
  std::vector<runtime::DeviceArray> values;
  std::vector<NodeRef> nodes;
  std::vector<std::string> names;  ///< of the inputs, where known
};

/// A function traced for one signature.
struct TracedFunction {
  /// Where a parameter of the program, or a result of the function, comes from.
  struct Source {
    enum class Kind : std::uint8_t { input, scalar, capture, draw, output };
    Kind kind;
    std::uint32_t index;  ///< of the call's inputs; of captures; of draws; of the program's outputs
    DType dtype;
    bool by_value() const { return kind == Kind::scalar || kind == Kind::draw; }
  };
  /// The status of a call that may fail, as Check::status.
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
  std::vector<CellRef> captures;
  std::vector<std::shared_ptr<GeneratorState>> draws;
  std::vector<ir::Type> capture_types;
  std::vector<bool> capture_aligned;
  std::vector<runtime::Device> capture_devices;
  runtime::Device device;  ///< that it runs on
  std::shared_ptr<const void> structure;
  std::shared_ptr<const runtime::Executable> executable;  ///< null when nothing has to be computed
  std::vector<runtime::Argument> extras;                  ///< behind the parameters' arguments
  std::shared_ptr<const ir::Graph> general;               ///< runtime::SiteProgram::general
};

struct JitState {
  JitState() = default;
  JitState(const JitState&) = delete;
  JitState& operator=(const JitState&) = delete;
  ~JitState() { runtime::forget_place(place); }

  JitOptions options;
  ir::Mutex mutex;  ///< guards `functions`
  runtime::BoundedMap<ir::Hash128, std::vector<std::shared_ptr<const TracedFunction>>,
                      ir::Hash128Hasher>
      functions{4096};    ///< by signature
  ir::Hash128 place;      ///< tells this function from others
  ir::LongMutex tracing;  ///< held while tracing and compiling: one of many threads does it
  std::once_flag donation_reported, move_reported;
};

struct LoweredState {
  ir::Graph graph;
  runtime::CompileOptions options;
  std::size_t arguments = 0;             ///< arrays and numbers of a call
  std::vector<std::uint32_t> sources{};  ///< per parameter: which of them it is
  std::vector<std::string> names{};      ///< of the arguments; "" where none is known
  /// Why the program is not its graph's alone: captures, hidden arrays, draws, assumptions.
  std::string rests_on{};
};

/// Gives arrays their types, with the symbols that JitOptions::dynamic asks for.
void resolve_types(const JitOptions& options, CallState& call);
/// Runs the body on new inputs and makes the graph of what it returns.
TracedFunction trace_function(const JitOptions& options, const CallState& call,
                              const TraceBody& body);

}  // namespace heddle::frontend
