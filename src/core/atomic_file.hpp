// A file that appears whole or not at all: it is written under a temporary name beside its final one and
// renamed by commit(). Without commit() the temporary file is removed.
#pragma once

#include <string>
#include <string_view>

namespace mfga {

class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  void write(std::string_view text);
  void commit();
  [[nodiscard]] const std::string& temporary_path() const { return temporary_path_; }

 private:
  std::string path_;
  std::string temporary_path_;
  int descriptor_ = -1;
};

}  // namespace mfga
