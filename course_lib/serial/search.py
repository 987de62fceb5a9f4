"""The learning rate by grid search on the validation set, Kamra 2016, section 5.3."""

import math
from dataclasses import dataclass, field

from course_lib.errors import BadInput
from course_lib.serial.sgd import train


@dataclass
class GridResult:
    """One row for each eta: (eta, val_accuracy, last epoch's loss, stopped); NaN for both where it diverged."""

    rows: list[tuple[float, float, float, str | None]] = field(default_factory=list)

    @property
    def best_eta(self) -> float:
        """The eta of the highest validation accuracy; of equals the smallest. BadInput if every run diverged."""
        finished = [(right, -eta) for eta, right, _, stopped in self.rows if stopped is None]
        if not finished:
            raise BadInput("no eta of the grid trains: all runs diverged, try smaller ones")
        return -max(finished)[1]

    def __str__(self):
        lines = [f"{'eta':>8}  {'validation':>10}  {'loss':>10}"]
        best = self.best_eta if any(stopped is None for *_, stopped in self.rows) else None
        for eta, right, loss, stopped in self.rows:
            if stopped is None:
                mark = "  best" if eta == best else ""
                lines.append(f"{eta:8g}  {right:10.2%}  {loss:10.6f}{mark}")
            else:
                lines.append(f"{eta:8g}  {'-':>10}  {'-':>10}  diverged")
        return "\n".join(lines)

    __repr__ = __str__


def grid_search(net, dataset, etas, epochs, batch_size, seed, progress=True, max_examples=None):
    """Train once for each eta, always from the same parameters and in the same order (`seed`), and compare.

    The test set is not touched: it is for the one network chosen here. Other arguments as in `train`; a run
    that diverges is kept in the table and cannot win. Raises BadInput for an empty grid and where `train` does.
    """
    etas = list(etas)
    if not etas:
        raise BadInput("etas is empty: give at least one learning rate, such as [0.1, 0.3, 1.0]")
    result = GridResult()
    for eta in etas:
        if progress:
            print(f"eta = {eta:g}")
        params = net.init_params(seed, dataset.x_train.dtype)
        options = {"progress": progress, "max_examples": max_examples}
        history = train(net, params, dataset, epochs, batch_size, eta, seed, **options)
        right, loss = math.nan, math.nan
        if not history.stopped:
            right, loss = history.val_accuracy[-1], history.loss[-1]
        result.rows.append((float(eta), right, loss, history.stopped))
    return result
