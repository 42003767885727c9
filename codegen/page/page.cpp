#include "codegen/page/page.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "heddle/error.h"

#include "codegen/common/embedded.h"

namespace heddle::codegen {

namespace {

std::string_view frame() {
  for (const EmbeddedText& text : page_texts()) {
    if (text.path.ends_with(".html")) return text.text;
  }
  throw InternalError("the page is not embedded");
}

void put(std::string& page, std::string_view place, std::string_view text) {
  const std::size_t at = page.find(place);
  if (at == std::string::npos) throw InternalError(fmt::format("the page has no {}", place));
  page.replace(at, place.size(), text);
}

/// Escapes JSON for use inside a script element, so that it cannot end the element or begin a
/// comment.
std::string for_script(const std::string& json) {
  std::string result;
  for (const char c : json) {
    if (c == '<') {
      result += "\\u003c";
    } else {
      result += c;
    }
  }
  return result;
}

std::string for_text(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

}  // namespace

// Text chosen by the user is inserted last, so that no placeholder is replaced inside it.
std::string to_html(const passes::Report& report) {
  std::string page(frame());
  for (const EmbeddedText& text : page_texts()) {
    if (!text.path.ends_with(".html"))
      put(page, fmt::format("/* {} */", text.path.substr(text.path.rfind('/') + 1)), text.text);
  }
  const std::size_t text = page.find("<!-- text -->"), json = page.find("<!-- report -->");
  if (text == std::string::npos || json == std::string::npos || json < text)
    throw InternalError("the page has no placeholders for its report");
  put(page, "<!-- report -->", for_script(passes::to_json(report)));
  page.replace(text, std::string_view("<!-- text -->").size(), for_text(passes::to_text(report)));
  return page;
}

}  // namespace heddle::codegen
