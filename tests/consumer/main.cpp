// Goes once through the installed library, from a file to a model, so that each of its own dependencies is
// needed by the linker.
#include <mfga/mfga.hpp>

#include <cmath>
#include <exception>
#include <fstream>
#include <iostream>

int main() {
  try {
    std::ofstream csv("table.csv");
    csv << "a,b,y\n";
    for (int n = 0; n < 100; ++n) {
      const double a = std::sin(n);
      const double b = std::cos(3 * n);
      csv << a << ',' << b << ',' << 1 + 2 * a - 3 * b << '\n';
    }
    csv.close();

    const mfga::TableFile file("table.csv", {});
    const mfga::Table table = file.read_for_training("y", {});
    mfga::FitOptions options;
    options.features = "linear";
    options.terms = 2;
    options.ridge = 1e-9;
    const mfga::FitResult result = mfga::fit({table.values.view(), table.target, table.columns}, options);
    mfga::save_model(result.model, "model.json");
    const std::vector<double> predictions = mfga::load_model("model.json").predict(table.values.view());
    const double error = mfga::regression_metrics(predictions, table.target).rmse;
    std::cout << "mfga " << mfga::version() << ": RMSE " << error << '\n';
    return error < 1e-4 ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
