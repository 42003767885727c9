#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <system_error>
#include <tuple>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "heddle/error.h"

#include "frontend/cli/command.h"
#include "ir/base/byte_size.h"
#include "ir/types/target.h"
#include "runtime/cache/store.h"
#include "runtime/compile/make_modules.h"
#include "runtime/device/backend.h"

namespace heddle::cli {

namespace cache = runtime::cache;
using Json = nlohmann::json;

namespace {

struct CacheOptions {
  std::string directory, argument, size;
  double days = -1;
  unsigned mode = cache::shipped_mode;
  bool json = false, delete_bad = false, trust = false;
};

/// The store of the directory that the command line names, or of the one that programs use.
cache::Store& open_store(const CacheOptions& wanted) {
  if (!wanted.directory.empty()) setenv("HEDDLE_CACHE_DIR", wanted.directory.c_str(), 1);
  auto& store = cache::Store::global();
  if (!store.options().enabled || store.options().directory.empty())
    throw ValueError("there is no cache: pass --cache DIR, and unset HEDDLE_CACHE=0");
  return store;
}

std::string_view name_of(cache::PayloadKind kind) {
  switch (kind) {
    case cache::PayloadKind::program:
      return "program";
    case cache::PayloadKind::cubin:
      return "cubin";
    case cache::PayloadKind::ptx:
      return "ptx";
    case cache::PayloadKind::host_object:
      return "object";
    case cache::PayloadKind::algorithm:
      return "algorithm";
    case cache::PayloadKind::uncompiled:
      return "uncompiled";
  }
  return "?";
}

std::string hash_of(const cache::ListedEntry& entry) {
  return std::filesystem::path(entry.path).stem().string();
}

std::string field_of(const cache::ListedEntry& entry, std::string_view name) {
  for (const auto& [field, value] : cache::parse_key(entry.key_text)) {
    if (field == name) return value;
  }
  return {};
}

/// A program's target; none if another version of Heddle wrote it in a different form.
std::optional<ir::Target> target_of(const cache::ListedEntry& entry) {
  try {
    return ir::parse_target(field_of(entry, "target"));
  } catch (const ValueError&) {
    return std::nullopt;
  }
}

/// The architecture of a program's target or of a module, such as "sm_90".
std::string architecture_of(const cache::ListedEntry& entry) {
  if (entry.kind != cache::PayloadKind::program) return field_of(entry, "architecture");
  const std::optional<ir::Target> target = target_of(entry);
  return target ? target->architecture : "?";
}

/// Sorted by last use, most recent first; entries used in the same second are sorted by name.
std::vector<cache::ListedEntry> entries_of(const cache::Store& store) {
  std::vector<cache::ListedEntry> entries = store.list();
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return std::tie(b.used, a.path) < std::tie(a.used, b.path);
  });
  return entries;
}

Json facts_of(const cache::ListedEntry& entry) {
  return Json::parse(entry.facts, nullptr, /*allow_exceptions=*/false);
}

/// Names of the kernels in the entry, as they appear in sources, dumps and profiles.
std::vector<std::string> kernels_of(const cache::ListedEntry& entry) {
  const Json facts = facts_of(entry);
  std::vector<std::string> names;
  if (!facts.is_object() || !facts.contains("kernels")) return names;
  for (const Json& name : facts["kernels"]) {
    if (name.is_string()) names.push_back(name);
  }
  return names;
}

/// JSON text; replaces invalid UTF-8.
std::string shown(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string_view kind_of(const cache::ListedEntry& entry) {
  if (!entry.ignored.empty()) return "ignored";
  return entry.intact ? name_of(entry.kind) : "damaged";
}

Json to_json(const cache::ListedEntry& entry) {
  return {{"hash", hash_of(entry)},
          {"kernels", kernels_of(entry)},
          {"kind", kind_of(entry)},
          {"bytes", entry.bytes},
          {"used", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                               fmt::gmtime(std::chrono::system_clock::to_time_t(entry.used)))},
          {"architecture", entry.intact ? architecture_of(entry) : ""}};
}

