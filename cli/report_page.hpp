// The page about a model, from a table that was read for it.
#pragma once

#include <string>

#include "cli/command.hpp"

namespace mfga::cli {

// Without a table, what needs none.
[[nodiscard]] std::string report_html(const Model& model, const ModelTable* table,
                                      const ReportOptions& options);

}  // namespace mfga::cli
