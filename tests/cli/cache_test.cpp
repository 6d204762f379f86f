// mfga train with the rows on disk: the same model, to the last bit.
#include <sys/resource.h>

#include <csignal>
#include <filesystem>

#include "cli/tool.hpp"

namespace mfga {
namespace {

class CacheCommand : public ToolTest {
 protected:
  // Trains twice, with the rows in memory and on disk, and compares the models.
  void expect_same_model(const std::string& table, Arguments options, const std::string& same_rows = "") {
    Arguments arguments = {"train", same_rows.empty() ? table : same_rows};
    arguments.insert(arguments.end(), options.begin(), options.end());
    Arguments in_memory = arguments;
    in_memory.insert(in_memory.end(), {"--model", path("memory.json")});
    arguments[1] = table;
    arguments.insert(arguments.end(), {"--cache", path(""), "--model", path("disk.json")});
    const Json expected = run_json(in_memory);
    const Json found = run_json(arguments);
    EXPECT_EQ(content("disk.json"), content("memory.json")) << table;
    EXPECT_EQ(found.at("train"), expected.at("train"));
    EXPECT_EQ(found.at("test"), expected.at("test"));
    EXPECT_NE(found.at("remarks").dump().find("rows are kept on disk"), std::string::npos) << found.dump();
  }
};

// Numbers with decimals, a text, missing values, a weight and a group; the target is a number, or one of so
// many labels.
std::string mixed_csv(std::size_t rows, std::size_t labels = 0) {
  const char* const kinds[] = {"red", "\"dark, blue\"", "", "green", "rare"};
  std::string text = "a,b,kind,c,w,g,y\n";
  std::size_t n = 0;
  for (const SmallRow& row : small_rows(rows, 7)) {
    const std::size_t kind = n % 100 == 7 ? 4 : n * n % 7 % 4;
    const double signal = row.signal() + static_cast<double>(kind);
    text +=
        fmt::format("{:.4f},{},{},{:.17g},{},{},", row.a, n % 11 == 3 ? "NA" : fmt::format("{:.2f}", row.b),
                    kinds[kind], row.c, 1 + n % 3, n / 5);
    text += labels == 0 ? fmt::format("{:.5f}\n", signal)
                        : fmt::format("class{}\n", static_cast<std::size_t>(std::abs(signal) * 1.3) % labels);
    ++n;
  }
  return text;
}

TEST_F(CacheCommand, LearnsTheSameModel) {
  const std::string numbers = write(mixed_csv(1300), "numbers.csv");
  const Arguments columns = {"--ignore", "w,g"};
  const auto with = [&](Arguments more) {
    more.insert(more.end(), columns.begin(), columns.end());
    return more;
  };
  expect_same_model(numbers, columns);  // with all that the defaults choose and tune
  expect_same_model(numbers, {"--weight", "w", "--group", "g", "--terms", "5", "--test-fraction", "0.2"});
  expect_same_model(numbers, with({"--scale", "quantile", "--terms", "4", "--tune", "no", "--ridge", "cv"}));
  expect_same_model(numbers, with({"--target", "y,c", "--terms", "4", "--tune", "no"}));
  expect_same_model(write(mixed_csv(700, 3), "classes.csv"), with({"--terms", "4", "--tune", "no"}));
  expect_same_model(write(mixed_csv(700, 2), "two.csv"),
                    with({"--terms", "4", "--class-weights", "balanced"}));
}

TEST_F(CacheCommand, LearnsTheSameModelFromAnyFile) {
  const std::string text = mixed_csv(1300);
  const std::string csv = write(text, "numbers.csv");
  const Arguments options = {"--ignore", "w,g", "--terms", "4", "--tune", "no"};
  expect_same_model(write(compress(text), "numbers.csv.gz"), options, csv);
  std::filesystem::create_directory(path("parts"));
  const std::string header = text.substr(0, text.find('\n') + 1);
  const std::size_t middle = text.find('\n', text.size() / 3) + 1;
  static_cast<void>(write(text.substr(0, middle), "parts/1.csv"));
  static_cast<void>(write(compress(header + text.substr(middle)), "parts/2.csv.gz"));
  expect_same_model(path("parts"), options, csv);
  expect_same_model(path("parts/*.csv*"), options, csv);

  std::string libsvm;
  std::string npy_rows;
  for (const SmallRow& row : small_rows(900))
    libsvm += fmt::format("{:.6f} 1:{:.3f} 3:{:.17g}\n", row.signal(), row.a, row.c);
  expect_same_model(write(libsvm, "rows.svm"), {"--terms", "4", "--tune", "no"});
  // Dimensions in the header of a file with 900 rows of 4 numbers.
  std::string npy = "\x93NUMPY";
  std::string header_of_npy = "{'descr': '<f8', 'fortran_order': False, 'shape': (900, 4), }";
  header_of_npy.append(117 - header_of_npy.size(), ' ');
  header_of_npy += '\n';
  npy += std::string("\x01\x00\x76\x00", 4) + header_of_npy;
  for (const SmallRow& row : small_rows(900)) {
    const double values[] = {row.a, row.b, row.c, row.signal()};
    npy.append(reinterpret_cast<const char*>(values), sizeof(values));  // NOLINT
  }
  expect_same_model(write(npy, "rows.npy"), {"--terms", "4", "--tune", "no"});
}

TEST_F(CacheCommand, GoesThereByItselfAndLeavesNothing) {
  std::string text = "a,b,c,d,e,f,g,h,i,j,k,l,y\n";
  for (int n = 0; n < 3000; ++n) {  // 281 KiB of numbers
    for (int j = 1; j <= 12; ++j) text += fmt::format("{},", n * j % (7 + j));
    text += fmt::format("{}\n", n % 8 + n % 9);
  }
  const std::string csv = write(text, "table.csv");
  const auto report = [&](const std::string& limit) {
    return run_json({"train", csv, "--features", "linear", "--terms", "3", "--memory-limit", limit})
        .at("remarks")
        .dump();
  };
  EXPECT_NE(report("0.4").find("rows are kept on disk"), std::string::npos);
  EXPECT_EQ(report("1").find("rows are kept on disk"), std::string::npos);
  const std::string refused = run_refused({"train", csv, "--features", "linear", "--memory-limit", "0.15"});
  EXPECT_NE(refused.find("each of 3000 rows"), std::string::npos) << refused;
  std::filesystem::create_directory(path("cache"));
  run_well({"train", csv, "--features", "linear", "--cache", path("cache"), "--quiet"});
  EXPECT_TRUE(std::filesystem::is_empty(path("cache")));
  const std::string message = run_refused({"train", csv, "--cache", path("none")});
  EXPECT_NE(message.find("none: cannot keep a table there"), std::string::npos) << message;
}

TEST_F(CacheCommand, SaysThatTheDiskIsFull) {
  const std::string csv = write(regression_csv(3000), "table.csv");
  std::filesystem::create_directory(path("cache"));
  // A limit on the size of files, which the tool inherits, stands for a full disk.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limited = before;
  limited.rlim_cur = 20'000;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limited), 0);
  const ToolResult result = run({"train", csv, "--cache", path("cache"), "--model", path("model.json")});
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_NE(result.err.find("cannot keep the table there"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("--cache"), std::string::npos) << result.err;
  EXPECT_TRUE(std::filesystem::is_empty(path("cache")));
  EXPECT_FALSE(std::filesystem::exists(path("model.json")));
}

}  // namespace
}  // namespace mfga
