// mfga export as a user meets it; that the files compute the right thing is seen by program_test.cpp and
// python/tests/test_export*.py.
#include <gtest/gtest.h>

#include "cli/tool.hpp"
#include "mfga/export.hpp"

namespace mfga {
namespace {

class Export : public ToolTest {
 protected:
  std::string model() {
    const std::string table = write(regression_csv(200), "train.csv");
    run_well({"train", table, "--target", "y", "--model", path("m.json"), "--terms", "4", "--features",
              "linear + hinge", "--tune", "no", "--ridge", "0.001", "--quiet"});
    return path("m.json");
  }
};

TEST_F(Export, WritesEveryFormatToAFileOrToStandardOutput) {
  const std::string trained = model();
  for (const ExportFormat& format : export_formats()) {
    const std::string name(format.name);
    const std::string printed = run_well({"export", trained, "--format", name}).out;
    EXPECT_EQ(run_well({"export", trained, "--format", name, "-o", path("out")}).out, "");
    EXPECT_EQ(content("out"), printed) << name;
    EXPECT_EQ(printed, export_model(load_model(trained), name)) << name;
    EXPECT_EQ(export_model(load_model(trained), name), printed) << "the same each time: " << name;
  }
}

TEST_F(Export, SaysWhatFormatsThereAre) {
  const std::string trained = model();
  const std::string message = run_refused({"export", trained, "--format", "fortran", "-o", path("out")});
  EXPECT_NE(message.find("there is no format \"fortran\"; expected one of: c, cpp, python"),
            std::string::npos)
      << message;
  EXPECT_NE(run_refused({"export", trained}).find("--format"), std::string::npos);
  EXPECT_EQ(files(), (std::vector<std::string>{"m.json", "train.csv"}));
}

TEST_F(Export, LeavesWhatIsThereWhereItFails) {
  const std::string trained = model();
  const std::string before = content("m.json");
  const std::string message = run_refused({"export", trained, "--format", "c", "--output", trained});
  EXPECT_NE(message.find("--output"), std::string::npos) << message;
  EXPECT_EQ(content("m.json"), before);
  const std::string kept = write("kept", "out.sql");
  const std::string broken = write("{}", "broken.json");
  run_refused({"export", broken, "--format", "sql", "-o", kept});
  EXPECT_EQ(content("out.sql"), "kept");
  run_refused({"export", path("none.json"), "--format", "sql", "-o", path("out.sql")});
  run_refused({"export", trained, "--format", "sql", "-o", path("none/out.sql")});
}

TEST_F(Export, ShowsAnExample) {
  const std::string help = run_well({"export", "--help"}).out;
  EXPECT_NE(help.find("mfga export model.json --format c --output model.c"), std::string::npos) << help;
  for (const ExportFormat& format : export_formats())
    EXPECT_NE(help.find(std::string(format.name)), std::string::npos);
}

TEST_F(Export, RefusesNamesThatAFormatCannotSay) {
  Model model;
  model.n_columns = 1;
  model.inputs = {{std::string("a\0b", 3), 0, 0, 1}};
  model.terms = {{{"linear", 1, {0}, {1}, {}}, {1}}};
  const std::string message =
      error_of(ErrorKind::kInvalidArgument, [&] { static_cast<void>(export_model(model, "sql")); });
  EXPECT_NE(message.find("zero byte"), std::string::npos) << message;
  error_of(ErrorKind::kInvalidArgument, [&] { static_cast<void>(export_model(model, "pmml")); });
  model.inputs[0].name = "\xff";
  error_of(ErrorKind::kInvalidArgument, [&] { static_cast<void>(export_model(model, "python")); });
  error_of(ErrorKind::kInvalidArgument, [&] { static_cast<void>(export_model(model, "json")); });
  EXPECT_NE(export_model(model, "c").find("\\377"), std::string::npos);
}

TEST_F(Export, NamesOfSqlPartsAreNoColumnsInAnyCase) {
  Model model;
  model.n_columns = 1;
  model.inputs = {{"MFGA_z1", 0, 0, 1}};
  model.terms = {{{"linear", 1, {0}, {1}, {}}, {1}}};
  EXPECT_EQ(export_model(model, "sql").find("AS mfga_z"), std::string::npos);
}

TEST_F(Export, RefusesNumbersThatOverflow) {
  Model model;
  model.n_columns = 1;
  model.inputs = {{"a", 0, 0, 1}};
  model.terms = {{{"linear", 1e300, {0}, {1}, {}}, {1e300}}};
  for (const ExportFormat& format : export_formats()) {
    error_of(ErrorKind::kInvalidArgument,
             [&] { static_cast<void>(export_model(model, std::string(format.name))); });
  }
}

}  // namespace
}  // namespace mfga
