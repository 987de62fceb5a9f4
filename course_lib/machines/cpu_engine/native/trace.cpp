// Every traced load and store comes here first: memcheck and initcheck, then racecheck, then the profile.
#include "trace.h"

#include <string.h>

#include <algorithm>
#include <deque>

#ifdef __linux__
extern "C" char __executable_start, _end;  // of this program; set by the linker
#else
static char __executable_start, _end;
#endif

namespace course {

volatile int late;
// Global memory and symbols first, then shared declarations as they come. Findings point into it: so no vector.
static std::deque<Array> arrays;
static std::vector<uint16_t> owner;         // of each 256 bytes of the arena: array index + 1
static std::vector<uint16_t> shared_owner;  // of each 4 bytes of the shared arena
static std::vector<uint8_t> shared_written;  // one flag a byte
static size_t first_shared;
static unsigned last_site;
static int thread_lines[kMaxThreads];  // of the last access of each thread of the running block
static uint32_t calls[kMaxThreads][16];  // the functions in which a thread is: where each one returns to
static unsigned depth[kMaxThreads];      // how many
bool poisoned, second_look;

static bool in_arena(uint64_t address) { return address - (uint64_t)arena.base < arena.bytes; }

void trace_begin(const std::vector<Array> &given) {
    uint64_t used = 0, base = (uint64_t)arena.base;
    arrays.assign(given.begin(), given.end());
    for (const Array &a : arrays)
        if (in_arena(a.start)) used = std::max(used, a.start + a.bytes - base);
    owner.assign(used / 256 + 1, 0);
    for (unsigned i = 0; i < arrays.size(); i++)
        if (in_arena(arrays[i].start))
            std::fill_n(&owner[(arrays[i].start - base) / 256], (arrays[i].bytes + 255) / 256, uint16_t(i + 1));
    first_shared = arrays.size(), last_site = 0;
    shared_written.assign(kSharedBytes, 0);
    errors_begin(), races_begin(used), profile_begin();
}

void block_begins() {
    guesses_end();
    shared_owner.assign(kSharedBytes / 4, 0);
    memset(thread_lines, 0, sizeof thread_lines);
    memset(depth, 0, sizeof depth);
}

unsigned call_path() {
    unsigned path = 0, me = self->index;
    for (unsigned i = 1; i < std::min(depth[me], 16u); i++) path = (path ^ calls[me][i]) * 0x9e3779b1u;  // [0]: kernel
    return path >> 16;
}

Text contents() {
    Text all;
    for (size_t i = 0; i < first_shared; i++) all.append((const char *)arrays[i].start, arrays[i].bytes);
    return all;
}

void put_back(const Text &contents) {
    size_t at = 0;
    for (size_t i = 0; i < first_shared; at += arrays[i++].bytes)
        memcpy((void *)arrays[i].start, &contents[at], arrays[i].bytes);
}

void shared_declared(char *start, const char *name, size_t bytes, const Shape &shape) {
    size_t i = first_shared, offset = start - self->block->shared;
    auto same = [&](const Array &a) { return a.start == (uint64_t)start && a.bytes == bytes && a.name == name; };
    while (i < arrays.size() && !same(arrays[i])) i++;
    if (i == arrays.size()) arrays.push_back({name, (uint64_t)start, bytes, Space::shared, shape});
    std::fill_n(shared_owner.begin() + offset / 4, (bytes + 3) / 4, uint16_t(i + 1));
    std::fill_n(shared_written.begin() + offset, bytes, 0);
}

void barrier_error(const BarrierError &e) {
    static const char *const kinds[] = {"different", "exited", "stuck", "mask", "the mask leaves out",
                                        "has returned", "the block does not have"};
    // Whoever was at work behind the barrier has gone past it.
    int line = line_of_site(e.line);
    bool skipped = e.kind == BarrierError::exited && thread_lines[e.thread] > line;
    report({"synccheck", skipped ? "skipped" : kinds[e.kind], nullptr, e.lane, {line, e.block, e.thread, "barrier"},
            {line_of_site(e.other_line)}, e.count});
}

static void find(const char *tool, const char *kind, const Array *a, uint64_t address, unsigned bytes, Op op) {
    int64_t offset = a ? int64_t(address - a->start) : -1, unit = a ? a->element(bytes) : 1;
    int64_t index = offset >= 0 ? offset / unit : -((-offset + unit - 1) / unit);
    report({tool, kind, a, index, {line_of(last_site), self->block->index, self->index, op_name(op)}, {}});
}

void report_end(const char *tool, const char *why) {
    report({tool, why, nullptr, -1, {line_of(last_site), self->block->index, self->index, ""}, {}});
}

[[noreturn]] static void bad(const char *kind, const Array *a, uint64_t address, unsigned bytes, Op op) {
    find("memcheck", kind, a, address, bytes, op);
    self->block->ended_early = true;
    end_thread();
}

// The array that an address outside of all of them most likely meant: the nearest one of its kind of memory.
static const Array *nearest(uint64_t address, uint64_t farthest) {
    const Array *best = nullptr;
    for (const Array &a : arrays) {
        if (a.space == Space::shared && !shared_owner[(a.start - (uint64_t)self->block->shared) / 4]) continue;
        uint64_t end = std::min(address, a.start + a.bytes);
        uint64_t distance = address < a.start ? a.start - address : address - end;
        if (distance <= farthest) farthest = distance, best = &a;
    }
    return best;
}

// An address in no array of the arena and of shared memory: a symbol, or something wrong.
static Place elsewhere(uint64_t address, unsigned bytes, Op op) {
    for (unsigned id = 0; id < first_shared; id++) {
        const Array &a = arrays[id];
        if (address - a.start < a.bytes && address + bytes <= a.start + a.bytes)
            return {&a, id, address - a.start, address / 4, nullptr};
    }
    if (address < 65536) bad("null", nullptr, 0, bytes, op);
    const Array *near = nearest(address, in_arena(address) ? arena.bytes : 4096);
    if (near) bad("outside", near, address, bytes, op);
    // The program's own data: tables of constants that the compiler made.
    if (address >= (uint64_t)&__executable_start && address < (uint64_t)&_end) return {};
    bad("wild", nullptr, 0, bytes, op);
}

static Place place_of(uint64_t address, unsigned bytes, Op op) {
    uint64_t at = address - (uint64_t)arena.base, shared_at = address - (uint64_t)self->block->shared;
    bool global = at / 256 < owner.size();
    unsigned id = global ? owner[at / 256] : shared_at < kSharedBytes ? shared_owner[shared_at / 4] : 0;
    if (!id || address + bytes > arrays[id - 1].start + arrays[id - 1].bytes) return elsewhere(address, bytes, op);
    if (!global) at = shared_at;
    const Array &a = arrays[id - 1];
    return {&a, id - 1, address - a.start, at / 4, global ? arena.initialised + at : &shared_written[at]};
}

static void access(void *pointer, unsigned bytes, unsigned site, Op op, bool is_volatile = false) {
    uint64_t address = (uint64_t)pointer;
    // Not before main, and not local arrays that did not fit into registers.
    if (!self || address - (uint64_t)self->stack < kStackBytes) return;
    last_site = site, thread_lines[self->index] = line_of(site);
    if (late) last_words("timeout", "");
    Place place = place_of(address, bytes, op);
    if (!place.array) return;
    const Array &a = *place.array;
    if (address % bytes) bad("misaligned", &a, address, bytes, op);
    if (op != Op::store && place.written && std::count(place.written, place.written + bytes, 0))
        find("initcheck", "unset", &a, address, bytes, op);
    if (op != Op::load && place.written) memset(place.written, 1, bytes);
    is_volatile &= a.space == Space::global;
    if (a.space != Space::constant) check_race(place, bytes, site, op, is_volatile);
    note_request(site, address, bytes, op, place);
    if (is_volatile || op == Op::atomic) note_atomic(address);
}

uint64_t atomic_load(const void *pointer, unsigned bytes, int line) {
    access((void *)pointer, bytes, kAtomicSite + line, Op::atomic);
    uint64_t bits = 0;
    memcpy(&bits, pointer, bytes);
    return bits;
}
void atomic_store(void *pointer, unsigned bytes, uint64_t bits) { memcpy(pointer, &bits, bytes); }
void fence() { note_fence(); }

Text trace_json(bool poison_told) {
    guesses_end();
    Text errors = errors_json(poison_told), accesses = profile_json({arrays.begin(), arrays.end()});
    return "{\"errors\": " + errors + ", \"accesses\": " + accesses + "}";
}

static void range(const void *p, size_t bytes, unsigned site, Op op) {
    for (size_t i = 0, n; i < bytes; i += n) {
        n = bytes - i >= 4 && ((uint64_t)p + i) % 4 == 0 ? 4 : 1;
        access((char *)p + i, n, site, op);
    }
}

}  // namespace course

