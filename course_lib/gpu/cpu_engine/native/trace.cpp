// Every traced load and store comes here first: memcheck and initcheck, then racecheck, then the profile.
#include "trace.h"

#include <string.h>

namespace course {

Arena arena;
static std::vector<Array> arrays;             // global memory and symbols first, then shared declarations as they come
static std::vector<uint16_t> owner;           // of each 256 bytes of the arena: array index + 1
static std::vector<uint16_t> shared_owner;    // of each 4 bytes of the shared arena
static std::vector<uint8_t> shared_written;   // one flag a byte
static std::vector<unsigned> symbol_ids;
static size_t first_shared;
static unsigned last_site;

int last_line() { return line_of(last_site); }

void trace_begin(const std::vector<Array> &given) {
    arrays = given;
    owner.assign(arena.bytes / 256 + 1, 0);
    symbol_ids.clear();
    for (unsigned i = 0; i < arrays.size(); i++) {
        const Array &a = arrays[i];
        if (a.space != Space::global || a.start < (uint64_t)arena.base || a.start >= (uint64_t)arena.base + arena.bytes) {
            symbol_ids.push_back(i);
            continue;
        }
        uint64_t first = (a.start - (uint64_t)arena.base) / 256, last = (a.start + a.bytes - (uint64_t)arena.base + 255) / 256;
        for (uint64_t c = first; c < last; c++) owner[c] = i + 1;
    }
    first_shared = arrays.size(), last_site = 0;
    shared_owner.assign(kSharedBytes / 4, 0);
    shared_written.assign(kSharedBytes, 0);
    errors_begin();
    races_begin();
    profile_begin();
}

static void block_begins(Block &) { shared_owner.assign(kSharedBytes / 4, 0); }

static void shared_declared(unsigned offset, const char *name, size_t bytes, int) {
    size_t i = first_shared;
    while (i < arrays.size() && !(arrays[i].name == name && arrays[i].start == offset && arrays[i].bytes == bytes)) i++;
    if (i == arrays.size()) arrays.push_back({name, offset, bytes, Space::shared, 0});
    for (unsigned w = offset / 4; w < (offset + bytes + 3) / 4; w++) shared_owner[w] = i + 1;
    memset(&shared_written[offset], 0, bytes);
}

static void barrier_error(Block &block, const char *what, int line, int other_line, unsigned thread, unsigned count) {
    Other other = {other_line, block.index, thread, "barrier"};
    report_at("synccheck", what, line, "", -1, block.index, thread, other_line ? &other : nullptr, count);
}

static struct Install {
    Install() { hooks = {block_begins, flush_warp, nullptr, shared_declared, barrier_error}; }
} install;

static int64_t index_in(const Array &a, int64_t offset, unsigned bytes) {
    int64_t unit = a.element ? a.element : bytes;
    return offset >= 0 ? offset / unit : -((-offset + unit - 1) / unit);
}

[[noreturn]] static void bad(const char *kind, unsigned site, const std::string &array, int64_t index) {
    report("memcheck", kind, line_of(site), array, index);
    self->block->ended_early = true;
    end_thread();
}

// The array that an address outside of all of them most likely meant: the nearest one of its space.
static const Array *nearest(Space space, uint64_t address) {
    const Array *best = nullptr;
    uint64_t distance = ~0ull;
    for (const Array &a : arrays) {
        if (a.space != space || (space == Space::shared && !shared_owner[a.start / 4])) continue;
        uint64_t d = address < a.start ? a.start - address : address >= a.start + a.bytes ? address - a.start - a.bytes + 1 : 0;
        if (d < distance) distance = d, best = &a;
    }
    return best;
}

[[noreturn]] static void outside(Space space, uint64_t address, unsigned bytes, unsigned site) {
    const Array *a = nearest(space, address);
    if (!a) bad("wild", site, "", -1);
    bad("outside", site, a->name, index_in(*a, int64_t(address - a->start), bytes));
}

static void access_global(uint64_t address, unsigned bytes, unsigned site, Op op) {
    uint64_t at = address - (uint64_t)arena.base;
    unsigned id = owner[at / 256];
    const Array *a = id ? &arrays[id - 1] : nullptr;
    if (!a || address + bytes > a->start + a->bytes) outside(Space::global, address, bytes, site);
    if (address % bytes) bad("misaligned", site, a->name, index_in(*a, address - a->start, bytes));
    Place place = {a, id - 1, address - a->start};
    uint8_t *written = arena.initialised + at;
    if (op != Op::store) {
        for (unsigned i = 0; i < bytes; i++)
            if (!written[i]) {
                report("initcheck", "unset", line_of(site), a->name, index_in(*a, place.offset, bytes));
                break;
            }
    }
    if (op != Op::load) memset(written, 1, bytes);
    check_race(Space::global, place, at, bytes, site, op);
    note_request(site, address, bytes, op, Space::global, id - 1);
}

static void access_shared(uint64_t at, unsigned bytes, unsigned site, Op op) {
    unsigned id = shared_owner[at / 4];
    const Array *a = id ? &arrays[id - 1] : nullptr;
    if (!a || at + bytes > a->start + a->bytes) outside(Space::shared, at, bytes, site);
    if (at % bytes) bad("misaligned", site, a->name, index_in(*a, at - a->start, bytes));
    Place place = {a, id - 1, at - a->start};
    if (op != Op::store) {
        for (unsigned i = 0; i < bytes; i++)
            if (!shared_written[at + i]) {
                report("initcheck", "unset", line_of(site), a->name, index_in(*a, place.offset, bytes));
                break;
            }
    }
    if (op != Op::load) memset(&shared_written[at], 1, bytes);
    check_race(Space::shared, place, at, bytes, site, op);
    note_request(site, at, bytes, op, Space::shared, id - 1);
}

static void access(void *pointer, unsigned bytes, unsigned site, Op op) {
    uint64_t address = (uint64_t)pointer;
    last_site = site;
    if (address - (uint64_t)self->stack < kStackBytes) return;  // a local array that did not fit into registers
    if (address - (uint64_t)arena.base < arena.bytes) return access_global(address, bytes, site, op);
    uint64_t at = address - (uint64_t)self->block->shared;
    if (at < kSharedBytes) return access_shared(at, bytes, site, op);
    for (unsigned id : symbol_ids) {
        const Array &a = arrays[id];
        if (address - a.start >= a.bytes) continue;
        if (a.space == Space::global) check_race(Space::constant, {&a, id, address - a.start}, address, bytes, site, op);
        return note_request(site, address, bytes, op, a.space, id);
    }
    if (address < 65536) bad("null", site, "", int64_t(address));
    if (at + 4096 < 4096 + kSharedBytes + 4096) outside(Space::shared, at, bytes, site);
    bad("wild", site, "", -1);
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
    return "{\"errors\": " + errors_json() + ", \"accesses\": " + profile_json(arrays) + "}";
}

}  // namespace course

