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

std::vector<std::string> toolkit_options() {
  std::vector<std::string> out;
  for (const std::string& folder : toolkit_headers()) out.push_back("-I" + folder);
  return out;
}

Includes includes_in(const RawSource& source) {
  return includes_of(source.code, include_options(source.options), toolkit_headers());
}

/// Whether code may be used that was compiled with this version of the toolkit's headers: empty if
/// it used none. Where there is no toolkit, the code is right for all that is known.
bool suits_toolkit(const std::string& version) {
  return version.empty() || toolkit_version().empty() || version == toolkit_version();
}

std::optional<RawImage> load(const cache::Key& key) {
  std::optional<cache::Entry> entry = cache::Store::global().load(key);
  if (!entry) return std::nullopt;
  const Json facts = Json::parse(entry->facts, nullptr, false);
  if (!facts.is_object() || !facts.contains("symbols")) return std::nullopt;
  if (!suits_toolkit(facts.value("toolkit", ""))) return std::nullopt;
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
  const Json facts{{"compiler", nvrtc::version()},
                   {"kernels", {source.name}},
                   {"symbols", Json(image.symbols)},
                   {"toolkit", includes_in(source).uses_toolkit ? toolkit_version() : ""}};
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
  for (auto& more : {default_options(source.options), toolkit_options()})
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

/// Names the kernel, for reports.
RawImage named(RawImage image, const RawSource& source, const std::optional<cache::Key>& key) {
  image.module.kernels = {source.name};
  if (key) image.module.entry = key->hash.hex();
  return image;
}

std::string missing(const RawSource& source, const std::optional<cache::Key>& key) {
  return fmt::format("HEDDLE_NO_COMPILE=1, but kernel {} is not in the cache: {}", source.name,
                     key ? cache::Store::global().explain_miss(*key)
                         : "a macro names a file that it includes, so it is never kept there");
}

}  // namespace

std::optional<cache::Key> raw_key(const RawSource& source, const ir::Target& target) {
  if (!source.path.empty()) return std::nullopt;
  const Includes includes = includes_in(source);
  if (!includes.all_names_known) return std::nullopt;
  cache::KeyBuilder key;
  key.add("kind", "raw module").add("architecture", target.architecture);
  for (const std::string& option : default_options(source.options)) key.add("option", option);
  for (const std::string& option : source.options) key.add("option", option);
  for (const std::string& expression : source.expressions) key.add("expression", expression);
  for (const nvrtc::Header& header : headers())
    key.add(header.name, ir::hash_of(header.text).hex());
  key.add("includes", includes.hash).add("source", source.code);
  return key.finish();
}

RawImage compile_raw_image(const RawSource& source, const ir::Target& target,
                           const std::optional<cache::Key>& key) {
  RawImage image = compile(source, target);
  if (key) save(source, *key, image);
  return named(std::move(image), source, key);
}

RawImage make_raw_image(const RawSource& source, const ir::Target& target,
                        const std::optional<cache::Key>& key) {
  const ir::Span span(ir::Phase::compile, source.name);
  const auto made = [&] {
    if (!source.path.empty()) return named(read(source), source, key);
    static const bool rebuild = ir::flag(ir::Variable::rebuild, false);
    if (key && !rebuild) {
      if (auto cached = load(*key)) return named(*std::move(cached), source, key);
    }
    if (compiling_is_forbidden()) throw CompileError(missing(source, key));
    return compile_raw_image(source, target, key);
  };
  RawImage image = made();
  if (ir::SpanData* const told = span.data()) {
    told->source = image.module.built ? "compiled" : "disk";
    told->bytes = image.module.bytes.size();
  }
  return image;
}

}  // namespace heddle::runtime::cuda
