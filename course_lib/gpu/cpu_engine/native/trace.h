// The tracer: where an access lands, and what the four checks and the profile make of it.
#pragma once
#include <stdint.h>

#include <string>
#include <vector>

#include "blocks.h"

extern "C" const int course_site_lines[];  // written by the assembly pass: source line of each traced instruction
extern "C" const int course_site_count;

namespace course {

enum class Space : uint8_t { global, shared, constant };
constexpr unsigned kAtomicSite = 0x8000;  // sites from here on are atomics: kAtomicSite + line

struct Array {  // an allocation, a `__shared__` declaration or a symbol
    std::string name;
    uint64_t start, bytes;
    Space space;
    unsigned element;  // bytes
};

struct Place {  // where an address lies
    const Array *array;
    unsigned id;
    uint64_t offset;
};

inline int line_of(unsigned site) { return site >= kAtomicSite ? int(site - kAtomicSite) : course_site_lines[site]; }
inline unsigned thread_count() { return launch.threads; }

struct Arena {  // device memory as this process sees it
    char *base;
    uint64_t bytes;
    uint8_t *initialised;  // one flag a byte; shared with the host, which sets it for what it copies
};
extern Arena arena;

void trace_begin(const std::vector<Array> &arrays);
std::string trace_json();
int last_line();  // of the last traced access

// errors.cpp
struct Other {  // the access that an access collides with
    int line;
    unsigned block, thread;
    const char *op;
};
void report(const char *tool, const char *kind, int line, const std::string &array, int64_t index,
            const Other *other = nullptr, const char *op = "");
void report_at(const char *tool, const char *kind, int line, const std::string &array, int64_t index, unsigned block,
               unsigned thread, const Other *other, unsigned count, const char *op = "");
void errors_begin();
std::string errors_json();

// races.cpp
enum class Op : uint8_t { load, store, atomic };
const char *op_name(Op op);
void races_begin();
void check_race(Space space, const Place &place, uint64_t cell_offset, unsigned bytes, unsigned site, Op op);
void note_fence();
void note_atomic(uint64_t address);

// profile.cpp
void profile_begin();
void note_request(unsigned site, uint64_t address, unsigned bytes, Op op, Space space, unsigned array);
void flush_warp(Block &block, unsigned warp);
std::string profile_json(const std::vector<Array> &arrays);

std::string quoted(const std::string &text);
}  // namespace course
