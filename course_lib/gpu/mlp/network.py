"""Training on the device, with the surface of the serial library: forward, backward, step, epoch, train."""

import time

import numpy as np

from course_lib.errors import BadInput, check_array, check_count, check_number
from course_lib.gpu import device
from course_lib.gpu.mlp.activations import ACTIVATIONS
from course_lib.gpu.mlp.feed import Feed, Transfers
from course_lib.gpu.mlp.kernels import Kernels
from course_lib.serial import Cache, History, targets
from course_lib.serial.evaluate import CHUNK, check_labels, labels_of
from course_lib.serial.network import check_not_empty, check_params
from course_lib.serial.progress import TrainingProgress


class Mlp:
    """A network whose parameters and activations live on the device. A step sends its batch in, and nothing else.

    net: a serial Network; params: list of (W (n_in, n_out), b (n_out,)) of float32, copied; eta: the learning rate.
    activation: an Activation of your own for the hidden layers, instead of net.activation.
    layout: "ours", W (n_in, n_out) by rows; or "paper" (Kamra 2016, section 4), W (n_out, n_in) by rows. Activations
        lie the same way in both: their examples in columns, stored by columns, are ours in rows, stored by rows.
    slope: False leaves f'(z_L) out of the output delta, as Kamra 2016 in eq. 8: (A - Y)/B. For the loss "mse" alone.
    recompute: computes Z once more for f', as Kamra 2016 does, where f' needs it; else the forward pass keeps it.
    fused: the transposed product and the Hadamard product in one kernel. kernels: Kernels(), or Kernels(traced=True).
    `transfers` counts what this object copies. Raises BadInput for what cannot be; CompileError, at the first launch,
    for an activation that does not compile.
    """

    def __init__(
        self,
        net,
        params,
        eta,
        activation=None,
        layout="ours",
        slope=True,
        recompute=False,
        fused=False,
        kernels=None,
    ):
        check_params(params, net)
        check_array("params[0][0]", params[0][0], dtype=np.float32)
        if layout not in ("ours", "paper"):
            raise BadInput(f"layout must be ours or paper, not {layout!r}")
        self.net, self.eta = net, check_number("eta", eta)
        self.order = "C" if layout == "ours" else "F"
        self.softmax, self.slope = net.loss == "cross_entropy", slope and net.loss == "mse"
        output = ACTIVATIONS["identity" if self.softmax else "sigmoid"]
        self.f = [activation or ACTIVATIONS[net.activation]] * (net.n_layers - 1) + [output]
        self.recompute, self.fused, self.kernels = recompute, fused, kernels or Kernels()
        self._kept: dict = {}  # by name and shape
        self.transfers = Transfers({"copies in": 0, "bytes in": 0, "copies out": 0, "bytes out": 0})
        self.feeds = [Feed(self.kernels.stream, self.transfers) for _ in "XY"]
        turned = np.ascontiguousarray if layout == "ours" else np.asfortranarray
        self.params = [tuple(self.transfers.to_device(turned(X)) for X in pair) for pair in params]

    def forward(self, X):
        """The batch X (B, n0) float32 through all layers: a serial Cache, but of device arrays, which stay there.

        Their .get() copies them. Z[l] is None where backward does not need it. They hold until the next call.
        """
        check_not_empty(check_array("X", X, ("B", self.net.sizes[0]), np.float32))
        return self._forward(self.feeds[0].send(X, np.arange(len(X))))

    def backward(self, cache, Y):
        """The gradient of the batch's mean loss, lam included: list of (dW, db), device arrays. Y: (B, nL) float32."""
        check_array("Y", Y, cache.A[-1].shape, np.float32)
        Y = self.feeds[1].send(Y, np.arange(len(Y)))
        into = []
        for l, (W, b) in enumerate(self.params):
            dW, db = (self._new(f"gradient {l}", *X.shape, order=self.order) for X in (W, b))
            into.append((dW, db))
        return self._backward(cache, Y, into, 1, self.net.lam, 0)

    def gradients(self, X, Y):
        """forward, then backward; the list of (dW, db) as NumPy arrays."""
        return self._to_host(self.backward(self.forward(X), Y))

    def get_params(self):
        """A copy of the parameters as they are now: list of (W, b), NumPy arrays of float32."""
        return self._to_host(self.params)

    def step(self, X, Y):
        """One step on the batch X (B, n0), Y (B, nL), float32; returns the loss before it."""
        return self.epoch(X, Y, len(X))

    def epoch(self, X, Y, batch_size, order=None):
        """A step for each batch_size rows, the last perhaps fewer; returns the mean of the losses before each step.

        X (N, n0), Y (N, nL) float32; order: row numbers in the order of their use, else 0 to N - 1. The losses, too,
        stay on the device until the epoch ends: one copy. Raises BadInput for what does not fit.
        """
        check_array("X", X, ("N", self.net.sizes[0]), np.float32)
        check_array("Y", Y, (len(X), self.net.sizes[-1]), np.float32)
        order = np.arange(len(X)) if order is None else np.asarray(order)
        size = check_count("batch_size", batch_size)
        if len(order) == 0 or order.min() < 0 or order.max() >= len(X):
            raise BadInput(f"order must hold one or more row numbers of X, from 0 to {len(X) - 1}")
        batches = [order[start : start + size] for start in range(0, len(order), size)]
        losses = self._new("losses", len(batches), 1 + (self.net.n_layers if self.net.lam else 0))
        for number, rows in enumerate(batches):
            x, y = (feed.send(array, rows) for feed, array in zip(self.feeds, (X, Y), strict=True))
            self.launch_step(x, y, losses, number)
        means = self.transfers.to_host(losses).sum(axis=1, dtype=np.float64)
        return float(np.average(means, weights=[len(rows) for rows in batches]))

    def launch_step(self, x, y, losses, number=0):
        """The kernels of one step on device arrays x (B, n0), y (B, nL); nothing is copied, nothing waited for.

        losses: a device array (steps, terms) whose row of that number gets the loss's terms.
        """
        cache = self._forward(x)
        self._loss(cache, y, losses, number)
        self._backward(cache, y, self.params, -self.eta, 1 - self.eta * self.net.lam, 1)

    def train(self, dataset, epochs, batch_size, seed=0, progress=True, max_examples=None):
        """As `serial.train` with the same seed: the same batches in the same order. Returns a History.

        A loss that is no number ends it after its epoch, with history.stopped; the parameters are spoilt then.
        """
        check_labels(self.net, dataset.y_train, "dataset.y_train")
        X, y = dataset.x_train[:max_examples], dataset.y_train[:max_examples]
        Y = targets(self.net, y, np.float32)
        size, history = len(X) if batch_size is None else batch_size, History()
        report = TrainingProgress(progress, check_count("epochs", epochs), 0)
        while len(history.loss) < epochs and not history.stopped:
            order = np.random.default_rng([seed, len(history.loss)]).permutation(len(X))
            start = time.perf_counter()
            history.loss.append(self.epoch(X, Y, size, order if size < len(X) else None))
            history.seconds.append(time.perf_counter() - start)
            history.val_accuracy.append(self.accuracy(dataset.x_val, dataset.y_val))
            if not np.isfinite(history.loss[-1]):
                history.stopped = f"eta = {self.eta:g}: the loss is no number"
            report.epoch_done(history)
        report.close(history)
        return history

    def predict(self, X):
        """The label of each row, int64 (N,), as `serial.predict`: the outputs come to the host."""
        chunks = [X[start : start + CHUNK] for start in range(0, max(1, len(X)), CHUNK)]
        outputs = [self.transfers.to_host(self.forward(chunk).A[-1]) for chunk in chunks]
        return labels_of(np.concatenate(outputs))

    def accuracy(self, X, y):
        """The fraction of rows whose predicted label is y (N,)."""
        return float(np.mean(self.predict(X) == check_array("y", y, (len(X),))))

    def _forward(self, X):
        A, B = [X], X.shape[0]
        Z: list = []
        for l, ((W, b), f) in enumerate(zip(self.params, self.f, strict=True)):
            softmax = self.softmax and l == self.net.n_layers - 1
            kept = softmax or (f.from_z and not self.recompute)
            Z.append(self._new(f"Z{l}", B, W.shape[1]) if kept else None)
            A.append(self._new(f"A{l}", B, W.shape[1]))
            self.kernels.forward(A[l], W, b, Z[l], None if softmax else A[-1], f)
            if softmax:
                m, s = self._new("m", B), self._new("s", B)
                self.kernels.row_max(Z[l], m)
                self.kernels.softmax(Z[l], m, A[-1], s)
        return Cache(A, Z, self.net)

    def _backward(self, cache, Y, into, alpha, beta, beta_b):
        """into = alpha gradient + beta params: the gradient itself, or the step, written over the parameters."""
        A, dZ, s = cache.A, self._new("dZ", *Y.shape), (2 if self.slope else 1) / Y.shape[0]
        self.kernels.output_delta(cache.Z[-1], A[-1], Y, dZ, s, self.slope, self.f[-1])
        for l in reversed(range(self.net.n_layers)):
            (W, b), (V, v) = self.params[l], into[l]
            below = self._hidden_delta(cache, l, dZ) if l else dZ  # with W as it still is
            self.kernels.update(A[l], dZ, W, V, alpha, beta)
            self.kernels.column_sums(dZ, b, v, alpha, beta_b)
            dZ = below
        return into

    def _hidden_delta(self, cache, l, dZ):
        """dZ of the layer below layer l: dZ W^T, times f' of what went into it."""
        A, Z, f = cache.A, cache.Z[l - 1], self.f[l - 1]
        if f.from_z and Z is None:
            Z, (W, b) = self._new("again", *A[l].shape), self.params[l - 1]
            self.kernels.forward(A[l - 1], W, b, Z, None, f)
        dA = self._new(f"dA{l}", *A[l].shape)
        self.kernels.transposed(dZ, self.params[l][0], dA, f, self.fused, Z, A[l])
        if not self.fused:
            self.kernels.hadamard(Z, A[l], dA, dA, f)
        return dA

    def _to_host(self, pairs):
        return [(self.transfers.to_host(W), self.transfers.to_host(b)) for W, b in pairs]

    def _loss(self, cache, Y, losses, number):
        """losses[number] = the batch's mean loss and, if lam > 0, each layer's L2 penalty: their sum is the loss."""
        B, part = Y.shape[0], self._new("part", 64)
        rows = self._new("rows", 1, B)
        if self.softmax:
            self.kernels.row_loss(cache.Z[-1], Y, rows, self._new("m", B), self._new("s", B))
        else:
            self.kernels.row_loss(cache.A[-1], Y, rows)
        terms = [(rows, 1 / B, False)]
        if self.net.lam:
            terms += [(W, self.net.lam / 2, True) for W, _ in self.params]
        for term, (X, scale, squared) in enumerate(terms):
            self.kernels.total(X, part, losses, number * len(terms) + term, scale, squared)

    def _new(self, name, *shape, order="C"):
        """Memory for what a pass leaves behind: made once for each name and shape, then used again."""
        if (name, *shape) not in self._kept:
            self._kept[name, *shape] = device.gpuarray.empty(shape, np.float32, order=order)
        return self._kept[name, *shape]
