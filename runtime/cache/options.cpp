#include <cstdlib>
#include <string_view>

#include "ir/base/environment.h"
#include "runtime/base/byte_size.h"
#include "runtime/base/log.h"
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
  out.enabled = environment(Variable::cache) != "0";
  out.directory = default_directory();
  out.read_only_directory = environment(Variable::cache_readonly);
  out.trust = environment(Variable::cache_trust) == "1";
  if (const std::string text = environment(Variable::cache_size); !text.empty()) {
    if (const auto bytes = parse_byte_size(text)) {
      out.size_limit = *bytes;
    } else {
      log().warn("HEDDLE_CACHE_SIZE='{}' is not bytes such as 512M; it is ignored", text);
    }
  }
  return out;
}

}  // namespace heddle::runtime::cache
