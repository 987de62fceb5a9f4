"""As pycuda.compiler: SourceModule, whose second positional argument is nvcc, and whose options must be a list."""

from pycuda import driver

DEFAULT_NVCC_FLAGS: list = []


class SourceModule:
    def __init__(
        self,
        source,
        nvcc="nvcc",
        options=None,
        keep=False,
        no_extern_c=False,
        arch=None,
        code=None,
        cache_dir=None,
        include_dirs=None,
    ):
        options = options[:]
        options.extend(["-arch", "sm_80"])
        if driver.SCENE == "no-nvcc":
            raise OSError("nvcc was not found (is it on the PATH?)")
        if driver.SCENE == "bad-source":
            said = 'kernel.cu(2): error: identifier "y"'
            raise driver.CompileError(
                "nvcc compilation of kernel.cu failed", [nvcc], stdout="", stderr=said
            )
        driver.calls.append(("compile", source, options, no_extern_c))
        self.module = driver.Module()
        self.get_global = self.module.get_global

    def get_function(self, name):
        return self.module.get_function(name)
