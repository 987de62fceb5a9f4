// The profile: the n-th time that each lane of a warp comes by an instruction is one request of the warp.
// Global memory moves in sectors of 32 bytes; shared memory has 32 banks of 4 bytes that serve a word at a time.
#include <algorithm>
#include <map>
#include <tuple>

#include "trace.h"

namespace course {

namespace {
constexpr size_t kLongest = 1 << 20;  // accesses of a lane between two barriers; more are not profiled
struct Log {  // of one instruction and array, since its warp was last flushed
    std::vector<uint32_t> addresses[32];
    unsigned site, array, bytes;
    uint32_t start;  // of the array
    Op op;
    Space space;
    bool touched = false;
};
struct Request {  // with the most sectors or wavefronts; of equals, the first of the first warp of the first block
    unsigned cost = 0, block = ~0u, warp = 0, bytes = 0;
    int64_t offsets[32];  // of each lane, in the array; -1: it takes no part
};
struct Count {
    uint64_t requests = 0, threads = 0, sectors = 0, ideal_sectors = 0, wavefronts = 0, ideal_wavefronts = 0, bytes = 0;
    unsigned max_way = 0;
    Request costliest;
};
std::map<std::pair<unsigned, unsigned>, Log> logs;  // by site and array
std::vector<Log *> last_log;                        // by site
std::vector<Log *> touched;
std::map<std::tuple<int, unsigned, int, int>, Count> counts;  // line, array, op, space

unsigned distinct(uint32_t *values, unsigned n) {
    std::sort(values, values + n, [](uint32_t a, uint32_t b) { return a < b; });
    return unsigned(std::unique(values, values + n) - values);
}

unsigned count_global(Count &count, const uint32_t *addresses, unsigned n, unsigned bytes) {
    uint32_t starts[32], sectors[32];  // of aligned accesses, each of which lies in one sector
    for (unsigned i = 0; i < n; i++) starts[i] = addresses[i], sectors[i] = addresses[i] / 32;
    unsigned many = distinct(sectors, n);
    count.sectors += many;
    count.ideal_sectors += (distinct(starts, n) * bytes + 31) / 32;
    return many;
}

// Lanes are served in groups that together ask for at most 128 bytes: 32 lanes of 4, 16 of 8, 8 of 16 bytes.
unsigned count_shared(Count &count, const uint32_t *addresses, const unsigned *lanes, unsigned n, unsigned bytes) {
    unsigned group = bytes <= 4 ? 32 : 128 / bytes, words = bytes <= 4 ? 1 : bytes / 4, all = 0;
    for (unsigned first = 0, i = 0; first < 32; first += group) {
        uint32_t asked[32];
        unsigned many = 0, bank[32] = {0}, way = 0;
        for (; i < n && lanes[i] < first + group; i++)
            for (unsigned w = 0; w < words; w++) asked[many++] = addresses[i] / 4 + w;
        if (!many) continue;
        many = distinct(asked, many);
        for (unsigned w = 0; w < many; w++) way = std::max(way, ++bank[asked[w] % 32]);
        all += way;
        count.ideal_wavefronts += (many + 31) / 32;
        count.max_way = std::max(count.max_way, way);
    }
    count.wavefronts += all;
    return all;
}

void keep(Request &kept, unsigned cost, const Log &log, const uint32_t *addresses, const unsigned *lanes, unsigned n) {
    unsigned block = self->block->index, warp = self->index / 32;
    if (cost < kept.cost || (cost == kept.cost && std::tie(block, warp) >= std::tie(kept.block, kept.warp))) return;
    kept.cost = cost, kept.block = block, kept.warp = warp, kept.bytes = log.bytes;
    std::fill_n(kept.offsets, 32, -1);
    for (unsigned i = 0; i < n; i++) kept.offsets[lanes[i]] = addresses[i] - log.start;
}

void flush(Log &log) {
    Count &count = counts[{line_of(log.site), log.array, int(log.op), int(log.space)}];
    for (size_t k = 0;; k++) {
        uint32_t addresses[32];
        unsigned lanes[32], n = 0;
        for (unsigned lane = 0; lane < 32; lane++)
            if (log.addresses[lane].size() > k) lanes[n] = lane, addresses[n++] = log.addresses[lane][k];
        if (!n) break;
        count.requests++, count.threads += n, count.bytes += n * log.bytes;
        unsigned cost = 0;
        if (log.space == Space::global) cost = count_global(count, addresses, n, log.bytes);
        if (log.space == Space::shared) cost = count_shared(count, addresses, lanes, n, log.bytes);
        keep(count.costliest, cost, log, addresses, lanes, n);
    }
    for (auto &lane : log.addresses) lane.clear();
    log.touched = false;
}
}  // namespace

void profile_begin() {
    logs.clear(), last_log.assign(1 << 16, nullptr), touched.clear(), counts.clear();
}

void note_request(unsigned site, uint64_t address, unsigned bytes, Op op, const Place &place) {
    Log *&log = last_log[site];
    if (!log || log->array != place.id) log = &logs[{site, place.id}];
    if (!log->touched) {
        log->site = site, log->array = place.id, log->bytes = bytes, log->op = op, log->space = place.array->space;
        log->start = uint32_t(place.array->start), log->touched = true;
        touched.push_back(log);
    }
    auto &addresses = log->addresses[self->index % 32];
    if (addresses.size() < kLongest) addresses.push_back(uint32_t(address));
}

void warp_stands() {
    for (Log *log : touched) flush(*log);
    touched.clear();
}

Text profile_json(const std::vector<Array> &arrays) {
    static const char *const spaces[] = {"global", "shared", "constant"};
    Text out;
    for (const auto &[key, c] : counts) {
        const auto &[line, array, op, space] = key;
        Text cells = row(line, spaces[space], op_name(Op(op)), arrays[array].name, c.requests, c.threads,
                                c.bytes, c.sectors, c.ideal_sectors, c.wavefronts, c.ideal_wavefronts, c.max_way,
                                c.costliest.block, c.costliest.warp, c.costliest.bytes);
        for (unsigned lane = 0; lane < 32; lane++) {
            cells.back() = ',';
            cells += (lane ? "" : "[") + json(c.costliest.offsets[lane]) + "]";
        }
        out += (out.empty() ? "" : ", ") + cells + "]";
    }
    return "[" + out + "]";
}

}  // namespace course
