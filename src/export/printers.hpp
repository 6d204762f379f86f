// One printer per format.
#pragma once

#include <string>

#include "export/program.hpp"

namespace mfga {

[[nodiscard]] std::string print_c(const Program& program);
[[nodiscard]] std::string print_cpp(const Program& program);
[[nodiscard]] std::string print_python(const Program& program);
[[nodiscard]] std::string print_sql(const Program& program);
[[nodiscard]] std::string print_latex(const Program& program);
[[nodiscard]] std::string print_sympy(const Program& program);
[[nodiscard]] std::string print_onnx(const Program& program);
[[nodiscard]] std::string print_pmml(const Program& program);
[[nodiscard]] std::string print_json(const Program& program);

// `regression of "price", 12 terms`, without the quotes and what would be in them.
[[nodiscard]] std::string program_title(const Program& program);

}  // namespace mfga
