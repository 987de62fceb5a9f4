#pragma once
#include "engine.h"

namespace course {
constexpr unsigned kStackBytes = 64 << 10;      // for one CUDA thread
constexpr unsigned kSharedLimit = 48 << 10;     // what CUDA gives a block without asking for more
constexpr unsigned kSharedBytes = 64 << 10;     // a worker's arena for it: the arrays and the red zones between them
constexpr unsigned kMaxThreads = 1024;

void run_grid(const Kernel &kernel, void **arguments, unsigned workers, const unsigned *only, unsigned only_count);
[[noreturn]] void end_thread();  // the current CUDA thread stops here

// What the tracer wants to know; without it they do nothing.
struct Hooks {
    void (*block_begins)(Block &);
    void (*warp_ran)(Block &, unsigned warp);           // all lanes of a warp stand still
    void (*block_ends)(Block &);
    void (*shared_declared)(unsigned offset, const char *name, size_t bytes, int line);
    void (*barrier_error)(Block &, const char *what, int line, int other_line, unsigned thread, unsigned count);
};
extern Hooks hooks;
}  // namespace course
