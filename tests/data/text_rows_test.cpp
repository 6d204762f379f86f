#include "data/text_rows.hpp"

#include <gtest/gtest.h>

namespace mfga {
namespace {

TEST(TextRows, ChunksCoverTheTextAndHoldWholeRows) {
  const TextLayout layout{',', "#"};
  ThreadPool pool(2);
  for (const std::string text :
       {"1,2\n\n# c\n3,4\n5555555555,6\n7,8", "1,2\n\n# c\n\"3\",4\n5555555555,6\n7,\"8\""}) {
    for (Index chunk_bytes = 1; chunk_bytes < 40; ++chunk_bytes) {
      const TextRows rows = locate_rows(text, 10, layout, Quoting::kPossible, chunk_bytes, pool);
      std::string joined;
      for (const std::string_view chunk : rows.chunks) {
        EXPECT_TRUE(chunk.ends_with('\n') || chunk.data() + chunk.size() == text.data() + text.size());
        joined += chunk;
      }
      EXPECT_EQ(joined, text);
      EXPECT_EQ(rows.rows(), 4);
      EXPECT_EQ(rows.lines.line_of_row(0), 10);
      EXPECT_EQ(rows.lines.line_of_row(1), 13);
      EXPECT_EQ(rows.lines.line_of_row(3), 15);
    }
  }
}

TEST(TextRows, FieldsOfARow) {
  const std::string row = " a , \"b,\"\"c\n\" ,,d\"e,";
  const TextLayout layout{',', ""};
  std::vector<RawField> fields;
  EXPECT_EQ(layout.scan_row(row.data(), row.data() + row.size(), fields), row.data() + row.size());
  ASSERT_EQ(fields.size(), 5U);
  EXPECT_EQ(fields[0].text, "a");
  EXPECT_EQ(unquote(fields[1].text), "b,\"c\n");
  EXPECT_EQ(fields[2].text, "");
  EXPECT_EQ(fields[3].text, "d\"e");
  EXPECT_EQ(fields[4].text, "");
  for (const RawField& field : fields) EXPECT_EQ(field.fault, RawField::Fault::kNone);
}

}  // namespace
}  // namespace mfga
