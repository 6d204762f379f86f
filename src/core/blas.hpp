// Threads belong to us, across row blocks; a BLAS call inside a block runs on the thread that makes it.
#pragma once

namespace mfga {

// While one of these lives, on whatever thread, OpenBLAS uses one thread per call; the last one to go sets
// the number back that the first one found. The number is one for the whole process.
class SingleThreadedBlas {
 public:
  SingleThreadedBlas();
  SingleThreadedBlas(const SingleThreadedBlas&) = delete;
  SingleThreadedBlas& operator=(const SingleThreadedBlas&) = delete;
  ~SingleThreadedBlas();
};

}  // namespace mfga
