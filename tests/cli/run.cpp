#include <algorithm>
#include <cstdint>
#include <cstring>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tests/cli/command.h"

using namespace heddle::test;

namespace {

/// A .npy file of format 1.0.
std::string npy(const std::string& descriptor, const std::string& shape,
                const std::vector<double>& values) {
  std::string header =
      "{'descr': '" + descriptor + "', 'fortran_order': False, 'shape': " + shape + ", }";
  header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 11, ' ');
  header += '\n';
  std::string file = "\x93NUMPY\x01";
  file += '\0';
  file += static_cast<char>(header.size() & 0xff);
  file += static_cast<char>(header.size() >> 8);
  file += header;
  file.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
  return file;
}

/// The elements at the end of a .npy file of doubles.
std::vector<double> last_elements(const std::string& file, std::size_t count) {
  std::vector<double> values(count);
  REQUIRE(file.size() >= count * sizeof(double));
  std::memcpy(values.data(), file.data() + file.size() - count * sizeof(double),
              count * sizeof(double));
  return values;
}

}  // namespace

TEST_CASE("run reads arrays and scalars, and prints or saves its outputs") {
  const Folder folder;
  const std::string program = folder.write("scaled.hd", scaled);
  const std::string input = folder.write("x.npy", npy("<f8", "(2, 3)", {1, 2, 3, 4, 5, 6}));
  const CommandResult printed =
      heddle_command(folder, {"run", program, input, "0.5", "--device", "cpu"});
  CHECK(printed.error.empty());
  CHECK(printed.status == 0);
  CHECK(printed.out == "f64[2,3]\n[[0.5 1.  1.5]\n [2.  2.5 3. ]]\nf64[]\n10.5\n");

  const CommandResult saved = heddle_command(
      folder, {"run", program, input, "2", "--out", folder.path("out"), "--device", "cpu"});
  CHECK(saved.status == 0);
  CHECK(last_elements(folder.read("out/output0.npy"), 6) ==
        std::vector<double>{2, 4, 6, 8, 10, 12});
  CHECK(last_elements(folder.read("out/output1.npy"), 1) == std::vector<double>{42});
}

