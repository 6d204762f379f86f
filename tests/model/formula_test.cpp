// Formulas as text; tests/cli/full_formula_test.cpp computes with the full ones of every family.
#include "mfga/formula.hpp"

#include <gtest/gtest.h>

namespace mfga {
namespace {

Model house_prices() {
  Model model;
  model.target_name = "price";
  model.n_columns = 2;
  model.inputs = {{"size", 0, 100, 20}, {"age", 1, 30, 10}};
  model.outputs[0].intercept = 250;
  model.terms = {{{"linear", 1, {0}, {1}, {}}, {40}}, {{"step", 1, {1}, {1}, {0.5}}, {-12.5}}};
  return model;
}

TEST(FormulaText, HasTermsPlacesAndALegend) {
  EXPECT_EQ(formula_text(house_prices()),
            "price\n"
            "  = 250\n"
            "            + 40  size\n"
            "          - 12.5  [age >= 0.5]   at age = 35\n"
            "where each column stands for its standardised value, (value - mean) / deviation,\n"
            "and what follows \"at\" is the place of a term in the units of the table,\n"
            "and [condition] is 1 where the condition holds and else 0\n");
}

TEST(FormulaText, ShowsAsManyTermsAsAreAskedFor) {
  const std::string text = formula_text(house_prices(), 1);
  EXPECT_NE(text.find("+ 40  size\n  ... and 1 more terms\nwhere"), std::string::npos) << text;
  EXPECT_EQ(text.find("age"), std::string::npos) << text;
}

TEST(FormulaText, OfClassesIsThatOfTheLogOdds) {
  Model model = house_prices();
  model.task = Task::kClassification;
  model.labels = {"no", "yes"};
  EXPECT_TRUE(formula_text(model).starts_with("log-odds of price = yes\n  = 250\n")) << formula_text(model);
}

TEST(FormulaText, SaysHowInputsAreSeen) {
  Model model = house_prices();
  model.inputs[0].warp.limit = 3;
  model.inputs[1].stretch = 2;
  const std::string text = formula_text(model);
  EXPECT_NE(text.find("+ 40  r(size)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("cut to [-3, 3]"), std::string::npos) << text;
  EXPECT_NE(text.find("each times its stretch"), std::string::npos) << text;
}

TEST(FullFormulaText, HasEveryStep) {
  EXPECT_EQ(
      full_formula_text(house_prices()),
      "log is the natural logarithm, abs the absolute value, pi 3.141592653589793; angles are in radians;\n"
      "[condition] is 1 where the condition holds and else 0; a term with sqrt(v) is 0 where v is "
      "negative\n"
      "\n"
      "1. the inputs, from the values of a row of the table\n"
      "  (where a value is missing, and no input tells of it, z is 0)\n"
      "  z1: value is that of the column \"size\"\n"
      "    z1 = (value - (100)) / 20\n"
      "  z2: value is that of the column \"age\"\n"
      "    z2 = (value - (30)) / 10\n"
      "\n"
      "2. the score\n"
      "  score = 250\n"
      "    + 40 * z1\n"
      "    - 12.5 * [z2 >= 0.5]\n"
      "\n"
      "3. the prediction of \"price\"\n"
      "  prediction = 0 + 1 * score\n");
}

TEST(FullFormulaText, QuotesNamesWhateverTheyHold) {
  Model model = house_prices();
  model.inputs[0].name = "a \"b\"\n";
  model.target_name = "\xFF";
  const std::string text = full_formula_text(model);
  EXPECT_NE(text.find("the column \"a \\\"b\\\"\\n\"\n"), std::string::npos) << text;
  EXPECT_NE(text.find("the prediction of \"\xEF\xBF\xBD\""), std::string::npos) << text;
}

}  // namespace
}  // namespace mfga
