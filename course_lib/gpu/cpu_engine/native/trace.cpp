// Every traced load and store comes here first: memcheck and initcheck, then racecheck, then the profile.
#include "trace.h"

#include <string.h>

#include <deque>

extern "C" char __executable_start __attribute__((weak)), _end __attribute__((weak));  // of this program, set by the linker

namespace course {

Arena arena;
volatile int late;
// Global memory and symbols first, then shared declarations as they come. Findings point into it: so no vector.
static std::deque<Array> arrays;
static std::vector<uint16_t> owner;         // of each 256 bytes of the arena: array index + 1
static std::vector<uint16_t> shared_owner;  // of each 4 bytes of the shared arena
static std::vector<uint8_t> shared_written;  // one flag a byte
static std::vector<unsigned> symbol_ids;
static size_t first_shared;
static unsigned last_site;
static int thread_lines[kMaxThreads];  // of the last access of each thread of the running block

static bool in_arena(uint64_t address) { return address - (uint64_t)arena.base < arena.bytes; }

void trace_begin(const std::vector<Array> &given) {
    uint64_t used = 0;
    arrays.assign(given.begin(), given.end());
    symbol_ids.clear();
    for (const Array &a : arrays)
        if (in_arena(a.start)) used = std::max(used, a.start + a.bytes - (uint64_t)arena.base);
    owner.assign(used / 256 + 1, 0);
    for (unsigned i = 0; i < arrays.size(); i++) {
        const Array &a = arrays[i];
        uint64_t first = (a.start - (uint64_t)arena.base) / 256;
        if (!in_arena(a.start)) symbol_ids.push_back(i);
        else std::fill_n(owner.begin() + first, (a.bytes + 255) / 256, uint16_t(i + 1));
    }
    first_shared = arrays.size(), last_site = 0;
    shared_written.assign(kSharedBytes, 0);
    errors_begin();
    races_begin(used);
    profile_begin();
}

void block_begins() {
    shared_owner.assign(kSharedBytes / 4, 0);
    memset(thread_lines, 0, sizeof thread_lines);
}

void shared_declared(char *start, const char *name, size_t bytes, const Shape &shape) {
    size_t i = first_shared;
    auto same = [&](const Array &a) { return a.start == (uint64_t)start && a.bytes == bytes && a.name == name; };
    while (i < arrays.size() && !same(arrays[i])) i++;
    if (i == arrays.size()) arrays.push_back({name, (uint64_t)start, bytes, Space::shared, shape});
    size_t offset = start - self->block->shared;
    std::fill_n(shared_owner.begin() + offset / 4, (bytes + 3) / 4, uint16_t(i + 1));
    memset(&shared_written[offset], 0, bytes);
}

void barrier_error(const BarrierError &e) {
    static const char *const kinds[] = {"different", "exited", "stuck", "mask"};
    std::string kind = kinds[e.kind];
    // Whoever was at work behind the barrier has gone past it.
    if (e.kind == BarrierError::exited && thread_lines[e.thread] > e.line) kind = "skipped";
    report({"synccheck", kind, nullptr, -1, {e.line, e.block, e.thread, "barrier"}, {e.other_line}, e.count});
}

static Finding finding(const char *tool, const char *kind, const Array *a, uint64_t address, unsigned bytes, Op op) {
    int64_t offset = a ? int64_t(address - a->start) : -1, unit = a ? a->element(bytes) : 1;
    int64_t index = offset >= 0 ? offset / unit : -((-offset + unit - 1) / unit);
    return {tool, kind, a, index, {line_of(last_site), self->block->index, self->index, op_name(op)}, {}};
}

[[noreturn]] static void bad(const char *kind, const Array *a, uint64_t address, unsigned bytes, Op op) {
    report(finding("memcheck", kind, a, address, bytes, op));
    self->block->ended_early = true;
    end_thread();
}

void report_end(const char *tool, const char *why) {
    report({tool, why, nullptr, -1, {line_of(last_site), self->block->index, self->index, ""}, {}});
}

// The array that an address outside of all of them most likely meant: the nearest one of its space.
static const Array *nearest(Space space, uint64_t address) {
    const Array *best = nullptr;
    uint64_t distance = space == Space::constant ? 4096 : ~0ull;
    for (const Array &a : arrays) {
        bool symbol = space == Space::constant && !in_arena(a.start) && a.space != Space::shared;
        if (!symbol && (a.space != space || (space == Space::global && !in_arena(a.start)))) continue;
        if (space == Space::shared && !shared_owner[(a.start - (uint64_t)self->block->shared) / 4]) continue;
        uint64_t d = address < a.start ? a.start - address : address >= a.start + a.bytes ? address - a.start - a.bytes + 1 : 0;
        if (d < distance) distance = d, best = &a;
    }
    return best;
}

[[noreturn]] static void outside(Space space, uint64_t address, unsigned bytes, Op op) {
    const Array *a = nearest(space, address);
    bad(a ? "outside" : "wild", a, address, bytes, op);
}

static void checked(const Place &place, uint64_t address, unsigned bytes, Space space, unsigned site, Op op, bool is_volatile) {
    const Array &a = *place.array;
    if (address % bytes) bad("misaligned", &a, address, bytes, op);
    if (op != Op::store && place.written)
        for (unsigned i = 0; i < bytes; i++)
            if (!place.written[i]) {
                report(finding("initcheck", "unset", &a, address, bytes, op));
                break;
            }
    if (op != Op::load && place.written) memset(place.written, 1, bytes);
    if (a.space != Space::constant) check_race(space, place, bytes, site, op, is_volatile && space != Space::shared);
    note_request(site, address, bytes, op, place);
}

static void access_symbol(uint64_t address, unsigned bytes, unsigned site, Op op, bool is_volatile) {
    for (unsigned id : symbol_ids) {
        const Array &a = arrays[id];
        Place place = {&a, id, address - a.start, address / 4, nullptr};
        if (place.offset < a.bytes && place.offset + bytes <= a.bytes)
            return checked(place, address, bytes, Space::constant, site, op, is_volatile);
    }
    if (address < 65536) bad("null", nullptr, 0, bytes, op);
    if (nearest(Space::constant, address)) outside(Space::constant, address, bytes, op);
    // The program's own data: tables of constants that the compiler made.
    if (&_end && address - (uint64_t)&__executable_start < uint64_t(&_end - &__executable_start)) return;
    bad("wild", nullptr, 0, bytes, op);
}

static void access(void *pointer, unsigned bytes, unsigned site, Op op, bool is_volatile = false) {
    if (!self) return;  // before main
    uint64_t address = (uint64_t)pointer, at = address - (uint64_t)arena.base;
    last_site = site;
    if (late) last_words("timeout", "");
    if (address - (uint64_t)self->stack < kStackBytes) return;  // a local array that did not fit into registers
    thread_lines[self->index] = line_of(site);
    bool global = at < arena.bytes;
    if (!global) at = address - (uint64_t)self->block->shared;
    if (!global && at + 4096 >= kSharedBytes + 8192) return access_symbol(address, bytes, site, op, is_volatile);
    unsigned id = 0;
    if (global && at / 256 < owner.size()) id = owner[at / 256];
    if (!global && at < kSharedBytes) id = shared_owner[at / 4];
    Space space = global ? Space::global : Space::shared;
    if (!id || address + bytes > arrays[id - 1].start + arrays[id - 1].bytes) outside(space, address, bytes, op);
    const Array &a = arrays[id - 1];
    Place place = {&a, id - 1, address - a.start, at / 4, global ? arena.initialised + at : &shared_written[at]};
    checked(place, address, bytes, space, site, op, is_volatile);
    if (is_volatile && global) note_atomic(address);
}

uint64_t atomic_load(const void *pointer, unsigned bytes, int line) {
    access((void *)pointer, bytes, kAtomicSite + line, Op::atomic);
    note_atomic((uint64_t)pointer);
    uint64_t bits = 0;
    memcpy(&bits, pointer, bytes);
    return bits;
}
void atomic_store(void *pointer, unsigned bytes, uint64_t bits) { memcpy(pointer, &bits, bytes); }
void fence() { note_fence(); }

std::string trace_json() {
    return "{\"errors\": " + errors_json() + ", \"accesses\": " + profile_json({arrays.begin(), arrays.end()}) + "}";
}

static void range(char *p, size_t bytes, unsigned site, Op op) {
    for (size_t i = 0, n; i < bytes; i += n) {
        n = bytes - i >= 4 && (uint64_t)(p + i) % 4 == 0 ? 4 : 1;
        access(p + i, n, site, op);
    }
}

}  // namespace course

