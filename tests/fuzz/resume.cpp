// Fits that go on from a checkpoint that somebody has changed on purpose, under a right checksum: they are
// refused, or end with a model that is saved and loads again. The bytes choose a checkpoint out of several
// fits, and say what is changed in it: a byte, a number that may be a size or a place in a list, or the end.
#include <fmt/format.h>
#include <stdlib.h>

#include <array>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <vector>

#include "core/journal.hpp"
#include "fuzz/sealed.hpp"
#include "fuzz/targets.hpp"
#include "mfga/mfga.hpp"
#include "mfga/paper.hpp"
#include "model/option_table.hpp"

namespace mfga::fuzz {
namespace {

constexpr SealedFormat kFormat = {"MFGACKPT", 1, "checkpoint"};
constexpr Index kRows = 160;
constexpr Index kColumns = 3;

struct Options : FitOptions, paper::Options {};

// A few options as words, and what is learned: a number, one of so many classes, or two numbers.
struct Setting {
  std::vector<std::pair<std::string_view, std::string_view>> words;
  int classes = 0;
  int outputs = 1;
};

std::vector<Setting> settings() {
  const std::pair<std::string_view, std::string_view> untuned = {"tune", "no"};
  const std::pair<std::string_view, std::string_view> ridge = {"ridge", "1"};
  const std::pair<std::string_view, std::string_view> features = {"features", "linear + hinge"};
  const std::pair<std::string_view, std::string_view> terms = {"terms", "6"};
  return {
      {{terms}},                                                           // the defaults
      {{{"terms", "auto"}, {"features", "linear + step"}}},                // with a chosen size
      {{terms, features, {"effort", "thorough"}}},                         //
      {{terms, features, ridge, untuned}},                                 // single steps
      {{terms, features, ridge, untuned, {"refine", "yes"}}},              // swaps
      {{terms, features, ridge, untuned, {"search", "htp"}}},              //
      {{terms, features, ridge, untuned, {"select", "gain"}}, 2},          // Newton's method
      {{terms, features, ridge, untuned}, 3},                              // descents
      {{terms, features, ridge, untuned}, 0, 2},                           //
      {{terms, features, untuned, {"ridge", "cv"}}},                       // losses of paths
      {{terms, ridge, {"features", "gaussian"}, {"metric", "full"}}},      // a metric
      {{terms, ridge, {"features", "landmark(count=20)"}, {"tune", "5"}}}  //
  };
}

// What all fits of a setting have in common.
class Task {
 public:
  explicit Task(const Setting& setting) : x_(kRows, kColumns) {
    std::mt19937 random(7);
    const auto draw = [&] { return static_cast<double>(random()) / 2147483648.0 - 1; };
    for (double& value : x_.values) value = draw();
    for (int k = 0; k < setting.outputs; ++k) {
      for (Index i = 0; i < kRows; ++i) {
        const double value = x_(i, 0) * x_(i, 1) + std::abs(x_(i, 2)) + 0.2 * draw() + k * x_(i, 1);
        y_.push_back(setting.classes == 0
                         ? value
                         : std::min(setting.classes - 1.0, std::max(0.0, std::floor(3 * value))));
      }
    }
    data_ = {.x = x_.view(), .y = y_};
    if (setting.classes > 0) data_.labels.assign({"a", "b", "c"});
    data_.labels.resize(static_cast<std::size_t>(setting.classes));
    if (setting.outputs > 1) data_.target_names = {"y", "z"};
    options_.threads = 1;
    for (const auto& [name, text] : setting.words) {
      if (name == "features") options_.features = text;
      for (const OptionRow<FitOptions>& row : fit_option_table()) {
        if (row.name == name && name != "features") set_option<FitOptions>(options_, row, text);
      }
    }
  }
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  [[nodiscard]] FitResult fit(const Checkpoint& checkpoint, const ProgressCallback& progress = {}) const {
    return paper::fit(data_, options_, options_, progress, nullptr, checkpoint);
  }

