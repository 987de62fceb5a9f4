// Every traced load and store comes here first: memcheck and initcheck, then racecheck, then the profile.
#include "trace.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <algorithm>

#ifdef __linux__
extern "C" char __executable_start, __data_start, _end;  // of this program; what may only be read lies before the data
#else
static char __executable_start, __data_start, _end;
#endif

namespace course {

volatile int late;
uint32_t usual_block = kNever;
// Global memory and symbols first, then shared declarations as they come.
static List<Array *> arrays;
// Each array of global and shared memory lies in the middle of a slot of addresses of its own, so far from all others
// that an index of 32 bits leads to no other array.
constexpr uint64_t kFar = 1ull << 45, kSlotBits = 37, kSlots = 384, kSharedSlots = 64;
static const Array *slots[kSlots];
static uint8_t shared_written[kSharedBytes];  // one flag a byte
size_t first_symbol;
static size_t first_shared, shared_top;  // shared_top: the end of this block's last shared array
static unsigned last_site;
static int thread_lines[kMaxThreads];  // of the last access of each thread of the running block
static uint32_t calls[kMaxThreads][16];  // the functions in which a thread is: where each one returns to
static unsigned depth[kMaxThreads];      // how many

// Maps bytes of a file, or fresh ones, into a slot. An address stays what it was modulo 4096, for sectors and banks.
static uint64_t place_in_slot(uint64_t slot, uint64_t home, uint64_t bytes, int file) {
    uint64_t page = kFar + (slot << kSlotBits) + (1ull << (kSlotBits - 1)), at = home % 4096;
    int flags = MAP_FIXED | (file < 0 ? MAP_PRIVATE | MAP_ANON : MAP_SHARED);
    if (mmap((void *)page, at + bytes + 1, PROT_READ | PROT_WRITE, flags, file, file < 0 ? 0 : home - at) == MAP_FAILED)
        abort();
    return page + at;
}

// What -fsanitize=bounds hands over: an index outside of an array whose size the compiler knows. A thread's own array
// is not traced, so this is all that is seen of it; of other arrays the access itself tells more, and is waited for.
// For shifts and casts it hands over the same, with the type of what is shifted or cast in the place of the array's.
struct BoundsType {
    uint16_t kind, info;  // of an integer: twice the logarithm of its bits, plus 1 if it has a sign
    char name[1];
};
struct Bounds {
    const char *file;
    uint32_t line, column;
    const BoundsType *array, *index;
};
struct Overrun {
    const Bounds *at;
    int64_t index;
    unsigned block;
};
static Overrun overrun[kMaxThreads];  // that a thread has not been told of yet
static unsigned overruns;
struct OverrunArray : Array {
    const Bounds *at;
    OverrunArray *next;
};
static OverrunArray *overrun_arrays;

static const Array &array_of(const Bounds &b) {
    for (OverrunArray *a = overrun_arrays; a; a = a->next)
        if (a->at == &b) return *a;
    OverrunArray &a = *(overrun_arrays = new OverrunArray{{}, &b, overrun_arrays});
    const char *alias = strstr(b.array->name, "aka "), *type = alias ? alias + 4 : b.array->name, *at = type;
    for (unsigned &n : a.shape.dimensions)
        if ((at = strchr(at, '['))) n = unsigned(strtoul(++at, nullptr, 10));
        else break;
    size_t bytes = strlen(type) + 16;
    char *name = (char *)malloc(bytes);
    snprintf(name, bytes, "%s@%u", type, b.column);
    return a.name = name, a;
}

// Of shared arrays the shapes are known, of symbols only how many elements they have. part: a row of it.
static bool may_be(const Overrun &o, const Array &a, bool part = false) {
    const unsigned *dimensions = array_of(*o.at).shape.dimensions;
    unsigned n = 0, m = 0, elements = 1;
    while (n < 4 && dimensions[n]) elements *= dimensions[n++];
    while (m < 4 && a.shape.dimensions[m]) m++;
    if (a.space == Space::shared)
        return n + part <= m && std::equal(dimensions, dimensions + n, a.shape.dimensions + m - n);
    return a.id >= first_symbol && elements && a.bytes / a.shape.element % elements == 0;
}

static void tell(Overrun &o) {
    const Array &a = array_of(*o.at);
    report({"memcheck", "local", &a, o.index, {int(o.at->line), o.block, unsigned(&o - overrun), ""}, {}});
    o = {};
}

void overruns_end() {
    for (unsigned i = 0; overruns && i < kMaxThreads; i++)
        if (overrun[i].at) tell(overrun[i]);
    overruns = 0;
}

static int64_t number(uint64_t raw, const BoundsType &type) {
    unsigned more = 64 - std::min(64u, 1u << (type.info >> 1));
    return type.info & 1 ? int64_t(raw << more) >> more : int64_t(raw);
}

// What C++ leaves undefined is something else here than on a GPU, so the thread ends.
[[noreturn]] static void undefined(const char *kind, const Bounds *at, int64_t by) {
    report({"ubsan", kind, &array_of(*at), by, {int(at->line), self->block->index, self->index, ""}, {}}), end_thread();
}

static void out_of_bounds(const Bounds *at, uint64_t raw) {
    if (!self) return;
    Overrun &mine = overrun[self->index];
    if (mine.at) return;
    look_at_all();
    mine = {at, number(raw, *at->index), self->block->index};
    overruns++;
    for (const Array *a : arrays)
        if (a->id >= first_symbol && may_be(mine, *a)) return;
    tell(mine), end_thread();
}

// Once: a launch has this process to itself.
void trace_begin(const List<Array *> &given) {
    uint64_t used = 0, base = (uint64_t)arena.base;
    arrays = given;
    for (first_symbol = 0; first_symbol < std::min<size_t>(arrays.count, kSlots - kSharedSlots); first_symbol++) {
        Array &a = *arrays[first_symbol];
        if ((a.home = a.start - base) >= arena.bytes) break;
        used = std::max(used, a.home + a.bytes);
        a.start = place_in_slot(first_symbol, a.home, a.bytes, arena.file), slots[first_symbol] = &a;
    }
    for (unsigned i = 0; i < arrays.count; i++) {
        Array &a = *arrays[i];
        a.id = i;
        if (i >= first_symbol) a.home = (used + 15) / 16 * 16 + a.start % 16, used = a.home + a.bytes;
    }
    first_shared = arrays.count, last_site = 0;
    races_begin((kSharedBytes + used) / 4 + 1);
}

const Array &array_of(unsigned id) { return *arrays[id]; }

uint64_t in_slot(uint64_t address) {
    for (size_t i = 0; i < first_symbol; i++)
        if (address - (uint64_t)arena.base == arrays[i]->home) return arrays[i]->start;
    return address;
}

// Copies that are on their way to shared memory. They arrive when their thread waits.
struct Copy {
    void *to;
    char what[16];
    unsigned bytes, group;
    int line;
};
static List<Copy> copies[kMaxThreads];  // of each thread, on their way
static unsigned groups[kMaxThreads];           // that it has committed

void block_begins() {
    look_at_all(), guesses_end(), overruns_end(), races_of_next_block((shared_top + 3) / 4 * 4);
    shared_top = 0;
    std::fill_n(slots + kSlots - kSharedSlots, kSharedSlots, nullptr);
    memset(thread_lines, 0, sizeof thread_lines);
    memset(depth, 0, sizeof depth);
    for (unsigned i = 0; i < launch.threads; i++) copies[i].count = groups[i] = 0;
}

unsigned call_path() {
    unsigned path = 0, me = self->index;
    for (unsigned i = 1; i < std::min(depth[me], 16u); i++) path = (path ^ calls[me][i]) * 0x9e3779b1u;  // [0]: kernel
    return path >> 16;
}

Text contents() {
    Text all;
    for (size_t i = 0; i < first_shared; i++) all.append((const char *)arrays[i]->start, arrays[i]->bytes);
    return all;
}

void put_back(const Text &contents) {
    size_t at = 0;
    for (size_t i = 0; i < first_shared; at += arrays[i++]->bytes)
        memcpy((void *)arrays[i]->start, &contents[at], arrays[i]->bytes);
}

char *shared_declared(size_t offset, const char *name, size_t bytes, const Shape &shape) {
    size_t i = first_shared;
    auto same = [&](const Array &a) { return a.home == offset && a.bytes == bytes && !strcmp(a.name, name); };
    while (i < arrays.count && !same(*arrays[i])) i++;
    uint64_t slot = kSlots - kSharedSlots + (i - first_shared) % kSharedSlots;
    if (i == arrays.count)
        arrays.add(new Array{name, place_in_slot(slot, offset, kSharedBytes, -1), bytes, Space::shared, shape, offset,
                             unsigned(i)});
    slots[slot] = arrays[i];
    shared_top = std::max(shared_top, offset + bytes);
    std::fill_n(shared_written + offset, bytes, 0);
    return (char *)arrays[i]->start;
}

void barrier_error(const char *kind, int site, unsigned thread, unsigned count, int other, int lane) {
    int line = line_of_site(site);
    // Whoever was at work behind the barrier has gone past it.
    if (!strcmp(kind, "exited") && thread_lines[thread] > line) kind = "skipped";
    Side here = {line, self->block->index, thread, "barrier"};
    report({"synccheck", kind, nullptr, lane, here, {line_of_site(other)}, count});
}

static void find(const char *tool, const char *kind, const Array *a, uint64_t address, unsigned bytes, Op op) {
    int64_t offset = a ? int64_t(address - a->start) : -1, unit = a ? a->element(bytes) : 1;
    int64_t index = offset >= 0 ? offset / unit : -((-offset + unit - 1) / unit);
    report({tool, kind, a, index, {line_of(last_site), self->block->index, self->index, op_name(op)}, {}});
}

void report_end(const char *tool, const char *why, int line) {
    report({tool, why, nullptr, -1, {line ? line : thread_lines[self->index], self->block->index, self->index, ""}, {}});
}

[[noreturn]] static void bad(const char *kind, const Array *a, uint64_t address, unsigned bytes, Op op) {
    find("memcheck", kind, a, address, bytes, op);
    if (overruns && a && may_be(overrun[self->index], *a)) overrun[self->index] = {};
    end_thread();
}

// An index too large for its dimension. If the access lands in an array that may be meant, it is told with that one.
static void settle(const Place &place, uint64_t address, unsigned bytes, Op op) {
    Overrun &mine = overrun[self->index];
    if (!mine.at) return;
    if (mine.at->line != unsigned(line_of(last_site))) tell(mine), end_thread();
    if (!place.array || !may_be(mine, *place.array, true)) return;
    find("memcheck", "row", place.array, address, bytes, op);
    mine = {};
}

static uint64_t distance(const Array &a, uint64_t address) {
    return address < a.start ? a.start - address : address - std::min(address, a.start + a.bytes);
}

uint64_t cell_number(const Array &a, uint64_t offset) {
    return ((a.space == Space::shared ? 0 : kSharedBytes) + a.home + offset) / 4;
}

static bool inside(const Array &a, uint64_t address, unsigned bytes) {
    return address - a.start < a.bytes && address + bytes <= a.start + a.bytes;
}

static const Array *in_slot_of(uint64_t address) {
    uint64_t slot = (address - kFar) >> kSlotBits;
    return slot < kSlots ? slots[slot] : nullptr;
}

// An address in no array of global and shared memory: a symbol, or something wrong.
static Place elsewhere(const Array *near, uint64_t address, unsigned bytes, Op op) {
    const Array *of_slot = near;
    for (size_t id = first_symbol; id < first_shared; id++) {
        const Array &a = *arrays[id];
        if (inside(a, address, bytes)) {
            if (a.space == Space::constant && op != Op::load) bad("constant", &a, address, bytes, op);
            return {&a, a.id, address - a.start, cell_number(a, address - a.start), nullptr};
        }
    }
    if (address < 65536) bad("null", nullptr, 0, bytes, op);
    // Tables of constants that the compiler made; and where no symbol can be meant, what else the program has.
    char *end = first_symbol == first_shared ? &_end : op == Op::load ? &__data_start : nullptr;
    if (address >= (uint64_t)&__executable_start && address < (uint64_t)end) return {};
    for (size_t id = first_symbol; !of_slot && id < first_shared; id++)
        if (!near || distance(*arrays[id], address) < distance(*near, address)) near = arrays[id];
    // An index of 32 bits leads no farther than this.
    if (near && distance(*near, address) >> 32 < bytes) bad("outside", near, address, bytes, op);
    bad("wild", nullptr, 0, bytes, op);
}

static Place place_of(uint64_t address, unsigned bytes, Op op) {
    const Array *a = in_slot_of(address);
    if (!a || !inside(*a, address, bytes)) return elsewhere(a, address, bytes, op);
    uint64_t offset = address - a->start, at = a->home + offset;
    return {a, a->id, offset, cell_number(*a, offset), (a->space == Space::shared ? shared_written : arena.initialised) + at};
}

// Where the last access of each site landed, if it is an ordinary array: most often the next one goes there too.
struct alignas(64) Hit {
    uint32_t block, last;   // serial number of the block; how far behind the start an access of this size may begin
    uint64_t start;         // of the array
    uint8_t *written;       // flags of the array
    uint64_t cell;          // number of its first word
    Log *log;
    int line;
    uint64_t same, change;  // the last address of which nothing came, and `changes` then
};
static Hit hits[kAtomicSite];
constexpr uint8_t kTravels = 2;  // the flag of a byte of shared memory to which a copy is on its way

// Not before main, and not local arrays that did not fit into registers.
COURSE_HOT static bool own(uint64_t address) { return !self || address - (uint64_t)self->stack < kStackBytes; }

static void access(void *pointer, unsigned bytes, unsigned site, Op op, bool is_volatile = false) {
    uint64_t address = (uint64_t)pointer;
    if (own(address)) return;
    changes++;
    last_site = site, thread_lines[self->index] = line_of(site);
    if (late) last_words("timeout", "");
    Place place = place_of(address, bytes, op);
    if (overruns) settle(place, address, bytes, op);
    if (!place.array) return;
    const Array &a = *place.array;
    if (address % (bytes & -bytes)) bad("misaligned", &a, address, bytes, op);
    bool reads = op != Op::store && place.written, unset = reads && memchr(place.written, 0, bytes);
    if (unset || (reads && memchr(place.written, kTravels, bytes)))
        find("initcheck", unset ? "unset" : "travels", &a, address, bytes, op);
    if (op != Op::load && place.written) memset(place.written, 1, bytes);
    is_volatile &= a.space == Space::global;
    if (a.space != Space::constant) check_race(place, bytes, site, op, is_volatile);
    Log *log = note_request(site, address, bytes, op, place);
    if (is_volatile || op >= Op::atomic) note_atomic(address, a.space == Space::shared || op == Op::atomic_of_block);
    else if (place.written && site < kAtomicSite)
        hits[site] = {uint32_t(self->block->serial), uint32_t(std::min<uint64_t>(a.bytes - bytes, ~0u)), a.start,
                      place.written - place.offset, place.cell - place.offset / 4, log, line_of(site), 0, 0};
    usual_block = overruns || !races_are_simple() ? kNever : uint32_t(self->block->serial);
    if (late) usual_block = kNever;  // asked last, for the alarm may come at any time
}

// An access as the last one by its site, in which no check finds anything. All others, and all doubts, go to `access`.
// at_once: a read that changes nothing but the profile; often of the address that the lane before it has read.
COURSE_HOT static bool usual(uint64_t address, unsigned bytes, unsigned site, Op op, bool at_once) {
    Hit &hit = hits[site];
    const Thread &t = *self;
    if (at_once && t.warp_epoch) return false;
    if (!at_once || hit.same != address || hit.change != changes) {
        uint64_t offset = address - hit.start, word = hit.cell + offset / 4;
        if (hit.block != usual_block || offset > hit.last || address % bytes) return false;
        uint32_t *written = (uint32_t *)(hit.written + offset);
        for (unsigned i = 0; i < bytes / 4; i++)
            if (op == Op::load && written[i] != 0x01010101) return false;
        for (unsigned i = 0; i < bytes / 4; i++)
            if (at_once ? !one_of_many(cell_at(word + i), t) : !no_race(cell_at(word + i), this_access(site, 15, op), op))
                return false;
        for (unsigned i = 0; i < bytes / 4; i++)
            if (op == Op::store) written[i] = 0x01010101;
        hit.same = address, hit.change = changes, changes += !at_once;
    }
    thread_lines[t.index] = hit.line;
    return note_again(*hit.log, t.index % 32, address, at_once);
}
__attribute__((noinline)) static void in_full(void *p, unsigned bytes, unsigned site, Op op) {
    if (!usual((uint64_t)p, bytes, site, op, false)) access(p, bytes, site, op);
}
COURSE_HOT static void frequent(void *p, unsigned bytes, unsigned site, Op op) {
    if (own((uint64_t)p) || (op == Op::load && usual((uint64_t)p, bytes, site, op, true))) return;
    in_full(p, bytes, site, op);
}

void tile(const void *start, unsigned ld, unsigned bytes, bool stored, int line) {
    uint64_t address = (uint64_t)start;
    unsigned came = meet(address ^ ld * 0x9e3779b97f4a7c15, line);
    const Array *a = in_slot_of(address);
    const char *kind = equal(came) != came ? "lanes" : address % 32 ? "tile" : ld * bytes % 16 ? "leading" : nullptr;
    last_site = kAtomicSite + line, thread_lines[self->index] = line;
    if (kind) bad(kind, a, address, bytes, stored ? Op::store : Op::load);
}
void element(const void *address, unsigned bytes, bool stored, int line) {
    access((void *)address, bytes, kAtomicSite + line, stored ? Op::store : Op::load);
}

void copy_begins(void *to, const void *from, size_t bytes, size_t zeros, int line) {
    uint64_t address = (uint64_t)to;
    const Array *a = in_slot_of(address);
    bool size = (bytes != 4 && bytes != 8 && bytes != 16) || zeros > bytes;
    last_site = kAtomicSite + line, thread_lines[self->index] = line;
    if (size || !a || a->space != Space::shared) bad(size ? "copy" : "to", nullptr, 0, 0, Op::store);
    if (zeros < bytes && (uint64_t)from % bytes)
        bad("misaligned", place_of((uint64_t)from, 1, Op::load).array, (uint64_t)from, bytes, Op::load);
    Copy copy = {to, {}, unsigned(bytes), groups[self->index], line};
    if (zeros < bytes) element(from, bytes - zeros, false, line), memcpy(copy.what, from, bytes - zeros);
    element(to, bytes, true, line);
    memset(place_of(address, bytes, Op::store).written, kTravels, bytes);
    copies[self->index].add(copy);
}
void copies_commit() { groups[self->index]++; }
void copies_arrive(size_t prior) {
    List<Copy> &mine = copies[self->index];
    size_t kept = 0;
    for (const Copy &copy : mine) {
        if (copy.group + prior >= groups[self->index]) {
            mine[kept++] = copy;
            continue;
        }
        Place place = place_of((uint64_t)copy.to, copy.bytes, Op::store);
        check_race(place, copy.bytes, kAtomicSite + copy.line, Op::store, false);  // with readers since it began, too
        memset(place.written, 1, copy.bytes), memcpy(copy.to, copy.what, copy.bytes);
    }
    mine.count = kept;
}

static const Array roles[5] = {};  // of an unset fragment: each is a finding of its own
void fragment_unset(int which, int line) {
    report({"initcheck", "fragment", &roles[which], which, {line, self->block->index, self->index, "load"}, {}});
}

uint64_t atomic_load(const void *pointer, unsigned bytes, int line, bool of_block) {
    access((void *)pointer, bytes, kAtomicSite + line, of_block ? Op::atomic_of_block : Op::atomic);
    uint64_t bits = 0;
    memcpy(&bits, pointer, bytes);
    return bits;
}
void atomic_store(void *pointer, unsigned bytes, uint64_t bits) { memcpy(pointer, &bits, bytes); }

static void range(const void *p, size_t bytes, unsigned site, Op op) {
    for (size_t i = 0, n; i < bytes; i += n) {
        n = bytes - i >= 4 && ((uint64_t)p + i) % 4 == 0 ? 4 : 1;
        access((char *)p + i, n, site, op);
    }
}

}  // namespace course

