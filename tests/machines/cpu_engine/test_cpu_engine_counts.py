"""Sectors, wavefronts and bank conflicts equal what is derived by hand: the derivation stands beside each pattern.

A warp has 32 lanes. Global memory moves in sectors of 32 bytes, and arrays start at a multiple of 256 bytes. Shared
memory has 32 banks of 4 bytes: word w is in bank w mod 32, and a bank serves one word (to all who ask) at a time.
"""

import numpy as np
import pytest
from engine_runs import line, needs_compiler

from course_lib.machines.cpu_engine import trace
from course_lib.plots.warp_request import request_of

pytestmark = needs_compiler

PATTERNS = r"""
__global__ void global_patterns(const float *A, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = A[i];  // coalesced
    v += A[2 * i];  // stride-2
    v += A[32 * i];  // stride-32
    v += A[i + 1];  // shifted
    v += A[n];  // one-for-all
    v += A[31 - i % 32 + i / 32 * 32];  // reversed
    if (i % 2) v += A[256 + i];  // odd-lanes
    if (i % 32 < 5) v += A[64 + 8 * (i % 32)];  // five-lanes
    float4 four = ((const float4 *)A)[i];  // float4
    v += four.x + four.w;
    v += ((const double *)A)[i];  // double
    v += ((const char *)A)[i];  // char
    out[i] = v;  // store
}
__global__ void gemm_rows(const float *A, const float *B, float *C, int n)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < n; k++)
        s += A[i * n + k]  // gemm-A
           * B[k * n + j];  // gemm-B
    C[i * n + j] = s;  // gemm-C
}
__global__ void by_columns(const float *A, float *C, int n)
{
    float s = 0;
    for (int k = 0; k < n; k++)
        s += A[threadIdx.x * n + k];  // by-columns
    C[threadIdx.x] = s;
}
__global__ void shared_patterns(float *out)
{
    __shared__ float s[1088];
    __shared__ float4 v[32];
    __shared__ double d[64];
    int i = threadIdx.x;
    for (int k = i; k < 1088; k += 32) s[k] = k;  // fill
    v[i] = make_float4(i, i, i, i);  // store-float4
    d[i] = i; d[32 + i] = i;  // store-double
    __syncthreads();
    float x = s[i];  // no-conflict
    x += s[2 * i];  // two-way
    x += s[8 * i];  // eight-way
    x += s[32 * i];  // column
    x += s[33 * i];  // padded-column
    x += s[5];  // broadcast
    x += s[i / 2];  // pairs
    x += s[i % 4 * 32 + i / 4];  // four-rows
    x += s[31 - i];  // mirrored
    if (i < 16) x += s[32 * i + 1];  // half-column
    x += v[i].x;  // load-float4-x
    float4 all = v[i ^ 1];  // load-float4
    x += all.x + (float)d[2 * i];  // double-stride-2
    out[i] = x;
}
"""


def traced(kernel, grid, block, args):
    report = trace(PATTERNS, kernel, grid, block, args)
    assert not report.errors, str(report)
    return report


def at(report, mark, space):
    (row,) = [
        row
        for row in report.accesses
        if row["line"] == line(PATTERNS, mark) and row["space"] == space
    ]
    return row


# mark, sectors of one warp, ideal sectors, lanes that ask, bytes of each
GLOBAL = [
    ("coalesced", 4, 4, 32, 4),  # 32 x 4 = 128 bytes in a row = 4 sectors
    ("stride-2", 8, 4, 32, 4),  # spread over 256 bytes: 8 sectors for 128 bytes used
    ("stride-32", 32, 4, 32, 4),  # 128 bytes from lane to lane: each has a sector of its own
    ("shifted", 5, 4, 32, 4),  # 128 bytes that start 4 into a sector touch 5
    ("one-for-all", 1, 1, 32, 4),  # one word for all lanes: one sector
    ("reversed", 4, 4, 32, 4),  # the order of the lanes does not matter
    (
        "odd-lanes",
        4,
        2,
        16,
        4,
    ),  # 16 lanes, every other word: all 4 sectors, of which 64 bytes = 2 are used
    ("five-lanes", 5, 1, 5, 4),  # 5 words 32 bytes apart: 5 sectors; 20 bytes would fit into one
    ("float4", 16, 16, 32, 16),  # 32 x 16 = 512 bytes = 16 sectors
    ("double", 8, 8, 32, 8),  # 256 bytes
    ("char", 1, 1, 32, 1),  # 32 bytes
    ("store", 4, 4, 32, 4),
]


@pytest.fixture(scope="module")
def global_report():
    A = np.arange(64 * 32, dtype=np.float32)
    return traced("global_patterns", 2, 32, [A, np.zeros(64, np.float32), np.int32(7)])


