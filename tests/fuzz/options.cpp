// Values of options. The first byte chooses the option; what is understood can be written and means the same.
#include "fuzz/targets.hpp"
#include "model/option_table.hpp"

namespace mfga::fuzz {
namespace {

template <class Options>
bool is_set_by_text(const OptionRow<Options>& row) {
  return std::holds_alternative<bool Options::*>(row.member) ||
         std::holds_alternative<ChoiceMember<Options>>(row.member) ||
         std::holds_alternative<WrittenMember<Options>>(row.member);
}

template <class Options>
void set(std::span<const OptionRow<Options>> table, unsigned which, std::string_view text) {
  const OptionRow<Options>& row = table[which % table.size()];
  Options options;
  static_cast<void>(refusal_of([&] {
    if (is_set_by_text(row)) {
      set_option(options, row, text);
      Options again;
      set_option(again, row, option_text(options, row));
      require_same(option_text(options, row), option_text(again, row), "what is written means the same");
    } else if (const auto* const member = std::get_if<std::string Options::*>(&row.member)) {
      options.*(*member) = text;
    }
    validate_options(options, table);
    if constexpr (std::is_same_v<Options, FitOptions>) options.validate();
  }));
}

void run(std::string_view bytes) {
  const unsigned which = take_byte(bytes);
  switch (take_byte(bytes) % 5) {
    case 0:
      set(fit_option_table(), which, bytes);
      break;
    case 1:
      set(paper_option_table(), which, bytes);
      break;
    case 2:
      set(cross_validation_option_table(), which, bytes);
      break;
    case 3:
      set(read_option_table(), which, bytes);
      break;
    default:
      set(generate_option_table(), which, bytes);
  }
}

}  // namespace

constexpr Target kOptions = {"options", 64, run};

}  // namespace mfga::fuzz
