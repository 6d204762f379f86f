"""SPAMS' orthogonal matching pursuit. It asks for columns of unit norm, so it compares candidates by another measure
and chooses other features."""

import numpy as np
import spams

from machine import available_cores
from peers.polynomial_route import learn


def run(job):
    def choose(features, y, terms):
        norms = np.sqrt(np.einsum("nj,nj->j", features, features))
        features /= norms
        found = spams.omp(
            np.asfortranarray(y[:, None]), features, L=terms, eps=0.0, numThreads=available_cores()
        )
        return found.toarray()[:, 0] / norms

    return learn(job, choose)