int list(const CacheOptions& wanted) {
  const cache::Store& store = open_store(wanted);
  Json json = Json::array();
  for (const cache::ListedEntry& entry : entries_of(store)) {
    const Json one = to_json(entry);
    json.push_back(one);
    if (!wanted.json) {
      const std::vector<std::string> kernels = kernels_of(entry);
      fmt::print("{}  {:8} {:>10}  {}  {:9}  {}{}\n", one["hash"].get<std::string>(),
                 one["kind"].get<std::string>(), entry.bytes, one["used"].get<std::string>(),
                 one["architecture"].get<std::string>(), kernels.empty() ? "" : kernels.front(),
                 kernels.size() > 1 ? fmt::format(" and {} more", kernels.size() - 1) : "");
    }
  }
  if (wanted.json) fmt::print("{}\n", shown(json));
  return 0;
}

int show(const CacheOptions& wanted) {
  const cache::Store& store = open_store(wanted);
  std::vector<cache::ListedEntry> found = store.list();
  std::erase_if(found, [&](const auto& entry) {
    const std::vector<std::string> kernels = kernels_of(entry);
    const bool holds = std::ranges::find(kernels, wanted.argument) != kernels.end();
    return !hash_of(entry).starts_with(wanted.argument) &&
           !(holds && entry.kind == cache::PayloadKind::program);
  });
  if (found.size() != 1) {
    throw ValueError(fmt::format("{} entries in {} start with '{}'; `heddle cache ls` lists them",
                                 found.size(), store.options().directory, wanted.argument));
  }
  const cache::ListedEntry& entry = found[0];
  Json json = to_json(entry);
  json["path"] = entry.path;
  if (!entry.ignored.empty()) json["ignored"] = entry.ignored;
  if (const Json facts = facts_of(entry); !facts.is_discarded()) json["built"] = facts;
  for (const auto& [field, value] : cache::parse_key(entry.key_text)) json["key"][field] = value;
  if (wanted.json) {
    fmt::print("{}\n", shown(json));
    return 0;
  }
  for (const char* name : {"path", "kind", "ignored", "bytes", "used"}) {
    if (!json.contains(name)) continue;
    fmt::print("{}: {}\n", name,
               json[name].is_string() ? json[name].get<std::string>() : json[name].dump());
  }
  if (json.contains("built")) fmt::print("built: {}\n", json["built"].dump());
  for (const auto& [field, value] : cache::parse_key(entry.key_text))
    fmt::print("{}: {}{}\n", field, value.find('\n') == std::string::npos ? "" : "\n", value);
  return 0;
}

int stats(const CacheOptions& wanted) {
  const cache::Store& store = open_store(wanted);
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> kinds;
  std::uint64_t bytes = 0, count = 0;
  for (const cache::ListedEntry& entry : store.list()) {
    auto& [entries, sum] = kinds[std::string(kind_of(entry))];
    ++entries;
    sum += entry.bytes;
    ++count;
    bytes += entry.bytes;
  }
  const cache::StoreOptions& options = store.options();
  Json json = {{"directory", options.directory},
               {"entries", count},
               {"bytes", bytes},
               {"limit", options.size_limit},
               {"kinds", Json::object()}};
  for (const auto& [kind, sums] : kinds)
    json["kinds"][kind] = {{"entries", sums.first}, {"bytes", sums.second}};
  if (wanted.json) {
    fmt::print("{}\n", shown(json));
    return 0;
  }
  fmt::print("{}: {} entries, {} of {} bytes\n", options.directory, count, bytes,
             options.size_limit);
  for (const auto& [kind, sums] : kinds)
    fmt::print("{:9} {:>6} entries {:>12} bytes\n", kind, sums.first, sums.second);
  return 0;
}

/// Prefix of the identity of the current compiler for the entry; empty if there is none here.
std::string compiler_now(const cache::ListedEntry& entry) {
  if (entry.kind == cache::PayloadKind::program) {
    const std::optional<ir::Target> target = target_of(entry);
    return target ? runtime::compiler_of(*target).identity_prefix() : std::string();
  }
  for (const runtime::DeviceKind kind : runtime::preferred_kinds) {
    const runtime::KernelCompiler& compiler = runtime::backend_of(kind).compiler();
    if (compiler.makes(entry.kind)) return compiler.identity_prefix();
  }
  return {};
}

