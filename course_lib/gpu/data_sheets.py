"""Figures from NVIDIA's data sheets, for models: what a GPU could do at best. None of them was measured here."""

from dataclasses import dataclass

from course_lib.errors import BadInput

TENSOR_KINDS = ("half", "bfloat16", "tf32")


@dataclass(frozen=True)
class DataSheet:
    """A GPU on paper.

    flops: float32 operations/s without tensor cores, a fused multiply-add as two. memory: bytes/s of device memory.
    pcie: bytes/s over the bus to the host, in each direction. clock: Hz, the boost clock that flops rests on.
    multiprocessors: SMs. cores: float32 units of an SM. registers: 32-bit ones of an SM. shared: the most bytes of
    shared memory of an SM. source: NVIDIA's documents.
    half, bfloat16, tf32: operations/s of dense matrices on tensor cores, with float32 sums; 0 where there are none.
    """

    name: str
    flops: float
    memory: float
    pcie: float
    clock: float
    multiprocessors: int
    cores: int
    registers: int
    shared: int
    source: str
    half: float = 0.0
    bfloat16: float = 0.0
    tf32: float = 0.0

    @property
    def ridge(self):
        """Flops a byte of device memory, above which arithmetic is the limit and below it the memory."""
        return self.flops / self.memory

    def tensor_ridge(self, kind="half"):
        """The same with tensor cores. kind: half, bfloat16 or tf32. Raises BadInput where this GPU has none for it."""
        if kind not in TENSOR_KINDS or not getattr(self, kind):
            having = [name for name in TENSOR_KINDS if getattr(self, name)]
            raise BadInput(
                f"the tensor cores of {self.name} multiply {', '.join(having)}, not {kind}"
            )
        return getattr(self, kind) / self.memory


def _pcie(generation):
    """Bytes/s of 16 lanes in one direction: 8, 16 or 32 Gbit/s a lane, of which 128 bits in 130 are data."""
    return {3: 8e9, 4: 16e9, 5: 32e9}[generation] * 16 / 8 * 128 / 130


# name, flops, memory, pcie, clock, multiprocessors, cores, registers, shared, source; tensor cores
DATA_SHEETS = {
    "T4": DataSheet("NVIDIA T4", 8.1e12, 320e9, _pcie(3), 1.59e9, 40, 64, 65536, 64 * 1024,
                    "NVIDIA Turing GPU Architecture, WP-09183-001, appendix on Tesla T4; T4 data sheet (PCIe)",
                   half=65e12),
    "V100": DataSheet("NVIDIA V100 SXM2", 15.7e12, 900e9, _pcie(3), 1.53e9, 80, 64, 65536, 96 * 1024,
                      "NVIDIA Tesla V100 GPU Architecture, WP-08608-001, tables 1 and 2; V100 data sheet",
                     half=125e12),
    "A100": DataSheet("NVIDIA A100 SXM4 40 GB", 19.5e12, 1555e9, _pcie(4), 1.41e9, 108, 64, 65536, 164 * 1024,
                      "NVIDIA A100 Tensor Core GPU Architecture, 2020, tables 1 and 4; A100 data sheet",
                     half=312e12, bfloat16=312e12, tf32=156e12),
    "H100": DataSheet("NVIDIA H100 SXM5", 67e12, 3.35e12, _pcie(5), 1.98e9, 132, 128, 65536, 228 * 1024,
                      "NVIDIA H100 Tensor Core GPU data sheet; NVIDIA H100 Tensor Core GPU Architecture, 2022",
                     half=989.4e12, bfloat16=989.4e12, tf32=494.7e12),
}  # fmt: skip
