#include "tests/cases/check.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "heddle/error.h"

#include "tests/emulator/emulated_programs.h"

namespace heddle::test {
namespace {

using ir::HostArray;

/// Of two runs' outputs those that are alike, and how they differ all the same.
std::string difference(const ir::Graph& graph, std::span<const Exactness> nodes,
                       std::span<const HostArray> actual, std::span<const HostArray> reference) {
  std::string message;
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const Exactness exactness = nodes[ir::index_of(graph.outputs[i])];
    if (exactness == Exactness::none) continue;
    OracleResult same;
    same.outputs.push_back({reference[i], {}, 0});
    const Comparison result =
        compare(actual.subspan(i, 1), same, {.bitwise = exactness == Exactness::bits});
    if (!result) message += fmt::format("of output {}: {}", i, result.message);
  }
  return message;
}

class Emulated final : public Programs {
 public:
  explicit Emulated(std::vector<runtime::PrintedProgram> programs)
      : programs_(std::move(programs)) {}
  const passes::Program& program(std::size_t index) const override {
    return programs_.program(index);
  }
  std::vector<HostArray> run(std::size_t index, std::span<const HostArray> inputs) override {
    return programs_.run(index, inputs, {.shuffle_seed = index});
  }

 private:
  emulator::EmulatedPrograms programs_;
};

std::shared_ptr<Programs> emulate(std::span<const Job> jobs, const ir::Target& target,
                                  std::vector<codegen::KernelSource>* kernels) {
  std::vector<runtime::PrintedProgram> printed;
  std::set<std::string> known;
  for (const Job& job : jobs) {
    printed.push_back(runtime::print_program(job.graph, job.options, target));
    for (const codegen::KernelSource& kernel : printed.back().kernels) {
      check_sections(kernel);
      if (kernels != nullptr && known.insert(kernel.name).second) kernels->push_back(kernel);
    }
  }
  return std::make_shared<Emulated>(std::move(printed));
}

std::shared_ptr<Programs> compile_jobs(Way way, std::span<const Job> jobs, const ir::Target& target,
                                       std::vector<codegen::KernelSource>* kernels) {
  if (way == Way::device) return compile_executables(jobs, runtime::current_device());
  if (way == Way::executable) return compile_executables(jobs, runtime::Device{});
  if (way == Way::emulated) return emulate(jobs, target, kernels);
  return compile_for_host(jobs);
}

}  // namespace

std::string_view name_of(Way way) {
  switch (way) {
    case Way::interpreter:
      return "interpreter";
    case Way::host:
      return "host";
    case Way::host_quick:
      return "host without optimization";
    case Way::host_off:
      return "host with switches off";
    case Way::executable:
      return "executable";
    case Way::emulated:
      return "emulated";
    case Way::device:
      return "device";
  }
  return "?";
}

CheckedBatch::CheckedBatch(std::vector<Case> cases, std::vector<std::vector<Way>> ways,
                           const ir::Target& target)
    : cases_(std::move(cases)), ways_(std::move(ways)) {
  for (Compiled& compiled : compiled_) {
    compiled.programs.resize(cases_.size());
    compiled.indices.resize(cases_.size());
    compiled.errors.resize(cases_.size());
  }
  // Switches change some kernels of a program; the others are compiled once.
  compile(std::array{Way::host, Way::host_quick, Way::host_off}, target);
  for (const Way way : {Way::executable, Way::emulated, Way::device}) compile({&way, 1}, target);
  count_switched();
}

