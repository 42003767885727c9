#include <cstdlib>
#include <string_view>

#include "runtime/byte_size.h"
#include "runtime/cache/store.h"
#include "runtime/log.h"

namespace heddle::runtime::cache {

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::string default_directory() {
  if (std::string named = variable("HEDDLE_CACHE_DIR"); !named.empty()) return named;
  if (const std::string xdg = variable("XDG_CACHE_HOME"); !xdg.empty()) return xdg + "/heddle";
  if (const std::string home = variable("HOME"); !home.empty()) return home + "/.cache/heddle";
  return {};
}

}  // namespace

StoreOptions options_from_environment() {
  StoreOptions out;
  out.enabled = variable("HEDDLE_CACHE") != "0";
  out.directory = default_directory();
  out.read_only_directory = variable("HEDDLE_CACHE_READONLY");
  out.trust = variable("HEDDLE_CACHE_TRUST") == "1";
  if (const std::string text = variable("HEDDLE_CACHE_SIZE"); !text.empty()) {
    if (const auto bytes = parse_byte_size(text)) {
      out.size_limit = *bytes;
    } else {
      log().warn("HEDDLE_CACHE_SIZE='{}' is not bytes such as 512M; it is ignored", text);
    }
  }
  return out;
}

}  // namespace heddle::runtime::cache
