#include <nlohmann/json.hpp>

#include "ir/types/capabilities.h"
#include "passes/report/report.h"

namespace heddle::passes {

namespace {

using Json = nlohmann::ordered_json;

constexpr int schema = 1;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

class Object {
 public:
  explicit Object(const Report& report) : report_(report) {}

  Json run() const {
    return {{"schema", schema},
            {"program", report_.program},
            {"target", to_string(report_.target)},
            {"host", !has_blocks()},
            {"modes",
             {{"strict", report_.strict},
              {"approximate", report_.approximate},
              {"disabled", report_.disabled}}},
            {"graphs", list(report_.graphs, &Object::graph)},
            {"passes", list(report_.passes, &Object::pass)},
            {"groups", list(report_.groups, &Object::group)},
            {"cuts", list(report_.cuts, &Object::cut)},
            {"kernels", list(report_.kernels, &Object::kernel)},
            {"steps", list(report_.steps, &Object::step)},
            {"inputs", list(report_.inputs, &Object::input)},
            {"outputs", list(report_.outputs, &Object::output)},
            {"temporaries", temporaries()},
            {"arena_bytes", arena_bytes()},
            {"symbols", symbols()},
            {"bytes_moved", quantity(report_.traffic.moved)},
            {"fewest_bytes", quantity(report_.traffic.fewest)},
            {"bytes_over_fewest", or_null(ratio(report_.traffic.moved, report_.traffic.fewest))},
            {"flops", quantity(report_.flops)},
            {"flops_a_byte", or_null(ratio(report_.flops, report_.traffic.moved))},
            {"user_lines", list(report_.user_lines, &Object::user_line)},
            {"compiler", report_.compiler},
            {"no_resources", report_.no_resources},
            {"run", run_of()}};
  }

 private:
  bool has_blocks() const { return ir::capabilities_of(report_.target).blocks; }

  template <class T>
  Json list(const std::vector<T>& all, Json (Object::*one)(const T&) const) const {
    Json result = Json::array();
    for (const T& each : all) result.push_back((this->*one)(each));
    return result;
  }

  /// An expression over symbols, with its value if known.
  Json quantity(Dim dim) const {
    return {{"text", dim.to_string()}, {"value", or_null(value_of(report_, dim))}};
  }

  Json graph(const ReportGraph& graph) const {
    return {{"nodes", list(graph.nodes, &Object::node)}, {"outputs", graph.outputs}};
  }

  Json node(const ReportNode& node) const {
    Json json{{"number", node.number},
              {"label", node.label},
              {"type", node.type},
              {"text", node.text},
              {"operands", node.operands}};
    if (node.location.file != nullptr) {
      json["file"] = node.location.file;
      json["line"] = node.location.line;
    }
    return json;
  }

  Json pass(const ReportPass& pass) const {
    return {{"name", pass.name},
            {"why", pass.why},
            {"required", pass.required},
            {"ran", pass.ran},
            {"before", pass.before},
            {"after", pass.after},
            {"changes", list(pass.changes, &Object::change)}};
  }

  Json change(const ChangedLine& line) const {
    return {{"before", or_null(line.before)},
            {"after", or_null(line.after)},
            {"rewired", line.rewired}};
  }

  Json group(const ReportGroup& group) const {
    return {{"id", group.id},
            {"library", group.library},
            {"owner", group.owner ? Json(*group.owner) : Json()},
            {"description", group.description},
            {"members", group.members},
            {"stored", group.stored},
            {"kernels", group.kernels},
            {"steps", group.steps}};
  }

  Json cut(const ReportBarrier& cut) const {
    return {
        {"node", cut.node}, {"group", cut.group}, {"family", cut.family}, {"reason", cut.reason}};
  }

