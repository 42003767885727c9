#include "runtime/cuda/cubin.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include <elf.h>
#include <fmt/format.h>

#include "heddle/error.h"

namespace heddle::runtime {

namespace {

/// Attributes of .nv.info, named as in nvdisasm and cuobjdump.
enum class Attribute : std::uint8_t { frame_size = 0x11, register_count = 0x2f };
/// Storage format of an attribute's value.
constexpr std::uint8_t sized_value = 4;
/// Bytes of each block's shared memory reserved for the system, which section sizes include.
constexpr std::uint64_t reserved_shared_bytes = 1024;

class Cubin {
 public:
  explicit Cubin(std::string_view bytes) : bytes_(bytes) {
    const auto header = read<Elf64_Ehdr>(0);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
      throw ParseError("cubin: not a 64-bit ELF file");
    for (std::size_t i = 0; i < header.e_shnum; ++i)
      sections_.push_back(read<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr)));
    if (header.e_shstrndx >= sections_.size()) throw ParseError("cubin: no section names");
    names_ = sections_[header.e_shstrndx].sh_offset;
  }

  passes::KernelResources resources(const std::string& kernel) const {
    passes::KernelResources result;
    const Elf64_Shdr* const text = section(".text." + kernel);
    if (text == nullptr) throw ParseError(fmt::format("cubin: no kernel {}", kernel));
    result.code_bytes = static_cast<int>(text->sh_size);
    if (const Elf64_Shdr* const constants = section(".nv.constant0." + kernel))
      result.constant_bytes = static_cast<int>(constants->sh_size);
    if (const Elf64_Shdr* const shared = section(".nv.shared." + kernel)) {
      const bool reserved = section(".nv.shared.reserved.0") != nullptr;
      result.shared_bytes = static_cast<int>(
          shared->sh_size - std::min(shared->sh_size, reserved ? reserved_shared_bytes : 0));
    }
    result.registers = attribute(Attribute::register_count, kernel);
    result.local_bytes = attribute(Attribute::frame_size, kernel);
    return result;
  }

 private:
  template <class T>
  T read(std::uint64_t offset) const {
    T value;
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T))
      throw ParseError("cubin: truncated");
    std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    return value;
  }

  std::string_view text_at(std::uint64_t offset) const {
    if (offset >= bytes_.size()) throw ParseError("cubin: truncated");
    const std::string_view rest = bytes_.substr(offset);
    return rest.substr(0, rest.find('\0'));
  }

  const Elf64_Shdr* section(std::string_view name) const {
    const auto found = std::ranges::find_if(sections_, [&](const Elf64_Shdr& section) {
      return text_at(names_ + section.sh_name) == name;
    });
    return found != sections_.end() ? &*found : nullptr;
  }

  std::string_view symbol_name(std::uint32_t index) const {
    const Elf64_Shdr* const symbols = section(".symtab");
    if (symbols == nullptr || symbols->sh_link >= sections_.size())
      throw ParseError("cubin: no symbols");
    const auto symbol = read<Elf64_Sym>(symbols->sh_offset + index * sizeof(Elf64_Sym));
    return text_at(sections_[symbols->sh_link].sh_offset + symbol.st_name);
  }

  /// The value of an attribute in .nv.info. These values are pairs of a symbol and a number.
  int attribute(Attribute wanted, std::string_view kernel) const {
    const Elf64_Shdr* const info = section(".nv.info");
    if (info == nullptr) throw ParseError("cubin: no .nv.info");
    const std::uint64_t end = info->sh_offset + info->sh_size;
    for (std::uint64_t at = info->sh_offset; at + 4 <= end;) {
      const auto format = read<std::uint8_t>(at), kind = read<std::uint8_t>(at + 1);
      const auto size = read<std::uint16_t>(at + 2);
      at += 4;
      if (format != sized_value) continue;
      if (kind == static_cast<std::uint8_t>(wanted) && size >= 8 &&
          symbol_name(read<std::uint32_t>(at)) == kernel)
        return static_cast<int>(read<std::uint32_t>(at + 4));
      at += size;
    }
    throw ParseError(fmt::format("cubin: .nv.info does not describe {}", kernel));
  }

  std::string_view bytes_;
  std::vector<Elf64_Shdr> sections_;
  std::uint64_t names_ = 0;
};

}  // namespace

passes::KernelResources read_cubin(std::string_view bytes, const std::string& kernel) {
  return Cubin(bytes).resources(kernel);
}

}  // namespace heddle::runtime
