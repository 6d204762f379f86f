// Models of others in all languages: whatever loads can be shown, explained and exported, or is refused. The
// first byte chooses how.
#include "fuzz/json_mutation.hpp"
#include "fuzz/targets.hpp"
#include "mfga/explain.hpp"
#include "mfga/export.hpp"
#include "mfga/formula.hpp"

namespace mfga::fuzz {
namespace {

void show(const Model& model, unsigned how) {
  constexpr unsigned kOthers = 4;
  const std::span<const ExportFormat> formats = export_formats();
  how %= static_cast<unsigned>(formats.size()) + kOthers;
  static_cast<void>(refusal_of([&] {
    if (how >= kOthers) {
      require(!export_model(model, formats[how - kOthers].name).empty(), "an export is not empty");
    } else if (how == 0) {
      require(!formula_text(model).empty(), "a model has a formula");
    } else if (how == 1) {
      require(!table_formula_text(model).empty(), "a model has a formula in the units of its table");
    } else if (how == 2) {
      require(!full_formula_text(model).empty(), "a model has a full formula");
    } else {
      const Explainer explainer(model, 1);
      require(explainer.term_names().size() == model.terms.size(), "every term has a name");
    }
  }));
}

void run(std::string_view bytes) {
  const unsigned how = take_byte(bytes);
  static_cast<void>(refusal_of([&] { show(model_from_json(bytes, "m"), how); }));
}

std::string mutate(std::string_view bytes, std::size_t longest, std::mt19937& random) {
  const unsigned how = take_byte(bytes);
  const std::string json = mutated_json(bytes, random);
  const std::string result = static_cast<char>(random() % 2 == 0 ? how : random()) + json;
  return json.empty() || result.size() > longest ? std::string() : result;
}

}  // namespace

constexpr Target kExports = {"exports", 3000, run, mutate};

}  // namespace mfga::fuzz
