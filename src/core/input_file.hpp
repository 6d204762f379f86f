// Files of our own that are read whole: models, statistics, checkpoints.
#pragma once

#include <string>
#include <string_view>

namespace mfga {

class InputFile {
 public:
  // `what` names such a file in messages, as in "model file". Only regular files can be.
  InputFile(std::string path, std::string_view what);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  [[nodiscard]] std::size_t size() const { return size_; }
  // The next bytes, at most so many: fewer only at the end of the file.
  [[nodiscard]] std::string read(std::size_t most);

 private:
  std::string path_;
  int descriptor_ = -1;
  std::size_t size_ = 0;
};

}  // namespace mfga
