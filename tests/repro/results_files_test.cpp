// The results as JSON and as CSV, and the published figures.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "mfga/error.hpp"
#include "repro/paper_figures.hpp"
#include "repro/sample_results.hpp"

namespace mfga::repro {
namespace {

void expect_refused(const std::string& text, const std::string& hint) {
  try {
    (void)results_from_json(text);
    ADD_FAILURE() << "accepted: " << text.substr(0, 200);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadData);
    EXPECT_NE(std::string(error.what()).find(hint), std::string::npos) << error.what();
  }
}

TEST(ReproResultsJson, RoundTripIsExact) {
  Results results = sample_results();
  results.total_seconds = 0.1 + 0.2;
  results.datasets[2].rows[0].oracle->error = 1e-300 / 3;
  results.datasets[3].rows.clear();
  results.datasets[3].figure.clear();
  EXPECT_EQ(results_from_json(results_to_json(results)), results);
  EXPECT_EQ(results_from_json(results_to_json(Results{})), Results{});
}

TEST(ReproResultsJson, RefusesWhatIsNotComplete) {
  const std::string text = results_to_json(sample_results());
  for (const std::size_t length : {std::size_t{0}, std::size_t{1}, text.size() / 2, text.size() - 3})
    expect_refused(text.substr(0, length), "expected the results.json");
  expect_refused("[]", "expected an object");
  expect_refused("{}", "\"format\" is missing");
}

TEST(ReproResultsJson, SaysWhatIsWrongAndWhere) {
  const auto good = nlohmann::ordered_json::parse(results_to_json(sample_results()));
  const auto refuse = [&](const std::string& pointer, const nlohmann::ordered_json& value,
                          const std::string& hint) {
    auto bad = good;
    bad[nlohmann::ordered_json::json_pointer(pointer)] = value;
    expect_refused(bad.dump(), hint);
  };
  refuse("/format", "mfga-model", "format: expected \"mfga-reproduction\"");
  refuse("/version", 2, "version");
  refuse("/cores", 0, "cores");
  refuse("/cores", 18446744073709551615U, "cores");
  refuse("/quick", 1, "quick: expected true or false");
  refuse("/datasets", nullptr, "datasets: expected a list");
  refuse("/datasets/1/name", "year", "datasets[1]");
  refuse("/datasets/0/task", "ranking", "datasets[0].task");
  refuse("/datasets/0/n_train", 1.5, "datasets[0].n_train: expected a whole number");
  refuse("/datasets/2/rows/0/part", "theirs", "datasets[2].rows[0].part");
  refuse("/datasets/2/rows/0/oracle/error", "4", "datasets[2].rows[0].oracle.error: expected a number");
  refuse("/datasets/2/rows/0/oracle", 4, "oracle: expected an object");
  refuse("/datasets/0/figure/1/points/2/terms", -1, "points[2].terms");
  refuse("/datasets/0/remarks/0", 7, "remarks[0]: expected a text");
  auto without = good;
  without["datasets"][0].erase("sigma");
  expect_refused(without.dump(), "\"sigma\" is missing");
}

TEST(ReproResultsJson, DoesNotWriteWhatItCouldNotRead) {
  Results results = sample_results();
  results.datasets[0].rows[0].honest->error = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW((void)results_to_json(results), Error);
}

TEST(ReproResultsCsv, QuotesAndLeavesAbsentFieldsEmpty) {
  Results results = sample_results();
  results.datasets.erase(results.datasets.begin() + 2, results.datasets.end());
  const std::string csv = results_to_csv(results);
  std::size_t rows = 1;
  for (const DatasetResult& dataset : results.datasets) rows += dataset.rows.size();
  // No text of a row holds a line end, so that lines are rows.
  EXPECT_EQ(static_cast<std::size_t>(std::count(csv.begin(), csv.end(), '\n')), rows);
  EXPECT_EQ(csv.rfind("dataset,title,task,", 0), 0U);
  EXPECT_NE(
      csv.find("\r\nnews,\"News <script>alert(\"\"1\"\")</script> & 'more', \"\"quoted\"\"\",regression,"),
      std::string::npos);
  EXPECT_NE(csv.find(",8.734512345678901,reference,constant,,,,1,5.83,,,,,,,,,,,\r\n"), std::string::npos)
      << csv;
}

TEST(ReproPaperFigures, AreThoseOfTheTables) {
  const auto mfga = paper_figures("year", "MFGA");
  ASSERT_TRUE(mfga.has_value());
  EXPECT_EQ(mfga, (PaperFigures{4.78, std::nullopt, 5.33, 4.25}));
  EXPECT_EQ(paper_setting("year", "MFGA")->terms, 400);
  EXPECT_EQ(paper_setting("news", "LKRF")->candidates, 20000);
  EXPECT_EQ(paper_setting("adult", "GK")->subsample, 0.25);
  EXPECT_EQ(paper_setting("adult", "GK")->terms, std::nullopt);
  EXPECT_EQ(paper_figures("epileptic", "GLK")->train_seconds, 73.02);
  EXPECT_EQ(paper_figures("news", "RKS")->standard_error, 0.05);
  EXPECT_FALSE(paper_figures("year", "SVM").has_value());
  EXPECT_FALSE(paper_setting("iris", "MFGA").has_value());
}

TEST(ResultsMarkdown, HasATableForEachDataSet) {
  Results results = sample_results();
  const auto ours = std::ranges::find_if(results.datasets[0].rows,
                                         [](const MethodRow& row) { return row.part == kOurPart; });
  ASSERT_NE(ours, results.datasets[0].rows.end());
  ours->oracle = std::nullopt;
  ours->honest->error = 12.3456;
  const std::string text = results_to_markdown(results);
  for (const DatasetResult& dataset : results.datasets)
    EXPECT_NE(text.find(fmt::format("\n**{}** (", dataset.title)), std::string::npos) << text;
  EXPECT_NE(text.find(fmt::format("| MFGA, our default | {} | – | 12.35 |", *ours->terms)), std::string::npos)
      << text;
  EXPECT_EQ(text.find("nan"), std::string::npos);
}

}  // namespace
}  // namespace mfga::repro
