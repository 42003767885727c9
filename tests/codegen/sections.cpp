#include "codegen/common/sections.h"

#include <algorithm>
#include <array>
#include <string>

#include <doctest/doctest.h>

#include "heddle/error.h"

#include "codegen/common/scalar_code.h"

namespace heddle::codegen {
namespace {

TEST_CASE("every elementwise op, reduction and scan is defined by a section") {
  for (int i = 0; i < ir::op_count; ++i) {
    const auto op = static_cast<ir::Op>(i);
    if (!ir::is_elementwise(op) && !ir::is_reduction(op) && !ir::is_scan(op)) continue;
    CAPTURE(ir::info(op).name);
    const auto sections = sections_of(op, DType::f32);
    REQUIRE(sections.size() == 1);
    CHECK(section(sections[0]).text.find(ir::info(op).name) != std::string_view::npos);
  }
  CHECK_THROWS_AS(sections_of(ir::Op::reshape, DType::f32), InternalError);
}

TEST_CASE("sections stand after what they need") {
  std::vector<std::string_view> seen;
  for (const Section& each : all_sections()) {
    for (auto need : each.needs) {
      CAPTURE(each.name);
      CHECK(std::find(seen.begin(), seen.end(), need) != seen.end());
    }
    CHECK(each.text.find("//!") == std::string_view::npos);
    seen.push_back(each.name);
  }
}

TEST_CASE("a kernel takes only the sections that it uses") {
  const auto names = close_over_needs({"arithmetic"});
  CHECK(names == std::vector<std::string>{"core", "arithmetic"});
  std::size_t lines = 0;
  for (const auto& name : names) {
    const auto text = section(name).text;
    lines += static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }
  CHECK(lines < 120);
  CHECK(close_over_needs({"logaddexp", "exp", "logaddexp"}) ==
        std::vector<std::string>{"core", "bits", "math", "vector_math", "double_math",
                                 "double_exponential", "exp", "log1p", "logaddexp"});
  CHECK(sections_of(ir::Op::exp, DType::bf16) == std::vector<std::string>{"bfloat16", "exp"});
}

TEST_CASE("sections of the host are left out of a GPU's kernels, and what only they need") {
  const std::vector<std::string> exp = {"exp"};
  CHECK(library_sections().close_over_needs(exp, Side::device) ==
        std::vector<std::string>{"core", "math", "exp"});
  CHECK(library_sections().close_over_needs(exp, Side::host) ==
        std::vector<std::string>{"core", "bits", "math", "vector_math", "double_math",
                                 "double_exponential", "exp"});
}

TEST_CASE("complex operands have sections of their own where operators do not do") {
  CHECK(sections_of(ir::Op::add, DType::c64) == std::vector<std::string>{"complex", "arithmetic"});
  CHECK(sections_of(ir::Op::exp, DType::c128) ==
        std::vector<std::string>{"complex", "complex_exp"});
  CHECK(sections_of(ir::Op::sum, DType::c64) == std::vector<std::string>{"complex", "reduce_sum"});
  for (const auto& name : close_over_needs({"arithmetic", "exp", "reduce_max", "cast", "power"})) {
    CHECK_MESSAGE(!name.starts_with("complex"), name);
  }
}

TEST_CASE("half has functions of its own beside the general ones, which no other kernel carries") {
  CHECK(sections_of(ir::Op::exp, DType::f16) == std::vector<std::string>{"half", "half_exp"});
  CHECK(sections_of(ir::Op::power, DType::f16) == std::vector<std::string>{"half", "power"});
  for (const Section& each : all_sections()) {
    for (auto op : each.defines_half) {
      CAPTURE(op);
      const Section* general = library_sections().defining(op);
      REQUIRE(general != nullptr);
      CHECK(std::ranges::find(each.needs, general->name) != each.needs.end());
      for (const auto& name : close_over_needs({std::string(general->name)})) {
        CHECK_MESSAGE(!name.starts_with("half"), name);
      }
    }
  }
}

TEST_CASE("a table of files splits them and checks what they need") {
  const std::array<EmbeddedText, 1> files = {{{"a.h",
                                               "#pragma once\n"
                                               "//! section late needs early\n"
                                               "//! defines x y\n"
                                               "//! defines_complex x\n"
                                               "//! defines_half y\n"
                                               "int late;\n"
                                               "\n"
                                               "//! section early\n"
                                               "int early;\n"}}};
  const SectionTable table(files);
  REQUIRE(table.all().size() == 2);
  CHECK(table.all()[0].name == "early");
  CHECK(table.all()[1].text == "int late;\n");
  CHECK(table.defining("y") == &table.find("late"));
  CHECK(table.defining("z") == nullptr);
  CHECK(table.defining("x", Operands::complex) == &table.find("late"));
  CHECK(table.defining("y", Operands::complex) == nullptr);
  CHECK(table.defining("y", Operands::half) == &table.find("late"));
  CHECK(table.defining("x", Operands::half) == nullptr);
  CHECK_THROWS_AS(table.find("none"), InternalError);

  const auto rejects = [](std::string_view text) {
    const std::array<EmbeddedText, 1> bad = {{{"a.h", text}}};
    CHECK_THROWS_AS(SectionTable{bad}, InternalError);
  };
  rejects("//! section a needs b\n");
  rejects("//! section a needs b\n//! section b needs a\n");
  rejects("//! section a\n//! section a\n");
  rejects("//! section a\n//! defines x\n//! section b\n//! defines x\n");
}

}  // namespace
}  // namespace heddle::codegen
