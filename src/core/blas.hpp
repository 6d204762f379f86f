// Threads belong to us, across row blocks; a BLAS call inside a block runs on the thread that makes it.
#pragma once

namespace mfga {

// While it lives, OpenBLAS uses one thread per call.
class SingleThreadedBlas {
 public:
  SingleThreadedBlas();
  SingleThreadedBlas(const SingleThreadedBlas&) = delete;
  SingleThreadedBlas& operator=(const SingleThreadedBlas&) = delete;
  ~SingleThreadedBlas();

 private:
  int threads_before_;
};

}  // namespace mfga
