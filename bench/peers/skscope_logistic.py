"""skscope: orthogonal matching pursuit for any loss, here ours, written in JAX."""

import jax
import jax.numpy as jnp
import numpy as np
from skscope import OMPSolver

from peers.logistic_features import learn

jax.config.update("jax_enable_x64", True)


def run(job):
    def choose(features, y, terms, ridge):
        rows, count = features.shape
        x = jnp.asarray(np.column_stack([np.ones(rows), features]))
        labels = jnp.asarray(y)

        def objective(theta):
            return jnp.logaddexp(0, -labels * (x @ theta)).sum() + ridge * jnp.sum(theta[1:] ** 2)

        solver = OMPSolver(count + 1, terms + 1, rows, preselect=[0])
        theta = solver.solve(objective, jit=True)
        return np.asarray(theta[1:]), float(theta[0])

    return learn(job, choose)
