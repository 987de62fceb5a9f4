"""What CUDA C may not say while it is graded: words of C++ and of the system that reach past the lessons' language.

CUDA C of an answer runs on the CPU engine in one address space with the tracer that counts for the check. This filter
leaves the language of the lessons and takes away what names the tracer, the compiler or the system. It is no proof:
a pointer can still be turned to any address. What runs is cut off by the sandbox of the checks; a forged count is not.
"""

import re

from course_lib.machines.cuda_c.rewrite import HEADER, TOKEN

# Tensor cores as chapter 15 has them: this header, this namespace, and names of it. What follows `wmma::` is looked at.
TENSOR = re.compile(
    r"^[ \t]*#[ \t]*include[ \t]*<mma\.h>[ \t]*$|\busing\s+namespace\s+nvcuda\s*;|"
    r"\b(?:nvcuda\s*::\s*)?wmma\s*::\s*(?:precision\s*::\s*)?(?=[A-Za-z]\w*)",
    re.MULTILINE,
)
DIRECTIVES = ("define", "undef", "if", "ifdef", "ifndef", "else", "elif", "endif", "error")
WORDS = re.compile(
    r"\b(?:course\w*|COURSE\w*|asm|__asm\w*|__attribute\w*|__builtin\w*|_Pragma|reinterpret_cast|const_cast|decltype|typeof|"
    r"friend|namespace|operator|__\w*FILE__|__has_\w+|FILE|std(?:in|out|err)|u?intptr_t)\b|::|\[\[|<:|"
    r"\(\s*[*&]+\s*\w*\s*\)\s*\(|\b(?:typedef|using)\b[^;]*\(|\\"
)
NAMES = re.compile(  # what those headers declare that nobody calls a variable: not even mentioned, `auto f = fopen`
    r"\b(?:__tsan\w*|system|\w*getenv|setenv|putenv|unsetenv|clearenv|"
    r"f(?:open|close|read|write|puts|putc|gets|getc|seek)|"
    r"[fsdv]\w*printf|\w*scanf|freopen|fdopen|popen|fmemopen|open_memstream|getline|getdelim|set\w*buf\w*|"
    r"mk\w*temp\w*|tmpfile\w*|tmpnam\w*|realpath|dlopen|dlsym|syscall|mmap|mprotect|v?fork|exec[lv]\w*|_?_?exit|_Exit|"
    r"quick_exit|at\w*exit|on_exit|abort|[mc]alloc|realloc\w*|qsort\w*|bsearch|clock_\w+|timer_\w+|nanosleep|"
    r"strerror\w*)\b"
)
CALLS = re.compile(  # what the headers of the engine declare beside the mathematics
    r"(?:\b|=\s*&?\s*)(?:f?(?:open|close|read|write|puts|putc|getc|seek)|[fsdv]\w*printf|freopen|fdopen|popen|fmemopen|"
    r"remove|rename|tmp\w+|putchar|perror|time|clock_\w+|dlopen|dlsym|syscall|mmap|mprotect|fork|exec\w+|_?exit|abort|"
    r"signal|raise|main)\s*\("
)
EXTERN = re.compile(r'\bextern\b(?!\s*__shared__|\s*"C"\s*(?:\{|__global__|__device__))')
DEVICE = re.compile(r"__(?:global|device)__")
HOST = re.compile(r"\)\s*(?:const\s*)?$")  # before a brace at the outermost level: a function


def refused(source):
    """What this CUDA C says that it may not, or None."""
    quoted = [m for m in TOKEN.finditer(source) if m[0][0] in "\"'"]
    odd = next(
        (m[0] for m in quoted if re.match(r"\w['\"]", source[max(m.start() - 1, 0) :])), None
    )
    if odd:  # R"(...)" or 1'000: from there on a compiler reads it otherwise than this filter
        return f"a letter or digit before {odd:.20}"
    if re.search(r"[\f\v\0]|\r(?!\n)", source):
        return "a space that is no blank, tab or new line"
    code = TOKEN.sub(lambda m: " " if m[0].startswith("/") else m[0], source)
    if re.search(r"\\[ \t]*\r?\n|##|%:|\?\?|@", code):
        return "a line that goes on, or words that are glued together (\\, ##, %:)"
    bare = HEADER.sub("", TOKEN.sub(lambda m: '""' if m[0].startswith('"') else " ", source))
    bare = TENSOR.sub(" ", bare)
    for line in re.findall(r"^[ \t]*#[ \t]*(.*)", bare, re.MULTILINE):
        if not line.startswith(DIRECTIVES) and not re.match(r"pragma\s+unroll\b", line):
            return f"#{line[:40]}"
    extern = EXTERN.search(HEADER.sub("", code))
    word = extern or WORDS.search(bare) or NAMES.search(bare) or CALLS.search(bare)
    word = word or re.search("[\"']", bare.replace('""', ""))
    if word:
        return word[0].rstrip(" (")
    hosts = (head for head in _outermost(bare) if HOST.search(head) and not DEVICE.search(head))
    name = next(hosts, None)
    return f"a function for the host, {' '.join(name.split())[-60:]}" if name else None


def _outermost(code):
    """The texts before the braces at the outermost level; those of extern "C" { count as outermost as well."""
    code = re.sub(r'extern\s*""\s*\{', " ", re.sub(r"^[ \t]*#.*", "", code, flags=re.MULTILINE))
    depth, start = 0, 0
    for place, letter in enumerate(code):
        if letter == "{":
            if depth == 0:
                yield re.split(r"[;}]", code[start:place])[-1]
            depth += 1
        elif letter == "}":
            depth, start = max(depth - 1, 0), place + 1
