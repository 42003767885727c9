#include <cstdint>
#include <string>

#include <doctest/doctest.h>

#include "runtime/cache/difference.h"
#include "runtime/cache/entry.h"
#include "runtime/cache/key.h"
#include "tests/runtime/helpers.h"

using namespace heddle;
using namespace heddle::runtime::cache;

namespace {

Entry sample() {
  return {.kind = PayloadKind::cubin,
          .key_text = "5:field=5:value\n",
          .facts = R"({"registers":32})",
          .payload = std::string("\0\1\2binary\377", 10)};
}

}  // namespace

TEST_CASE("an entry reads back") {
  const std::string bytes = encode(sample());
  CHECK(bytes.size() ==
        header_bytes + sample().key_text.size() + sample().facts.size() + sample().payload.size());
  const auto entry = decode(bytes);
  REQUIRE(entry);
  CHECK(entry->kind == sample().kind);
  CHECK(entry->key_text == sample().key_text);
  CHECK(entry->facts == sample().facts);
  CHECK(entry->payload == sample().payload);
  CHECK(decode(encode(Entry{})));
}

TEST_CASE("an entry that is cut short anywhere, or longer, is none") {
  const std::string bytes = encode(sample());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    CHECK_FALSE(decode(bytes.substr(0, length)));
  }
  CHECK_FALSE(decode(bytes + "x"));
}

TEST_CASE("an entry with any one bit flipped is none") {
  const std::string bytes = encode(sample());
  for (std::size_t i = 0; i < bytes.size() * 8; ++i) {
    std::string flipped = bytes;
    flipped[i / 8] = static_cast<char>(flipped[i / 8] ^ (1 << (i % 8)));
    CHECK_FALSE(decode(flipped));
  }
}

TEST_CASE("sizes in a header that are absurd allocate nothing") {
  std::string bytes = encode(sample());
  for (const std::size_t field : {16, 24, 32}) {
    std::string absurd = bytes;
    absurd.replace(field, 8, "\377\377\377\377\377\377\377\377");
    CHECK_FALSE(decode(absurd));
    CHECK_FALSE(peek_key_text(absurd, absurd.size()));
  }
}

TEST_CASE("random bytes are no entry") {
  test::Random random(1);
  for (int i = 0; i < 1000; ++i) {
    std::string bytes = i % 2 == 0 ? encode(sample()).substr(0, 16) : std::string();
    for (std::uint64_t k = random.below(200); k > 0; --k) {
      bytes += static_cast<char>(random.below(256));
    }
    CHECK_FALSE(decode(bytes));
    CHECK_FALSE(peek_key_text(bytes, bytes.size()));
  }
}

TEST_CASE("the key text is read without the payload") {
  const std::string bytes = encode(sample());
  const std::size_t enough = header_bytes + sample().key_text.size();
  CHECK(peek_key_text(bytes.substr(0, enough), bytes.size()) == sample().key_text);
  CHECK_FALSE(peek_key_text(bytes.substr(0, enough - 1), bytes.size()));
}

TEST_CASE("fields of a key cannot run into each other, and read back") {
  const Key a = KeyBuilder().add("ab", "c").add("d", "").finish();
  const Key b = KeyBuilder().add("a", "bc").add("d", "").finish();
  const Key c = KeyBuilder().add("ab", "c\n1:d=0:").finish();
  CHECK(a.text != b.text);
  CHECK_FALSE(a.hash == b.hash);
  CHECK(a.text != c.text);
  const auto fields = parse_key(c.text);
  REQUIRE(fields.size() == 1);
  CHECK(fields[0].first == "ab");
  CHECK(fields[0].second == "c\n1:d=0:");
  for (const char* wrong :
       {"x", "3:ab", "1:a", "1:a=", "1:a=9:b", "1:a=1:b", "99999999999999999999:"}) {
    CHECK(parse_key(wrong).empty());
  }
}

TEST_CASE("the fields in which two keys differ are named") {
  const Key a = KeyBuilder().add("graph", "g").add("target", "sm_90").add("strict", 0).finish();
  const Key b = KeyBuilder().add("graph", "g").add("target", "sm_80").add("width", 32).finish();
  std::vector<std::string> texts;
  for (const FieldDifference& each : differences(a.text, b.text)) texts.push_back(each.to_string());
  CHECK(texts == std::vector<std::string>{"target (expected 'sm_90', found 'sm_80')",
                                          "strict (missing)", "width (not expected, but present)"});
  CHECK(differences(a.text, a.text).empty());
  CHECK(a.hash ==
        KeyBuilder().add("graph", "g").add("target", "sm_90").add("strict", 0).finish().hash);
}

TEST_CASE("how two keys differ is shown where they do") {
  const auto told = [](std::string_view wanted, std::string_view found) {
    const Key a = KeyBuilder().add("graph", wanted).finish();
    const Key b = KeyBuilder().add("graph", found).finish();
    const std::vector<FieldDifference> all = differences(a.text, b.text);
    REQUIRE(all.size() == 1);
    return all[0].to_string();
  };
  CHECK(told("sm_90 l2=large clusters=16", "sm_90 l2=small clusters=16") ==
        "graph (expected '...large...', found '...small...')");
  CHECK(told("a\nx = f32[8,64]\nend\n", "a\nx = f32[16,64]\nend\n") ==
        "graph (line 2: expected '...8...', found '...16...')");
  CHECK(told("a\nb\n", "a\n") == "graph (line 2: expected 'b', found '')");
  CHECK(told("", "a") == "graph (expected '', found 'a')");
  const std::string many(300, 'x');
  CHECK(told(many, "y") == "graph (expected '" + std::string(80, 'x') + "...', found 'y')");
}

TEST_CASE("fields of one name are compared in order") {
  const Key a = KeyBuilder().add("source", "a").add("source", "b").finish();
  const Key b = KeyBuilder().add("source", "a").add("source", "c").add("source", "d").finish();
  const std::vector<FieldDifference> all = differences(a.text, b.text);
  REQUIRE(all.size() == 2);
  CHECK(all[0].wanted == "b");
  CHECK(all[0].found == "c");
  CHECK_FALSE(all[1].wanted);
}
