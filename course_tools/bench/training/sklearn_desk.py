"""scikit-learn's MLPClassifier: the same sizes, sigmoid and plain SGD, but softmax and cross-entropy at the end."""

import warnings

import numpy as np
import sklearn
from sklearn.neural_network import MLPClassifier

from course_lib.measure import blas_threads
from course_tools.bench.training.catalogue import ETA
from course_tools.bench.training.desk import Desk, Trainer

PLAIN = {"alpha": 0, "momentum": 0, "nesterovs_momentum": False, "shuffle": False}


class SklearnDesk(Desk):
    def hello(self):
        return {"scikit-learn": sklearn.__version__}

    def limit(self, threads):
        return blas_threads(threads)

    def make(self, key, net, B, threads):
        return SklearnTrainer(net, B, self.X, self.labels)


class SklearnTrainer(Trainer):
    """One partial_fit over the gathered rows: it goes through them once, B at a time, in the order given."""

    loss = "cross_entropy"

    def __init__(self, net, B, X, y):
        self.X, self.y = X, y
        how = {"activation": "logistic", "solver": "sgd", "random_state": 0, **PLAIN}
        how |= {"batch_size": B, "learning_rate_init": ETA}
        self.model = MLPClassifier(net.sizes[1:-1], **how)
        warnings.simplefilter("ignore")  # a last run shorter than B is "clipped"
        self.model.partial_fit(X[:B], y[:B], classes=np.arange(net.sizes[-1]))

    def epoch(self, order):
        self.model.partial_fit(self.X[order], self.y[order])

    def params(self):
        return list(zip(self.model.coefs_, self.model.intercepts_, strict=True))
