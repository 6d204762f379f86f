"""scikit-learn's orthogonal matching pursuit, one feature per step: its two ways."""

from sklearn.linear_model import orthogonal_mp, orthogonal_mp_gram

from peers.polynomial_route import learn


def run(job):
    def choose(features, y, terms):
        return orthogonal_mp(features, y, n_nonzero_coefs=terms, precompute=False, copy_X=False)

    return learn(job, choose)


def run_gram(job):
    """With all products of features computed first; scikit-learn's choice when there are more rows than features."""

    def choose(features, y, terms):
        # NumPy's product with the transpose is a rank-k update, half of the operations. The transpose of the symmetric
        # result is in the order that saves a copy.
        gram = (features.T @ features).T
        return orthogonal_mp_gram(gram, features.T @ y, n_nonzero_coefs=terms, copy_Gram=False, copy_Xy=False)

    return learn(job, choose)
