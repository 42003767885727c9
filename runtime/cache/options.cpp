#include "ir/base/environment.h"
#include "runtime/cache/store.h"

namespace heddle::runtime::cache {

namespace {

using ir::environment;
using ir::Variable;

std::string default_directory() {
  if (std::string named = environment(Variable::cache_dir); !named.empty()) return named;
  if (const std::string xdg = environment(Variable::xdg_cache_home); !xdg.empty())
    return xdg + "/heddle";
  if (const std::string home = environment(Variable::home); !home.empty())
    return home + "/.cache/heddle";
  return {};
}

}  // namespace

StoreOptions options_from_environment() {
  StoreOptions out;
  out.enabled = ir::flag(Variable::cache, true);
  out.directory = default_directory();
  out.read_only_directory = environment(Variable::cache_readonly);
  out.trust = ir::flag(Variable::cache_trust, false);
  out.signer = Signer::global();
  out.size_limit = ir::bytes(Variable::cache_size).value_or(out.size_limit);
  return out;
}

}  // namespace heddle::runtime::cache
