// Tables 1 to 3 of the paper as data.
#pragma once

#include <optional>
#include <string_view>

#include "repro/results.hpp"

namespace mfga::repro {

// What the paper ran a method with; the exact kernels have a subsample instead of terms.
struct PaperSetting {
  std::optional<Index> terms = std::nullopt, candidates = std::nullopt;
  std::optional<double> subsample = std::nullopt;
};

// Data sets: year, news, adult, epileptic. Methods: RKS, LKRF, EERF, MFGA, GK, GLK. Nothing for other names.
std::optional<PaperFigures> paper_figures(std::string_view dataset, std::string_view method);
std::optional<PaperSetting> paper_setting(std::string_view dataset, std::string_view method);
// Table 1: the number of training rows; 0 for other names.
Index paper_training_rows(std::string_view dataset);

}  // namespace mfga::repro
