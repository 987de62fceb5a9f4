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
enum class Op : uint8_t { load, store, atomic, atomic_of_block };
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
extern size_t first_symbol;  // the arrays before it are the arguments
uint64_t cell_number(const Array &a, uint64_t offset);  // of a word, in the table of races
void overruns_end();         // tells what is left of them
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
extern uint64_t outside[2];  // of both looks at a launch: where accesses in wrong places went

// races.cpp
const char *op_name(Op op);
void races_begin(uint64_t words);
void races_of_next_block(size_t shared_bytes);  // how much of it the last block had
void check_race(const Place &place, unsigned bytes, unsigned site, Op op, bool is_volatile);
void guesses_end();  // no atomicCAS will check them any more
bool last_write(uint64_t word, Side &side, unsigned &site);  // of a word, in this launch
void note_atomic(uint64_t address, bool near);  // or a volatile access: may hand data over; near: in its block alone

// profile.cpp
struct Cost {  // of a request: sectors or wavefronts, what it would be at best, the most words of one bank
    unsigned many = 0, ideal = 0, way = 0;
};
struct Count;
struct Log {  // of one instruction and array, since its warp was last flushed
    List<uint32_t> addresses;         // see `at`
    unsigned room = 0, open = 0;      // for so many of each lane; the same, or 0 until its warp comes by
    Op op;
    Space space;
    unsigned site, array, bytes;
    uint32_t start;             // of the array
    uint32_t counts[32] = {0};  // accesses of each lane
    Count *count = nullptr;
    Log *next = nullptr;  // of the same instruction and another array
    unsigned lanes = 0;   // that took part in the last request: a bit each, with its addresses and cost
    uint32_t last[32];
    Cost cost;
    // The first four of all lanes, then four of lane 0, four of lane 1, ...: unrolled loops and loops stay in the cache.
    static size_t at(unsigned lane, size_t k) { return k < 4 ? k * 32 + lane : k / 4 * 128 + lane * 4 + k % 4; }
    void add(unsigned lane, uint64_t address) {
        unsigned k = counts[lane]++;
        addresses[at(lane, k)] = uint32_t(address);
    }
};
extern List<Log *> touched;  // since the warp last stood still

Log *note_request(unsigned site, uint64_t address, unsigned bytes, Op op, const Place &place);
// Whether an access by the same instruction to the same array could be noted at once; then it has been.
COURSE_HOT bool note_again(Log &log, unsigned lane, uint64_t address, bool at_once) {
    if (!at_once && !log.open) log.open = log.room, touched.add(&log);
    if (log.counts[lane] >= log.open) return false;
    log.add(lane, address);
    return true;
}
void add_profile(Text &out);

// JSON, behind what is there, with a comma where one belongs. report.py knows the columns of the rows.
void add(Text &out, const char *text);
void add(Text &out, long long number);
Text &next(Text &out);  // for what comes next
template <class... Cells> void add_row(Text &out, const Cells &...cells) {
    next(out) += '[', (add(out, cells), ...), out += ']';
}
}  // namespace course
