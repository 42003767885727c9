#include "frontend/io/npy.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <numeric>
#include <optional>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "heddle/io.h"
#include "heddle/manipulation.h"

#include "frontend/array/access.h"
#include "frontend/evaluate/evaluate.h"
#include "frontend/graph/record.h"
#include "frontend/graph/storage.h"
#include "frontend/graph/trace.h"
#include "frontend/io/atomic_file.h"
#include "frontend/io/input_file.h"

namespace heddle {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t prefix_bytes = 8;  // magic and version

struct Header {
  DType dtype = DType::f32;
  bool swapped = false;  ///< opposite byte order
  bool fortran = false;
  Shape shape;
};

struct Code {
  DType dtype;
  std::string_view code;
};
constexpr Code codes[] = {
    {DType::boolean, "b1"}, {DType::i8, "i1"},    {DType::i16, "i2"},  {DType::i32, "i4"},
    {DType::i64, "i8"},     {DType::u8, "u1"},    {DType::u16, "u2"},  {DType::u32, "u4"},
    {DType::u64, "u8"},     {DType::f16, "f2"},   {DType::f32, "f4"},  {DType::f64, "f8"},
    {DType::c64, "c8"},     {DType::c128, "c16"}, {DType::bf16, "V2"},
};

class Reader {
 public:
  Reader(std::istream& stream, const std::string& path, const SourceLocation& where)
      : stream_(stream), path_(path), where_(where) {}

  Header header() {
    const std::string prefix = bytes(prefix_bytes);
    if (!prefix.starts_with(magic)) fail("is not a .npy file");
    const int version = static_cast<unsigned char>(prefix[6]);
    if (version < 1 || version > 3) fail(fmt::format("has the unknown format version {}", version));
    const std::string length = bytes(version == 1 ? 2 : 4);
    std::size_t count = 0;
    for (std::size_t i = length.size(); i-- > 0;) {
      count = (count << 8) | static_cast<unsigned char>(length[i]);
    }
    if (count > (1U << 20)) fail("has a header of more than 1 MiB");
    text_ = bytes(count);
    Header header;
    read_dtype(header);
    const std::string_view order = value_of("fortran_order");
    if (order.starts_with("True")) {
      header.fortran = true;
    } else if (!order.starts_with("False")) {
      fail("has no fortran_order of True or False in its header");
    }
    read_shape(header);
    return header;
  }

  std::string bytes(std::size_t count) {
    std::string result(count, '\0');
    if (!stream_.read(result.data(), static_cast<std::streamsize>(count))) {
      fail("ends too early");
    }
    return result;
  }

  /// Reads the next `count` bytes. Reads in pieces, so that a false size in the header does not
  /// cause a large allocation.
  std::string data(std::size_t count) {
    frontend::require_memory("load", path_, count, where_);
    constexpr std::size_t piece = std::size_t{64} << 20;
    std::string result;
    while (result.size() < count) {
      const std::size_t done = result.size(), wanted = std::min(piece, count - done);
      if (count <= piece) result.reserve(count);
      result.resize(done + wanted);
      stream_.read(result.data() + done, static_cast<std::streamsize>(wanted));
      const auto got = static_cast<std::size_t>(stream_.gcount());
      if (got == wanted) continue;
      fail(fmt::format("holds {} bytes of data, but its shape needs {}", done + got, count));
    }
    return result;
  }

  [[noreturn]] void fail(std::string_view why) const {
    throw FileError(frontend::at(fmt::format("load: {} {}", path_, why), where_));
  }

 private:
  /// The text after 'key':
  std::string_view value_of(std::string_view key) const {
    for (const char quote : {'\'', '"'}) {
      const std::string quoted = quote + std::string(key) + quote;
      const std::size_t found = text_.find(quoted);
      if (found == std::string::npos) continue;
      const std::size_t start = text_.find_first_not_of(" :", found + quoted.size());
      if (start != std::string::npos) return std::string_view(text_).substr(start);
    }
    fail(fmt::format("has no {} in its header", key));
  }

  void read_dtype(Header& header) const {
    const std::string_view value = value_of("descr");
    const std::size_t end = value.find(value[0], 1);
    if ((value[0] != '\'' && value[0] != '"') || end == std::string_view::npos || end < 3) {
      fail("has a structured dtype, which Heddle does not read");
    }
    const std::string_view descr = value.substr(1, end - 1);
    header.swapped = descr[0] == '>';
    const auto code = std::find_if(std::begin(codes), std::end(codes), [&](const Code& each) {
      return descr.substr(1) == each.code && std::string_view("<>|=").find(descr[0]) < 4;
    });
    if (code == std::end(codes)) {
      fail(fmt::format("has the dtype {}, which Heddle does not read", descr));
    }
    header.dtype = code->dtype;
  }