TEST_CASE("run refuses inputs that do not fit") {
  const Folder folder;
  const std::string program = folder.write("scaled.hd", scaled);
  const std::string input = folder.write("x.npy", npy("<f8", "(2, 3)", {1, 2, 3, 4, 5, 6}));
  const std::string flat = folder.write("flat.npy", npy("<f8", "(6,)", {1, 2, 3, 4, 5, 6}));
  const std::string integers = folder.write("i.npy", npy("<i8", "(2, 3)", {1, 2, 3, 4, 5, 6}));
  const std::vector<std::vector<std::string>> all_wrong = {{program, flat, "1"},
                                                           {program, integers, "1"},
                                                           {program, input, "one"},
                                                           {program, input, "1", input}};
  for (const std::vector<std::string>& arguments : all_wrong) {
    std::vector<std::string> words{"run", "--device", "cpu"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    const CommandResult result = heddle_command(folder, words);
    CHECK(result.status == 1);
    CHECK(result.error.starts_with("heddle: "));
    CHECK(result.out.empty());
  }
}

TEST_CASE("random inputs are the same for a seed, and runs are timed") {
  const Folder folder;
  const std::string program = folder.write("softmax.hd", softmax);
  const std::vector<std::string> words{"run",    program, "--random", "7",
                                       "--size", "n=5",   "--device", "cpu"};
  const CommandResult first = heddle_command(folder, words);
  CHECK(first.status == 0);
  CHECK(first.out.starts_with("f32[5,64]\n"));
  CHECK(first.out == heddle_command(folder, words).out);

  std::vector<std::string> timed = words;
  timed.insert(timed.end(), {"--repeat", "3", "--json"});
  const CommandResult json = heddle_command(folder, timed);
  CHECK(json.status == 0);
  const auto report = nlohmann::json::parse(json.out);
  CHECK(report.at("device") == "cpu");
  CHECK(report.at("kernels") == 1);
  CHECK(report.at("runs") == 3);
  CHECK(report.at("microseconds").at("best").get<double>() > 0);
}

TEST_CASE("run --profile tells phases and kernels, and --trace saves what happened when") {
  const Folder folder;
  const std::string program = folder.write("softmax.hd", softmax);
  const std::vector<std::string> words = {"run",
                                          program,
                                          "--random",
                                          "1",
                                          "--size",
                                          "n=10",
                                          "--device",
                                          "cpu",
                                          "--profile",
                                          "--trace",
                                          folder.path("trace.json")};
  const CommandResult cold = heddle_command(folder, words);
  CHECK(cold.status == 0);
  CHECK(cold.error.find("(compiled)") != std::string::npos);
  const CommandResult warm = heddle_command(folder, words);
  CHECK(warm.out == cold.out);
  CHECK(warm.error.find("softmax (disk)") != std::string::npos);
  CHECK(warm.error.find("(compiled)") == std::string::npos);
  const auto trace = nlohmann::json::parse(folder.read("trace.json"));
  std::string kernel;
  for (const auto& event : trace.at("traceEvents")) {
    if (event.value("cat", "") != "kernel") continue;
    kernel = event.at("name");
    CHECK(event.at("args").at("lines").at(0).get<std::string>().find("softmax.hd:2") !=
          std::string::npos);
  }
  CHECK(kernel.starts_with("hd_max_subtract_exp_sum_divide_f32_"));
  CHECK(warm.error.find(kernel) != std::string::npos);
  // The same name in the text of the kernel, and in what the cache holds.
  const auto shown = heddle_command(folder, {"cuda", program, "--target", "x86-64-v3"});
  CHECK(shown.out.find("hd_max_subtract_exp_sum_divide_f32_") != std::string::npos);

  std::vector<std::string> as_json = words;
  as_json.push_back("--json");
  const auto report = nlohmann::json::parse(heddle_command(folder, as_json).out);
  CHECK(report.at("profile").at("kernels").at(0).at("name") == kernel);
  CHECK(report.at("profile").at("kernels").at(0).at("count") == 1);
}

TEST_CASE("run names the line that a size has no meaning for") {
  const Folder folder;
  const std::string program = folder.write("last.hd", R"(func @last(%0: f32[n]) -> f32[5] {
  // five from the end
  %1 = slice %0 starts=[n-5] steps=[1] : f32[5]
  return %1
})");
  const auto run = [&](const std::string& path, const char* size) {
    return heddle_command(folder,
                          {"run", path, "--random", "1", "--size", size, "--device", "cpu"});
  };
  CHECK(run(program, "n=5").out.starts_with("f32[5]\n"));
  const CommandResult short_run = run(program, "n=3");
  CHECK(short_run.status == 1);
  CHECK(short_run.out.empty());
  CHECK(short_run.error ==
        "heddle: last with n=3: slice(float32[n]): start n-5 step 1 extent 5 is out of bounds for "
        "axis "
        "0 of extent n "
        "(" +
            program + ":3)\n");

  const std::string less = folder.write("less.hd", R"(func @less(%0: f32[n-5]) -> f32[n-5] {
  return %0
})");
  const CommandResult negative = run(less, "n=3");
  CHECK(negative.status == 1);
  CHECK(negative.error ==
        "heddle: input 0 (f32[n-5]) would be f32[-2]: pass other values to --size\n");
}

TEST_CASE("doctor reports the machine") {
  const Folder folder;
  const CommandResult text = heddle_command(folder, {"doctor"});
  CHECK(text.status == 0);
  CHECK(text.out.find("default device") != std::string::npos);
  CHECK(text.out.find(folder.path("cache")) != std::string::npos);
  for (const char* library :
       {"OpenBLAS", "NVRTC", "cuBLAS ", "cuBLASLt", "cuRAND", "Highway", "libzip"}) {
    CHECK_MESSAGE(text.out.find(library) != std::string::npos, library);
  }

  const CommandResult off = heddle_command(
      folder, {"doctor", "--json"},
      {"HEDDLE_CACHE=0", "PATH=/nonexistent",
       "HEDDLE_DEVICE=", "CUDA_VISIBLE_DEVICES=", "HEDDLE_CUDA_DRIVER=/nonexistent/libcuda.so"});
  CHECK(off.status == 0);
  const auto findings = nlohmann::json::parse(off.out).at("findings");
  for (const char* name : {"cache", "C++ compiler", "GPU", "cuBLAS", "cuBLASLt"}) {
    CAPTURE(name);
    const auto found = std::find_if(findings.begin(), findings.end(),
                                    [&](const auto& one) { return one.at("name") == name; });
    REQUIRE(found != findings.end());
    CHECK(found->at("found") == false);
    CHECK_FALSE(found->at("advice").template get<std::string>().empty());
  }
  // Every search, with all places in the order in which they were tried.
  const auto searches = nlohmann::json::parse(off.out).at("searches");
  const auto driver = std::find_if(searches.begin(), searches.end(), [](const auto& one) {
    return one.at("library").template get<std::string>().starts_with("the CUDA driver");
  });
  REQUIRE(driver != searches.end());
  CHECK(driver->at("path") != "/nonexistent/libcuda.so");
  CHECK(driver->at("places").at(0).at("place") == "/nonexistent/libcuda.so");

  // A library that lacks functions is named with them and with what to do.
  const CommandResult odd =
      heddle_command(folder, {"doctor"}, {"HEDDLE_OPENBLAS=libm.so.6", "HEDDLE_DEVICE=cpu"});
  CHECK(odd.out.find("is too old: it lacks cblas_sgemm") != std::string::npos);
  CHECK(odd.out.find("Install OpenBLAS (apt install") != std::string::npos);
}

