// Where a model's inputs are in a table or a file.
#include "mfga/columns.hpp"

#include <gtest/gtest.h>

#include "data/table_fixture.hpp"
#include "mfga/predictor.hpp"

namespace mfga {
namespace {

// Of size, of the town, which is text, and of age; of a table without other columns.
Model house_prices() {
  Model model;
  model.target_name = "price";
  model.n_columns = 4;
  model.text_columns = {{"town", 1, {"Bonn", "Kiel"}}};
  model.inputs = {{"size", 0}, {"town=Bonn", 1}, {"town=Kiel", 2}, {"age", 3}};
  model.terms = {{{"linear", 1, {0}, {1}, {}}, {1}},
                 {{"linear", 1, {2}, {1}, {}}, {10}},
                 {{"linear", 1, {3}, {1}, {}}, {100}}};
  return model;
}

template <class Call>
std::string message_of(Call call) {
  try {
    static_cast<void>(call());
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadData);
    return error.what();
  }
  return "no error";
}

class ColumnsTest : public TableTest {};

TEST_F(ColumnsTest, AreFoundByNameInATableInMemory) {
  const std::vector<std::string> names = {"age", "id", "town=Kiel", "size", "town=Bonn"};
  const std::vector<Index> columns = match_columns(house_prices(), names);
  EXPECT_EQ(columns, (std::vector<Index>{3, 4, 2, 0}));
  const std::vector<double> row = {2, 0, 1, 3, 0};
  EXPECT_EQ(Predictor(house_prices()).predictions(ConstMatrixView{row.data(), 1, 5, 5}, columns),
            std::vector<double>{213});
}

TEST_F(ColumnsTest, ThatAreMissingAreNamed) {
  EXPECT_EQ(
      message_of([] {
        return match_columns(house_prices(), std::vector<std::string>{"size", "Age", "town=Bonn"}, "homes");
      }),
      "homes: 2 of the model's 4 inputs are missing: town=Kiel, age; it has 3 columns");
  const std::string path = write("size,Age\n1,2\n");
  EXPECT_EQ(message_of([&] { return match_columns(house_prices(), TableFile(path, {})); }),
            path + ": 2 of the model's 3 inputs are missing: town, age; the file has 2 columns");
  Model many;
  for (int i = 0; i < 12; ++i) many.inputs.push_back({"m" + std::to_string(i), i});
  EXPECT_EQ(
      message_of([&] { return match_columns(many, std::vector<std::string>{"m3"}); }),
      "the table: 11 of the model's 12 inputs are missing: m0, m1, m2, m4, m5, m6, m7, m8, m9, m10, ...; "
      "it has 1 columns");
}

TEST_F(ColumnsTest, OfAFileAreReadAsTheInputs) {
  const TableFile file(write("age,town,id,size\n2,Kiel,7,3\n4,Bonn,8,5\n"), {});
  const Table table = file.read(match_columns(house_prices(), file), std::nullopt);
  EXPECT_EQ(table.values.values, (std::vector<double>{3, 0, 1, 2, 5, 1, 0, 4}));
  EXPECT_EQ(table.columns, (std::vector<std::string>{"size", "town=Bonn", "town=Kiel", "age"}));
  EXPECT_EQ(match_columns(house_prices(), table.columns), (std::vector<Index>{0, 1, 2, 3}));
}

TEST_F(ColumnsTest, WithoutNamesAreTakenByPosition) {
  ReadOptions options;
  options.header = "no";
  const TableFile predictors(write("3,Kiel,2\n5,Bonn,4\n"), options);
  const std::vector<ColumnSource> sources = match_columns(house_prices(), predictors);
  ASSERT_EQ(sources.size(), 4U);
  EXPECT_EQ(sources[2].column, 1);
  EXPECT_EQ(sources[2].level, "Kiel");
  EXPECT_EQ(sources[3].column, 2);
  const std::string path = write("3,Kiel\n5,Bonn\n", "two.csv");
  EXPECT_EQ(
      message_of([&] { return match_columns(house_prices(), TableFile(path, options)); }),
      path +
          ": the file has 2 columns without names; expected 3, the predictors that the model was trained "
          "on in that order");
}

}  // namespace
}  // namespace mfga
