#include "data/table_parts.hpp"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

#include "mfga/error.hpp"

namespace mfga {
namespace {

std::string shown(const std::string& path) { return path == kStandardInput ? "standard input" : path; }

std::vector<std::string> matches_of(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> paths;
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0)
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  return paths;
}

std::vector<std::string> files_in(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const bool is_hidden = entry.path().filename().string().starts_with('.');
    if (entry.is_regular_file(error) && !is_hidden) paths.push_back(entry.path().string());
  }
  return paths;
}

}  // namespace

std::vector<std::string> table_files(const std::string& path) {
  std::error_code error;
  if (path == kStandardInput) return {path};
  const bool is_folder = std::filesystem::is_directory(path, error);
  const bool is_pattern =
      !std::filesystem::exists(path, error) && path.find_first_of("*?[") != std::string::npos;
  if (!is_folder && !is_pattern) return {path};
  std::vector<std::string> paths = is_folder ? files_in(path) : matches_of(path);
  if (paths.empty()) {
    throw Error(ErrorKind::kIo,
                fmt::format("{}: {}; expected a file with a table, or several with its parts", path,
                            is_folder ? "is a directory without files" : "no file has such a name"));
  }
  std::ranges::sort(paths);
  return paths;
}

TableParts::TableParts(const std::string& path, const ReadOptions& options)
    : options_(options),
      paths_(table_files(path)),
      content_(paths_.front(), static_cast<std::size_t>(options.most_bytes), options.cache),
      reader_(open(paths_.front(), content_)),
      bytes_(static_cast<double>(content_.bytes().size())) {
  if (are_several()) {
    // What has been found in the first file holds for all.
    options_.header = reader_->has_header() ? "yes" : "no";
    if (reader_->format() == "libsvm" && options_.n_features == 0) {
      Index features = std::ssize(reader_->columns()) - 1;
      for (std::size_t i = 1; i < paths_.size(); ++i) {
        const FileContent content(paths_[i], static_cast<std::size_t>(options_.most_bytes), options_.cache);
        features = std::max(features, std::ssize(open(paths_[i], content)->columns()) - 1);
      }
      options_.n_features = features;
      reader_ = open(paths_.front(), content_);
    }
  }
}

TableParts::TableParts(std::string_view bytes, const std::string& source, const ReadOptions& options)
    : options_(options),
      paths_({source}),
      content_(bytes, source),
      reader_(open(source, content_)),
      bytes_(static_cast<double>(content_.bytes().size())) {}

std::unique_ptr<TableReader> TableParts::open(const std::string& path, const FileContent& content) const {
  const auto forget = [&content](std::string_view part) { content.forget(part); };
  std::unique_ptr<TableReader> reader = make_reader(shown(path), content.bytes(), options_, forget);
  reader->when_read(forget);
  return reader;
}

void TableParts::check_columns(const std::string& path, const TableReader& reader) const {
  const std::vector<std::string>& expected = reader_->columns();
  const std::vector<std::string>& found = reader.columns();
  if (found == expected) return;
  const auto [own, other] = std::ranges::mismatch(found, expected);
  const std::string difference =
      own == found.end() || other == expected.end()
          ? fmt::format("{} columns, and {} has {}", found.size(), paths_.front(), expected.size())
          : fmt::format("the column {} where {} has {}", quoted_for_message(*own), paths_.front(),
                        quoted_for_message(*other));
  throw Error(ErrorKind::kBadData,
              fmt::format("{}: has {}; expected the same columns in all files of a table", path, difference));
}

void TableParts::read(const ColumnPlan& plan, ThreadPool& pool, Index bytes, const Take& take) {
  bool go_on = true;
  const auto read_file = [&](const TableReader& reader, const std::string& path) {
    reader.read_in_parts(plan, pool, bytes, [&](RowsRead& rows) { return go_on = take(rows, path); });
  };
  bytes_ = static_cast<double>(content_.bytes().size());
  read_file(*reader_, shown(paths_.front()));
  for (std::size_t i = 1; i < paths_.size() && go_on; ++i) {
    const FileContent content(paths_[i], static_cast<std::size_t>(options_.most_bytes), options_.cache);
    const std::unique_ptr<TableReader> reader = open(paths_[i], content);
    check_columns(paths_[i], *reader);
    bytes_ += static_cast<double>(content.bytes().size());
    read_file(*reader, paths_[i]);
  }
}

double TableParts::estimated_bytes(const ColumnPlan& plan, ThreadPool& pool) const {
  constexpr Index kLook = Index{1} << 20;
  double result = 0;
  reader_->read_in_parts(plan, pool, kLook, [&](const RowsRead& rows) {
    if (rows.bytes == 0) return true;
    auto columns = static_cast<double>(plan.numbers);
    for (std::size_t i = 0; i < plan.texts.size(); ++i) {
      std::set<std::string_view> texts;
      for (const TextFields::Fields& part : rows.texts.fields(static_cast<Index>(i)))
        texts.insert(part.listed.begin(), part.listed.end());
      columns += static_cast<double>(std::min(texts.size(), kMostLevels));
    }
    result = static_cast<double>(rows.rows()) * static_cast<double>(content_.bytes().size()) /
             static_cast<double>(rows.bytes) * columns * sizeof(double);
    return false;
  });
  return result;
}

}  // namespace mfga
