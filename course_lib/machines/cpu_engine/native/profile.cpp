// The profile: the n-th time that each lane of a warp comes by an instruction is one request of the warp.
// Global memory moves in sectors of 32 bytes; shared memory has 32 banks of 4 bytes that serve a word at a time.
#include <algorithm>

#include "trace.h"

namespace course {

constexpr size_t kLongest = 1 << 20;  // accesses of a lane between two barriers; more are not profiled
struct Request {  // with the most sectors or wavefronts; of equals, the first of the first warp of the first block
    unsigned cost = 0, block = ~0u, warp = 0, bytes = 0;
    int64_t offsets[32];  // of each lane, in the array; -1: it takes no part
};
struct Count {
    uint64_t key;  // their order: line, array, op, space, as `count_of` puts them in
    Count *next;
    uint64_t requests = 0, threads = 0, sectors = 0, ideal_sectors = 0, wavefronts = 0, ideal_wavefronts = 0, bytes = 0;
    unsigned max_way = 0;
    Request costliest;
};
List<Log *> touched;

namespace {
Log *last_log[1 << 16];  // by site: that of the array which it went to last, and from there the others
Count *counts;  // in the order of their keys

Count *count_of(int line, const Log &log) {
    uint64_t key = uint64_t(line) << 40 | uint64_t(log.array) << 8 | unsigned(log.op) << 4 | unsigned(log.space);
    Count **at = &counts;
    while (*at && (*at)->key < key) at = &(*at)->next;
    if (!*at || (*at)->key != key) *at = new Count{key, *at};
    return *at;
}

Log *log_of(unsigned site, unsigned array) {
    Log **at = &last_log[site], *log;
    while (*at && (*at)->array != array) at = &(*at)->next;
    if ((log = *at)) *at = log->next;
    else log = new Log();
    log->next = last_log[site];
    return last_log[site] = log;
}

unsigned distinct(uint32_t *values, unsigned n) {  // 32 at most, and most often in order
    for (unsigned i = 1; i < n; i++)
        for (unsigned j = i; j > 0 && values[j] < values[j - 1]; j--) std::swap(values[j], values[j - 1]);
    unsigned many = n > 0;
    for (unsigned i = 1; i < n; i++) many += values[i] != values[i - 1], values[many - 1] = values[i];
    return many;
}

Cost cost_global(const uint32_t *addresses, unsigned n, unsigned bytes) {
    uint32_t starts[32], sectors[32];  // of aligned accesses, each of which lies in one sector
    for (unsigned i = 0; i < n; i++) starts[i] = addresses[i], sectors[i] = addresses[i] / 32;
    return {distinct(sectors, n), (distinct(starts, n) * bytes + 31) / 32, 0};
}

// Lanes are served in groups that together ask for at most 128 bytes: 32 lanes of 4, 16 of 8, 8 of 16 bytes.
Cost cost_shared(const uint32_t *addresses, const unsigned *lanes, unsigned n, unsigned bytes) {
    unsigned group = bytes <= 4 ? 32 : 128 / bytes, words = bytes <= 4 ? 1 : bytes / 4;
    Cost cost;
    for (unsigned first = 0, i = 0; first < 32; first += group) {
        uint32_t asked[32];
        unsigned many = 0, bank[32] = {0}, way = 0;
        for (; i < n && lanes[i] < first + group; i++)
            for (unsigned w = 0; w < words; w++) asked[many++] = addresses[i] / 4 + w;
        if (!many) continue;
        many = distinct(asked, many);
        for (unsigned w = 0; w < many; w++) way = std::max(way, ++bank[asked[w] % 32]);
        cost.many += way, cost.ideal += (many + 31) / 32, cost.way = std::max(cost.way, way);
    }
    return cost;
}

// Is this request the log's last one, moved by a whole number of words, with the sectors where they were among each other?
// Loops of 32 for the compiler to make vectors of: where fewer lanes take part, the first one's address fills up.
bool moved(const Log &log, const uint32_t *addresses) {
    uint32_t by = addresses[0] - log.last[0], sectors_by = addresses[0] / 32 - log.last[0] / 32, other = by % 4;
    for (unsigned i = 0; i < 32; i++) other |= addresses[i] - log.last[i] - by;
    if (log.space == Space::global && by % 32)
        for (unsigned i = 0; i < 32; i++) other |= addresses[i] / 32 - log.last[i] / 32 - sectors_by;
    return !other;
}

void keep(Request &kept, unsigned cost, const Log &log, const uint32_t *addresses, const unsigned *lanes, unsigned n) {
    unsigned block = self->block->index, warp = self->index / 32;
    if (cost < kept.cost || (cost == kept.cost && std::pair(block, warp) >= std::pair(kept.block, kept.warp))) return;
    kept.cost = cost, kept.block = block, kept.warp = warp, kept.bytes = log.bytes;
    std::fill_n(kept.offsets, 32, -1);
    for (unsigned i = 0; i < n; i++) kept.offsets[lanes[i]] = addresses[i] - log.start;
}

// The lanes that have more than k accesses, their bits in the mask, and up to which access they stay the same.
unsigned taking_part(const Log &log, unsigned k, unsigned *lanes, unsigned &mask, unsigned &until) {
    unsigned n = 0, most = 0;
    mask = ~0u, until = ~0u;
    for (unsigned lane = 0; lane < 32; lane++) lanes[lane] = lane, until = std::min(until, log.counts[lane]);
    for (unsigned lane = 0; lane < 32; lane++) most = std::max(most, log.counts[lane]);
    if (until > k || most <= k) return until > k ? 32 : 0;
    mask = 0, until = ~0u;
    for (unsigned lane = 0; lane < 32; lane++)
        if (log.counts[lane] > k) lanes[n++] = lane, mask |= 1u << lane, until = std::min(until, log.counts[lane]);
    return n;
}

void flush(Log &log) {
    Count &count = *log.count;
    unsigned lanes[32], n = 0, mask = 0, until = 0;  // the lanes of the requests up to that one
    for (unsigned k = 0;; k++) {
        if (k == until && !(n = taking_part(log, k, lanes, mask, until))) break;
        uint32_t addresses[32], *from = log.addresses.items;
        for (unsigned i = 0; i < 32 && n == 32; i++) addresses[i] = from[log.at(i, k)];  // made of vectors
        for (unsigned i = 0; i < 32 && n < 32; i++) addresses[i] = from[log.at(lanes[i < n ? i : 0], k)];
        if (mask != log.lanes || !moved(log, addresses)) {
            if (log.space == Space::global) log.cost = cost_global(addresses, n, log.bytes);
            if (log.space == Space::shared) log.cost = cost_shared(addresses, lanes, n, log.bytes);
            log.lanes = mask;
        }
        std::copy_n(addresses, 32, log.last);
        count.requests++, count.threads += n, count.bytes += n * log.bytes;
        (log.space == Space::shared ? count.wavefronts : count.sectors) += log.cost.many;
        (log.space == Space::shared ? count.ideal_wavefronts : count.ideal_sectors) += log.cost.ideal;
        count.max_way = std::max(count.max_way, log.cost.way);
        keep(count.costliest, log.cost.many, log, addresses, lanes, n);
    }
    std::fill_n(log.counts, 32, 0);
    log.open = 0;
}

__attribute__((noinline)) void more_room(Log &log) {
    log.room = log.open = std::max(16u, 2 * log.room);
    log.addresses.resize(log.room * size_t(32));
}

// The first access by an instruction since its warp was last flushed, or the first to this array.
__attribute__((noinline)) Log *touch(Log *log, unsigned site, unsigned bytes, Op op, const Place &place) {
    if (!log || log->array != place.id) log = log_of(site, place.id);
    if (log->open) return log;
    if (!log->count || log->op != op || log->bytes != bytes) {
        log->site = site, log->array = place.id, log->bytes = bytes, log->op = op, log->space = place.array->space;
        log->start = uint32_t(place.array->start), log->lanes = 0;
        log->count = count_of(line_of(site), *log);
    }
    if (!log->room) more_room(*log);
    log->open = log->room, touched.add(log);
    return log;
}
}  // namespace

Log *note_request(unsigned site, uint64_t address, unsigned bytes, Op op, const Place &place) {
    Log *log = last_log[site];
    if (!log || log->array != place.id || !log->open) log = touch(log, site, bytes, op, place);
    unsigned lane = self->index % 32;
    if (log->counts[lane] == kLongest) return log;
    if (log->counts[lane] == log->room) more_room(*log);
    log->add(lane, address);
    return log;
}

void warp_stands() {
    changes++;
    for (Log *log : touched) flush(*log);
    touched.count = 0;
}

void add_profile(Text &out) {
    static const char *const spaces[] = {"global", "shared", "constant"};
    for (const Count *count = counts; count; count = count->next) {
        const Count &c = *count;
        if (!c.requests) continue;  // its warp did not come to a stand
        next(out) += '[', add(out, int(c.key >> 40)), add(out, spaces[c.key & 15]), add(out, op_name(Op(c.key >> 4 & 15)));
        add(out, array_of(c.key >> 8 & ~0u).name);
        for (uint64_t number : {c.requests, c.threads, c.bytes, c.sectors, c.ideal_sectors, c.wavefronts,
                                c.ideal_wavefronts, uint64_t(c.max_way), uint64_t(c.costliest.block),
                                uint64_t(c.costliest.warp), uint64_t(c.costliest.bytes)})
            add(out, number);
        next(out) += '[';
        for (int64_t offset : c.costliest.offsets) add(out, offset);
        out += "]]";
    }
}

}  // namespace course
