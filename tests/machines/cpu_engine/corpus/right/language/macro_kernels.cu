// Kernels that macros make.
#define KERNEL_OF(name, op)                               \
    __global__ void name(float *x, int n)                 \
    {                                                     \
        int i = blockIdx.x * blockDim.x + threadIdx.x;    \
        if (i < n)                                        \
            x[i] = op(x[i]);                              \
    }
#define NEGATED(v) (-(v))
//: negate_all grid=2 block=32 args={"x": random(50, 1), "n": i4(50)} gives={"x": -x}
KERNEL_OF(negate_all, NEGATED)
//: square_roots grid=2 block=32 args={"x": 1 + random(50, 2), "n": i4(50)} gives={"x": np.sqrt(x)}
KERNEL_OF(square_roots, sqrtf)