/// "intact", "damaged", "ignored" with the reason, or the compiler that built the entry if it is
/// not the current one.
std::string state_of(const cache::ListedEntry& entry) {
  if (!entry.ignored.empty()) return "ignored: " + entry.ignored;
  if (!entry.intact) return "damaged";
  const Json facts = facts_of(entry);
  if (!facts.is_object() || !facts.contains("compiler") || !facts["compiler"].is_string())
    return "intact";
  const std::string built = facts["compiler"], now = compiler_now(entry);
  return now.empty() || built.starts_with(now) ? "intact" : "built by " + built;
}

int verify(const CacheOptions& wanted) {
  const cache::Store& store = open_store(wanted);
  Json json = Json::array();
  std::size_t damaged = 0, ignored = 0, others = 0, deleted = 0, count = 0;
  for (const cache::ListedEntry& entry : entries_of(store)) {
    ++count;
    const std::string state = state_of(entry);
    if (state == "intact") continue;
    const bool is_damaged = state == "damaged";
    ++(is_damaged ? damaged : entry.ignored.empty() ? others : ignored);
    std::error_code error;
    const bool goes = is_damaged && wanted.delete_bad;
    const bool gone = goes && std::filesystem::remove(entry.path, error);
    if (gone) ++deleted;
    json.push_back({{"path", entry.path}, {"state", state}, {"deleted", gone}});
    if (error) json.back()["error"] = error.message();
    if (!wanted.json) {
      fmt::print("{}: {}{}\n", entry.path, state,
                 gone    ? ", deleted"
                 : error ? ", not deleted: " + error.message()
                         : "");
    }
  }
  if (wanted.json) {
    fmt::print(
        "{}\n",
        shown({{"entries", count}, {"damaged", damaged}, {"ignored", ignored}, {"found", json}}));
  } else {
    fmt::print(
        "{} entries, {} damaged, {}{} built by another compiler (still usable; HEDDLE_REBUILD=1 "
        "renews them)\n",
        count, damaged, ignored > 0 ? fmt::format("{} ignored, ", ignored) : "", others);
  }
  return damaged > deleted ? 1 : 0;
}

int remove_entries(const std::vector<cache::ListedEntry>& entries,
                   const std::function<bool(const cache::ListedEntry&)>& goes) {
  int gone = 0;
  for (const cache::ListedEntry& entry : entries) {
    std::error_code ignored;
    if (goes(entry) && std::filesystem::remove(entry.path, ignored)) ++gone;
  }
  return gone;
}

int prune(const CacheOptions& wanted) {
  cache::Store& store = open_store(wanted);
  if (wanted.days < 0 && wanted.size.empty())
    throw ValueError("prune: pass --size, --unused, or both");
  std::uint64_t gone = 0;
  if (wanted.days >= 0) {
    const auto limit = std::chrono::system_clock::now() -
                       std::chrono::seconds(static_cast<std::int64_t>(wanted.days * 86400));
    gone += static_cast<std::uint64_t>(remove_entries(store.list(), [&](const auto& entry) {
      // A time in the future says nothing about use.
      const auto soon = std::chrono::system_clock::now() + std::chrono::hours(1);
      return entry.used < limit || entry.used > soon;
    }));
  }
  if (!wanted.size.empty()) {
    const auto bytes = ir::parse_byte_size(wanted.size);
    if (!bytes)
      throw ValueError(
          fmt::format("--size {}: write a number of bytes, for instance 512M", wanted.size));
    gone += store.shrink(*bytes);
  }
  fmt::print("{} entries removed\n", gone);
  return 0;
}

int clear(const CacheOptions& wanted) {
  const cache::Store& store = open_store(wanted);
  fmt::print("{} entries removed\n",
             remove_entries(store.list(), [](const auto&) { return true; }));
  return 0;
}

/// Programs contain the code of their kernels, so those modules need not be exported. Modules of
/// users' own kernels (RawKernel) belong to no program.
bool is_exported(const cache::ListedEntry& entry) {
  return entry.intact &&
         (entry.kind == cache::PayloadKind::program || field_of(entry, "kind") == "raw module");
}

