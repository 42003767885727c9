// Files of every format that are damaged, or made by an attacker: reading them gives what they hold
// or one of Heddle's errors, soon; and with a key set no code that it has not signed is loaded.
//
// HEDDLE_MUTATION_COUNT says how many files (CI: 4,000), HEDDLE_MUTATION_FIRST the first one's
// number, which a failure names. Machine code of a changed file is never run: readers stop before
// it.

#include <csignal>
#include <cstdlib>
#include <map>
#include <unistd.h>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "heddle/error.h"
#include "heddle/settings.h"

#include "runtime/base/temporary_folder.h"
#include "runtime/cache/signature.h"
#include "runtime/cache/store.h"
#include "tests/files/formats.h"
#include "tests/files/mutate.h"

using namespace heddle;
using namespace heddle::test;

namespace {

namespace cache = runtime::cache;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

std::uint64_t first() { return number_from("HEDDLE_MUTATION_FIRST", 0); }
std::uint64_t count() { return number_from("HEDDLE_MUTATION_COUNT", 4000); }

/// Ends the process, with the file's number, where one takes longer than this.
constexpr unsigned seconds_of_one = 20;
volatile std::uint64_t current = 0;

void tell_hang(int) {
  const std::string text = fmt::format("file {} takes too long\n", current);
  _exit(write(STDERR_FILENO, text.data(), text.size()) > 0 ? 1 : 2);
}

struct Mutated {
  const Format* format;
  bool mended = false;
  std::string original, bytes;
};

/// The changed file of a number.
Mutated mutated(const std::vector<Format>& formats, std::uint64_t number) {
  const Format& format = formats[number % formats.size()];
  Mutator mutate(number);
  Random& random = mutate.random();
  const Format& other = formats[random.below(formats.size())];
  Mutated made{&format, format.mend != nullptr && random.below(2) == 0, {}, {}};
  made.original = format.good[random.below(format.good.size())];
  made.bytes = mutate(made.original, other.good[random.below(other.good.size())]);
  if (made.mended) made.bytes = format.mend(std::move(made.bytes));
  return made;
}

enum class Outcome { read, refused, foreign };

Outcome outcome_of(const Mutated& file, const std::string& path) {
  try {
    return file.format->read(path, file.bytes) ? Outcome::read : Outcome::refused;
  } catch (const Error&) {
    return Outcome::refused;
  } catch (const std::exception& error) {
    FAIL_CHECK("threw ", error.what());
  } catch (...) {
    FAIL_CHECK("threw something else");
  }
  return Outcome::foreign;
}

}  // namespace

TEST_CASE("a good file of each format is read") {
  set_device("cpu");
  const runtime::TemporaryFolder folder;
  for (const Format& format : make_formats()) {
    CAPTURE(format.name);
    for (const std::string& bytes : format.good) {
      CHECK(format.read(folder.path() + "/file", bytes));
      if (format.mend == nullptr) continue;
      CHECK(format.mend(bytes) == bytes);
      CHECK(format.read(folder.path() + "/file", format.mend(bytes)));
    }
  }
}

TEST_CASE("changed files of every format are read or refused, and nothing else happens") {
  set_device("cpu");
  const CapturedLog log;
  const runtime::TemporaryFolder folder;
  const std::vector<Format> formats = make_formats();
  std::map<std::string, std::array<std::uint64_t, 3>> outcomes;
  const auto before = std::signal(SIGALRM, tell_hang);
  for (std::uint64_t number = first(); number < first() + count(); ++number) {
    const Mutated file = mutated(formats, number);
    INFO("HEDDLE_MUTATION_FIRST=", number, ", ", file.format->name);
    current = number;
    alarm(seconds_of_one);
    const Outcome outcome = outcome_of(file, folder.path() + "/file");
    // A checksum tells of every change.
    const bool is_summed = file.format->name.ends_with("entry") && !file.mended;
    if (is_summed && file.bytes != file.original) CHECK(outcome == Outcome::refused);
    const std::string name = file.format->name + (file.mended ? ", checksums right" : "");
    ++outcomes[name][static_cast<std::size_t>(outcome)];
  }
  alarm(0);
  std::signal(SIGALRM, before);
  std::string table;
  for (const auto& [name, counts] : outcomes) {
    table += fmt::format("\n{:36} {:6} read, {:6} refused", name, counts[0], counts[1]);
    CHECK(counts[2] == 0);
    // Otherwise nothing beyond the checksums would have been tried.
    if (count() >= 4000) CHECK(counts[1] > 0);
  }
  MESSAGE(count(), " files", table);
}

TEST_CASE("with a key set no changed file with code is loaded") {
  const std::string key = "HEDDLE_CACHE_KEY=" + std::string(64, 'a');
  const auto result = run_child("child: changed files with a key", {key});
  CHECK_MESSAGE(result.status == 0, result.output);
}

TEST_CASE("child: changed files with a key" * doctest::skip()) {
  set_device("cpu");
  const CapturedLog log;
  const runtime::TemporaryFolder folder;
  const std::string path = folder.path() + "/file";
  const cache::Signer& signer = *cache::Signer::global();
  std::vector<Format> formats = make_formats();
  std::erase_if(formats, [](const Format& format) { return !format.holds_code; });
  const std::uint64_t tried = std::max<std::uint64_t>(count() / 4, 500);
  std::uint64_t refused = 0, same = 0;
  for (std::uint64_t number = first(); number < first() + tried; ++number) {
    Mutated file = mutated(formats, number);
    INFO("HEDDLE_MUTATION_FIRST=", number, ", ", file.format->name);
    // What was changed without the key: the content behind a signature, the signed file, or all
    // of it, unsigned.
    const std::string content(*cache::opened(nullptr, file.original));
    const std::string good = signer.sign(content);
    Mutator mutate(number + (1ULL << 32U));
    const std::string changed = mutate(content, good);
    const std::string mended = file.format->mend(changed);
    for (const std::string& bytes :
         {good.substr(0, cache::signature_bytes) + mended, mended, mutate(good, content)}) {
      if (bytes == good) {
        ++same;
        continue;
      }
      CHECK_FALSE(signer.open(bytes));
      cache::StoreOptions options;
      options.directory = folder.path() + "/cache";
      options.signer = &signer;
      cache::Store store(options);
      const auto text = cache::peek_key_text(content, content.size());
      if (text) {
        const cache::Key own{ir::Hasher().bytes(*text).finish(), *text};
        store.save(own, cache::PayloadKind::program, "{}", "");  // makes the folders
        write_text(store.path_of(own), bytes);
        CHECK_FALSE(store.load(own));
      } else {
        CHECK_THROWS_AS(file.format->read(path, bytes), TrustError);
      }
      ++refused;
    }
  }
  CHECK(refused > tried);
  MESSAGE(tried, " files with a key: ", refused, " refused, ", same, " unchanged");
}
