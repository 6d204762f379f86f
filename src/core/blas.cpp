#include "core/blas.hpp"

#include <cblas.h>

#include <mutex>

namespace mfga {
namespace {

struct Users {
  std::mutex mutex;
  int count = 0;
  int threads_before = 1;
};

Users& users() {
  static Users all;
  return all;
}

}  // namespace

SingleThreadedBlas::SingleThreadedBlas() {
  const std::lock_guard lock(users().mutex);
  if (users().count++ > 0) return;
  users().threads_before = openblas_get_num_threads();
  openblas_set_num_threads(1);
}

SingleThreadedBlas::~SingleThreadedBlas() {
  const std::lock_guard lock(users().mutex);
  if (--users().count == 0) openblas_set_num_threads(users().threads_before);
}

}  // namespace mfga
