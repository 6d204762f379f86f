// What is kept of a fit, in the model's file. Lists of numbers stand by columns, which is shorter.
#include <algorithm>

#include "model/fit_record.hpp"

namespace mfga {
namespace {

constexpr Index kMostTerms = Index{1} << 30U;

template <class Entry, class Value>
Json column(const std::vector<Entry>& entries, Value Entry::*member) {
  Json list = Json::array();
  for (const Entry& entry : entries) list.push_back(entry.*member);
  return list;
}

// Reads a column into entries, of which there are as many as the first column has.
template <class Entry, class Read>
void read_column(const Node& node, std::string_view name, std::vector<Entry>& entries, Read read) {
  const Node list = node.member(name);
  const std::vector<Node> values = list.elements();
  if (entries.empty()) entries.resize(values.size());
  if (values.size() != entries.size()) list.fail(fmt::format("expected {} entries", entries.size()));
  for (std::size_t i = 0; i < values.size(); ++i) read(values[i], entries[i]);
}

template <class Entry>
void read_numbers(const Node& node, std::string_view name, std::vector<Entry>& entries,
                  double Entry::*member) {
  read_column(node, name, entries, [&](const Node& value, Entry& entry) { entry.*member = value.number(); });
}

template <class Entry>
void read_terms(const Node& node, std::vector<Entry>& entries) {
  read_column(node, "terms", entries,
              [](const Node& value, Entry& entry) { entry.terms = value.whole_number(0, kMostTerms); });
}

// One of the entries.
template <class Entry>
void read_chosen(const Node& node, std::vector<Entry>& entries) {
  if (!node.has_member("chosen") || entries.empty()) return;
  const Index chosen = node.member("chosen").whole_number(0, std::ssize(entries) - 1);
  entries[static_cast<std::size_t>(chosen)].is_chosen = true;
}

template <class Entry>
void write_chosen(const std::vector<Entry>& entries, Json& json) {
  const auto chosen = std::ranges::find(entries, true, &Entry::is_chosen);
  if (chosen != entries.end()) json["chosen"] = chosen - entries.begin();
}

}  // namespace

// Objects are made before anything is put into them: an empty value that becomes one where there is no memory
// cannot be destroyed.
Json fit_record_to_json(const FitRecord& record) {
  Json json = Json::object();
  if (record.candidates > 0) json["candidates"] = record.candidates;
  if (record.stability >= 0) json["stability"] = record.stability;
  if (!record.sizes.empty()) {
    Json& sizes = json["sizes"] = Json::object();
    sizes["terms"] = column(record.sizes, &TriedSize::terms);
    sizes["held_out"] = column(record.sizes, &TriedSize::held_out);
    sizes["standard_error"] = column(record.sizes, &TriedSize::standard_error);
    sizes["ridge"] = column(record.sizes, &TriedSize::ridge);
    write_chosen(record.sizes, sizes);
  }
  if (!record.ridges.empty()) {
    json["ridges"] = {{"ridge", column(record.ridges, &TriedRidge::ridge)},
                      {"held_out", column(record.ridges, &TriedRidge::held_out)},
                      {"standard_error", column(record.ridges, &TriedRidge::standard_error)}};
  }
  if (!record.dictionaries.empty()) {
    Json& dictionaries = json["dictionaries"] = Json::object();
    dictionaries["features"] = column(record.dictionaries, &TriedDictionary::features);
    dictionaries["held_out"] = column(record.dictionaries, &TriedDictionary::held_out);
    dictionaries["heats"] = column(record.dictionaries, &TriedDictionary::heats);
    write_chosen(record.dictionaries, dictionaries);
  }
  if (!record.path.empty()) {
    json["path"] = {{"terms", column(record.path, &TrainingLoss::terms)},
                    {"risk", column(record.path, &TrainingLoss::risk)}};
  }
  if (record.tuning.is_tried) {
    json["tuning"] = {{"used", record.tuning.is_used},
                      {"reason", record.tuning.reason},
                      {"held_out_without", record.tuning.held_out_without},
                      {"held_out_with", record.tuning.held_out_with}};
  }
  return json;
}

FitRecord fit_record_from_json(const Node& node) {
  FitRecord record;
  if (node.has_member("candidates"))
    record.candidates = node.member("candidates").whole_number(0, Index{1} << 50U);
  if (node.has_member("stability")) record.stability = node.member("stability").number();
  if (node.has_member("sizes")) {
    const Node sizes = node.member("sizes");
    read_terms(sizes, record.sizes);
    read_numbers(sizes, "held_out", record.sizes, &TriedSize::held_out);
    read_numbers(sizes, "standard_error", record.sizes, &TriedSize::standard_error);
    read_numbers(sizes, "ridge", record.sizes, &TriedSize::ridge);
    read_chosen(sizes, record.sizes);
  }
  if (node.has_member("ridges")) {
    const Node ridges = node.member("ridges");
    read_numbers(ridges, "ridge", record.ridges, &TriedRidge::ridge);
    read_numbers(ridges, "held_out", record.ridges, &TriedRidge::held_out);
    read_numbers(ridges, "standard_error", record.ridges, &TriedRidge::standard_error);
  }
  if (node.has_member("dictionaries")) {
    const Node dictionaries = node.member("dictionaries");
    read_column(dictionaries, "features", record.dictionaries,
                [](const Node& value, TriedDictionary& one) { one.features = value.text(); });
    read_numbers(dictionaries, "held_out", record.dictionaries, &TriedDictionary::held_out);
    constexpr Index kMostHeats = 100;
    read_column(dictionaries, "heats", record.dictionaries, [](const Node& value, TriedDictionary& one) {
      one.heats = static_cast<int>(value.whole_number(0, kMostHeats));
    });
    read_chosen(dictionaries, record.dictionaries);
  }
  if (node.has_member("path")) {
    read_terms(node.member("path"), record.path);
    read_numbers(node.member("path"), "risk", record.path, &TrainingLoss::risk);
  }
  if (node.has_member("tuning")) {
    const Node tuning = node.member("tuning");
    record.tuning = {true, tuning.member("used").truth(), tuning.member("reason").text(),
                     tuning.member("held_out_without").number(), tuning.member("held_out_with").number()};
  }
  return record;
}

}  // namespace mfga
