#include "runtime/cuda/headers.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <span>
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

/// The number that a header gives a macro, as text; empty if there is none.
std::string number_of(const fs::path& header, std::string_view macro) {
  constexpr std::uint64_t most = std::uint64_t{1} << 24;
  std::string text;
  cache::FileFacts facts;
  if (cache::read_file(header.string(), most, text, facts) != 0) return {};
  const auto found = text.find("#define " + std::string(macro) + " ");
  if (found == std::string::npos) return {};
  const auto begin = text.find_first_of("0123456789", found);
  const auto end = text.find_first_not_of("0123456789", begin);
  return begin == std::string::npos ? std::string() : text.substr(begin, end - begin);
}

std::string find_toolkit_version() {
  std::string out;
  for (const std::string& folder : toolkit_headers()) {
    out += number_of(fs::path(folder) / "cuda_runtime_api.h", "CUDART_VERSION") + ".";
    out += number_of(fs::path(folder) / "cuda/std/__cccl/version.h", "CCCL_VERSION") + ".";
  }
  return out;
}

/// An #include.
struct Include {
  std::string_view name;
  bool quoted = false;
  bool macro = false;  ///< a macro gives the name
};

bool begins_line(std::string_view text, std::size_t position) {
  while (position > 0 && (text[position - 1] == ' ' || text[position - 1] == '\t')) --position;
  return position == 0 || text[position - 1] == '\n';
}

/// The next #include of the text, from `position` on, which moves behind it.
std::optional<Include> next_include(std::string_view text, std::size_t& position) {
  constexpr std::string_view word = "include", blanks = " \t";
  while (true) {
    const auto hash = text.find('#', position);
    if (hash == std::string_view::npos) return std::nullopt;
    position = hash + 1;
    std::string_view rest = text.substr(position);
    const auto skip_blanks = [&] {
      rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
    };
    skip_blanks();
    if (!rest.starts_with(word)) continue;
    rest.remove_prefix(word.size());
    skip_blanks();
    if (rest.empty()) continue;
    if (rest[0] != '"' && rest[0] != '<') {
      const bool name = rest[0] == '_' || std::isalpha(static_cast<unsigned char>(rest[0])) != 0;
      if (name && begins_line(text, hash)) return Include{{}, false, true};
      continue;
    }
    const bool quoted = rest[0] == '"';
    const auto end = rest.find(quoted ? '"' : '>', 1);
    if (end == std::string_view::npos) continue;
    position = static_cast<std::size_t>(rest.data() - text.data()) + end;
    return Include{rest.substr(1, end - 1), quoted};
  }
}

/// Hashes files and what they include, each once.
class IncludeHash {
 public:
  IncludeHash(const std::vector<std::string>& folders, const std::vector<std::string>& toolkit)
      : folders_(folders), toolkit_(toolkit) {}

  void add_includes(std::string_view text, const fs::path& own_folder) {
    std::size_t position = 0;
    while (const std::optional<Include> include = next_include(text, position)) {
      if (include->macro) {
        found_.all_names_known = false;
      } else {
        add(*include, own_folder);
      }
    }
  }
  void add(const Include& include, const fs::path& own_folder) {
    if (include.quoted && add_file(own_folder / include.name, include.name)) return;
    for (const std::string& folder : folders_) {
      if (add_file(fs::path(folder) / include.name, include.name)) return;
    }
    for (const std::string& folder : toolkit_) {
      if (is_file(fs::path(folder) / include.name)) found_.uses_toolkit = true;
    }
  }
  Includes finish() {
    found_.hash = hasher_.finish().hex();
    return found_;
  }

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
  const std::vector<std::string>& toolkit_;
  std::unordered_set<std::string> seen_;
  ir::Hasher hasher_;
  Includes found_;
};

/// The value of an option: behind its name and a blank or =, or else the next option.
std::optional<std::string> value_of(std::span<const std::string> options, std::size_t& i,
                                    std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (!options[i].starts_with(name)) continue;
    const std::string_view value = std::string_view(options[i]).substr(name.size());
    const auto begin = value.find_first_not_of(" =");
    if (begin != std::string_view::npos) return std::string(value.substr(begin));
    if (i + 1 < options.size()) return options[++i];
  }
  return std::nullopt;
}

}  // namespace

const std::vector<std::string>& toolkit_headers() {
  static constinit ir::LazyStatic<std::vector<std::string>> folders;
  return folders.get(find_toolkit_headers);
}

const std::string& toolkit_version() {
  static constinit ir::LazyStatic<std::string> version;
  return version.get(find_toolkit_version);
}

IncludeOptions include_options(const std::vector<std::string>& options) {
  IncludeOptions out;
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (auto folder = value_of(options, i, {"-I", "--include-path"})) {
      out.folders.push_back(*std::move(folder));
    } else if (auto file = value_of(options, i, {"-include", "--pre-include"})) {
      out.files.push_back(*std::move(file));
    }
  }
  return out;
}

Includes includes_of(std::string_view text, const IncludeOptions& options,
                     const std::vector<std::string>& toolkit_folders) {
  IncludeHash hash(options.folders, toolkit_folders);
  for (const std::string& file : options.files) hash.add({file, true}, ".");
  hash.add_includes(text, ".");
  return hash.finish();
}

}  // namespace heddle::runtime::cuda
