"""Net-1h of [000] on the real MNIST test set, with the settings that chapter 02 recommends."""

import pytest

from course_lib import data, measure, serial


@pytest.mark.slow
def test_net_1h_reaches_97_percent_on_the_mnist_test_set():
    """Over 20 s of processor: it trains on all of MNIST."""
    mnist = data.load_mnist()
    net = serial.Network((784, 1024, 10), activation="relu", loss="cross_entropy")
    params = net.init_params(seed=0)
    before = serial.accuracy(net, params, mnist.x_test, mnist.y_test)
    with measure.blas_threads(
        1
    ):  # on a busy machine two BLAS threads wait for each other by spinning: minutes
        history = serial.train(
            net, params, mnist, epochs=6, batch_size=100, eta=0.2, seed=0, progress=False
        )
    after = serial.accuracy(net, params, mnist.x_test, mnist.y_test)
    print(f"test accuracy {before:.2%} before, {after:.2%} after\n{history}")
    assert history.stopped is None and before < 0.25
    assert after >= 0.97, str(history)
    assert serial.confusion(net, params, mnist.x_test, mnist.y_test).trace() == round(
        after * 10_000
    )
