#include "runtime/cuda/raw_image.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "codegen/common/user_headers.h"
#include "ir/base/dump.h"
#include "ir/base/environment.h"
#include "ir/base/hash.h"
#include "ir/base/span.h"
#include "runtime/base/fault.h"
#include "runtime/cache/files.h"
#include "runtime/cache/store.h"
#include "runtime/compile/compile.h"
#include "runtime/compile/compile_error.h"
#include "runtime/compile/kernel_compiler.h"
#include "runtime/cuda/headers.h"
#include "runtime/cuda/nvrtc.h"

namespace heddle::runtime::cuda {

namespace {

using Json = nlohmann::json;

/// The value of an option that is written as one word, "-Ifolder" or "--include-path=folder".
std::optional<std::string> value_of(std::string_view option, std::string_view short_name,
                                    std::string_view long_name) {
  for (const std::string_view name : {short_name, long_name}) {
    if (!option.starts_with(name)) continue;
    std::string_view value = option.substr(name.size());
    const auto begin = value.find_first_not_of(" =");
    if (begin != std::string_view::npos) return std::string(value.substr(begin));
  }
  return std::nullopt;
}

/// The options that Heddle adds unless the user chooses.
std::vector<std::string> default_options(const std::vector<std::string>& given) {
  const bool has_standard = std::ranges::any_of(given, [](const std::string& option) {
    return option.starts_with("-std") || option.starts_with("--std");
  });
  std::vector<std::string> out = {"-default-device"};
  if (!has_standard) out.emplace_back("--std=c++17");
  return out;
}

/// Headers of CuPy's that are Heddle's own.
std::vector<nvrtc::Header> headers() { return {{"cupy/complex.cuh", codegen::complex_header()}}; }

std::vector<std::string> include_options() {
  std::vector<std::string> out;
  for (const std::string& folder : toolkit_headers()) out.push_back("-I" + folder);
  return out;
}

std::string hash_of_includes(const RawSource& source) {
  std::vector<std::string> folders, first;
  for (const std::string& option : source.options) {
    if (auto folder = value_of(option, "-I", "--include-path")) folders.push_back(*folder);
    if (auto file = value_of(option, "-include", "--pre-include")) first.push_back(*file);
  }
  folders.insert(folders.end(), toolkit_headers().begin(), toolkit_headers().end());
  return cuda::hash_of_includes(source.code, first, folders);
}

std::optional<RawImage> load(const cache::Key& key) {
  std::optional<cache::Entry> entry = cache::Store::global().load(key);
  if (!entry) return std::nullopt;
  const Json facts = Json::parse(entry->facts, nullptr, false);
  if (!facts.is_object() || !facts.contains("symbols")) return std::nullopt;
  RawImage image;
  image.module.kind = entry->kind;
  image.module.bytes = std::move(entry->payload);
  for (const auto& [expression, symbol] : facts["symbols"].items()) {
    if (!symbol.is_string()) return std::nullopt;
    image.symbols[expression] = symbol.get<std::string>();
  }
  return image;
}

void save(const RawSource& source, const cache::Key& key, const RawImage& image) {
  const Json facts{
      {"compiler", nvrtc::version()}, {"kernels", {source.name}}, {"symbols", Json(image.symbols)}};
  cache::Store::global().save(key, image.module.kind, facts.dump(), image.module.bytes);
}

std::string made_at(const RawSource& source) {
  const std::string line = source.line.to_string();
  return line.empty() ? "" : fmt::format("\nThe kernel is made at {}.", line);
}

CompileError failure(const RawSource& source, const std::vector<std::string>& options,
                     const std::string& log) {
  const bool lacks_header = log.find("open source file") != std::string::npos;
  return CompileError(
      user_text_message(source.name, fmt::format("NVRTC {}", nvrtc::version()), options, log,
                        source.code) +
      (lacks_header && toolkit_headers().empty()
           ? "\nNo headers of the CUDA toolkit were found: install nvidia-cuda-runtime and "
             "nvidia-cuda-cccl with pip, or set HEDDLE_CUDA_PATH to the toolkit."
           : "") +
      made_at(source));
}

RawImage compile(const RawSource& source, const ir::Target& target) {
  const CompileTimer timer;
  ir::dump("cuda", source.name, [&] { return source.code; });
  nvrtc::Unit unit{source.code, source.name, source.options, source.expressions, headers()};
  for (auto& more : {default_options(source.options), include_options()})
    unit.options.insert(unit.options.end(), more.begin(), more.end());
  if (fault::point(fault::Kind::compile)) throw failure(source, unit.options, "injected fault");
  nvrtc::UnitResult result = nvrtc::compile_unit(unit, target.architecture);
  if (!result.compiled) throw failure(source, result.options, result.binary.log);
  RawImage image;
  image.module.kind = result.binary.kind == nvrtc::BinaryKind::cubin ? cache::PayloadKind::cubin
                                                                     : cache::PayloadKind::ptx;
  image.module.bytes = std::move(result.binary.bytes);
  image.module.built = true;
  for (std::size_t i = 0; i < result.symbols.size(); ++i)
    image.symbols[source.expressions[i]] = result.symbols[i];
  return image;
}

RawImage read(const RawSource& source) {
  constexpr std::uint64_t most = std::uint64_t{1} << 31;
  RawImage image;
  cache::FileFacts facts;
  const int error = cache::read_file(source.path, most, image.module.bytes, facts);
  if (error != 0) throw FileError(fmt::format("{}: {}", source.path, std::strerror(error)));
  if (image.module.bytes.empty())
    throw FileError(source.path + ": not a file with compiled kernels");
  return image;
}

}  // namespace

cache::Key raw_key(const RawSource& source, const ir::Target& target) {
  cache::KeyBuilder key;
  key.add("kind", "raw module").add("architecture", target.architecture);
  for (const std::string& option : default_options(source.options)) key.add("option", option);
  for (const std::string& option : source.options) key.add("option", option);
  for (const std::string& expression : source.expressions) key.add("expression", expression);
  for (const nvrtc::Header& header : headers())
    key.add(header.name, ir::hash_of(header.text).hex());
  key.add("includes", hash_of_includes(source)).add("source", source.code);
  return key.finish();
}

RawImage make_raw_image(const RawSource& source, const ir::Target& target) {
  const ir::Span span(ir::Phase::compile, source.name);
  RawImage image;
  if (!source.path.empty()) {
    image = read(source);
  } else {
    const cache::Key key = raw_key(source, target);
    static const bool rebuild = ir::flag(ir::Variable::rebuild, false);
    std::optional<RawImage> cached = rebuild ? std::nullopt : load(key);
    if (!cached) {
      if (compiling_is_forbidden()) {
        throw CompileError(fmt::format("HEDDLE_NO_COMPILE=1, but kernel {} is not in the cache: {}",
                                       source.name, cache::Store::global().explain_miss(key)));
      }
      cached = compile(source, target);
      save(source, key, *cached);
    }
    image = *std::move(cached);
    image.module.entry = key.hash.hex();
  }
  image.module.kernels = {source.name};
  if (ir::SpanData* const told = span.data()) {
    told->source = image.module.built ? "compiled" : "disk";
    told->bytes = image.module.bytes.size();
  }
  return image;
}

}  // namespace heddle::runtime::cuda
