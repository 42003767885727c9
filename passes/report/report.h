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

/// A node of one of the report's graphs; `number` is what its text calls it, "%3".
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

/// What one pass did. One that changed nothing leads to the graph that it was given.
struct ReportPass {
  std::string name, why;
  bool required = false, ran = true;
  std::size_t before = 0, after = 0;  ///< graphs
  std::vector<ChangedLine> changes;   ///< all lines of both; empty where nothing changed
};

/// Numbers of nodes are those of the last graph from here on.
struct ReportGroup {
  std::uint32_t id = 0;
  bool library = false;
  std::string description;             ///< of the library's step: "matmul + bias"
  std::vector<std::uint32_t> members;  ///< in the order in which they are computed
  std::vector<std::uint32_t> stored;   ///< those that go to memory
  std::vector<std::uint32_t> kernels, steps;
};

struct ReportCut {
  std::uint32_t node = 0, group = 0;
  std::string family, reason;
};

/// What one line of a kernel's text computes, and for which node.
struct SourceLine {
  std::uint32_t line = 0;  ///< of the whole text, counted from 1
  std::uint32_t node = 0;
};

/// What the compiler made of a kernel, as its machine code says.
struct KernelResources {
  int registers = 0;       ///< a thread
  int shared_bytes = 0;    ///< a block, beside what a launch asks for
  int local_bytes = 0;     ///< of the stack, a thread: spilled registers and indexed arrays
  int constant_bytes = 0;  ///< parameters included
  int code_bytes = 0;
};

struct ReportKernel {
  std::string name;  ///< as in its text, its module, dumps and profilers
  std::string family, plan;
  std::uint32_t group = 0;
  bool is_fallback = false;          ///< only runs where the library refuses
  std::vector<std::uint32_t> nodes;  ///< that it computes
  std::string source;                ///< the whole text, library sections first; empty: not printed
  std::uint32_t body = 0;            ///< line of `source` on which the kernel itself begins
  std::vector<SourceLine> lines;
  std::string module;  ///< the cache's entry with its machine code; empty: none
  std::optional<KernelResources> resources;
};

struct ReportStep {
  std::string kind;  ///< kernel, zero, or a call's operation
  std::string what;  ///< "hd_exp_f32_1a2b3c4d", "64 x 20 x 32"
  std::uint32_t group = 0;
  std::vector<std::uint32_t> kernels;
  std::vector<BufferUse> uses;
  std::string launch;              ///< "ceil(n / 1024) blocks of 256 threads"
  std::uint32_t shared_bytes = 0;  ///< that the launch asks for
  Dim bytes, flops;  ///< as passes/pipeline/traffic.h and passes/pipeline/flops.h count them
  std::optional<double> microseconds;  ///< on the device, where it was run
};

struct ReportTemporary {
  Dim bytes;
  std::uint32_t first_step = 0, last_step = 0;
  std::vector<std::uint32_t> nodes;  ///< whose values, or partial results, it holds
  bool scratch = false;              ///< partial results, or a library's
};

/// A line of the user's program that nodes stand for.
struct UserLine {
  std::string file;
  std::uint32_t line = 0;
  std::string text;
};

/// A rate that a device was seen to reach.
struct Ceiling {
  double bytes_per_second = 0;
  std::string origin;  ///< how it was found
};

/// What a run of the program took.
struct ReportRun {
  std::string device;
  int runs = 0;
  double microseconds = 0;  ///< median, from a launch until the device is done
  Ceiling ceiling;
};

/// All that is known about how a program is compiled: what `explain` shows in words, as JSON, as
/// DOT, and on a page.
struct Report {
  std::string program;
  ir::Target target;
  bool strict = false, approximate = false;
  std::vector<std::string> disabled;
  std::vector<ReportGraph> graphs;  ///< as recorded, and after each pass that changed it
  std::vector<ReportPass> passes;
  std::vector<ReportGroup> groups;  ///< in the order in which they run
  std::vector<ReportCut> cuts;
  std::vector<ReportKernel> kernels;
  std::vector<ReportStep> steps;
  std::vector<ProgramInput> inputs;
  std::vector<ProgramOutput> outputs;
  std::vector<ReportTemporary> temporaries;
  ir::SymbolBindings symbols;  ///< what is known of them: after a run, all
  Traffic traffic;
  Dim flops;
  std::vector<UserLine> user_lines;  ///< of files that could be read
  std::string compiler;              ///< that made the machine code
  std::string no_resources;          ///< why there are no KernelResources; empty where there are
  std::optional<ReportRun> run;
};

/// Observes the passes, then makes the report's first part; kernels' texts and what a compiler and
/// a run say are left to the later stages.
class Reporter {
 public:
  explicit Reporter(const Graph& recorded);
  PassObserver observer();
  Report report(const PlannedProgram& planned, const PlanOptions& options);

 private:
  Report report_;
  Graph current_;
};

/// The value where the report knows the symbols in it.
std::optional<std::int64_t> value_of(const Report& report, Dim dim);
/// Where temporaries lie, where the sizes of all are known.
std::optional<Arena> arena_of(const Report& report);

/// The quotient where it is one number, whatever the symbols are; nothing where it is not, or of 0.
std::optional<double> ratio(Dim numerator, Dim denominator);
/// Which part of the ceiling a step's bytes are moved at; nothing where it was not run.
std::optional<double> share_of_ceiling(const Report& report, const ReportStep& step);
/// "%0" for an input, by its parameter; "output 1", "t2".
std::string name_of(const BufferRef& buffer);

/// In words: groups with family, kernels and nodes; for each cut the family that came nearest, the
/// limit it broke and its number; steps; bytes moved against the fewest possible; and what is known
/// of registers, memory and times.
std::string to_text(const Report& report);
/// One object; its "schema" is increased when a field changes its meaning.
std::string to_json(const Report& report);
/// The last graph for Graphviz, groups as coloured clusters.
std::string to_dot(const Report& report);

}  // namespace heddle::passes
