// The tracer: where an access lands, and what the four checks and the profile make of it.
#pragma once
#include <stdint.h>
#include <stdio.h>

#include "containers.h"
#include "engine.h"

#define COURSE_HOT inline __attribute__((always_inline))  // on the way of every access

// JSON: the variables that the compiler warns of; and for each a 1 if its line ran.
extern "C" const char course_warned[], course_reached[];
extern "C" const int course_site_lines[];  // written by the assembly pass: source line of each traced instruction

namespace course {

enum class Space : uint8_t { global, shared, constant };
enum class Op : uint8_t { load, store, atomic };
constexpr unsigned kAtomicSite = 0x8000;  // sites from here on are atomics and fragments: kAtomicSite + line
inline int line_of(unsigned site) { return site >= kAtomicSite ? int(site - kAtomicSite) : course_site_lines[site]; }

struct Array {  // an allocation, a `__shared__` declaration or a symbol
    const char *name = "";
    uint64_t start = 0, bytes = 0;
    Space space = Space::global;
    Shape shape;
    uint64_t home = 0;  // where its bytes lie in the arena (symbols behind it) or in shared memory: for flags and races
    unsigned id = 0;
    bool floats = false;
    unsigned element(unsigned bytes) const { return shape.element ? shape.element : bytes; }
};

struct Place {  // where an access lands
    const Array *array;
    unsigned id;
    uint64_t offset;   // in the array
    uint64_t cell;     // number of the word in the table of races
    uint8_t *written;  // a flag a byte, or null where everything counts as written
};

struct Arena {  // device memory as this process sees it
    char *base;
    uint64_t bytes;
    uint8_t *initialised;  // one flag a byte; shared with the host, which sets it for what it copies
    int file;
};
extern Arena arena;

void trace_begin(const List<Array *> &arrays);
const Array &array_of(unsigned id);
uint64_t in_slot(uint64_t address);  // of an array in the arena: where the kernel is to see it
Text trace_json(bool poison_told = true);
Text contents();                     // of all arrays and symbols, to be put back
void put_back(const Text &contents);
void report_end(const char *tool, const char *why, int line);  // the kernel crashed or ran too long; 0: line not known
[[noreturn]] void last_words(const char *tool, const char *why, int line = 0);
extern volatile int late;      // the time is over
extern uint32_t usual_block;  // serial number of the running block, or kNever: each access is looked at in full
constexpr uint32_t kNever = ~0u;
inline void look_at_all() { usual_block = kNever, changes++; }

// errors.cpp
struct Side {  // one of the two accesses that collide, or the only one
    int line = 0;
    unsigned block = 0, thread = 0;
    const char *op = "";
};
struct Finding {
    const char *tool, *kind;
    const Array *array;  // or null
    int64_t index;       // of the element
    Side here, other;
    uint64_t count = 1;
};
void report(const Finding &finding);
extern uint64_t outside[2];
void add_errors(Text &out, bool poison_told);

// races.cpp
const char *op_name(Op op);
void races_begin(uint64_t words);
void races_of_next_block(size_t shared_bytes);  // how much of it the last block had
void check_race(const Place &place, unsigned bytes, unsigned site, Op op, bool is_volatile);
void guesses_end();  // no atomicCAS will check them any more
void note_fence();
bool last_write(uint64_t word, Side &side, unsigned &site);  // of a word, in this launch
void note_atomic(uint64_t address);  // an atomic or volatile access, which may hand data over

// profile.cpp
struct Log;  // of one instruction and array
Log *note_request(unsigned site, uint64_t address, unsigned bytes, Op op, const Place &place);
void add_profile(Text &out);

// JSON, behind what is there, with a comma where one belongs. report.py knows the columns of the rows.
void add(Text &out, const char *text);
void add(Text &out, long long number);
Text &next(Text &out);  // for what comes next
template <class... Cells> void add_row(Text &out, const Cells &...cells) {
    next(out) += '[', (add(out, cells), ...), out += ']';
}
}  // namespace course
