// Bad data through the tool: where it is, what it is, exit code 2, and no file that was not there before.
#include "cli/tool.hpp"

namespace mfga {
namespace {

using namespace std::string_literals;

class BadData : public ToolTest {
 protected:
  // Trains on the file, with and without an older model in place; returns the message.
  std::string refused(const std::string& name, const std::string& bytes, const Arguments& more = {}) {
    const std::string file = write(bytes, name);
    std::string first;
    for (const bool has_older : {false, true}) {
      std::filesystem::remove(path("m.json"));
      if (has_older) (void)write("older", "m.json");
      const std::vector<std::string> before = files();
      Arguments arguments = {"train", "--train", file, "--model", path("m.json"), "--json"};
      arguments.insert(arguments.end(), more.begin(), more.end());
      std::string message = run_refused(arguments);
      EXPECT_EQ(files(), before);
      EXPECT_EQ(content("m.json"), has_older ? "older" : "");
      if (!has_older) first = message;
      EXPECT_EQ(message, first);
    }
    return first;
  }
};

TEST_F(BadData, RaggedRow) {
  expect_message(refused("t.csv", "a,b,y\n1,2,3\n4,5\n7,8,9\n"), {"t.csv:3:2: ", "3 fields", "found 2"});
  expect_message(refused("t.csv", "a,b,y\n1,2,3\n4,5,6,7\n"), {"t.csv:3:4: ", "3 fields", "found 4"});
}

TEST_F(BadData, TextInANumericColumn) {
  expect_message(refused("t.csv", "a,b,y\n1,2,3\n1,red,3\n1,2,3\n"),
                 {"t.csv:3:2: ", "\"red\"", "\"b\"", "expected a number", "--ignore b"});
}

TEST_F(BadData, ValuesThatAreMissingOrNotFinite) {
  const Arguments strictly = {"--missing", "error"};
  for (const std::string value : {"inf", "-inf", "1e999"}) {
    expect_message(refused("t.csv", "a,b,y\n1,2,3\n1," + value + ",3\n1,2,3\n"),
                   {"t.csv:3:2: ", value, "\"b\"", "finite number"});
  }
  expect_message(refused("t.csv", "a,b,y\n1,2,3\n1,nan,3\n1,2,3\n", strictly),
                 {"t.csv:3:2: ", "nan", "\"b\"", "finite number", "--missing auto"});
  expect_message(refused("t.csv", "a,b,y\n1,,3\n", strictly), {"t.csv:2:2: ", "an empty field", "\"b\""});
  expect_message(refused("t.csv", "a,b,y\n1,2,3\n1,2,\n"), {"t.csv:3:3: ", "empty", "target \"y\""});
  expect_message(refused("t.csv", "a,b,y\n1,2,3\n1,2,inf\n1,2,4\n"), {"t.csv:3:3: ", "inf", "target \"y\""});
}

TEST_F(BadData, TargetIsMissing) {
  expect_message(refused("t.csv", "a,b,c\n1,2,3\n", {"--target", "price"}),
                 {"--target", "t.csv", "\"price\"", "a, b, c"});
  expect_message(refused("t.csv", "a,b,c\n1,2,3\n", {"--target", "3"}), {"--target", "t.csv", "-3 to 2"});
}

TEST_F(BadData, DuplicateColumnNames) {
  expect_message(refused("t.csv", "a,b,a\n1,2,3\n"), {"t.csv:1:3: ", "columns 1 and 3", "\"a\""});
}

TEST_F(BadData, EmptyFile) {
  expect_message(refused("t.csv", ""), {"t.csv: ", "empty"});
  expect_message(refused("t.csv", "a,b,y\n"), {"t.csv: ", "header but no rows"});
}

TEST_F(BadData, BinaryFile) {
  expect_message(refused("t.csv", "a,b\n\0\1\2\n"s), {"t.csv: ", "binary file"});
  expect_message(refused("t.zip", "PK\3\4...."), {"t.zip: ", "binary file"});
  expect_message(refused("t.parquet", "PAR1\x15\4\x15\x10"),
                 {"t.parquet: ", "Parquet", "from Python", "as CSV"});
}

TEST_F(BadData, LibsvmIndices) {
  expect_message(refused("t", "1 1:2 2:3\n-1 0:1 2:2\n"), {"t:2:2: ", "\"0:1\"", "begin at 1"});
  expect_message(refused("t", "1 1:2 2:3\n-1 1:1\n1 3:1 2:2\n"), {"t:3:3: ", "\"2:2\"", "must rise"});
  expect_message(refused("t", "1 1:2\n-1 2:1 2:2\n"), {"t:2:3: ", "\"2:2\"", "same"});
  expect_message(refused("t", "1 1:2\n-1 1:one\n"), {"t:2:2: ", "\"one\"", "number"});
  expect_message(refused("t", "1 1:2\n-1 9:1\n", {"--n-features", "5"}), {"t:2:2: ", "\"9:1\"", "5"});
}

TEST_F(BadData, TooManyOrTooFewClasses) {
  expect_message(refused("t.csv", "a,y\n1,p\n2,q\n3,r\n4,p\n"),
                 {"t.csv: ", "target y", "3 classes", "p, q, r", "in 4 rows"});
  expect_message(refused("t.csv", "a,y\n1,1\n2,2\n3,3\n4,1\n", {"--task", "classification"}),
                 {"t.csv: ", "target y", "3 classes", "1, 2, 3", "--task regression"});
  expect_message(refused("t.csv", "a,y\n1,p\n2,p\n3,p\n4,p\n"),
                 {"t.csv: ", "target y", "1 class ", "p", "two"});
  expect_message(refused("t.csv", "a,y\n1,p\n2,q\n3,p\n", {"--task", "regression"}),
                 {"t.csv: ", "target y", "text such as \"p\"", "regression needs numbers"});
}

TEST_F(BadData, FewerRowsThanNeeded) {
  expect_message(refused("t.csv", "a,y\n1,2\n2,3\n"), {"t.csv: ", "2 training rows", "at least 3"});
  expect_message(refused("t.csv", "a,y\n1,2\n2,3\n3,4\n", {"--test-fraction", "0.5"}),
                 {"t.csv: ", "2 training rows", "at least 3"});
  expect_message(refused("t.csv", "a,y\n1,2\n2,3\n3,4\n", {"--test-fraction", "0.1"}),
                 {"0.1", "0 of 3 rows", "at least one row"});
}

TEST_F(BadData, NothingToLearnFrom) {
  expect_message(refused("t.csv", "a,y\n1,2\n1,3\n1,4\n"), {"t.csv: ", "every column is constant"});
  for (const Arguments& options : {Arguments{}, {"--preset", "paper"}, {"--method", "rks"}})
    expect_message(refused("t.csv", "a,y\n1,3\n2,3\n4,3\n", options),
                   {"t.csv: ", "y has the value 3 in every row"});
}

TEST_F(BadData, TargetsWhoseSquaresOverflow) {
  expect_message(refused("t.csv", "a,y\n1,3e200\n2,2e200\n4,1e200\n"),
                 {"t.csv: ", "target y", "3e+200", "Divide the target", "1e+200"});
}

TEST_F(BadData, BrokenGzip) {
  const std::string bytes = compress(regression_csv(500));
  expect_message(refused("t.csv.gz", bytes.substr(0, bytes.size() / 2)), {"t.csv.gz: ", "truncated"});
  std::string changed = bytes;
  changed[changed.size() / 2] = static_cast<char>(~changed[changed.size() / 2]);
  expect_message(refused("t.csv.gz", changed), {"t.csv.gz: ", "corrupt"});
}

TEST_F(BadData, NpyOfAnotherKind) {
  const auto npy = [](const std::string& descr, const std::string& order) {
    std::string header =
        fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': (4, 2), }}", descr, order);
    return "\x93NUMPY\1\0"s + static_cast<char>(header.size()) + '\0' + header + std::string(64, '\0');
  };
  expect_message(refused("t.npy", npy("<i8", "False")), {"t.npy: ", "dtype", "<i8", "float64"});
  expect_message(refused("t.npy", npy("<f8", "True")), {"t.npy: ", "Fortran order"});
}

TEST_F(BadData, FilesThatCannotBeRead) {
  expect_message(run_refused({"train", "--train", path("none.csv")}), {"none.csv", "No such file"});
  expect_message(run_refused({"train", "--train", path("")}), {path(""), "is a directory"});
}

TEST_F(BadData, InTheTestFile) {
  const std::string numbers = regression_csv(40);
  const auto refused_test = [&](const std::string& bytes) {
    return refused("t.csv", numbers, {"--test", write(bytes, "test.csv")});
  };
  expect_message(refused_test("a,b,y\n1,2,3\n"), {"test.csv", "1 of the model's 3 inputs", "missing: c"});
  expect_message(refused_test("a,b,c,z\n1,2,3,4\n"), {"test.csv", "no column \"y\""});
  expect_message(refused_test("a,b,c,y\n1,2,3,4\n1,2,x,4\n"), {"test.csv:3:3: ", "\"x\""});
  expect_message(refused_test(""), {"test.csv: ", "empty"});
  expect_message(refused("t.csv", classification_csv(40),
                         {"--test", write("a,b,c,y\n1,2,3,no\n1,2,3,what\n", "test.csv")}),
                 {"test.csv:3: ", "\"what\"", "\"no\"", "\"yes\""});
}

TEST_F(BadData, InAFileToPredict) {
  (void)run_well({"train", "--train", write(regression_csv(40)), "--model", path("m.json"), "--quiet"});
  const std::string file = write("a,b,c\n1,2,3\n1,2,\n", "new.csv");
  const std::vector<std::string> before = files();
  expect_message(run_refused({"predict", path("m.json"), file, "-o", path("out.csv"), "--missing", "error"}),
                 {"new.csv:3:3: ", "empty field", "\"c\""});
  expect_message(run_refused({"predict", path("m.json"), file, "--missing", "error"}), {"new.csv:3:3: "});
  expect_message(run_refused({"evaluate", path("m.json"), file, "--target", "c", "--json"}), {"new.csv"});
  EXPECT_EQ(files(), before);
}

TEST_F(BadData, NamesThatAreNotUtf8) {
  const std::string latin = "gr\xF6\xDF";  // "größe" begins like this in Latin-1
  expect_message(refused("t.csv", latin + "e,b,y\n1,2,3\n2,3,5\n4,4,1\n5,2,2\n"),
                 {"t.csv: ", "column 1 ", "UTF-8", "iconv"});
  expect_message(refused("t.csv", "a,y\n1,no\n2," + latin + "\n3,no\n4,no\n"),
                 {"t.csv:3:2: ", "target \"y\"", "UTF-8"});
}

}  // namespace
}  // namespace mfga