// What the compiler calls for -fsanitize=thread. The assembly pass has put the site in the register of a second argument.
#define COURSE_CALLBACK(n)                                                                                              \
    extern "C" void __tsan_read##n(void *p, unsigned site) { course::access(p, n, site, course::Op::load); }            \
    extern "C" void __tsan_write##n(void *p, unsigned site) { course::access(p, n, site, course::Op::store); }          \
    extern "C" void __tsan_unaligned_read##n(void *p, unsigned site) { course::access(p, n, site, course::Op::load); }  \
    extern "C" void __tsan_unaligned_write##n(void *p, unsigned site) { course::access(p, n, site, course::Op::store); }
COURSE_CALLBACK(1)
COURSE_CALLBACK(2)
COURSE_CALLBACK(4)
COURSE_CALLBACK(8)
COURSE_CALLBACK(16)
static void each_word(char *p, size_t bytes, unsigned site, course::Op op) {
    for (size_t i = 0; i < bytes; i += 4) course::access(p + i, bytes - i < 4 ? 1 : 4, site, op);
}
extern "C" void __tsan_read_range(void *p, size_t bytes, unsigned site) { each_word((char *)p, bytes, site, course::Op::load); }
extern "C" void __tsan_write_range(void *p, size_t bytes, unsigned site) { each_word((char *)p, bytes, site, course::Op::store); }
extern "C" void __tsan_func_entry(void *) {}
extern "C" void __tsan_func_exit() {}
extern "C" void __tsan_init() {}
extern "C" void __tsan_vptr_update(void **, void *) {}
extern "C" void __tsan_vptr_read(void **) {}
extern "C" void *__tsan_memcpy(void *to, const void *from, size_t n) { return memcpy(to, from, n); }
extern "C" void *__tsan_memset(void *to, int c, size_t n) { return memset(to, c, n); }
extern "C" void *__tsan_memmove(void *to, const void *from, size_t n) { return memmove(to, from, n); }
