// One panel of the figure: test error against the number of terms.
#pragma once

#include <string>
#include <string_view>

#include "repro/results.hpp"

namespace mfga::repro {

// An <svg> element whose colours come from the page's style sheet; `id` must be unique in the page. The
// constant predictor is drawn from the rows if the figure does not have it.
std::string chart_svg(const DatasetResult& dataset, std::string_view id);

}  // namespace mfga::repro