void CheckedBatch::compile(std::span<const Way> together, const ir::Target& target) {
  std::vector<Job> jobs;
  std::vector<std::pair<Way, std::size_t>> owners;
  for (const Way way : together) {
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      if (std::ranges::find(ways_[i], way) == ways_[i].end()) continue;
      jobs.push_back({cases_[i].graph, cases_[i].options, way != Way::host});
      if (way != Way::host_off) jobs.back().options.disabled.clear();
      owners.emplace_back(way, i);
    }
  }
  if (jobs.empty()) return;
  const auto compiled = [&](std::size_t k) -> Compiled& {
    return compiled_[static_cast<std::size_t>(owners[k].first)];
  };
  try {
    const std::shared_ptr<Programs> programs =
        compile_jobs(together[0], jobs, target, &emulated_kernels_);
    for (std::size_t k = 0; k < owners.size(); ++k) {
      compiled(k).programs[owners[k].second] = programs;
      compiled(k).indices[owners[k].second] = k;
    }
  } catch (const std::exception&) {
    // One by one, to tell which.
    for (std::size_t k = 0; k < owners.size(); ++k) {
      try {
        compiled(k).programs[owners[k].second] =
            compile_jobs(owners[k].first, {&jobs[k], 1}, target, nullptr);
      } catch (const std::exception& error) {
        compiled(k).errors[owners[k].second] = error.what();
      }
    }
  }
}

void CheckedBatch::count_switched() {
  const auto kernels = [&](Way way, std::size_t index) -> std::set<std::string> {
    const Compiled& compiled = compiled_[static_cast<std::size_t>(way)];
    if (!compiled.programs[index]) return {};
    const passes::Program& program = compiled.programs[index]->program(compiled.indices[index]);
    return {program.kernel_names.begin(), program.kernel_names.end()};
  };
  for (std::size_t i = 0; i < cases_.size(); ++i) {
    auto on = kernels(Way::host, i), off = kernels(Way::host_off, i);
    if (on.empty()) on = kernels(Way::host_quick, i);
    if (off.empty()) continue;
    ++switched_;
    if (on != off) ++other_kernels_;
  }
}

std::vector<HostArray> CheckedBatch::run(Way way, std::size_t index,
                                         std::span<const HostArray> inputs) {
  if (way == Way::interpreter) return ir::interpret(cases_[index].graph, inputs);
  const Compiled& compiled = compiled_[static_cast<std::size_t>(way)];
  if (!compiled.errors[index].empty()) throw InternalError(compiled.errors[index]);
  return compiled.programs[index]->run(compiled.indices[index], inputs);
}

std::optional<Finding> CheckedBatch::check(std::size_t index, std::span<const HostArray> inputs) {
  const Case& one = cases_[index];
  const OracleResult expected = Oracle::instance().ask(one.graph, inputs, !one.options.strict);
  shares_.clear();
  for (const Expected& output : expected.outputs) {
    shares_.push_back({output.tolerance.size(), output.ambiguous, true});
    elements_ += output.tolerance.size();
    ambiguous_ += output.ambiguous;
  }
  std::vector<HostArray> reference;
  for (const Way way : ways_[index]) {
    try {
      std::vector<HostArray> actual = run(way, index, inputs);
      const Comparison result = compare(actual, expected, {.most_ambiguous = 1});
      if (!result) return Finding{way, result.message};
      if (way == Way::interpreter) {
        reference = std::move(actual);
        continue;
      }
      // The emulator's compiler contracts nothing.
      const bool contracts = !one.options.strict && way != Way::emulated;
      const bool on_cpu = way != Way::emulated && way != Way::device;
      const std::vector<Exactness> nodes = exact_nodes(one.graph, contracts, on_cpu);
      for (std::size_t i = 0; i < shares_.size(); ++i) {
        if (nodes[ir::index_of(one.graph.outputs[i])] == Exactness::none) {
          shares_[i].bitwise = false;
        }
      }
      const std::string bits = difference(one.graph, nodes, actual, reference);
      if (!bits.empty())
        return Finding{way, "exact outputs differ from the interpreter's\n" + bits};
    } catch (const std::exception& error) {
      return Finding{way, error.what()};
    }
  }
  return std::nullopt;
}

std::optional<Finding> check_alone(const Case& one, std::span<const Way> ways,
                                   const ir::Target& target) {
  try {
    CheckedBatch batch({one}, {{ways.begin(), ways.end()}}, target);
    return batch.check(0);
  } catch (const std::exception& error) {
    return Finding{ways.back(), error.what()};
  }
}

}  // namespace heddle::test
