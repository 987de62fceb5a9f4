// racecheck. Two accesses to a byte by different threads, one of them a write and not both atomic, must be ordered:
// in a block by a barrier between them, in a warp also by a warp barrier, between blocks by an atomic after a fence.
// It looks at barriers passed, never at the order in which the fibers happened to run, so luck cannot hide a race.
#include <string.h>
#include <sys/mman.h>

#include <map>
#include <unordered_map>

#include "trace.h"

namespace course {

const char *op_name(Op op) { return op == Op::load ? "load" : op == Op::store ? "store" : "atomic"; }

namespace {
struct Access {
    uint32_t block, epoch;
    uint16_t thread, warp_epoch, site;
    uint8_t bytes;  // a bit for each of the four bytes of the word; 0: no access yet
    Op op;
};
struct Cell {  // what is remembered of a word: its last write, and two reads by different threads since
    Access write, reads[2];
};
Cell *global_cells;
size_t mapped;
std::vector<Cell> shared_cells;
std::unordered_map<uint64_t, Cell> symbol_cells;

typedef std::vector<bool> Blocks;
std::unordered_map<uint64_t, Blocks> released;   // by the address of an atomic: the blocks whose writes it publishes
std::vector<Blocks> seen;                        // by block: the blocks whose writes it may rely on
std::vector<bool> fenced;                        // by thread of the running block: a fence since its start
uint32_t fenced_block;

bool same_thread(const Access &a, const Access &b) { return a.block == b.block && a.thread == b.thread; }

bool ordered(const Access &before, const Access &now) {
    if (before.block != now.block)
        return now.block < seen.size() && before.block < seen[now.block].size() && seen[now.block][before.block];
    if (before.thread == now.thread || before.epoch != now.epoch) return true;
    return before.thread / 32 == now.thread / 32 && before.warp_epoch != now.warp_epoch;
}

bool collide(const Access &before, const Access &now) {
    if (!(before.bytes & now.bytes) || ordered(before, now)) return false;
    return !(before.op == Op::atomic && now.op == Op::atomic);
}

void tell(Space space, const Place &place, const Access &before, const Access &now, unsigned bytes) {
    Other other = {line_of(before.site), before.block, before.thread, op_name(before.op)};
    unsigned unit = place.array->element ? place.array->element : bytes;
    report("racecheck", before.block == now.block ? "block" : "blocks", line_of(now.site), place.array->name,
           place.offset / unit, &other, op_name(now.op));
}

void visit(Cell &cell, const Access &now, Space space, const Place &place, unsigned bytes) {
    if (collide(cell.write, now)) tell(space, place, cell.write, now, bytes);
    if (now.op == Op::load) {
        Access *slot = &cell.reads[0];
        // Keep readers that a later write may collide with: one replaced by itself or by one that comes after it.
        if (slot->bytes && !same_thread(*slot, now) && !ordered(*slot, now)) slot = &cell.reads[1];
        *slot = now;
        return;
    }
    for (const Access &read : cell.reads)
        if (collide(read, now)) tell(space, place, read, now, bytes);
    cell.write = now;
    for (Access &read : cell.reads)
        if (read.bytes && (same_thread(read, now) || ordered(read, now))) read.bytes = 0;
}
}  // namespace

void races_begin() {
    if (global_cells) munmap(global_cells, mapped);
    mapped = (arena.bytes / 4 + 4) * sizeof(Cell);  // pages come as they are touched
    global_cells = (Cell *)mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON | MAP_NORESERVE, -1, 0);
    shared_cells.assign(kSharedBytes / 4, Cell());
    symbol_cells.clear();
    released.clear();
    seen.clear();
    fenced.assign(kMaxThreads, false);
    fenced_block = ~0u;
}

void check_race(Space space, const Place &place, uint64_t at, unsigned bytes, unsigned site, Op op) {
    const Block &block = *self->block;
    Access now = {block.index, block.epoch, uint16_t(self->index), uint16_t(self->warp_epoch), uint16_t(site), 0, op};
    for (uint64_t word = at / 4; word * 4 < at + bytes; word++) {
        now.bytes = bytes >= 4 ? 15 : uint8_t(((1u << bytes) - 1) << at % 4);
        Cell &cell = space == Space::shared ? shared_cells[word] : space == Space::global ? global_cells[word] : symbol_cells[word];
        if (space == Space::shared && (cell.write.block != now.block || cell.reads[0].block != now.block)) {
            if (cell.write.block != now.block) cell.write = Access();
            for (Access &read : cell.reads)
                if (read.block != now.block) read = Access();
        }
        visit(cell, now, space, place, bytes);
    }
}

void note_fence() {
    if (fenced_block != self->block->index) fenced.assign(kMaxThreads, false), fenced_block = self->block->index;
    fenced[self->index] = true;
}

static void merge(Blocks &into, const Blocks &from) {
    if (into.size() < from.size()) into.resize(from.size());
    for (size_t i = 0; i < from.size(); i++)
        if (from[i]) into[i] = true;
}

void note_atomic(uint64_t address) {
    unsigned me = self->block->index;
    if (seen.size() <= me) seen.resize(me + 1);
    Blocks &published = released[address];
    merge(seen[me], published);
    if (fenced_block != me || !fenced[self->index]) return;
    merge(published, seen[me]);
    if (published.size() <= me) published.resize(me + 1);
    published[me] = true;
}

}  // namespace course
