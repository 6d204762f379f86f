// The paper's data sets, read from a folder and brought into the paper's form.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "repro/experiment.hpp"

namespace mfga::repro {

struct DataSet {
  std::string name;        // unique in the results
  std::string paper_name;  // in the paper's tables
  std::string title;
  std::string source_note;
  Setting setting;
  bool is_published = true;   // whether the paper's errors are for this data
  bool is_for_times = false;  // generated: only the times are of interest
};

struct LoadOptions {
  std::string folder;
  Index most_train_rows = 0;  // 0: all
  Index most_test_rows = 0;
  Index generated_rows = 46371;
};

// The names that `mfga reproduce` takes.
[[nodiscard]] std::vector<std::string> data_set_names();
// One name may give several: epileptic also by recording, year also generated in the paper's size. The
// loaders are called one at a time, so that only one is in memory.
struct DataSetLoader {
  std::string name;
  std::function<DataSet(Workers&)> load;
};
[[nodiscard]] std::vector<DataSetLoader> data_set_loaders(std::string_view name, const LoadOptions& options);

}  // namespace mfga::repro