@pytest.mark.parametrize(
    "mark, sectors, ideal, lanes, size", GLOBAL, ids=[row[0] for row in GLOBAL]
)
def test_sectors(global_report, mark, sectors, ideal, lanes, size):
    row = at(global_report, mark, "global")
    assert row["requests"] == 2  # two blocks of one warp
    assert (row["sectors"], row["ideal_sectors"]) == (2 * sectors, 2 * ideal)
    assert (row["threads"], row["bytes"]) == (2 * lanes, 2 * lanes * size)


def test_naive_gemm():
    """Warps of 32 lanes in a row of C, n = 64: per step of k, A gives one word to all (1 sector), B a row of 32 (4)."""
    n, A = 64, np.ones((64, 64), np.float32)
    report = traced("gemm_rows", (2, 16), (32, 4), [A, A.copy(), A * 0, np.int32(n)])
    warps = n * n // 32
    assert at(report, "gemm-A", "global")["sectors"] == warps * n
    assert at(report, "gemm-B", "global")["sectors"] == warps * n * 4
    assert at(report, "gemm-C", "global")["sectors"] == warps * 4
    moved = 32 * (warps * n * 5 + warps * 4)
    assert report.intensity(2 * n**3) == pytest.approx(2 * n**3 / moved)
    assert report.total("bytes", space="global", op="load") == 2 * 4 * n**3


def test_loads_by_columns():
    """Section 4.2 of [003] with A stored by rows: lane r reads A[r][k], each in a sector of its own, 32 a request."""
    report = traced(
        "by_columns", 1, 32, [np.ones((32, 64), np.float32), np.zeros(32, np.float32), np.int32(64)]
    )
    row = at(report, "by-columns", "global")
    assert (row["requests"], row["sectors"], row["ideal_sectors"]) == (64, 64 * 32, 64 * 4)


LANES = {  # byte offset in A of each lane of the first block's warp, from the index in the source
    "coalesced": [4 * i for i in range(32)],
    "stride-2": [8 * i for i in range(32)],
    "shifted": [4 * (i + 1) for i in range(32)],
    "one-for-all": [4 * 7] * 32,
    "odd-lanes": [4 * (256 + i) if i % 2 else None for i in range(32)],
    "five-lanes": [4 * (64 + 8 * i) if i < 5 else None for i in range(32)],
    "float4": [16 * i for i in range(32)],
    "char": list(range(32)),
}


@pytest.mark.parametrize("mark", LANES)
def test_lanes_of_a_request(global_report, mark):
    """Both blocks cost the same: the first is shown."""
    row = at(global_report, mark, "global")
    assert row["lanes"] == LANES[mark]
    assert (row["lanes_block"], row["lanes_warp"]) == ((0, 0, 0), 0)
    assert row["lanes_bytes"] == row["bytes"] // row["threads"]


COSTLIEST = r"""
__constant__ float c[40];
__global__ void steps(const float *A, float *out)
{
    __shared__ float s[2048];
    int i = threadIdx.x + blockDim.x * threadIdx.y;
    for (int k = i; k < 2048; k += 64) s[k] = 0;
    __syncthreads();
    float v = 0;
    int warp = i / 32, lane = i % 32, here = blockIdx.x + gridDim.x * blockIdx.y;
    for (int k = 0; k < 4; k++) {
        int stride = here == 4 && warp == 1 && (k == 2 || k == 3) ? 8 : 1;
        v += A[k + stride * lane];  // global
        int way = here == 5 && warp == 0 && k > 0 ? 2 * k : 1;
        if (lane != 3) v += s[lane * way + 1024];  // shared
    }
    __syncthreads();  // of equals, the lowest warp's is shown: not that of the last to arrive, which goes on first
    v += A[i];  // after
    out[64 * here + i] = v + c[lane + 8];  // constant
}
"""


def test_lanes_are_those_of_the_costliest_request():
    """Of 6 blocks of 2 warps with 4 requests each, a few cost more; of equals the first is shown.

    A: k + 8 lane in block 4 = (1, 1) of a grid of 3 x 2, warp 1, k = 2 and 3: 32 sectors, against 4 or 5 elsewhere.
    s: words way x lane, way = 2, 4, 6 for k = 1, 2, 3: 31 lanes fall on 16, 8, 16 banks, so 2, 4, 2 ways: k = 2.
    """
    args, symbols = (
        [np.ones(512, np.float32), np.zeros(384, np.float32)],
        {"c": np.ones(40, np.float32)},
    )
    report = trace(COSTLIEST, "steps", (3, 2), (16, 4), args, symbols=symbols)
    assert report.ok, str(report)
    rows = {
        mark: row
        for row in report.accesses
        for mark in ("global", "shared", "constant")
        if row["line"] == line(COSTLIEST, mark) and row["op"] == "load" and row["space"] == mark
    }
    row = rows["global"]
    assert row["lanes"] == [4 * (2 + 8 * i) for i in range(32)]
    assert (row["lanes_block"], row["lanes_warp"], row["lanes_bytes"]) == ((1, 1, 0), 1, 4)
    row = rows["shared"]
    assert row["max_way"] == 4
    assert row["lanes"] == [None if i == 3 else 4 * (1024 + 4 * i) for i in range(32)]
    assert (row["lanes_block"], row["lanes_warp"]) == ((2, 1, 0), 0)
    (row,) = [row for row in report.accesses if row["line"] == line(COSTLIEST, "after")]
    assert (row["lanes_block"], row["lanes_warp"], row["lanes"]) == (
        (0, 0, 0),
        0,
        [4 * i for i in range(32)],
    )
    row = rows["constant"]
    assert (
        row["lanes"] == [4 * (8 + i) for i in range(32)]
        and row["sectors"] == row["wavefronts"] == 0
    )


