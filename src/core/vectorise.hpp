// MFGA_VECTORISED before a function definition compiles it once per instruction set and picks one when the
// program starts, so that plain loops use AVX2 or AVX-512 where the machine has them and run anywhere.
#pragma once

// Sanitizers run before such choices can be made.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define MFGA_VECTORISED __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define MFGA_VECTORISED
#endif
