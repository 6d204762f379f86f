// A model as a program in another language, or in a format that other tools read (docs/export.md).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "mfga/model.hpp"

namespace mfga {

struct ExportFormat {
  std::string_view name;  // c, cpp, python, sql, latex, sympy, onnx, pmml or json
  std::string_view help;
  bool is_binary = false;  // else it is UTF-8 text
};
// All formats, in a fixed order.
[[nodiscard]] std::span<const ExportFormat> export_formats();

// The content of a file in that format. Throws Error(kInvalidArgument) where there is no such format, or
// where the model cannot be written in it, and Error(kNumerical) if a number of the model is not finite.
[[nodiscard]] std::string export_model(const Model& model, std::string_view format);

// Written to a temporary name first and then renamed: an existing file is replaced whole or not at all.
void save_export(const Model& model, std::string_view format, const std::string& path);

}  // namespace mfga