  void read_shape(Header& header) const {
    std::string_view value = value_of("shape");
    const std::size_t end = value.find(')');
    if (value[0] != '(' || end == std::string_view::npos) fail("has no shape in its header");
    value = value.substr(1, end - 1);
    while (!value.empty()) {
      const std::size_t digit = value.find_first_not_of(" ,");
      if (digit == std::string_view::npos) break;
      value.remove_prefix(digit);
      std::int64_t extent = 0;
      const auto [rest, error] = std::from_chars(value.data(), value.data() + value.size(), extent);
      if (error != std::errc() || extent < 0) fail("has an invalid shape");
      if (header.shape.size() == ir::max_rank)
        fail(fmt::format("has a shape of more than {} axes", ir::max_rank));
      header.shape.push_back(extent);
      value.remove_prefix(static_cast<std::size_t>(rest - value.data()));
      if (!value.empty() && value[0] == 'L') value.remove_prefix(1);  // Python 2
    }
  }

  std::istream& stream_;
  const std::string& path_;
  SourceLocation where_;
  std::string text_;
};

std::string header_text(DType dtype, const Shape& shape) {
  const auto code = std::find_if(std::begin(codes), std::end(codes),
                                 [&](const Code& each) { return each.dtype == dtype; });
  const char order = size_of(dtype) == 1 ? '|' : '<';
  std::string text =
      fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}{}), }}", order,
                  code->code, fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  // The data starts at a multiple of 64 bytes.
  const std::size_t length_bytes = text.size() + 64 < 65536 ? 2 : 4;
  const std::size_t start = prefix_bytes + length_bytes + text.size() + 1;
  text.append((64 - start % 64) % 64, ' ');
  text += '\n';
  std::string result(magic);
  result += length_bytes == 2 ? '\1' : '\2';
  result += '\0';
  for (std::size_t i = 0; i < length_bytes; ++i) {
    result += static_cast<char>((text.size() >> (8 * i)) & 0xff);
  }
  return result + text;
}

}  // namespace

namespace {

Array read(Reader& reader, const SourceLocation& where) {
  const Header header = reader.header();
  const std::size_t unit = size_of(header.dtype);
  // Extents of 0 are checked, too: the number of elements of every slice must fit in 64 bits.
  std::size_t most = (std::size_t{1} << 62) / unit, count = 1;
  for (std::int64_t extent : header.shape) {
    const auto factor = static_cast<std::size_t>(extent);
    if (factor > most) reader.fail("has a shape that does not fit 64 bits");
    most /= std::max<std::size_t>(factor, 1);
    count *= factor;
  }
  std::string data = reader.data(count * unit);
  if (header.swapped) {
    const std::size_t part = size_of(real_dtype(header.dtype));
    for (std::size_t i = 0; i < data.size(); i += part) {
      std::reverse(data.begin() + static_cast<std::ptrdiff_t>(i),
                   data.begin() + static_cast<std::ptrdiff_t>(i + part));
    }
  }
  Shape shape = header.shape;
  if (header.fortran) std::reverse(shape.begin(), shape.end());
  const Array array = frontend::Access::make(
      frontend::upload(data.data(), {header.dtype, frontend::to_ir(shape)}, where));
  return header.fortran ? transpose({array, where}) : array;
}

}  // namespace

Array frontend::read_npy(std::istream& stream, const std::string& name,
                         const SourceLocation& where) {
  Reader reader(stream, name, where);
  return with_memory("load", name, where, [&] { return read(reader, where); });
}

frontend::Npy frontend::npy_of(const Array& array, const SourceLocation& where) {
  const NodeRef node = evaluated_node(array, "save", where);
  return {header_text(node->dtype, array.shape()), download(*node)};
}

Array load(const std::string& path, SourceLocation where) {
  std::ifstream stream = frontend::open_input("load", path, where);
  return frontend::read_npy(stream, path, where);
}

void save(const std::string& path, const Array& array, SourceLocation where) {
  if (frontend::Trace::current() != nullptr) frontend::value_in_trace("save", where);
  const auto [header, data] = frontend::npy_of(array, where);
  const std::string file = frontend::with_suffix(path, ".npy");
  frontend::write_whole("save", file, where, [&](std::ostream& stream) {
    stream.write(header.data(), static_cast<std::streamsize>(header.size()));
    stream.write(reinterpret_cast<const char*>(data.data()),
                 static_cast<std::streamsize>(data.size()));
  });
}

}  // namespace heddle
