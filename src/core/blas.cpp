#include "core/blas.hpp"

#include <cblas.h>

namespace mfga {

SingleThreadedBlas::SingleThreadedBlas() : threads_before_(openblas_get_num_threads()) {
  openblas_set_num_threads(1);
}

SingleThreadedBlas::~SingleThreadedBlas() { openblas_set_num_threads(threads_before_); }

}  // namespace mfga
