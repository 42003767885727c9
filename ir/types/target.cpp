#include "ir/types/target.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include "heddle/error.h"

namespace heddle::ir {
namespace {

struct Row {
  std::string_view name;
  Target target;
};

Target cuda(std::string architecture, int multiprocessors, int shared_kib, int max_cluster,
            std::int64_t l2_mib) {
  return {.kind = TargetKind::cuda,
          .architecture = std::move(architecture),
          .multiprocessors = multiprocessors,
          .shared_bytes_per_block = shared_kib << 10,
          .registers_per_block = 65536,
          .max_threads_per_block = 1024,
          .max_cluster = max_cluster,
          .l2_bytes = l2_mib << 20,
          .vector_bytes = 16};
}

Target host(std::string architecture, int vector_bytes) {
  Target target;
  target.architecture = std::move(architecture);
  target.l2_bytes = 32 << 20;
  target.vector_bytes = vector_bytes;
  return target;
}

/// One typical board for each architecture: T4, A100, RTX A6000, L40S, H100, H200, B200, RTX 5090.
const std::vector<Row>& rows() {
  static const auto* const table = new std::vector<Row>{
      {"sm_75", cuda("sm_75", 40, 64, 1, 4)},
      {"sm_80", cuda("sm_80", 108, 163, 1, 40)},
      {"sm_86", cuda("sm_86", 84, 99, 1, 6)},
      {"sm_89", cuda("sm_89", 142, 99, 1, 96)},
      {"sm_90", cuda("sm_90", 132, 227, 16, 50)},
      {"sm_90:h200", cuda("sm_90", 132, 227, 16, 60)},
      {"sm_100", cuda("sm_100", 148, 227, 16, 126)},
      {"sm_120", cuda("sm_120", 170, 99, 8, 96)},
      {"x86-64", host("x86-64", 16)},
      {"x86-64-v2", host("x86-64-v2", 16)},
      {"x86-64-v3", host("x86-64-v3", 32)},
      {"x86-64-v4", host("x86-64-v4", 64)},
  };
  return *table;
}

[[noreturn]] void fail(std::string_view text, std::string_view why) {
  std::string names;
  for (const Row& row : rows()) names += fmt::format(" {}", row.name);
  throw ValueError(
      fmt::format("'{}' is not a target ({}); built-in targets are:{}", text, why, names));
}

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t begin = text.find_first_not_of(' ');
    if (begin == std::string_view::npos) return words;
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    text.remove_prefix(end);
  }
}

template <class Integer>
bool read_field(std::string_view word, std::string_view key, Integer& field) {
  if (word.size() <= key.size() || !word.starts_with(key) || word[key.size()] != '=') return false;
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data() + key.size() + 1, end, field);
  return error == std::errc() && stop == end && field >= 0;
}

bool read_fields(std::string_view word, Target& target) {
  return read_field(word, "sm", target.multiprocessors) ||
         read_field(word, "shared", target.shared_bytes_per_block) ||
         read_field(word, "registers", target.registers_per_block) ||
         read_field(word, "threads", target.max_threads_per_block) ||
         read_field(word, "cluster", target.max_cluster) ||
         read_field(word, "l2", target.l2_bytes) || read_field(word, "vector", target.vector_bytes);
}

/// Whether the targets agree in everything that kernels rely on, so that kernels for one run on the
/// other.
bool same_limits(const Target& a, const Target& b) {
  return a.kind == b.kind && a.architecture == b.architecture && a.vector_bytes == b.vector_bytes &&
         a.shared_bytes_per_block == b.shared_bytes_per_block &&
         a.registers_per_block == b.registers_per_block &&
         a.max_threads_per_block == b.max_threads_per_block && a.max_cluster == b.max_cluster;
}

}  // namespace

std::string to_string(const Target& target) {
  return fmt::format("{} {} sm={} shared={} registers={} threads={} cluster={} l2={} vector={}",
                     target.kind == TargetKind::cuda ? "cuda" : "host", target.architecture,
                     target.multiprocessors, target.shared_bytes_per_block,
                     target.registers_per_block, target.max_threads_per_block, target.max_cluster,
                     target.l2_bytes, target.vector_bytes);
}

Target parse_target(std::string_view text) {
  if (auto row = std::ranges::find(rows(), text, &Row::name); row != rows().end()) {
    return row->target;
  }
  const std::vector<std::string_view> words = split_words(text);
  if (words.size() < 2) fail(text, "there is no built-in target of that name");
  Target target;
  if (words[0] == "cuda") {
    target.kind = TargetKind::cuda;
  } else if (words[0] != "host") {
    fail(text, "it must begin with cuda or host");
  }
  target.architecture = words[1];
  for (std::size_t i = 2; i < words.size(); ++i) {
    if (!read_fields(words[i], target)) fail(text, fmt::format("cannot read '{}'", words[i]));
  }
  return target;
}

std::vector<std::string_view> built_in_targets() {
  std::vector<std::string_view> names;
  for (const Row& row : rows()) names.push_back(row.name);
  return names;
}

Target nearest_built_in(const Target& target) {
  const Target* nearest = nullptr;
  const auto distance = [&](const Target& row) { return std::abs(row.l2_bytes - target.l2_bytes); };
  for (const auto& [name, row] : rows()) {
    const bool similar_size = std::abs(row.multiprocessors - target.multiprocessors) * 3 <=
                              std::min(row.multiprocessors, target.multiprocessors);
    if (!same_limits(row, target) || !similar_size) continue;
    if (nearest == nullptr || distance(row) < distance(*nearest)) nearest = &row;
  }
  return nearest != nullptr ? *nearest : target;
}

std::vector<Target> targets_below(const Target& target) {
  std::vector<Target> below;
  for (const auto& [name, row] : rows()) {
    if (target.kind != TargetKind::host || row.kind != TargetKind::host) continue;
    if (row.architecture == target.architecture) return below;
    below.insert(below.begin(), row);
  }
  return {};  // no row has this instruction set
}

}  // namespace heddle::ir
