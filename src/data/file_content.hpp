// The bytes of a file: mapped into memory, or read where it cannot be mapped (a pipe), and inflated when they
// are gzip-compressed.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/scratch_file.hpp"

namespace mfga {

// As the path of a table: standard input.
inline constexpr std::string_view kStandardInput = "-";

class FileContent {
 public:
  // What a gzip file holds is kept on disk if it may have more than `most_bytes`, in a folder as in
  // ScratchFile; 0: never.
  explicit FileContent(const std::string& path, std::size_t most_bytes = 0, const std::string& folder = {});
  // Of a file that is in memory, and must live as long.
  FileContent(std::string_view bytes, const std::string& source);
  FileContent(const FileContent&) = delete;
  FileContent& operator=(const FileContent&) = delete;
  ~FileContent();

  [[nodiscard]] std::string_view bytes() const { return bytes_; }
  // Gives back the memory of a part of a mapped file; it is read again when it is looked at again.
  void forget(std::string_view part) const;

 private:
  void open(const std::string& path);
  void map(int file, std::size_t size);
  void inflate(const std::string& source, std::size_t most_bytes, const std::string& folder);
  void unmap();

  void* mapping_ = nullptr;
  std::size_t mapped_size_ = 0;
  std::string owned_;  // what was read or inflated
  std::unique_ptr<ScratchFile> inflated_;
  std::string_view bytes_;
};

}  // namespace mfga
