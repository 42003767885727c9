#include "runtime/cache/image.h"

#include <nlohmann/json.hpp>

#include "heddle/error.h"

namespace heddle::runtime {

using Json = nlohmann::json;

// Format: the length of a JSON header, the header, and the bytes of the modules.
std::string encode(const ProgramImage& image) {
  Json header{{"program", passes::to_json(image.program)}, {"modules", Json::array()}};
  for (const ModuleImage& module : image.modules) {
    header["modules"].push_back({{"kind", static_cast<int>(module.kind)},
                                 {"kernels", module.kernels},
                                 {"bytes", module.bytes.size()}});
  }
  const std::string text = header.dump();
  std::string result = std::to_string(text.size()) + '\n' + text;
  for (const ModuleImage& module : image.modules) result += module.bytes;
  return result;
}

ProgramImage decode_program_image(std::string_view bytes) {
  try {
    const std::size_t newline = bytes.find('\n');
    if (newline == std::string_view::npos || newline > 12)
      throw ParseError("program image: no header");
    const std::size_t size = std::stoull(std::string(bytes.substr(0, newline)));
    if (size > bytes.size() - newline - 1) throw ParseError("program image: header is truncated");
    const Json header = Json::parse(bytes.substr(newline + 1, size));
    ProgramImage image;
    image.program = passes::program_from_json(header.at("program").get<std::string>());
    std::size_t offset = newline + 1 + size;
    for (const Json& entry : header.at("modules")) {
      ModuleImage module;
      module.kind = static_cast<cache::PayloadKind>(entry.at("kind").get<int>());
      module.kernels = entry.at("kernels").get<std::vector<std::string>>();
      const std::size_t length = entry.at("bytes");
      if (length > bytes.size() - offset) throw ParseError("program image: a module is truncated");
      module.bytes = bytes.substr(offset, length);
      offset += length;
      image.modules.push_back(std::move(module));
    }
    return image;
  } catch (const Json::exception& error) {
    throw ParseError(std::string("program image: ") + error.what());
  } catch (const std::logic_error&) {
    throw ParseError("program image: no length");
  } catch (const std::bad_alloc&) {
    throw ParseError("program image: out of memory");
  }
}

}  // namespace heddle::runtime