using course::Op;
// What the compiler calls for -fsanitize=thread. The assembly pass has put the site into the next argument's register.
#define COURSE_CALLBACK(prefix, n, is_volatile)                              \
    extern "C" void __tsan_##prefix##read##n(void *p, unsigned site) {       \
        course::access(p, n, site, Op::load, is_volatile);                   \
    }                                                                        \
    extern "C" void __tsan_##prefix##write##n(void *p, unsigned site) {      \
        course::access(p, n, site, Op::store, is_volatile);                  \
    }
#define COURSE_CALLBACKS(n)                     \
    COURSE_CALLBACK(, n, false)                 \
    COURSE_CALLBACK(unaligned_, n, false)       \
    COURSE_CALLBACK(volatile_, n, true)         \
    COURSE_CALLBACK(unaligned_volatile_, n, true)
COURSE_CALLBACKS(1)
COURSE_CALLBACKS(2)
COURSE_CALLBACKS(4)
COURSE_CALLBACKS(8)
COURSE_CALLBACKS(16)
extern "C" {
void __tsan_read_range(void *p, size_t bytes, unsigned site) { course::range((char *)p, bytes, site, Op::load); }
void __tsan_write_range(void *p, size_t bytes, unsigned site) { course::range((char *)p, bytes, site, Op::store); }
void *__tsan_memset(void *to, int c, size_t n, unsigned site) {
    course::range((char *)to, n, site, Op::store);
    return memset(to, c, n);
}
void *__tsan_memmove(void *to, const void *from, size_t n, unsigned site) {
    course::range((char *)from, n, site, Op::load);
    course::range((char *)to, n, site, Op::store);
    return memmove(to, from, n);
}
void *__tsan_memcpy(void *to, const void *from, size_t n, unsigned site) { return __tsan_memmove(to, from, n, site); }
void __tsan_func_entry(void *) {}
void __tsan_func_exit() {}
void __tsan_init() {}
void __tsan_vptr_update(void **, void *) {}
void __tsan_vptr_read(void **) {}
}
