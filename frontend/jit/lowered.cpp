#include <fmt/format.h>

#include "heddle/jit.h"

#include "codegen/page/page.h"
#include "frontend/jit/jit_state.h"
#include "runtime/device/device.h"
#include "runtime/execute/executable.h"
#include "runtime/execute/saved_program.h"
#include "runtime/report/report.h"

namespace heddle {
namespace {

/// The current GPU's target; without a GPU, the default target for CUDA text.
ir::Target cuda_target(const std::string& name) {
  return name.empty() ? runtime::shown_target("cuda") : ir::parse_target(name);
}

}  // namespace

std::string Lowered::ir() const { return ir::print(state_->graph); }

std::string Lowered::cuda(const std::string& target) const {
  return runtime::generated_source(state_->graph, state_->options, cuda_target(target));
}

std::string Lowered::host() const {
  return runtime::generated_source(state_->graph, state_->options, runtime::host_target());
}

std::string Lowered::explain(const std::string& target, ExplainForm form) const {
  const ir::Target planned =
      target.empty() ? runtime::target_of(runtime::current_device()) : ir::parse_target(target);
  const bool shows_code = form == ExplainForm::json || form == ExplainForm::html;
  const passes::Report report =
      runtime::report_program(state_->graph, state_->options, planned,
                              shows_code ? runtime::Detail::compiled : runtime::Detail::plan);
  switch (form) {
    case ExplainForm::json:
      return passes::to_json(report);
    case ExplainForm::html:
      return codegen::to_html(report);
    case ExplainForm::dot:
      return passes::to_dot(report);
    case ExplainForm::text:
      break;
  }
  return passes::to_text(report);
}

int Lowered::kernel_count() const {
  return runtime::Executable::get(state_->graph, state_->options, runtime::current_device())
      ->kernel_count();
}

int Lowered::warm(const std::string& target) const {
  return runtime::warm(state_->graph, state_->options, ir::parse_target(target));
}

void Lowered::save(const std::string& path, const std::vector<std::string>& targets,
                   unsigned mode) const {
  if (!state_->extra_dependencies.empty()) {
    throw ValueError(
        fmt::format("{}: {} cannot be saved, because it depends on {}; make that an array argument",
                    path, state_->graph.name, state_->extra_dependencies));
  }
  std::vector<ir::Target> wanted;
  for (const std::string& name : targets) wanted.push_back(ir::parse_target(name));
  if (targets.empty()) wanted.push_back(runtime::target_of(runtime::current_device()));
  // The caller of a saved program keeps the arrays, so nothing is donated.
  runtime::SavedProgram saved{{state_->graph, state_->options}, state_->names, state_->sources};
  saved.program.options.donated.clear();
  runtime::save_program(path, saved, wanted, mode);
}

std::size_t Lowered::input_count() const { return state_->graph.parameters().size(); }
std::size_t Lowered::output_count() const { return state_->graph.outputs.size(); }

}  // namespace heddle
