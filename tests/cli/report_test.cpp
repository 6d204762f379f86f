// mfga report and mfga train --report.
#include "cli/shell.hpp"
#include "mfga/mfga.hpp"

namespace mfga {
namespace {

class ReportCommand : public ShellTest {
 protected:
  ReportCommand() {
    (void)write(regression_csv(80));
    (void)run_well(
        {"train", path("table.csv"), "--terms", "3", "--tune", "no", "--model", path("m.json"), "--quiet"});
  }
};

TEST_F(ReportCommand, WritesAPageBesideTheModel) {
  EXPECT_EQ(shell_well("mfga report m.json").substr(0, 16), "report: m.html (");
  expect_message(content("m.html"), {"<!DOCTYPE html>", "id=\"formula\"", "made without data"});
  (void)shell_well("mfga report m.json --data table.csv -o page.html --title 'A <title>' --quiet");
  expect_message(content("page.html"),
                 {"A &lt;title&gt;", "id=\"quality\"", "80 rows: table.csv", "</html>"});
  EXPECT_EQ(shell_well("mfga report m.json --data - -o - --title 'A <title>' < table.csv").substr(0, 15),
            "<!DOCTYPE html>");
  const Json report = run_json({"report", path("m.json"), "--data", path("table.csv"), "-o", path("b.html")});
  EXPECT_EQ(report["rows"], 80);
  EXPECT_EQ(report["has_target"], true);
  EXPECT_EQ(report["bytes"], content("b.html").size());
}

TEST_F(ReportCommand, TheTargetNeedNotBeThere) {
  (void)shell_well("cut -d, -f1-3 table.csv > inputs.csv; mfga report m.json --data inputs.csv -o page.html");
  expect_message(content("page.html"), {"id=\"effects\"", "The target is not among the columns"});
  EXPECT_EQ(content("page.html").find("id=\"quality\""), std::string::npos);
}

TEST_F(ReportCommand, NothingIsHalfWritten) {
  const std::vector<std::string> before = files();
  (void)write("a,b,c,y\n1,2,3,4\n1,x,3,4\n", "bad.csv");
  for (const Arguments& arguments :
       {Arguments{"report", path("m.json"), "--data", path("bad.csv"), "-o", path("page.html")},
        {"report", path("m.json"), "--data", path("none.csv"), "-o", path("page.html")},
        {"report", path("none.json"), "-o", path("page.html")},
        {"report", path("m.json"), "--data", path("table.csv"), "-o", path("table.csv")},
        {"report", path("m.json"), "-o", path("m.json")},
        {"report", path("m.json"), "--target", "y"},
        {"report", path("m.json"), "-o", path("no/folder.html")},
        {"train", path("table.csv"), "--terms", "2", "--report", path("table.csv")},
        {"train", path("table.csv"), "--terms", "2", "--model", path("x"), "--report", path("x")}}) {
    SCOPED_TRACE(fmt::format("{}", arguments.back()));
    (void)run_refused(arguments);
  }
  std::vector<std::string> after = files();
  std::erase(after, "bad.csv");
  EXPECT_EQ(after, before);
}

TEST_F(ReportCommand, TrainWritesItRightAway) {
  const std::string fit = "mfga train table.csv --terms 2 --tune no --ridge 1 ";
  const std::string said = shell_well(fit + "--report page.html --test-fraction 0.25");
  expect_message(said, {"report: page.html"});
  expect_message(content("page.html"), {"20 rows: rows that were held out for the test", "<dt>Time</dt>"});
  (void)shell_well(fit + "--report page.html --quiet");
  expect_message(content("page.html"), {"80 rows: the training rows"});
  (void)shell_well("cp table.csv test.csv; " + fit + "--report page.html --test test.csv --quiet");
  expect_message(content("page.html"), {"80 rows: the test rows"});
}

TEST_F(ReportCommand, FilesOfTheSameFitAreTheSame) {
  const std::string fit = "mfga train table.csv --terms auto --quiet --model ";
  (void)shell_well(fit + "a.json; " + fit + "b.json");
  EXPECT_EQ(content("a.json"), content("b.json"));
  const Model model = load_model(path("a.json"));
  EXPECT_FALSE(model.training.fit.path.empty());
  EXPECT_GT(model.training.fit.candidates, 0);
  EXPECT_EQ(model_to_json(model), content("a.json"));
}

}  // namespace
}  // namespace mfga
