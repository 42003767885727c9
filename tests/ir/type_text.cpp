#include "type_text.h"

#include "ir/types/dim.h"

using namespace heddle::ir;

Shape shape_of(std::string_view text) {
  Shape shape;
  text = text.substr(1, text.size() - 2);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    shape.push_back(Dim::parse(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return shape;
}

Type type_of(std::string_view text) {
  const std::size_t bracket = text.find('[');
  return {heddle::dtype_from_name(text.substr(0, bracket)).value(), shape_of(text.substr(bracket))};
}
