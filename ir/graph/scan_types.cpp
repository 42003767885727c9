#include "ir/graph/scan_types.h"

#include <bit>
#include <type_traits>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/types/literal.h"

namespace heddle::ir {

namespace {

Dim scan_dim(Scanner& scan) {
  const std::size_t position = scan.position();
  const std::string_view text = scan.until_any_of(",]\n");
  try {
    return Dim::parse(text);
  } catch (const ParseError& error) {
    scan.fail(position, error.what());
  }
}

/// Parses a list "[a,b]", which may be empty; `item` parses one entry.
template <class List, class Item>
List scan_list(Scanner& scan, const Item& item) {
  List result;
  scan.expect('[');
  if (scan.accept(']')) return result;
  do {
    result.push_back(item());
  } while (scan.accept(','));
  scan.expect(']');
  return result;
}

bool scan_bool(Scanner& scan) {
  if (scan.accept_word("true")) return true;
  scan.expect_word("false");
  return false;
}

double scan_double(Scanner& scan) {
  const std::size_t position = scan.position();
  const std::string_view text = scan.until_any_of(",} \n");
  const auto bits = parse_literal(DType::f64, text);
  if (!bits) scan.fail(position, fmt::format("'{}' is not a value of f64", text));
  return std::bit_cast<double>(bits->low);
}

std::string scan_string(Scanner& scan) {
  if (scan.peek() != '"') scan.expect('"');
  return scan.name();
}

}  // namespace

DType scan_dtype(Scanner& scan) {
  const std::size_t position = scan.position();
  const std::string_view word = scan.word("a dtype");
  const std::optional<DType> dtype = dtype_from_name(word);
  if (!dtype) scan.fail(position, fmt::format("unknown dtype '{}'", word));
  return *dtype;
}

Type scan_type(Scanner& scan) {
  const DType dtype = scan_dtype(scan);
  return {dtype, scan_dims(scan)};
}

Dims scan_dims(Scanner& scan) {
  return scan_list<Dims>(scan, [&] { return scan_dim(scan); });
}

std::vector<std::int64_t> scan_integers(Scanner& scan) {
  return scan_list<std::vector<std::int64_t>>(scan, [&] { return scan.integer(); });
}

AttributeValue scan_value(Scanner& scan, const AttributeValue& like) {
  return std::visit(
      [&]<class T>(const T&) -> AttributeValue {
        if constexpr (std::is_same_v<T, std::string>) {
          return scan_string(scan);
        } else if constexpr (std::is_same_v<T, DType>) {
          return scan_dtype(scan);
        } else if constexpr (std::is_same_v<T, double>) {
          return scan_double(scan);
        } else if constexpr (std::is_same_v<T, bool>) {
          return scan_bool(scan);
        } else if constexpr (std::is_same_v<T, std::int64_t>) {
          return scan.integer();
        } else if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) {
          return scan_integers(scan);
        } else {
          return scan_dims(scan);
        }
      },
      like);
}

}  // namespace heddle::ir
