#include "repro/paper_figures.hpp"

#include <array>

namespace mfga::repro {
namespace {

struct Entry {
  std::string_view dataset, method;
  PaperSetting setting;
  PaperFigures figures;
};

constexpr std::nullopt_t kNone = std::nullopt;

// {terms, candidates, subsample}, {error %, its standard error, preprocessing s, training s}
constexpr auto kEntries = std::to_array<Entry>({
    {"year", "RKS", {400, kNone, kNone}, {8.27, 0.04, kNone, 0.63}},
    {"year", "LKRF", {400, 4000, kNone}, {8.51, 0.08, 3.5, 0.62}},
    {"year", "EERF", {400, 4000, kNone}, {8.76, 0.06, 3.3, 0.64}},
    {"year", "MFGA", {400, 4186, kNone}, {4.78, kNone, 5.33, 4.25}},
    {"year", "GK", {kNone, kNone, 0.5}, {5.7, kNone, kNone, 139.5}},
    {"year", "GLK", {kNone, kNone, 0.5}, {5.08, kNone, kNone, 150.6}},
    {"news", "RKS", {200, kNone, kNone}, {3.08, 0.05, kNone, 0.13}},
    {"news", "LKRF", {200, 20000, kNone}, {2.07, 0.05, 9.8, 0.14}},
    {"news", "EERF", {200, 20000, kNone}, {1.63, 0.04, 10.6, 0.15}},
    {"news", "MFGA", {200, 1770, kNone}, {0.57, kNone, 1.22, 0.92}},
    {"news", "GK", {kNone, kNone, 0.3}, {0.23, kNone, kNone, 240.9}},
    {"news", "GLK", {kNone, kNone, 0.3}, {0.14, kNone, kNone, 257.6}},
    {"adult", "RKS", {100, kNone, kNone}, {17.7, 0.06, kNone, 0.87}},
    {"adult", "LKRF", {100, 2000, kNone}, {16.46, 0.03, 1.4, 0.91}},
    {"adult", "EERF", {100, 2000, kNone}, {16.15, 0.02, 2.0, 1.38}},
    {"adult", "MFGA", {100, 245, kNone}, {15.1, kNone, 0.19, 0.69}},
    {"adult", "GK", {kNone, kNone, 0.25}, {15.7, kNone, kNone, 24.07}},
    {"adult", "GLK", {kNone, kNone, 0.25}, {15.22, kNone, kNone, 77.09}},
    {"epileptic", "RKS", {20, kNone, kNone}, {6.21, 0.09, kNone, 0.06}},
    {"epileptic", "LKRF", {20, 2000, kNone}, {5.24, 0.04, 4.2, 0.06}},
    {"epileptic", "EERF", {20, 2000, kNone}, {4.46, 0.04, 6.8, 0.07}},
    {"epileptic", "MFGA", {20, 357, kNone}, {4.73, kNone, 0.08, 0.32}},
    {"epileptic", "GK", {kNone, kNone, 1.0}, {2.82, kNone, kNone, 12.95}},
    {"epileptic", "GLK", {kNone, kNone, 1.0}, {3.41, kNone, kNone, 73.02}},
});

const Entry* find_entry(std::string_view dataset, std::string_view method) {
  for (const Entry& entry : kEntries) {
    if (entry.dataset == dataset && entry.method == method) return &entry;
  }
  return nullptr;
}

}  // namespace

std::optional<PaperFigures> paper_figures(std::string_view dataset, std::string_view method) {
  const Entry* entry = find_entry(dataset, method);
  return entry == nullptr ? std::nullopt : std::optional(entry->figures);
}

std::optional<PaperSetting> paper_setting(std::string_view dataset, std::string_view method) {
  const Entry* entry = find_entry(dataset, method);
  return entry == nullptr ? std::nullopt : std::optional(entry->setting);
}

Index paper_training_rows(std::string_view dataset) {
  if (dataset == "year") return 46371;
  if (dataset == "news") return 26561;
  if (dataset == "adult") return 32561;
  return dataset == "epileptic" ? 8625 : 0;
}

}  // namespace mfga::repro
