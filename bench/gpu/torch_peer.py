"""What PyTorch takes on the same GPU for the passes of mfga_gpu_bench: medians of 20, Gram matrices of 3.

    python3 bench/gpu/torch_peer.py [ROWS [INPUTS]]
"""

import sys
import time

import torch

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 463_715
INPUTS = int(sys.argv[2]) if len(sys.argv) > 2 else 90


def median_ms(work, repeats=20):
    work()
    torch.cuda.synchronize()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        times.append(1e3 * (time.perf_counter() - start))
    return sorted(times)[repeats // 2]


def show(what, ms):
    print(f"{what:50} {ms:10.3f} ms")


def main():
    x = torch.randn(ROWS, INPUTS, device="cuda", dtype=torch.float64)
    weights = torch.randn(ROWS, device="cuda", dtype=torch.float64)
    torch.backends.cuda.matmul.allow_tf32 = False
    show("moments of two inputs, weighted, double", median_ms(lambda: (x * weights[:, None]).T @ x))
    single, single_weights = x.float(), weights.float()
    show("the same in single precision", median_ms(lambda: (single * single_weights[:, None]).T @ single))
    torch.backends.cuda.matmul.allow_tf32 = True
    show("the same in TF32", median_ms(lambda: (single * single_weights[:, None]).T @ single))
    candidates = INPUTS * (INPUTS + 1) // 2 + INPUTS + 1
    columns = torch.randn(ROWS, candidates, device="cuda", dtype=torch.float64)
    show("Gram matrix of all candidates, double", median_ms(lambda: columns.T @ columns, 3))
    show("products of all candidates with a column, double", median_ms(lambda: columns.T @ weights))


if __name__ == "__main__":
    main()
