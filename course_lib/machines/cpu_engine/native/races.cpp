// racecheck. Two accesses to a byte by different threads, one of them a write and not both atomic, must be ordered:
// in a block by a barrier between them, in a warp also by a warp barrier, else by an atomic after a fence.
// It looks at barriers passed, never at the order in which the fibers happened to run, so luck cannot hide a race.
#include <string.h>
#include <sys/mman.h>

#include <algorithm>

#include "trace.h"

namespace course {

const char *op_name(Op op) { return op == Op::load ? "load" : op == Op::store ? "store" : "atomic"; }

namespace {
union Access {
    struct {
        uint32_t block, epoch, thread : 10, warp_epoch : 22;
        uint16_t site;
        uint8_t bytes;  // a bit for each of the four bytes of the word; 0: no access yet
        Op op;
    };
    uint64_t when;                                   // block and epoch
    uint64_t both __attribute__((vector_size(16)));  // all of it, to be set and copied at one go
};
// What is remembered of a word: its last write and atomic, and two reads by different threads since. If another thread's
// atomic came before the last one, unordered, it takes the place of the write, which is ordered before both, or told.
struct Cell {
    Access write, atomic, reads[2];
};
Cell *cells, *byte_cells;  // of shared memory, of the arena, of symbols; of their bytes, where a word is split
constexpr uint8_t kSplit = 16;  // in `atomic.bytes` of a word: its bytes have cells of their own
// Matrices often have rows of a power of two: one cell in 33 stays unused, or a column would fight for a line of the cache.
uint64_t spread(uint64_t word) { return word + word / 32; }
Cell &cell_at(uint64_t word) { return cells[spread(word)]; }
Cell *bytes_of(uint64_t word) { return byte_cells + 4 * spread(word); }
// A plain read beside an atomic is a race, but for the usual start of an atomicCAS loop: there the read is a guess, and
// if it is wrong the atomicCAS of the same thread finds out. So what it does next with that address is waited for.
struct Guess {
    uint64_t address;
    Finding finding;
};
List<Guess> guesses[kMaxThreads];  // of each thread of the running block
size_t guessed;                    // by all of them
Place last_atomic;
unsigned atomic_words;  // of it
// Two stores of one value leave that value, whichever comes last. What a store stores is seen once it has been done.
struct Store {
    const uint32_t *word;
    uint32_t before;
    unsigned site, part;  // part: which word of the access
    uint8_t bytes;        // a bit for each that both have stored
    Finding finding;
};
List<Store> stores;  // of the last access, if it collides
bool told, mute;         // of the last access a collision was told; those of its other bytes are not
const uint32_t *visited;  // the word that it is about
uint64_t stored_by_all[1 << 16][4];  // by instruction and part: the one value stored by blocks, and a bit above it

constexpr unsigned kMany = ~0u;  // more than one thread: counts as any of them
struct Handed {  // by a thread of one block when it had come so far, and (once taken) to a thread of a block
    uint64_t where;  // the address of an atomic, or the block that takes
    uint64_t from;   // the block that hands over
    unsigned epoch, thread, warp_epoch, to_epoch, to_thread;
    unsigned only;  // the block that alone may take it, or kMany
};
List<Handed> released, taken;  // in order
uint8_t fenced[kMaxThreads];  // by thread of the running block: a fence since its start, 1 for its block, 2 for all

Handed *first_not_before(const List<Handed> &list, uint64_t where, uint64_t from) {
    return std::lower_bound(list.begin(), list.end(), 0, [&](const Handed &h, int) {
        return h.where < where || (h.where == where && h.from < from);
    });
}

// What is there for this pair, or else `what`, put in.
Handed &put(List<Handed> &list, const Handed &what) {
    size_t at = first_not_before(list, what.where, what.from) - list.begin();
    if (at == list.count || list[at].where != what.where || list[at].from != what.from) {
        list.resize(list.count + 1);
        memmove(&list[at + 1], &list[at], (list.count - 1 - at) * sizeof(Handed));
        list[at] = what;
    }
    return list[at];
}

Guess *guess_at(uint64_t address, unsigned thread) {
    for (Guess &guess : guesses[thread])
        if (guess.address == address) return &guess;
    return nullptr;
}

void forget(Guess *guess, unsigned thread) {
    *guess = *(guesses[thread].end() - 1);
    guesses[thread].count--, guessed--;
}

// A block handed over what its threads had done before its last barrier, and the one thread since; the thread that took
// it may use it at once, the others of its block after a barrier.
bool handed_over(const Access &before, const Access &now) {
    const Handed &h = *first_not_before(taken, now.block, before.block);
    if (&h == taken.end() || h.where != now.block || h.from != before.block) return false;
    if (now.epoch == h.to_epoch && h.to_thread != kMany && h.to_thread != now.thread) return false;
    bool handed = h.thread == kMany || (h.thread == before.thread && before.warp_epoch <= h.warp_epoch);
    return before.epoch < h.epoch || (before.epoch == h.epoch && handed);
}

COURSE_HOT bool ordered(const Access &before, const Access &now, bool any_taken = taken.count) {
    if (before.block == now.block) {
        if (before.thread == now.thread || before.epoch != now.epoch) return true;
        bool near = before.thread / 32 == now.thread / 32;
        if (near && int((seen[now.thread][before.thread % 32] - before.warp_epoch) << 10) > 0) return true;
    }
    return any_taken && handed_over(before, now);
}

COURSE_HOT int distance(const Access &a, const Access &b) {
    return a.block != b.block ? kMaxThreads : a.thread ^ b.thread;
}

__attribute__((noinline, cold)) void collide(const Access &before, const Access &now, const Place &place,
                                             unsigned bytes, Op op) {
    const char *kind = before.block == now.block ? "block" : "blocks";
    told = true;
    Finding found = {"racecheck", kind, place.array, int64_t(place.offset / place.array->element(bytes)),
                     {line_of(now.site), now.block, now.thread, op_name(op)},
                     {line_of(before.site), before.block, before.thread, op_name(before.op)}};
    if (op == Op::store && before.op == Op::store) {
        unsigned part = unsigned((uint64_t)visited / 4 - (place.array->start + place.offset) / 4);
        stores.add({visited, *visited, now.site, part, uint8_t(before.bytes & now.bytes), found});
    } else if (op == Op::load && before.op >= Op::atomic) {
        uint64_t address = place.array->start + place.offset;
        if (!guess_at(address, now.thread)) guesses[now.thread].add({address, found}), guessed++;
    } else {
        report(found);
    }
}

void compare(const Access &before, const Access &now, const Place &place, unsigned bytes, Op op) {
    bool near = before.block == now.block, atomics = before.op >= Op::atomic && now.op >= Op::atomic;
    bool apart = atomics && (near || std::max(before.op, now.op) == Op::atomic);  // no atomic is one of its block alone
    if (!mute && !apart && (before.bytes & now.bytes) && !ordered(before, now)) collide(before, now, place, bytes, op);
}

// Of the readers that a later write may collide with, the two that are farthest apart: whatever orders the write after
// both of them orders it after all.
COURSE_HOT void remember_read(Access *reads, const Access &now, bool any_taken = taken.count) {
    for (int i = 0; i < 2; i++)
        if (!reads[i].bytes || (reads[i].bytes == now.bytes && ordered(reads[i], now, any_taken))) {
            reads[i].both = now.both;
            return;
        }
    if (distance(reads[0], now) > distance(reads[0], reads[1])) reads[1].both = now.both;
}

void visit(Cell &cell, const Access &now, const Place &place, unsigned bytes, Op op) {
    // The last of several atomics may tell its thread that it is the last: a plain store is left to it.
    if (cell.write.op < Op::atomic || op != Op::store) compare(cell.write, now, place, bytes, op);
    compare(cell.atomic, now, place, bytes, op);
    if (op == Op::load) return remember_read(cell.reads, now);
    for (Access &read : cell.reads) {
        compare(read, now, place, bytes, op);
        if (ordered(read, now)) read.bytes &= ~now.bytes;
    }
    if (now.op >= Op::atomic && cell.atomic.bytes && !ordered(cell.atomic, now)) cell.write.both = cell.atomic.both;
    (now.op >= Op::atomic ? cell.atomic : cell.write).both = now.both;
}

// Threads that store bytes or halves side by side share a word, of which a cell remembers one write. So from the first
// access to a part of a word on, each of its bytes has a cell. One byte of an access is told of.
void visit_bytes(uint64_t word, const Access &now, const Place &place, unsigned bytes, Op op) {
    Cell &whole = cell_at(word), *cell = bytes_of(word);
    if (whole.atomic.bytes != kSplit) std::fill_n(cell, 4, whole), whole = {}, whole.atomic.bytes = kSplit;
    told = false;
    for (int i = 0; i < 4; i++, mute = told)
        if (now.bytes >> i & 1) visit(cell[i], now, place, bytes, op);
    mute = false;
}

COURSE_HOT Access this_access(unsigned site, unsigned mask, Op op) {
    const Thread &t = *self;
    Access now;
    now.both = decltype(now.both){t.block->index | uint64_t(t.block->epoch) << 32,
                                  t.index | t.warp_epoch << 10 | uint64_t(uint16_t(site)) << 32 |
                                      uint64_t(mask) << 48 | uint64_t(op) << 56};
    return now;
}

COURSE_HOT bool quiet(const Access &before, const Access &now) { return !before.bytes || ordered(before, now, false); }
}  // namespace

COURSE_HOT bool races_are_simple() { return !guessed && !taken.count && !stores.count; }

// Whether a read of a whole word, by a thread that has passed no warp barrier, is one of many: there is no race, and the
// two reads that are remembered stay. Most reads are, so `usual` asks this first.
COURSE_HOT bool one_of_many(const Cell &cell, const Thread &t) {
    const Access &a = cell.reads[0], &b = cell.reads[1];
    unsigned block = t.block->index, apart = a.thread ^ b.thread;
    uint64_t when = block | uint64_t(t.block->epoch) << 32;
    if (cell.atomic.bytes || (a.bytes & b.bytes) != 15) return false;
    if (cell.write.bytes && (cell.write.block != block || cell.write.when == when)) return false;
    unsigned to_come = 32 - t.index % 32;  // of this warp, with this thread: none of them has been here, as `usual` counts on
    bool not_b = b.thread - t.index >= to_come;
    if (a.when == when && b.when == when)
        return not_b && a.thread - t.index >= to_come && apart && ((a.thread ^ t.index) < 32 || apart >= 32);
    return a.block != block && a.block != b.block && (b.block != block || (b.when == when && not_b));
}

// Whether racecheck has nothing to say of a whole word at first glance; then it is noted. What is noted twice does no harm.
__attribute__((noinline)) bool no_race(Cell &cell, const Access &now, Op op) {
    if (cell.atomic.bytes || !quiet(cell.write, now)) return false;
    if (op == Op::load) return remember_read(cell.reads, now, false), true;
    if (!quiet(cell.reads[0], now) || !quiet(cell.reads[1], now)) return false;
    cell.reads[0].bytes = cell.reads[1].bytes = 0, cell.write.both = now.both;
    return true;
}

void races_begin(uint64_t words) {
    size_t bytes = spread(words + 32) * sizeof(Cell);  // pages come as they are touched
    int flags = MAP_PRIVATE | MAP_ANON | MAP_NORESERVE;
    cells = (Cell *)mmap(nullptr, 5 * bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    byte_cells = (Cell *)((char *)cells + bytes);
#ifdef MADV_HUGEPAGE
    madvise(cells, bytes, MADV_HUGEPAGE);
#endif
}

void races_of_next_block(size_t shared_bytes) {
    std::fill_n(cells, spread(shared_bytes / 4), Cell()), memset(fenced, 0, sizeof fenced);
}

// A store has been done now. Blocks may all set one flag, but what each of them works out is the work of one.
static void settle_stores() {
    for (Store &s : stores) {
        uint32_t mask = 0;
        for (int i = 0; i < 4; i++) mask |= (s.bytes >> i & 1) * 0xffu << 8 * i;
        uint32_t value = (*s.word & mask) >> 8 * __builtin_ctz(s.bytes);  // wherever in its word
        bool same = !((*s.word ^ s.before) & mask), blocks = !strcmp(s.finding.kind, "blocks");
        uint64_t &known = stored_by_all[s.site][s.part % 4];
        if (same && blocks) known = known ? known : 1ull << 32 | value, same = uint32_t(known) == value;
        if (same) s.finding.kind = blocks ? "same blocks" : "same block";
        report(s.finding);
    }
    stores.count = 0;
}

// A volatile access of global memory cannot be torn or kept back, so between two of them there is no race.
void check_race(const Place &place, unsigned bytes, unsigned site, Op op, bool is_volatile) {
    if (stores.count) settle_stores();
    Access now = this_access(site, bytes < 4 ? ((1u << bytes) - 1) << place.offset % 4 : 15, is_volatile ? Op::atomic : op);
    if (op >= Op::atomic) {
        last_atomic = place, atomic_words = (bytes + 3) / 4;
    } else if (Guess *guess = guess_at(place.array->start + place.offset, self->index)) {
        report(guess->finding), forget(guess, self->index);
    }
    for (uint64_t word = place.cell; word < place.cell + (bytes + 3) / 4; word++) {
        visited = (const uint32_t *)((place.array->start + place.offset) & ~3ull) + (word - place.cell);
        bool whole = now.bytes == 15 && cell_at(word).atomic.bytes != kSplit;
        whole ? visit(cell_at(word), now, place, bytes, op) : visit_bytes(word, now, place, bytes, op);
    }
}

void guess_held() {
    const Place &place = last_atomic;
    if (Guess *guess = guess_at(place.array->start + place.offset, self->index)) forget(guess, self->index);
    for (uint64_t word = place.cell; word < place.cell + atomic_words; word++)
        for (Cell *cell : {&cell_at(word), bytes_of(word), bytes_of(word) + 1, bytes_of(word) + 2, bytes_of(word) + 3})
            for (Access &read : cell->reads)
                if (read.block == self->block->index && read.thread == self->index) read.bytes = 0;
}

void guesses_end() {
    settle_stores();
    List<Guess> all;
    for (List<Guess> &own : guesses) {
        for (const Guess &guess : own) all.add(guess);
        own.count = 0;
    }
    std::sort(all.begin(), all.end(), [](const Guess &g, const Guess &h) {
        return std::pair(g.address, g.finding.here.thread) < std::pair(h.address, h.finding.here.thread);
    });
    for (const Guess &guess : all) report(guess.finding);
    free(all.items), guessed = 0;
}

bool last_write(uint64_t word, Side &side, unsigned &site) {
    const Cell &cell = cell_at(word).atomic.bytes == kSplit ? *bytes_of(word) : cell_at(word);
    const Access &a = cell.write.bytes ? cell.write : cell.atomic;
    side = {line_of(a.site), a.block, a.thread, op_name(a.op)}, site = a.site;
    return a.bytes;
}

void fence(bool of_all) { fenced[self->index] = std::max<uint8_t>(fenced[self->index], of_all ? 2 : 1); }

void note_atomic(uint64_t address, bool near) {
    unsigned me = self->block->index, epoch = self->block->epoch, thread = self->index;
    for (size_t i = first_not_before(released, address, 0) - released.begin(); i < released.count; i++) {
        Handed got = released[i];
        bool ours = got.from == me || got.only == me;
        if (got.where != address) break;
        if (!ours && (near || got.only != kMany)) continue;
        got.where = me, got.to_epoch = epoch, got.to_thread = thread;
        Handed &old = put(taken, got);
        bool known = old.epoch == got.epoch && old.thread == got.thread && old.to_epoch < epoch;
        if (known) old.warp_epoch = std::max(old.warp_epoch, got.warp_epoch);
        if (known && got.from != me) continue;
        if (got.from != me && old.to_epoch == epoch && old.to_thread != thread) got.to_thread = kMany;
        old = got;
    }
    if (!fenced[thread]) return;
    unsigned only = near || fenced[thread] == 1 ? me : kMany;
    Handed now = {address, me, epoch, thread, 0, 0, 0, only}, &mine = put(released, now);
    if (mine.epoch != epoch) mine = now;
    if (mine.thread != thread) mine.thread = kMany;
    if (mine.only != kMany) mine.only = only;
    mine.warp_epoch = self->warp_epoch++;  // what this thread does from now on is not handed over
    for (const Handed *h = first_not_before(taken, me, 0); h < taken.end() && h->where == me; h++) {
        Handed its = *h;  // what was handed to this block, it hands on
        its.where = address, its.only = only;
        Handed &on = put(released, its);
        if (on.only != kMany) on.only = only;
        if (on.epoch == its.epoch) on.warp_epoch = std::max(on.warp_epoch, its.warp_epoch);
    }
}

}  // namespace course
