#include "passes/plan/sort_call.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "heddle/error.h"

namespace heddle::passes {

namespace {

constexpr std::array<std::string_view, 2> method_names = {"merge", "radix"};

std::string name_of_method(SortKernels::Method method) {
  return std::string(method_names.at(static_cast<std::size_t>(method)));
}

SortKernels::Method method_of(const std::string& name) {
  const auto found = std::ranges::find(method_names, name);
  if (found == method_names.end())
    throw InternalError(fmt::format("a sort has the unknown method '{}'", name));
  return static_cast<SortKernels::Method>(found - method_names.begin());
}

/// A launch with one tile for each block.
KernelStep step_of(const SortKernels::Kernel& kernel, Dim elements) {
  KernelStep step;
  step.kernel = kernel.kernel;
  step.shared_bytes = kernel.shared_bytes;
  step.block[0] = kernel.threads;
  step.grid = {{elements, kernel.tile}};
  return step;
}

SortKernels::Kernel kernel_of(const KernelStep& step) {
  return {step.kernel, step.shared_bytes, step.block[0], step.grid.at(0).per_block};
}

}  // namespace

CallStep to_call(const SortCall& sort) {
  const std::string_view name = sort.indices ? "argsort" : "sort";
  CallStep call;
  call.handler = sort_handler;
  call.operands = {{sort.keys, sort.dtype}};
  call.results = {{sort.out, sort.indices ? DType::i64 : sort.dtype}};
  call.scratch = sort.scratch;
  call.values.set("indices", sort.indices);
  call.values.set("rows", sort.rows);
  call.values.set("length", sort.length);
  if (sort.kernels) {
    call.values.set("method", name_of_method(sort.kernels->method));
    for (const SortKernels::Kernel& kernel : sort.kernels->kernels)
      call.kernels.push_back(step_of(kernel, sort.rows * sort.length));
  }
  call.operation = "sort";
  call.what =
      fmt::format("{} of {} rows of {}", name, sort.rows.to_string(), sort.length.to_string());
  call.label = fmt::format("{}_{}", name, name_of(sort.dtype));
  return call;
}

SortCall sort_of(const CallStep& call) {
  if (call.handler != sort_handler)
    throw InternalError(fmt::format("a call to '{}' is not a sort", call.handler));
  SortCall sort;
  sort.dtype = call.operands.at(0).dtype;
  sort.indices = call.values.flag("indices");
  sort.rows = call.values.size("rows");
  sort.length = call.values.size("length");
  sort.keys = call.operands.at(0).buffer;
  sort.out = call.results.at(0).buffer;
  sort.scratch = call.scratch;
  if (!call.values.has("method")) return sort;
  SortKernels& kernels = sort.kernels.emplace();
  kernels.method = method_of(call.values.text("method"));
  for (const KernelStep& step : call.kernels) kernels.kernels.push_back(kernel_of(step));
  return sort;
}

}  // namespace heddle::passes
