// A file without a name for what does not fit into memory. The operating system removes it when it is closed,
// also after a crash or a kill.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mfga {

class ScratchFile {
 public:
  // In this folder; empty: $TMPDIR, or /var/tmp, or /tmp. Throws system_error if there can be none.
  explicit ScratchFile(const std::string& folder);
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile();

  // Returns where the bytes are. Throws system_error if the disk is full.
  std::uint64_t append(std::string_view bytes);
  [[nodiscard]] std::uint64_t size() const { return size_; }
  // Throws system_error, or Error(kSystem), if the bytes cannot be read. Many threads may read at once.
  void read(std::uint64_t place, std::size_t count, char* out) const;
  // Asks the operating system to begin to read, without waiting for it.
  void will_read(std::uint64_t place, std::uint64_t count) const;

  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  std::string folder_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace mfga