  Json kernel(const ReportKernel& kernel) const {
    Json lines = Json::array();
    for (const SourceLine& line : kernel.lines)
      lines.push_back({{"line", line.line}, {"node", line.node}});
    return {{"name", kernel.name},
            {"family", kernel.family},
            {"plan", kernel.plan},
            {"group", kernel.group},
            {"stands_by", kernel.is_fallback},
            {"sharers", kernel.sharers},
            {"arguments", kernel.arguments},
            {"nodes", kernel.nodes},
            {"source", kernel.source},
            {"body", kernel.body},
            {"lines", lines},
            {"module", kernel.module},
            {"resources", resources(kernel)}};
  }

  static Json resources(const ReportKernel& kernel) {
    if (!kernel.resources) return {};
    const KernelResources& used = *kernel.resources;
    return {{"registers", used.registers},
            {"shared_bytes", used.shared_bytes},
            {"local_bytes", used.local_bytes},
            {"constant_bytes", used.constant_bytes},
            {"code_bytes", used.code_bytes}};
  }

  Json step(const ReportStep& step) const {
    Json uses = Json::array();
    for (const BufferUse& use : step.uses)
      uses.push_back({{"buffer", name_of(use.buffer)}, {"written", use.written}});
    return {{"kind", step.kind},
            {"what", step.what},
            {"once", step.once},
            {"why", step.why},
            {"group", step.group},
            {"kernels", step.kernels},
            {"uses", uses},
            {"launch", step.launch},
            {"shared_bytes", step.shared_bytes},
            {"bytes", quantity(step.bytes)},
            {"flops", quantity(step.flops)},
            {"flops_a_byte", or_null(ratio(step.flops, step.bytes))},
            {"microseconds", or_null(step.microseconds)},
            {"share_of_ceiling", or_null(share_of_ceiling(report_, step))}};
  }

  Json input(const ProgramInput& input) const {
    return {{"type", input.scalar ? "scalar " + std::string(name_of(input.type.dtype))
                                  : to_string(input.type)},
            {"bytes", quantity(byte_count(input.type))},
            {"scalar", input.scalar},
            {"donated", input.donated},
            {"alignment", input.alignment}};
  }

  Json output(const ProgramOutput& output) const {
    return {{"type", to_string(output.type)},
            {"bytes", quantity(byte_count(output.type))},
            {"in_input", or_null(output.input)},
            {"same_as_output", or_null(output.output)}};
  }

  Json temporaries() const {
    const std::optional<Arena> arena = arena_of(report_);
    Json result = Json::array();
    for (std::size_t i = 0; i < report_.temporaries.size(); ++i) {
      const ReportTemporary& one = report_.temporaries[i];
      result.push_back({{"bytes", quantity(one.bytes)},
                        {"offset", arena ? Json(arena->offsets[i]) : Json()},
                        {"first_step", one.first_step},
                        {"last_step", one.last_step},
                        {"nodes", one.nodes},
                        {"scratch", one.scratch}});
    }
    return result;
  }

  Json arena_bytes() const {
    const std::optional<Arena> arena = arena_of(report_);
    return arena ? Json(arena->bytes) : Json();
  }

  Json symbols() const {
    Json result = Json::object();
    for (const ir::SymbolBinding& binding : report_.symbols)
      result[std::string(ir::symbol_name(binding.symbol))] = binding.value;
    return result;
  }

  Json user_line(const UserLine& line) const {
    return {{"file", line.file}, {"line", line.line}, {"text", line.text}};
  }

  Json run_of() const {
    if (!report_.run) return {};
    const ReportRun& run = *report_.run;
    return {{"device", run.device},
            {"runs", run.runs},
            {"microseconds", run.microseconds},
            {"ceiling",
             {{"bytes_per_second", run.ceiling.bytes_per_second}, {"origin", run.ceiling.origin}}}};
  }

  const Report& report_;
};

}  // namespace

// User-chosen names may not be UTF-8, which JSON requires, so invalid bytes are replaced.
std::string to_json(const Report& report) {
  return Object(report).run().dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace heddle::passes
