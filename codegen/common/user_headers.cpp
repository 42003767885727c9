#include "codegen/common/user_headers.h"

#include "codegen/common/sections.h"

namespace heddle::codegen {

namespace {

std::string make_complex_header() {
  std::string text = "#ifndef HEDDLE_COMPLEX\n#define HEDDLE_COMPLEX\n";
  const std::vector<std::string> names = {"user_complex"};
  for (const std::string& name : library_sections().close_over_needs(names, Side::device))
    text += section(name).text;
  return text +
         "using heddle_user::complex;\n"
         "namespace thrust {\n"
         "using namespace ::heddle_user;\n"
         "}\n"
         "#endif\n";
}

}  // namespace

const std::string& complex_header() {
  static const std::string& text = *new std::string(make_complex_header());
  return text;
}

}  // namespace heddle::codegen
