#include "mfga/export.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <vector>

#include "core/atomic_file.hpp"
#include "export/printers.hpp"
#include "mfga/error.hpp"
#include "mfga/version.hpp"
#include "model/scoring.hpp"

namespace mfga {
namespace {

struct Printer {
  std::string (*print)(const Program&);
  MissingCases missing = MissingCases::kAll;
};

constexpr std::array<ExportFormat, 9> kFormats = {{
    {"c", "C99 that needs math.h alone"},
    {"cpp", "a C++17 header"},
    {"python", "a Python module that needs NumPy alone"},
    {"sql", "one SELECT statement, for SQLite and PostgreSQL"},
    {"latex", "formulas to be read, with nine digits"},
    {"sympy", "a Python module that makes SymPy expressions"},
    {"onnx", "an ONNX model, opset 18", true},
    {"pmml", "PMML 4.4"},
    {"json", "the expressions themselves"},
}};
constexpr std::array<Printer, kFormats.size()> kPrinters = {{
    {print_c},
    {print_cpp},
    {print_python},
    {print_sql},
    {print_latex, MissingCases::kOfTraining},
    {print_sympy, MissingCases::kOfTraining},
    {print_onnx},
    {print_pmml},
    {print_json},
}};

}  // namespace

std::span<const ExportFormat> export_formats() { return kFormats; }

std::string program_title(const Program& program) {
  const Model& model = *program.model;
  return fmt::format("A model for {} with {} terms over {} columns, exported by mfga {}.",
                     task_name(model.task), model.terms.size(), program.columns.size(), version());
}

std::string export_model(const Model& model, std::string_view format) {
  for (std::size_t i = 0; i < kFormats.size(); ++i) {
    if (kFormats[i].name != format) continue;
    check_finite(model);
    return kPrinters[i].print(make_program(model, kPrinters[i].missing));
  }
  std::vector<std::string_view> names;
  for (const ExportFormat& known : kFormats) names.push_back(known.name);
  throw Error(ErrorKind::kInvalidArgument,
              fmt::format("there is no format \"{}\"; expected one of: {}", format, fmt::join(names, ", ")));
}

void save_export(const Model& model, std::string_view format, const std::string& path) {
  const std::string content = export_model(model, format);
  AtomicFile file(path);
  file.write(content);
  file.commit();
}

}  // namespace mfga
