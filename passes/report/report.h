#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/types/target.h"
#include "passes/pipeline/pipeline.h"
#include "passes/pipeline/program_builder.h"
#include "passes/pipeline/traffic.h"
#include "passes/report/difference.h"

namespace heddle::passes {

/// A node of a graph in the report. `number` is its number in the text, "%3".
struct ReportNode {
  std::uint32_t number = 0;
  std::string label;  ///< "add", or "matmul precision=tf32"
  std::string type;   ///< "f32[n,64]"
  std::string text;   ///< "%3 = add %1, %2 : f32[n,64]"
  std::vector<std::uint32_t> operands;
  ir::Location location;
};

struct ReportGraph {
  std::vector<ReportNode> nodes;  ///< by number
  std::vector<std::uint32_t> outputs;
};

/// The effect of one pass. If it changed nothing, `after` equals `before`.
struct ReportPass {
  std::string name, why;
  bool required = false, ran = true;
  std::size_t before = 0, after = 0;  ///< indices into Report::graphs
  std::vector<ChangedLine> changes;   ///< all lines of both graphs; empty if nothing changed
};

/// From here on, node numbers are those of the last graph.
struct ReportGroup {
  std::uint32_t id = 0;
  bool library = false;                ///< a step of a library
  std::optional<std::uint32_t> owner;  ///< the group whose kernel computes it, if another one
  std::string description;             ///< of a library step: "matmul + bias"
  std::vector<std::uint32_t> members;  ///< in the order of computation
  std::vector<std::uint32_t> stored;   ///< members that are written to memory
  std::vector<std::uint32_t> kernels, steps;
};

struct ReportBarrier {
  std::uint32_t node = 0, group = 0;
  std::string family, reason;
};

/// A line of a kernel's text, and the node that it computes.
struct SourceLine {
  std::uint32_t line = 0;  ///< in the whole text, from 1
  std::uint32_t node = 0;
};

/// Resources of a compiled kernel, read from its machine code.
struct KernelResources {
  int registers = 0;       ///< of a thread
  int shared_bytes = 0;    ///< of a block, without dynamic shared memory
  int local_bytes = 0;     ///< of a thread's stack: spilled registers and indexed arrays
  int constant_bytes = 0;  ///< including parameters
  int code_bytes = 0;
};

struct ReportKernel {
  std::string name;  ///< as in its text, module, dumps and profilers
  std::string family, plan;
  std::uint32_t group = 0;
  bool is_fallback = false;            ///< runs only if the library refuses the call
  std::uint32_t sharers = 1;           ///< kernels of the program that are this one (share_kernels)
  std::vector<std::string> arguments;  ///< of a shared kernel, here: its sizes, then its scalars
  std::vector<std::uint32_t> nodes;    ///< nodes that it computes
  std::string source;      ///< the whole text, starting with library sections; empty: not
                           ///< printed
  std::uint32_t body = 0;  ///< the line of `source` where the kernel begins
  std::vector<SourceLine> lines;
  std::string module;  ///< the cache entry of its machine code; empty: none
  std::optional<KernelResources> resources;
};

struct ReportStep {
  std::string kind;  ///< kernel, zero, or the operation of a call
  std::string what;  ///< "hd_exp_f32_1a2b3c4d", "64 x 20 x 32"
  std::uint32_t group = 0;
  std::vector<std::uint32_t> kernels;
  std::vector<BufferUse> uses;
  bool once = false;               ///< calls share the results (passes::ConstantPart)
  std::string why;                 ///< why a loop is not inside a kernel; else empty
  std::string launch;              ///< "ceil(n / 1024) blocks of 256 threads"
  std::uint32_t shared_bytes = 0;  ///< dynamic shared memory of the launch
  Dim bytes, flops;  ///< as counted by passes/pipeline/traffic.h and passes/pipeline/flops.h
  std::optional<double> microseconds;  ///< device time, if the step was run
};

struct ReportTemporary {
  Dim bytes;
  std::uint32_t first_step = 0, last_step = 0;
  std::vector<std::uint32_t> nodes;  ///< nodes whose values or partial results it holds
  bool scratch = false;              ///< holds partial results, or is scratch of a library
};

/// A source line of the user's program that nodes come from.
struct UserLine {
  std::string file;
  std::uint32_t line = 0;
  std::string text;
};

/// The highest rate observed on a device.
struct Ceiling {
  double bytes_per_second = 0;
  std::string origin;  ///< how it was determined
};

/// Times of running the program.
struct ReportRun {
  std::string device;
  int runs = 0;
  double microseconds = 0;  ///< median, from the launch until the device has finished
  Ceiling ceiling;
};

/// Everything known about the compilation of a program. `explain` shows it as text, JSON, DOT or a
/// page.
struct Report {
  std::string program;
  ir::Target target;
  bool strict = false, approximate = false;
  std::vector<std::string> disabled;
  std::vector<ReportGraph> graphs;  ///< as recorded, and after each pass that changed it
  std::vector<ReportPass> passes;
  std::vector<ReportGroup> groups;  ///< in order of execution
  std::vector<ReportBarrier> cuts;
  std::vector<ReportKernel> kernels;
  std::vector<ReportStep> steps;
  std::vector<ProgramInput> inputs;
  std::vector<ProgramOutput> outputs;
  std::vector<ReportTemporary> temporaries;
  ir::SymbolBindings symbols;  ///< known values; after a run, all
  Traffic traffic;
  Dim flops;
  std::vector<UserLine> user_lines;  ///< of files that could be read
  std::string compiler;              ///< the compiler that produced the machine code
  std::string no_resources;          ///< why there are no KernelResources; else empty
  std::optional<ReportRun> run;
};

/// Observes the passes, then makes the report of a plan. Later stages add kernel texts and the
/// results of compilers and runs.
class Reporter {
 public:
  explicit Reporter(const Graph& recorded);
  PassObserver observer();
  Report report(const PlannedProgram& planned, const PlanOptions& options);

 private:
  Report report_;
  Graph current_;
};

/// The value of `dim`, if the report knows all of its symbols.
std::optional<std::int64_t> value_of(const Report& report, Dim dim);
/// The offsets of temporaries, if all of their sizes are known.
std::optional<Arena> arena_of(const Report& report);

/// The quotient, if it is the same number for all values of the symbols; nullopt otherwise, and if
/// the denominator is 0.
std::optional<double> ratio(Dim numerator, Dim denominator);
/// The fraction of the ceiling at which a step moves its bytes; nullopt if it was not run.
std::optional<double> share_of_ceiling(const Report& report, const ReportStep& step);
/// "%0" for an input (its parameter number), "output 1", "t2".
std::string name_of(const BufferRef& buffer);

/// The report as text: groups with family, kernels and nodes; for each fusion barrier, the closest
/// family and the limit with its number; steps; bytes moved, compared with the minimum; and
/// registers, memory and times, if known.
std::string to_text(const Report& report);
/// A JSON object. Its "schema" is increased when the meaning of a field changes.
std::string to_json(const Report& report);
/// The last graph in Graphviz's DOT language, with groups as coloured clusters.
std::string to_dot(const Report& report);

}  // namespace heddle::passes