// What the compiler calls for -fsanitize=thread. The assembly pass has put the site into the next argument's register.
using course::Op;
#define COURSE_CALLBACK(name, n, op, is_volatile) \
    extern "C" void __tsan_##name##n(void *p, unsigned site) { course::access(p, n, site, op, is_volatile); }
#define COURSE_CALLBACKS(n)                                   \
    COURSE_CALLBACK(read, n, Op::load, false)                 \
    COURSE_CALLBACK(write, n, Op::store, false)               \
    COURSE_CALLBACK(unaligned_read, n, Op::load, false)       \
    COURSE_CALLBACK(unaligned_write, n, Op::store, false)     \
    COURSE_CALLBACK(volatile_read, n, Op::load, true)         \
    COURSE_CALLBACK(volatile_write, n, Op::store, true)       \
    COURSE_CALLBACK(unaligned_volatile_read, n, Op::load, true) \
    COURSE_CALLBACK(unaligned_volatile_write, n, Op::store, true)
COURSE_CALLBACKS(1) COURSE_CALLBACKS(2) COURSE_CALLBACKS(4) COURSE_CALLBACKS(8) COURSE_CALLBACKS(16)
extern "C" {
void __tsan_read_range(void *p, size_t bytes, unsigned site) { course::range(p, bytes, site, Op::load); }
void __tsan_write_range(void *p, size_t bytes, unsigned site) { course::range(p, bytes, site, Op::store); }
void *__tsan_memset(void *to, int c, size_t n, unsigned site) {
    course::range(to, n, site, Op::store);
    return memset(to, c, n);
}
void *__tsan_memmove(void *to, const void *from, size_t n, unsigned site) {
    course::range(from, n, site, Op::load);
    course::range(to, n, site, Op::store);
    return memmove(to, from, n);
}
void *__tsan_memcpy(void *to, const void *from, size_t n, unsigned site) { return __tsan_memmove(to, from, n, site); }
void __tsan_func_entry(void *from) {
    if (!course::self) return;
    unsigned i = course::self->index;
    course::calls[i][course::depth[i]++ % 16] = uint32_t(uint64_t(from));
}
void __tsan_func_exit() {
    if (course::self) course::depth[course::self->index]--;
}
void __tsan_init() {}
void __tsan_vptr_update(void **, void *) {}
void __tsan_vptr_read(void **) {}
}
