#pragma once
#include <vector>

#include "engine.h"

namespace course {
constexpr unsigned kStackBytes = 64 << 10;   // for one CUDA thread
constexpr unsigned kSharedLimit = 48 << 10;  // what CUDA gives a block without asking for more
constexpr unsigned kSharedBytes = 64 << 10;  // a worker's arena for it: the arrays and the red zones between them
constexpr unsigned kMaxThreads = 1024;

void run_grid(const Kernel &kernel, void **arguments, unsigned workers, const std::vector<unsigned> &only);
[[noreturn]] void end_thread();  // the current CUDA thread stops here

// What a barrier found wrong: `count` threads (the first of them `thread`) are elsewhere (in `other_line`) or gone.
struct BarrierError {
    enum Kind { different, exited, stuck, mask } kind;
    int line, other_line;
    unsigned block, thread, count;
};
void barrier_error(const BarrierError &error);

#ifdef COURSE_TRACE  // what the tracer wants to know
void block_begins();
void warp_stands();  // all lanes of a warp stand still
void shared_declared(char *start, const char *name, size_t bytes, const Shape &shape);
#else
inline void block_begins() {}
inline void warp_stands() {}
inline void shared_declared(char *, const char *, size_t, const Shape &) {}
#endif
}  // namespace course
