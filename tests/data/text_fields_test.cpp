#include "data/text_fields.hpp"

#include <fmt/format.h>

#include "data/date_text.hpp"
#include "data/table_fixture.hpp"

namespace mfga {
namespace {

using TextColumnsTest = TableTest;
using Names = std::vector<std::string>;
using Numbers = std::vector<double>;

TEST_F(TextColumnsTest, LevelsBecomeSortedColumnsOfZeroAndOne) {
  const Table table = read(write("a,colour,b,size,y\n1,red,2,L,3\n4,\"blue\",5,S,6\n7, blue ,8,L,9\n"));
  EXPECT_EQ(table.columns, (Names{"a", "colour=blue", "colour=red", "b", "size=L", "size=S"}));
  EXPECT_EQ(row_of(table, 0), (Numbers{1, 0, 1, 2, 1, 0}));
  EXPECT_EQ(row_of(table, 1), (Numbers{4, 1, 0, 5, 0, 1}));
  EXPECT_EQ(row_of(table, 2), (Numbers{7, 1, 0, 8, 1, 0}));
  EXPECT_EQ(table.target, (Numbers{3, 6, 9}));
  EXPECT_EQ(table.text_columns,
            (std::vector<TextColumn>{{"colour", 1, {"blue", "red"}}, {"size", 4, {"L", "S"}}}));
}

TEST_F(TextColumnsTest, RowsMayBeginAfterWholeChunksOfComments) {
  std::string text = "a,colour,y\n";
  for (int i = 0; i < 40; ++i) text += "# a comment\n";
  const Table table = read(write(text + "1,red,3\n4,blue,6\n"));
  EXPECT_EQ(table.columns, (Names{"a", "colour=blue", "colour=red"}));
}

TEST_F(TextColumnsTest, ColumnsKnowTheirPredictor) {
  const std::vector<TextColumn> texts = {{"colour", 1, {"blue", "red"}}, {"size", 4, {"L", "S"}}};
  const std::vector<Index> predictors = {0, 1, 1, 2, 3, 3, 4};
  for (Index column = 0; column < 7; ++column) {
    const ColumnOrigin origin = origin_of(column, texts);
    EXPECT_EQ(origin.predictor, predictors[static_cast<std::size_t>(column)]);
    EXPECT_EQ(origin.text != nullptr, !origin.level.empty());
  }
  EXPECT_EQ(origin_of(5, texts).level, "S");
  EXPECT_EQ(origin_of(5, texts).text->name, "size");
  EXPECT_EQ(predictor_count(7, texts), 5);
}

TEST_F(TextColumnsTest, AQuestionMarkCanBeALevelAndAnEmptyFieldAnError) {
  ReadOptions options;
  options.missing = "error";
  EXPECT_EQ(read(write("a,b,y\n1,?,3\n1,x,3\n"), options).columns, (Names{"a", "b=?", "b=x"}));
  expect_message(read_error(write("a,b,y\n1,x,3\n1, ,3\n"), ErrorKind::kBadData, options),
                 {":3:2: found an empty field in column \"b\"", "expected a text", "`ignore=b`"});
  expect_message(read_error(write("a,b,y\n1,x,3\n1,\"\",3\n"), ErrorKind::kBadData, options), {":3:2: "});
}

TEST_F(TextColumnsTest, ColumnsThatAreAskedForAreTextEvenIfTheyHoldNumbers) {
  const std::string file = write("zip,b,y\n10,2,3\n9,4,5\n10,6,7\n");
  const Table table = read(file, {}, "", {}, {"zip"});
  EXPECT_EQ(table.columns, (Names{"zip=10", "zip=9", "b"}));
  EXPECT_EQ(row_of(table, 2), (Numbers{1, 0, 6}));
  const auto refused = [&](const Names& ignore, const Names& text) {
    return read_error(file, ErrorKind::kInvalidArgument, {}, "", ignore, text);
  };
  expect_message(refused({}, {"y"}), {"`text`", "\"y\"", "the target"});
  expect_message(refused({"b"}, {"b"}), {"`text`", "\"b\"", "ignored"});
  expect_message(refused({}, {"zap"}), {"`text`", "\"zap\"", "did you mean \"zip\""});
  expect_message(read_error(write("1 1:2 2:3\n-1 1:1\n", "t"), ErrorKind::kBadData, {}, "", {}, {"x1"}),
                 {"\"x1\"", "libsvm", "numbers alone"});
}

TEST_F(TextColumnsTest, NumbersWithSomeTextAreAnErrorAndNotText) {
  const std::string mixed = write("a,b,y\n1,?,3\n1,no,3\n1,2.5,3\n1,3,4\n1,7,4\n");
  expect_message(read_error(mixed, ErrorKind::kBadData),
                 {":3:2: found \"no\" in column \"b\"", "expected a number", "`text=b`"});
  EXPECT_EQ(read(mixed, {}, "", {}, {"b"}).columns.size(), 6U);
  // A header that is read as data.
  ReadOptions options;
  options.header = "no";
  expect_message(read_error(write("a,b,y\n1,2,3\n3,4,5\n"), ErrorKind::kBadData, options),
                 {":1:1: found \"a\"", "`header=yes`"});
}

TEST_F(TextColumnsTest, ColumnsOfTooManyLevelsAreLeftOut) {
  // Each text in `in_a_row` consecutive rows, with and without quotes.
  const auto table_of = [&](int levels, int in_a_row) {
    std::string text = "code,b,y\n";
    for (int i = 0; i < levels * in_a_row; ++i)
      text += fmt::format("{0}n{1}{0},2,3\n", i % 2 == 0 ? "" : "\"", i / in_a_row);
    return write(text);
  };
  ReadOptions few_chunks;
  EXPECT_EQ(TableFile(table_of(1000, 10), few_chunks).read_for_training("", {}).columns.size(), 1001U);
  for (const int levels : {1001, 2500}) {
    const std::string file = table_of(levels, 3);
    const Names asked_for = {"code"};
    for (const Index chunk : {Index{1} << 20, Index{3000}}) {
      few_chunks.chunk_bytes = chunk;
      const Table table = TableFile(file, few_chunks).read_for_training("", {});
      EXPECT_EQ(table.columns, Names{"b"});
      expect_message(table.remarks.back(), {"left out: \"code\"", "more than 1000", "\"n0\""});
      expect_message(
          error_of(ErrorKind::kBadData,
                   [&] { (void)TableFile(file, few_chunks).read_for_training("", {}, asked_for); }),
          {":2:1: column \"code\"", "more than 1000", "identifier", "`ignore=code`"});
    }
  }
}

TEST_F(TextColumnsTest, RareTextsAreOneLevel) {
  // p in half of the rows, q in 9, r in 10, and the rest in s.
  std::string text = "a,b,y\n";
  const auto add = [&](int rows, const std::string& level) {
    for (int i = 0; i < rows; ++i) text += fmt::format("{},{},3\n", i, level);
  };
  add(500, "p");
  add(9, "q");
  add(10, "\"r\"");
  add(481, "s");
  EXPECT_EQ(read(write(text)).columns, (Names{"a", "b=p", "b=q", "b=r", "b=s"}));  // one text is no group
  add(1, "t");
  add(5, "");
  const Table table = read(write(text));
  EXPECT_EQ(table.columns, (Names{"a", "b=missing", "b=other", "b=p", "b=r", "b=s"}));
  EXPECT_EQ(table.text_columns[0].rare, (Names{"q", "t"}));
  EXPECT_EQ(row_of(table, 501), (Numbers{1, 0, 1, 0, 0, 0}));
  EXPECT_EQ(row_of(table, 1000), (Numbers{0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(row_of(table, 1001), (Numbers{0, 1, 0, 0, 0, 0}));
  expect_message(table.remarks.back(), {"\"b\": 2 texts that few rows have", "\"other\""});
  // In few rows nothing is rare.
  EXPECT_EQ(read(write("a,b,y\n1,p,3\n1,q,3\n1,r,4\n")).columns.size(), 4U);
}

TEST_F(TextColumnsTest, IdentifiersAreLeftOutUnlessAskedFor) {
  for (const int rows : {30, 3000}) {
    std::string text = "id,size,b,y\n";
    for (int i = 0; i < rows; ++i) text += fmt::format("n{},{},{},3\n", i, i % 2 == 0 ? "L" : "S", i);
    const std::string file = write(text);
    for (const Index chunk : {Index{1} << 20, Index{100}}) {
      ReadOptions options;
      options.chunk_bytes = chunk;
      const Table table = TableFile(file, options).read_for_training("", {});
      EXPECT_EQ(table.columns, (Names{"size=L", "size=S", "b"}));
      EXPECT_EQ(row_of(table, 1), (Numbers{0, 1, 1}));
      expect_message(table.remarks.back(), {"left out: \"id\"", "identifier"});
      // What cannot be read is not offered.
      EXPECT_EQ(table.remarks.back().find("`text`") != std::string::npos, rows == 30);
    }
    if (rows == 30) {
      EXPECT_EQ(read(file, {}, "", {}, {"id"}).columns.size(), 33U);
    } else {
      const std::string message = error_of(ErrorKind::kBadData, [&] {
        (void)TableFile(file, {}).read_for_training("", {}, std::vector<std::string>{"id"});
      });
      expect_message(message, {":2:1: column \"id\"", "as `text` asks for", "more than 1000", "`ignore=id`"});
    }
  }
  // A few texts are levels, however few the rows are.
  EXPECT_EQ(read(write("a,b,y\n1,p,3\n1,q,3\n1,r,4\n")).columns.size(), 4U);
}

TEST_F(TextColumnsTest, DatesAreLeftOutUnlessAskedFor) {
  const std::string file = write("when,a,y\n2024-01-31,1,2\n2024-02-01,3,4\n2024-01-31,5,6\n");
  const Table table = read(file);
  EXPECT_EQ(table.columns, Names{"a"});
  EXPECT_EQ(table.values.values, (Numbers{1, 3, 5}));
  expect_message(table.remarks.back(), {"left out: \"when\" holds dates", "`text`"});
  EXPECT_EQ(read(file, {}, "", {}, {"when"}).columns.size(), 3U);
  expect_message(read_error(write("when,y\n2024-01-31,1\n2024-02-01,3\n"), ErrorKind::kBadData),
                 {"no predictors are left", "\"when\" holds dates"});
}

TEST(DateText, TellsDatesByTheirForm) {
  for (const std::string text :
       {"2024-01-31", "31.1.2024", "1/31/24", "2024/01/31 12:30", "31-Jan-2024", "1 February 2024",
        "2024-01-31T12:30:05.25Z", "2024-01-31 12:30:05+02:00", "12:30", "1:30:00 PM"})
    EXPECT_TRUE(looks_like_date(text)) << text;
  for (const std::string text : {"", "red", "2024", "1.2.3", "10.0.0.1", "2024-01", "12:3456", "555-1234-99",
                                 "1:2:3:4", "Jan", "a-b-2024", "2024-01-31x", "2024-01-31 late", "3 1 24"})
    EXPECT_FALSE(looks_like_date(text)) << text;
}

TEST_F(TextColumnsTest, TextMustBeUtf8) {
  expect_message(read_error(write("a,b,y\n1,x,3\n1,gr\xF6,3\n"), ErrorKind::kBadData),
                 {":3:2: ", "column \"b\"", "UTF-8"});
}

TEST_F(TextColumnsTest, KnownLevelsAreReadAndOthersCounted) {
  const std::vector<ColumnSource> sources = {{2, "green"}, {2, "red"}, {0, ""}, {1, "S"}};
  const std::string file = write("a,size,colour\n1,S,\"red\"\n2,L,pink\n3,S,green\n4,M,red\n");
  for (const Index chunk_bytes : {Index{1} << 20, Index{1}}) {
    ReadOptions options;
    options.chunk_bytes = chunk_bytes;
    const Table table = TableFile(file, options).read(sources, std::nullopt);
    EXPECT_EQ(table.columns, (Names{"colour=green", "colour=red", "a", "size=S"}));
    EXPECT_EQ(row_of(table, 0), (Numbers{0, 1, 1, 1}));
    EXPECT_EQ(row_of(table, 1), (Numbers{0, 0, 2, 0}));
    EXPECT_EQ(row_of(table, 2), (Numbers{1, 0, 3, 1}));
    ASSERT_EQ(table.unknown_texts.size(), 2U);
    EXPECT_EQ(table.unknown_texts[0].column, "colour");
    EXPECT_EQ(table.unknown_texts[0].count, 1);
    EXPECT_EQ(table.unknown_texts[0].first_line, 3);
    EXPECT_EQ(table.unknown_texts[1].column, "size");
    EXPECT_EQ(table.unknown_texts[1].count, 2);
  }
  // More different unknown texts than could be levels.
  std::string text = "a,size,colour\n";
  for (int i = 0; i < 3000; ++i) text += fmt::format("1,S,c{}\n", i);
  text += "1,S,red\n";
  const Table table = TableFile(write(text), {}).read(sources, std::nullopt);
  EXPECT_EQ(table.unknown_texts.front().count, 3000);
  EXPECT_EQ(table.values(3000, 1), 1);
}

TEST_F(TextColumnsTest, AColumnOfNumbersIsNotTheTextThatIsAskedFor) {
  const std::vector<ColumnSource> colours = {{1, "green"}, {1, "red"}};
  const auto error = [&](const std::string& file) {
    return error_of(ErrorKind::kBadData, [&] { (void)TableFile(file, {}).read(colours, std::nullopt); });
  };
  expect_message(error(write("a,colour\n1,3\n2,4\n")),
                 {":2:2: found the number \"3\" in column \"colour\"", "\"green\""});
  expect_message(error(write("1 1:2 2:3\n-1 1:1\n", "t")), {"\"x1\"", "numbers alone"});
  // Levels may be numbers.
  const std::vector<ColumnSource> codes = {{1, "3"}, {1, "7"}};
  EXPECT_EQ(TableFile(write("a,colour\n1,3\n2,4\n"), {}).read(codes, std::nullopt).unknown_texts[0].count, 1);
}

}  // namespace
}  // namespace mfga