 private:
  Matrix x_;
  std::vector<double> y_;
  TrainingData data_;
  Options options_;
};

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// A checkpoint of a task, and where there is something to change.
struct Kept {
  const Task* task;
  std::string bytes;
  std::size_t first;                // after what says which fit it is of
  std::vector<std::size_t> wholes;  // where a number is that may be a size or a place
};

Kept kept(const Task& task, std::string bytes) {
  Archive all(bytes);
  Fingerprint fingerprint;
  // The frames follow, which are the journal's own.
  const auto begin = [&] {
    all(fingerprint);
    Archive written;
    written(fingerprint);
    return written.bytes().size();
  }();
  Kept result{&task, std::move(bytes), begin, {}};
  constexpr std::uint64_t kMost = 1U << 20U;
  for (std::size_t i = begin; i + sizeof(std::uint64_t) <= result.bytes.size(); ++i) {
    const std::uint64_t number = number_at(result.bytes, i);
    if ((number > 0 && number < kMost) || number == ~std::uint64_t{0}) result.wholes.push_back(i);
  }
  return result;
}

class Checkpoints {
 public:
  Checkpoints() {
    std::string pattern = (std::filesystem::temp_directory_path() / "mfga_resume_XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder");
    folder_ = pattern;
    for (const Setting& setting : settings()) {
      tasks_.push_back(std::make_unique<Task>(setting));
      add_from(*tasks_.back());
    }
  }
  Checkpoints(const Checkpoints&) = delete;
  Checkpoints& operator=(const Checkpoints&) = delete;
  ~Checkpoints() { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path() const { return (folder_ / "c").string(); }
  [[nodiscard]] const std::vector<Kept>& list() const { return list_; }

 private:
  // Some of those that a fit keeps on its way.
  void add_from(const Task& task) {
    constexpr std::size_t kOfEach = 6;
    std::vector<std::string> all;
    const auto note = [&](const Progress& /*state*/) {
      const std::string file = content(path());
      if (!file.empty() && (all.empty() || all.back() != file)) all.push_back(file);
      return ProgressAction::kContinue;
    };
    static_cast<void>(task.fit({.path = path(), .every = 0}, note));
    require(!all.empty(), "a fit leaves checkpoints");
    const std::size_t count = std::min(kOfEach, all.size());
    for (std::size_t i = 1; i <= count; ++i)
      list_.push_back(kept(task, std::string(unsealed(kFormat, all[i * all.size() / count - 1], "c"))));
  }

  std::filesystem::path folder_;
  std::vector<std::unique_ptr<Task>> tasks_;
  std::vector<Kept> list_;
};

unsigned take_number(std::string_view& bytes) {
  const unsigned high = take_byte(bytes) << 16U;
  const unsigned middle = take_byte(bytes) << 8U;
  return high | middle | take_byte(bytes);
}

// What a number becomes.
std::string changed_number(std::uint64_t number, unsigned how) {
  constexpr std::uint64_t kLargest = std::numeric_limits<std::int64_t>::max();
  const std::array<std::uint64_t, 12> others = {0,
                                                1,
                                                number + 1,
                                                number - 1,
                                                2 * number,
                                                number / 2,
                                                ~std::uint64_t{0},
                                                kLargest,
                                                1U << 20U,
                                                1U << 31U,
                                                std::uint64_t{1} << 61U,
                                                kLargest + 1};
  const std::array<double, 4> reals = {std::numeric_limits<double>::quiet_NaN(),
                                       std::numeric_limits<double>::infinity(), 1e300, -1e-300};
  const std::size_t chosen = how % (others.size() + reals.size());
  if (chosen < others.size()) return bytes_of(others[chosen]);
  return bytes_of(std::bit_cast<std::uint64_t>(reals[chosen - others.size()]));
}

std::string changed(const Kept& kept, std::string_view how) {
  std::string bytes = kept.bytes;
  constexpr int kMostChanges = 8;
  for (int i = 0; i < kMostChanges && !how.empty(); ++i) {
    const unsigned kind = take_byte(how) % 8;
    const unsigned place = take_number(how);
    const unsigned value = take_byte(how);
    const std::size_t anywhere = kept.first + place % (bytes.size() - kept.first);
    if (kind == 0) {
      bytes[anywhere] = static_cast<char>(value);
    } else if (kind == 1 && bytes.size() > kept.first + 1 && value == 0) {
      bytes.resize(anywhere + 1);
    } else {
      std::size_t number =
          kind > 2 && !kept.wholes.empty() ? kept.wholes[place % kept.wholes.size()] : anywhere;
      if (number + sizeof(std::uint64_t) > bytes.size()) continue;
      bytes.replace(number, sizeof(std::uint64_t), changed_number(number_at(bytes, number), value));
    }
  }
  return bytes;
}

void run(std::string_view bytes) {
  static const Checkpoints checkpoints;
  const Kept& kept = checkpoints.list()[take_number(bytes) % checkpoints.list().size()];
  {
    std::ofstream file(checkpoints.path(), std::ios::binary);
    const std::string whole = sealed(kFormat, changed(kept, bytes));
    file.write(whole.data(), static_cast<std::streamsize>(whole.size()));
  }
  constexpr double kNever = 1e9;
  static_cast<void>(refusal_of([&] {
    const FitResult result = kept.task->fit({.path = checkpoints.path(), .every = kNever, .resume = true});
    const std::string saved = model_to_json(result.model);
    require_same(saved, model_to_json(model_from_json(saved, "m")), "a model is saved the same");
  }));
}

}  // namespace

constexpr Target kResume = {"resume", 60, run};

}  // namespace mfga::fuzz
