#include <algorithm>
#include <filesystem>
#include <limits>

#include <fmt/format.h>

#include "heddle/error.h"
#include "heddle/raw_kernels.h"

#include "frontend/array/access.h"
#include "frontend/graph/trace.h"
#include "frontend/kernels/raw_code.h"
#include "runtime/device/backend.h"

namespace heddle {

using frontend::Access;
using frontend::LaunchParameters;
using frontend::RawCode;
using runtime::KernelAttribute;

namespace {

std::shared_ptr<RawCode> code_of(runtime::RawSource source, const RawOptions& options,
                                 const SourceLocation& where) {
  source.options = options.options;
  source.expressions = options.name_expressions;
  source.cooperative = options.enable_cooperative_groups;
  source.line = frontend::Site(where).location;
  return std::make_shared<RawCode>(std::move(source));
}

/// C++ names, as opposed to those of extern "C" kernels.
bool is_expression(std::string_view name) {
  return name.find_first_of("<:") != std::string_view::npos;
}

std::array<std::uint32_t, 3> checked(const char* what, const LaunchExtents& extents,
                                     const std::string& kernel) {
  std::array<std::uint32_t, 3> out{};
  for (std::size_t axis = 0; axis < out.size(); ++axis) {
    const std::int64_t extent = extents.axes[axis];
    if (extent < 1 || extent > std::numeric_limits<std::int32_t>::max()) {
      throw ValueError(fmt::format("{}: axis {} of the {} is {}, which is not in 1 to 2147483647",
                                   kernel, axis, what, extent));
    }
    out[axis] = static_cast<std::uint32_t>(extent);
  }
  return out;
}

/// Calls `use` with the kernel on the current device.
template <class Use>
auto on_current_device(RawCode& code, const std::string& kernel, const Use& use) {
  const runtime::Device device = runtime::current_device();
  const auto module = code.module_on(device);
  const runtime::ContextScope scope(device);
  return use(module->function(kernel));
}

}  // namespace

RawKernel::RawKernel(std::string_view code, std::string_view name, const RawOptions& options,
                     SourceLocation where)
    : name_(name) {
  RawOptions all = options;
  if (is_expression(name)) all.name_expressions.emplace_back(name);
  code_ = code_of({.name = name_, .code = std::string(code)}, all, where);
}

void RawKernel::operator()(LaunchExtents grid, LaunchExtents block,
                           std::initializer_list<KernelArgument> arguments,
                           const LaunchOptions& options, SourceLocation where) const {
  if (frontend::Trace::current() != nullptr) frontend::value_in_trace("RawKernel", where);
  LaunchParameters parameters;
  for (const KernelArgument& argument : arguments) {
    if (argument.written_ != nullptr) {
      static_cast<void>(Access::node(*argument.written_, where));  // ValueError without a value
      parameters.add_memory(parameters.written(*argument.written_));
    } else if (argument.read_ != nullptr) {
      static_cast<void>(Access::node(*argument.read_, where));
      argument.read_->eval();
      parameters.add_read_memory(Access::raw(*argument.read_));
    } else {
      parameters.add_value(argument.bytes_.data(), argument.bytes_.size(), argument.integer_);
    }
  }
  launch(grid, block, parameters, options);
}

void RawKernel::launch(LaunchExtents grid, LaunchExtents block, const LaunchParameters& parameters,
                       const LaunchOptions& options) const {
  const std::size_t most_shared = std::numeric_limits<std::uint32_t>::max();
  const runtime::LaunchShape shape{
      checked("grid", grid, name_), checked("block", block, name_),
      static_cast<std::uint32_t>(std::min(options.shared_mem, most_shared))};
  parameters.launch(*code_, name_, shape, options.stream);
}

void RawKernel::compile() const {
  on_current_device(*code_, name_, [](const runtime::RawFunction&) {});
}

RawAttributes RawKernel::attributes() const {
  return on_current_device(*code_, name_, [](const runtime::RawFunction& function) {
    const auto read = [&](KernelAttribute attribute) { return function.attribute(attribute); };
    return RawAttributes{
        .max_threads_per_block = read(KernelAttribute::max_threads_per_block),
        .shared_size_bytes = read(KernelAttribute::shared_size_bytes),
        .const_size_bytes = read(KernelAttribute::const_size_bytes),
        .local_size_bytes = read(KernelAttribute::local_size_bytes),
        .num_regs = read(KernelAttribute::num_regs),
        .ptx_version = read(KernelAttribute::ptx_version),
        .binary_version = read(KernelAttribute::binary_version),
        .cache_mode_ca = read(KernelAttribute::cache_mode_ca),
        .max_dynamic_shared_size_bytes = read(KernelAttribute::max_dynamic_shared_size_bytes),
        .preferred_shared_memory_carveout =
            read(KernelAttribute::preferred_shared_memory_carveout)};
  });
}

void RawKernel::set_max_dynamic_shared_size_bytes(int bytes) const {
  on_current_device(*code_, name_, [&](const runtime::RawFunction& function) {
    function.set_attribute(KernelAttribute::max_dynamic_shared_size_bytes, bytes);
  });
}

void RawKernel::set_preferred_shared_memory_carveout(int percent) const {
  on_current_device(*code_, name_, [&](const runtime::RawFunction& function) {
    function.set_attribute(KernelAttribute::preferred_shared_memory_carveout, percent);
  });
}

RawModule::RawModule(std::string_view code, const RawOptions& options, SourceLocation where)
    : code_(code_of({.name = "RawModule", .code = std::string(code)}, options, where)) {}

RawModule RawModule::load(const std::string& path, bool enable_cooperative_groups,
                          SourceLocation where) {
  // Read at the first launch, when the working folder may be another one.
  return RawModule(code_of({.name = path, .path = std::filesystem::absolute(path).string()},
                           {.enable_cooperative_groups = enable_cooperative_groups}, where));
}

RawKernel RawModule::get_function(std::string_view name) const {
  return {code_, std::string(name)};
}

RawGlobal RawModule::get_global(std::string_view name) const {
  const runtime::Device device = runtime::current_device();
  const auto module = code_->module_on(device);
  const runtime::ContextScope scope(device);
  const runtime::DeviceVariable variable = module->variable(std::string(name));
  return {variable.pointer, variable.bytes, to_string(device), module};
}

void RawModule::compile() const { code_->module_on(runtime::current_device()); }

}  // namespace heddle