TEST_CASE("a program whose kernel does not compile comes with all that fails again") {
  const Folder folder;
  const std::string program = folder.write("scaled.hd", scaled);
  const std::string compiler =
      folder.write("compiler",
                   "#!/bin/sh\n[ \"$1\" = --version ] && { echo 'fake 1.0'; exit 0; }\n"
                   "echo 'error: no such weather'; exit 3\n");
  std::filesystem::permissions(compiler, std::filesystem::perms::owner_all);
  const std::vector<std::string> words = {"run", program, "--random", "1", "--device", "cpu"};
  const std::vector<std::string> variables = {"HEDDLE_CXX=" + compiler};
  const CommandResult failed = heddle_command(folder, words, variables);
  CHECK(failed.status == 1);
  CHECK(failed.error.find("scaled.hd:2 multiply") != std::string::npos);
  std::string reproducer;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path("cache/reproducers")))
    reproducer = entry.path().string();
  REQUIRE(failed.error.find("sh '" + reproducer + "/reproduce.sh'") != std::string::npos);
  // The command of the error, in the reproducer's folder, with this heddle.
  const std::string lead = "in that folder heddle ";
  const std::size_t at = failed.error.find(lead);
  REQUIRE(at != std::string::npos);
  const std::string rest = failed.error.substr(at + lead.size());
  const std::string again = "cd '" + reproducer + "' && HEDDLE_CXX='" + compiler +
                            "' '" HEDDLE_COMMAND "' " + rest.substr(0, rest.find('\n')) + " >'" +
                            folder.path("again") + "' 2>&1";
  CHECK(std::system(again.c_str()) != 0);
  CHECK(folder.read("again").find("error: no such weather") != std::string::npos);
}

TEST_CASE("a kernel has one name in sources, dumps, the cache, explain and traces") {
  const Folder folder;
  const std::string program = folder.write("scaled.hd", scaled);
  std::filesystem::create_directories(folder.path("dumps"));
  const std::vector<std::string> words = {
      "run", program, "--random", "1", "--device", "cpu", "--trace", folder.path("trace.json")};
  REQUIRE(heddle_command(folder, words, {"HEDDLE_LINE_INFO=1"}).status == 0);
  REQUIRE(heddle_command(
              folder, words,
              {"HEDDLE_DUMP=all", "HEDDLE_DUMP_DIR=" + folder.path("dumps"), "HEDDLE_CACHE=0"})
              .status == 0);
  const auto trace = nlohmann::json::parse(folder.read("trace.json"));
  std::vector<std::string> kernels;
  for (const auto& event : trace.at("traceEvents")) {
    if (event.value("cat", "") == "kernel" && event.at("name") != "fill_bytes")
      kernels.push_back(event.at("name"));
  }
  REQUIRE(!kernels.empty());
  std::string dumps;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path("dumps")))
    dumps += entry.path().filename().string() + "\n";
  const std::string explained =
      heddle_command(folder, {"explain", program}, {"HEDDLE_DEVICE=cpu"}).out;
  for (const std::string& kernel : kernels) {
    CHECK(dumps.find("-host-" + kernel + ".txt") != std::string::npos);
    CHECK(dumps.find("-plan-" + kernel + ".txt") != std::string::npos);
    const std::string source = folder.read("cache/sources/" + kernel + ".cpp");
    CHECK(source.find("void " + kernel + "(") != std::string::npos);
    const auto entry =
        nlohmann::json::parse(heddle_command(folder, {"cache", "show", kernel, "--json"}).out);
    CHECK(entry.at("kind") == "program");
    std::ifstream file(entry.at("path").get<std::string>(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    // Of line info, which tells folders and files apart, after the key.
    CHECK(bytes.find(std::string(1, 0) + folder.path("cache/sources") + std::string(1, 0)) !=
          std::string::npos);
    CHECK(bytes.find(kernel + ".cpp") != std::string::npos);
    CHECK(heddle_command(folder, {"cache", "ls"}).out.find(kernel) != std::string::npos);
  }
  CHECK(explained.find(kernels[0]) != std::string::npos);
}
