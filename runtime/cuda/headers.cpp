#include "runtime/cuda/headers.h"

#include <filesystem>
#include <optional>
#include <unordered_set>

#include "ir/base/fork_gate.h"
#include "ir/base/hash.h"
#include "runtime/base/dynamic_library.h"
#include "runtime/cache/files.h"

namespace heddle::runtime::cuda {

namespace fs = std::filesystem;

namespace {

constexpr const char* known_header = "cuda_fp16.h";

bool is_file(const fs::path& path) {
  std::error_code failure;
  return fs::is_regular_file(path, failure);
}

/// The folders of headers next to a folder of libraries; empty if there are none.
std::vector<std::string> headers_beside(const fs::path& libraries) {
  const fs::path headers = libraries.parent_path() / "include";
  if (!is_file(headers / known_header)) return {};
  std::vector<std::string> out = {headers.string()};
  // The C++ library of CUDA: in a toolkit, or in a package of its own.
  for (const fs::path& more :
       {headers / "cccl", headers.parent_path().parent_path() / "cuda_cccl" / "include"}) {
    if (std::error_code failure; fs::is_directory(more, failure)) out.push_back(more.string());
  }
  return out;
}

std::vector<std::string> find_toolkit_headers() {
  for (const std::string& folder : library_folders({.packages = {"cuda_runtime"}})) {
    if (std::vector<std::string> found = headers_beside(folder); !found.empty()) return found;
  }
  return {};
}

/// The next file that the text names in an #include, which is removed from the text.
struct Include {
  std::string_view name;
  bool quoted = false;
};
std::optional<Include> next_include(std::string_view& text) {
  constexpr std::string_view word = "include", blanks = " \t";
  const auto skip_blanks = [&] {
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  };
  while (!text.empty()) {
    const auto hash = text.find('#');
    text.remove_prefix(hash == std::string_view::npos ? text.size() : hash + 1);
    skip_blanks();
    if (!text.starts_with(word)) continue;
    text.remove_prefix(word.size());
    skip_blanks();
    if (text.empty() || (text[0] != '"' && text[0] != '<')) continue;
    const bool quoted = text[0] == '"';
    const auto end = text.find(quoted ? '"' : '>', 1);
    if (end == std::string_view::npos) continue;
    const Include found{text.substr(1, end - 1), quoted};
    text.remove_prefix(end);
    return found;
  }
  return std::nullopt;
}

/// Hashes files and what they include, each once.
class IncludeHash {
 public:
  explicit IncludeHash(const std::vector<std::string>& folders) : folders_(folders) {}

  void add_includes(std::string_view text, const fs::path& own_folder) {
    while (const std::optional<Include> include = next_include(text)) {
      if (include->quoted && add_file(own_folder / include->name, include->name)) continue;
      add_named(include->name);
    }
  }
  void add_named(std::string_view name) {
    if (add_file(name, name)) return;  // in the working folder
    for (const std::string& folder : folders_) {
      if (add_file(fs::path(folder) / name, name)) return;
    }
  }
  std::string finish() { return hasher_.finish().hex(); }

 private:
  /// False if there is no such file.
  bool add_file(const fs::path& path, std::string_view name) {
    if (!is_file(path)) return false;
    if (!seen_.insert(path.lexically_normal().string()).second) return true;
    constexpr std::uint64_t most = std::uint64_t{64} << 20;
    std::string text;
    cache::FileFacts facts;
    cache::read_file(path.string(), most, text, facts);
    hasher_.bytes(name).bytes(text);
    add_includes(text, path.parent_path());
    return true;
  }

  const std::vector<std::string>& folders_;
  std::unordered_set<std::string> seen_;
  ir::Hasher hasher_;
};

}  // namespace

const std::vector<std::string>& toolkit_headers() {
  static constinit ir::LazyStatic<std::vector<std::string>> folders;
  return folders.get(find_toolkit_headers);
}

std::string hash_of_includes(std::string_view text, const std::vector<std::string>& extra,
                             const std::vector<std::string>& folders) {
  IncludeHash hash(folders);
  for (const std::string& name : extra) hash.add_named(name);
  hash.add_includes(text, ".");
  return hash.finish();
}

}  // namespace heddle::runtime::cuda