// What the compiler calls for -fsanitize=thread. The assembly pass has put the site into the next argument's register.
using course::Op;
#define COURSE_CALLBACK(name, ...) \
    extern "C" void __tsan_##name(void *p, unsigned site) { course::__VA_ARGS__; }
// Unaligned: of types of smaller numbers, such as a float3, whose parts clang moves together.
#define COURSE_CALLBACKS(name, n, op, usually)                              \
    COURSE_CALLBACK(name##n, usually(p, n, site, op))                       \
    COURSE_CALLBACK(unaligned_##name##n, range(p, n, site, op))             \
    COURSE_CALLBACK(volatile_##name##n, access(p, n, site, op, true))       \
    COURSE_CALLBACK(unaligned_volatile_##name##n, access(p, n, site, op, true))
#define COURSE_BOTH(n, usually) COURSE_CALLBACKS(read, n, Op::load, usually) COURSE_CALLBACKS(write, n, Op::store, usually)
COURSE_BOTH(1, access) COURSE_BOTH(2, access) COURSE_BOTH(4, frequent) COURSE_BOTH(8, frequent) COURSE_BOTH(16, frequent)
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
void __ubsan_handle_out_of_bounds(course::Bounds *at, uint64_t index) { course::out_of_bounds(at, index); }
void __ubsan_handle_shift_out_of_bounds_abort(course::Bounds *at, uint64_t, uint64_t by) {
    course::undefined("shift", at, course::number(by, *at->index));
}
void __ubsan_handle_float_cast_overflow_abort(course::Bounds *at, uint64_t) { course::undefined("cast", at, -1); }
uint32_t course_call_line;  // of the last call: the assembly pass has put the store before it
void __tsan_func_entry(void *from) {
    if (!course::self) return;
    unsigned i = course::self->index;  // no line (arm64): the place of the call, which the compiler may have doubled
    course::calls[i][course::depth[i]++ % 16] = course_call_line ? course_call_line : uint32_t(uint64_t(from));
}
void __tsan_func_exit() {
    if (course::self) course::depth[course::self->index]--;
}
void __tsan_init() {}
void __tsan_vptr_update(void **, void *) {}
void __tsan_vptr_read(void **) {}
}