# mark, op, requests, wavefronts of one request, ideal wavefronts, ways
SHARED = [
    ("fill", "store", 34, 1, 1, 1),  # consecutive words are in consecutive banks
    ("no-conflict", "load", 1, 1, 1, 1),
    ("two-way", "load", 1, 2, 1, 2),  # words 0, 2 .. 62: lanes i and i + 16 meet in bank 2 i
    ("eight-way", "load", 1, 8, 1, 8),  # words 8 i: only banks 0, 8, 16, 24, with 8 words each
    ("column", "load", 1, 32, 1, 32),  # words 32 i: all in bank 0
    ("padded-column", "load", 1, 1, 1, 1),  # words 33 i: bank i
    ("broadcast", "load", 1, 1, 1, 1),  # one word for all
    ("pairs", "load", 1, 1, 1, 1),  # 16 words in 16 banks, two lanes each
    ("four-rows", "load", 1, 4, 1, 4),  # words 32 r + c: bank c of 8, with 4 words each
    ("mirrored", "load", 1, 1, 1, 1),
    ("half-column", "load", 1, 16, 1, 16),  # 16 lanes in bank 1
    ("store-float4", "store", 1, 4, 4, 1),  # 512 bytes: 8 lanes at a time fill the 32 banks
    ("load-float4", "load", 1, 4, 4, 1),  # within 8 lanes the order does not matter
    ("store-double", "store", 2, 2, 2, 1),  # 256 bytes: 16 lanes at a time
    (
        "double-stride-2",
        "load",
        1,
        4,
        2,
        2,
    ),  # 16 lanes, 16 bytes apart: words 4 i and 4 i + 1 of 64, 2 in a bank
    ("load-float4-x", "load", 1, 4, 1, 4),  # words 4 i: banks 0, 4 .. 28, with 4 words each
]


@pytest.fixture(scope="module")
def shared_report():
    return traced("shared_patterns", 1, 32, [np.zeros(32, np.float32)])


@pytest.mark.parametrize(
    "mark, op, requests, waves, ideal, way", SHARED, ids=[row[0] for row in SHARED]
)
def test_bank_conflicts(shared_report, mark, op, requests, waves, ideal, way):
    row = at(shared_report, mark, "shared")
    assert (row["op"], row["requests"]) == (op, requests)
    assert row["wavefronts"] == requests * waves and row["ideal_wavefronts"] == requests * ideal
    assert row["max_way"] == way


@pytest.mark.parametrize("mark, sectors", [row[:2] for row in GLOBAL])
def test_the_picture_of_sectors_counts_as_the_engine_does(global_report, mark, sectors):
    assert len(request_of(at(global_report, mark, "global"), None, 4).sectors()) == sectors


@pytest.mark.parametrize("mark, waves, ways", [(row[0], row[3], row[5]) for row in SHARED])
def test_the_picture_of_banks_counts_as_the_engine_does(shared_report, mark, waves, ways):
    turns = request_of(at(shared_report, mark, "shared"), None, 4).wavefronts()
    assert len(turns) == waves
    assert max(nth for nth, _ in turns) == ways - 1


def test_only_some_blocks():
    args = [np.arange(64 * 32, dtype=np.float32), np.zeros(64, np.float32), np.int32(7)]
    for blocks in ([1], [(1,)], [(1, 0, 0)]):
        report = trace(PATTERNS, "global_patterns", 2, 32, args, blocks=blocks)
        assert at(report, "store", "global")["requests"] == 1
    assert not args[1][:32].any() and args[1][32:].all()


def test_table_and_text():
    report = traced(
        "by_columns", 1, 32, [np.ones((32, 64), np.float32), np.zeros(32, np.float32), np.int32(64)]
    )
    header, rows = report.table()
    assert all(len(row) == len(header) for row in rows)
    assert "no check found anything" in str(report) and "2,048" in str(report)
