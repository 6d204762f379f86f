// A file that appears whole or not at all: it is written under a temporary name beside its final one and
// renamed by commit(). Without commit() the temporary file is removed; only a process that is killed leaves
// one, with no lock on it any more, for remove_leftovers() of a later process. A link is followed, and what
// stood there before leaves its mode and, where possible, its owner to the new file.
//
// What is not a regular file - a device, a pipe, standard output as /dev/stdout - is written through instead.
// It is opened by the first write, so that nothing waits for the reader of a pipe before there is something
// to read.
#pragma once

#include <string>
#include <string_view>

namespace mfga {

class AtomicFile {
 public:
  // Throws where the file cannot be written.
  explicit AtomicFile(std::string path);
  // Removes the temporary files of this path that nobody is writing.
  static void remove_leftovers(const std::string& path);
  // Removes those of all files of this process; for what is called by a signal that ends it.
  static void remove_all_temporary() noexcept;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  void write(std::string_view text);
  void commit();
  // Empty for what is written through.
  [[nodiscard]] const std::string& temporary_path() const { return temporary_path_; }

 private:
  void open_through();
  void create_temporary();

  std::string path_;
  std::string final_path_;  // behind all links
  std::string temporary_path_;
  int descriptor_ = -1;
};

// Whether two paths are one regular file, now or once either is written: the same inode, or names that lead
// to the same place.
[[nodiscard]] bool is_same_file(const std::string& a, const std::string& b);

}  // namespace mfga