int export_programs(const CacheOptions& wanted) {
  const cache::Store& store = open_store(wanted);
  std::vector<std::string> entries;
  for (const cache::ListedEntry& entry : entries_of(store)) {
    if (!is_exported(entry)) continue;
    if (const std::optional<cache::Entry> whole = store.entry_at(entry.path))
      entries.push_back(cache::encode(*whole));
  }
  if (entries.empty())
    throw ValueError(fmt::format("{} contains no programs to export", store.options().directory));
  cache::write_shipped(wanted.argument, cache::encode_bundle(entries), wanted.mode);
  fmt::print("{} programs in {}\n", entries.size(), wanted.argument);
  return 0;
}

int import_programs(const CacheOptions& wanted) {
  cache::Store& store = open_store(wanted);
  const auto foreign = wanted.trust ? cache::Foreign::taken : cache::Foreign::refused;
  const cache::Bundle bundle(cache::read_shipped(wanted.argument, foreign), wanted.argument);
  for (const std::string_view bytes : bundle.entries()) {
    std::optional<cache::Entry> entry = cache::decode(bytes);
    if (!entry) throw FileError(fmt::format("{}: an entry is damaged", wanted.argument));
    const cache::Key key{ir::Hasher().bytes(entry->key_text).finish(), entry->key_text};
    store.save(key, entry->kind, std::move(entry->facts), std::move(entry->payload));
    if (!std::filesystem::exists(store.path_of(key)))
      throw FileError(fmt::format("{} cannot be written", store.path_of(key)));
  }
  fmt::print("{} programs into {}\n", bundle.size(), store.options().directory);
  return 0;
}

}  // namespace

void add_cache(CLI::App& app, Action& action) {
  const auto wanted = std::make_shared<CacheOptions>();
  CLI::App* cache = app.add_subcommand("cache", "Inspect and clean a cache directory");
  cache->require_subcommand(1);
  cache
      ->add_option("--cache", wanted->directory,
                   "The cache directory; by default the one that programs use")
      ->type_name("DIR");
  const auto add = [&](const char* name, const char* what, int (*run)(const CacheOptions&)) {
    CLI::App* verb = cache->add_subcommand(name, what);
    verb->fallthrough();
    verb->callback([&action, wanted, run] { action = [wanted, run] { return run(*wanted); }; });
    return verb;
  };
  const auto with_json = [&](CLI::App* verb) {
    verb->add_flag("--json", wanted->json, "Print JSON");
    return verb;
  };
  with_json(add("ls", "List the entries, most recently used first", list));
  with_json(add("show", "Print one entry: its key and what built it", show))
      ->add_option("hash", wanted->argument, "The first digits of the entry's hash")
      ->required();
  with_json(add("stats", "Print the number and size of entries of each kind", stats));
  with_json(add("verify", "Check every entry; exit status 1 if a damaged one remains", verify))
      ->add_flag("--delete", wanted->delete_bad, "Delete damaged entries");
  CLI::App* pruned = add("prune", "Remove the least recently used entries", prune);
  pruned->add_option("--size", wanted->size, "Remove entries until at most BYTES are used")
      ->type_name("BYTES");
  pruned->add_option("--unused", wanted->days, "Remove entries not used for DAYS days")
      ->check(CLI::NonNegativeNumber)
      ->type_name("DAYS");
  add("clear", "Remove all entries", clear);
  CLI::App* exported =
      add("export",
          "Write all programs and raw kernels to one file for hd::load_bundle. It contains native "
          "code: whoever may write to it decides what its users run. HEDDLE_CACHE_KEY signs it.",
          export_programs);
  exported->add_option("file", wanted->argument, "The file")->required();
  add_mode(*exported, wanted->mode,
           "Permission bits of the file; by default 0644, readable by everybody");
  CLI::App* imported =
      add("import",
          "Add the programs of an exported file. It contains native code, which your programs then "
          "run with your rights: import only files whose code you would run. A file that users "
          "other than you and root may have written is refused, and with HEDDLE_CACHE_KEY set, a "
          "file that is not signed with the key.",
          import_programs);
  imported->add_option("file", wanted->argument, "The file")->required();
  imported->add_flag("--trust", wanted->trust, "Accept a file that other users may have written");
}

}  // namespace heddle::cli
