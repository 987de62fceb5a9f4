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
    l2: bytes that L2 delivers in a clock; 0 where nobody has said. warps, blocks: the most that an SM holds.
    reserved: bytes of shared memory that CUDA takes for itself in each block.
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
    l2: float = 0.0
    warps: int = 64
    blocks: int = 32
    reserved: int = 1024

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


# name, flops, memory, pcie, clock, multiprocessors, cores, registers, shared, source; the rest by name.
# l2: NVIDIA A100 Tensor Core GPU Architecture, section on L2, for V100 and A100. NVIDIA gives none for newer GPUs,
# and measurements of others differ (Luo et al., arXiv 2402.13499 and 2501.12084): left out.
DATA_SHEETS = {
    "T4": DataSheet("NVIDIA T4", 8.1e12, 320e9, _pcie(3), 1.59e9, 40, 64, 65536, 64 * 1024,
                    "NVIDIA Turing GPU Architecture, WP-09183-001, appendix on Tesla T4; T4 data sheet (PCIe)",
                    half=65e12, warps=32, blocks=16, reserved=0),
    "V100": DataSheet("NVIDIA V100 SXM2", 15.7e12, 900e9, _pcie(3), 1.53e9, 80, 64, 65536, 96 * 1024,
                      "NVIDIA Tesla V100 GPU Architecture, WP-08608-001, tables 1 and 2; V100 data sheet",
                      half=125e12, l2=2048, reserved=0),
    "A100": DataSheet("NVIDIA A100 SXM4 40 GB", 19.5e12, 1555e9, _pcie(4), 1.41e9, 108, 64, 65536, 164 * 1024,
                      "NVIDIA A100 Tensor Core GPU Architecture, 2020, tables 1 and 4; A100 data sheet",
                      half=312e12, bfloat16=312e12, tf32=156e12, l2=5120),
    "H100": DataSheet("NVIDIA H100 SXM5", 67e12, 3.35e12, _pcie(5), 1.98e9, 132, 128, 65536, 228 * 1024,
                      "NVIDIA H100 Tensor Core GPU data sheet; NVIDIA H100 Tensor Core GPU Architecture, 2022",
                      half=989.4e12, bfloat16=989.4e12, tf32=494.7e12),
}  # fmt: skip

# Beside the four that the chapters loop over. NVIDIA gives rates of eight (HGX B200): an eighth each; no data sheet
# has its SMs (device query in pytorch/ao, pull request 4002) or its clock, which follows from them and the rate.
B200 = DataSheet("NVIDIA B200 SXM", 75e12, 7.7e12, _pcie(5), 1.98e9, 148, 128, 65536, 228 * 1024,
                 "NVIDIA HGX B200 specifications; NVIDIA Blackwell Tuning Guide, sections 1.4.1 and 1.4.2",
                 half=2.25e15, bfloat16=2.25e15, tf32=1.125e15)  # fmt: skip
