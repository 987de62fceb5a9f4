"""Formats and rounding, against NumPy's float16 and against bit patterns."""

import numpy as np
import pytest

from course_lib.errors import BadInput
from course_lib.serial import FORMATS, rounded, spacing


def wide_numbers(dtype=np.float32):
    """Numbers of all sizes that a float16 has, and beyond; every second near a tie of two float16."""
    rng = np.random.default_rng(3)
    numbers = rng.standard_normal(20_000) * 10.0 ** rng.integers(-10, 6, 20_000)
    halves = abs(numbers[::2]).clip(2.0**-24, 6e4).astype(np.float16)
    with np.errstate(over="ignore"):
        middles = (
            halves.astype(float) / 2 + np.nextafter(halves, np.float16(np.inf)).astype(float) / 2
        )
    middles[np.isinf(middles)] = 65520.0
    beside = middles * (1 + rng.integers(-1, 2, len(middles)) * 1e-6)
    return np.concatenate([numbers, beside]).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_float16_is_numpys(dtype):
    x = wide_numbers(dtype)
    with np.errstate(over="ignore"):
        wanted = x.astype(np.float16).astype(np.float32)
    got = rounded(x, "float16")
    assert got.dtype == np.float32 and np.array_equal(got.view(np.uint32), wanted.view(np.uint32))
    assert np.isinf(got).any() and (got == 0).any()


def test_every_float16_stays_what_it_is():
    """All 65,536 patterns, but for NaN with its many patterns."""
    bits = np.arange(1 << 16, dtype=np.uint16)
    x = bits[~np.isnan(bits.view(np.float16))].view(np.float16).astype(np.float32)
    assert np.array_equal(rounded(x, "float16").view(np.uint32), x.view(np.uint32))
    assert np.isnan(rounded(np.float32("nan"), "float16"))


@pytest.mark.parametrize(("name", "dropped"), [("bfloat16", 16), ("TF32", 13)])
def test_formats_with_eight_bits_of_exponent_round_the_bits_of_a_float32(name, dropped):
    """Half of what is dropped is added, less a little where the last digit kept is 0: ties go to the even one."""
    rng = np.random.default_rng(4)
    bits = rng.integers(0, 0x7F80_0000, 50_000, dtype=np.uint32)
    bits[::2] = bits[::2] >> dropped << dropped | 1 << (dropped - 1)  # every second a tie
    bits[::3] |= 0x8000_0000
    odd = bits >> dropped & 1
    wanted = (bits + (1 << (dropped - 1)) - 1 + odd) >> dropped << dropped
    got = rounded(bits.view(np.float32), name)
    assert np.array_equal(got.view(np.uint32), wanted.astype(np.uint32))


def test_float32_keeps_a_float32_and_rounds_a_float64_as_numpy_does():
    x = wide_numbers(np.float64)
    assert np.array_equal(rounded(x, "float32"), x.astype(np.float32))
    assert np.array_equal(rounded(x.astype(np.float32), "float32"), x.astype(np.float32))


def test_a_float64_is_rounded_once():
    """1 + 2^-11 + 2^-40 lies above the tie; by way of float32 it would fall upon it, and down to 1."""
    assert rounded(1 + 2.0**-11 + 2.0**-40, "float16") == 1 + 2.0**-10
    assert rounded(np.float32(1 + 2.0**-11), "float16") == 1


@pytest.mark.parametrize("name", FORMATS)
def test_the_numbers_of_the_table(name):
    form = FORMATS[name]
    for number in (form.largest, form.smallest_normal, form.smallest, 1 + form.epsilon):
        assert rounded(number, name) == np.float32(number)
    assert rounded(form.largest * (1 + form.unit / 2), name) == np.float32(form.largest)
    assert np.isinf(rounded(form.largest * (1 + form.unit), name))
    assert rounded(form.smallest / 2, name) == 0 < rounded(form.smallest * 0.51, name)
    assert spacing(1.0, name) == form.epsilon == 2 * form.unit
    assert spacing(0.0, name) == form.smallest
    assert 1 + form.exponent + form.fraction <= 8 * form.bytes and form.digits == form.fraction + 1


def test_the_table_agrees_with_numpy():
    for name, dtype in (("float32", np.float32), ("float16", np.float16)):
        form, info = FORMATS[name], np.finfo(dtype)
        assert (form.largest, form.smallest_normal) == (info.max, info.smallest_normal)
        assert (form.smallest, form.epsilon) == (info.smallest_subnormal, info.eps)


def test_shapes_and_bad_input():
    assert rounded(3, "bfloat16").shape == () and rounded(np.ones((2, 3)), "TF32").shape == (2, 3)
    x = np.full(3, 0.1, np.float32)
    rounded(x, "bfloat16")
    assert (x == np.float32(0.1)).all()
    for bad in (("float8", 1.0), ("float16", "one"), ("float16", 1j)):
        with pytest.raises(BadInput):
            rounded(bad[1], bad[0])
