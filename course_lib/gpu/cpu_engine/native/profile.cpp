// The profile: the n-th time that each lane of a warp comes by an instruction is one request of the warp.
// Global memory moves in sectors of 32 bytes; shared memory has 32 banks of 4 bytes and serves one word a bank at a time.
#include <algorithm>
#include <map>

#include "trace.h"

namespace course {

namespace {
struct Log {  // of one instruction, since its warp was last flushed
    std::vector<uint64_t> addresses[32];
    unsigned bytes;
    Op op;
    Space space;
    unsigned array;
    bool touched = false;
};
struct Count {
    uint64_t requests = 0, threads = 0, sectors = 0, ideal_sectors = 0, wavefronts = 0, ideal_wavefronts = 0, bytes = 0;
    unsigned max_way = 0;
};
std::map<unsigned, Log> logs;
std::vector<Log *> by_site;
std::vector<Log *> touched;
std::map<std::tuple<int, unsigned, int, int>, Count> counts;  // line, array, op, space

unsigned distinct(uint64_t *values, unsigned n) {
    std::sort(values, values + n);
    return unsigned(std::unique(values, values + n) - values);
}

void count_global(Count &count, const uint64_t *addresses, unsigned n, unsigned bytes) {
    uint64_t starts[32], sectors[32];
    for (unsigned i = 0; i < n; i++) starts[i] = addresses[i], sectors[i] = addresses[i] / 32;  // aligned: one sector each
    count.sectors += distinct(sectors, n);
    count.ideal_sectors += (distinct(starts, n) * bytes + 31) / 32;
}

// Lanes are served in groups that together ask for at most 128 bytes: 32 lanes of 4, 16 of 8, 8 of 16 bytes.
void count_shared(Count &count, const uint64_t *addresses, const unsigned *lanes, unsigned n, unsigned bytes) {
    unsigned group = bytes <= 4 ? 32 : 128 / bytes, words = bytes <= 4 ? 1 : bytes / 4;
    for (unsigned first = 0, i = 0; first < 32; first += group) {
        uint64_t asked[32];
        unsigned many = 0, bank[32] = {0}, way = 0;
        for (; i < n && lanes[i] < first + group; i++)
            for (unsigned w = 0; w < words; w++) asked[many++] = addresses[i] / 4 + w;
        if (!many) continue;
        many = distinct(asked, many);
        for (unsigned w = 0; w < many; w++) way = std::max(way, ++bank[asked[w] % 32]);
        count.wavefronts += way;
        count.ideal_wavefronts += (many + 31) / 32;
        count.max_way = std::max(count.max_way, way);
    }
}

void flush(Log &log, unsigned site) {
    Count &count = counts[{line_of(site), log.array, int(log.op), int(log.space)}];
    for (size_t k = 0;; k++) {
        uint64_t addresses[32];
        unsigned lanes[32], n = 0;
        for (unsigned lane = 0; lane < 32; lane++)
            if (log.addresses[lane].size() > k) lanes[n] = lane, addresses[n++] = log.addresses[lane][k];
        if (!n) break;
        count.requests++, count.threads += n, count.bytes += n * log.bytes;
        if (log.space == Space::global) count_global(count, addresses, n, log.bytes);
        if (log.space == Space::shared) count_shared(count, addresses, lanes, n, log.bytes);
    }
    for (auto &lane : log.addresses) lane.clear();
    log.touched = false;
}
}  // namespace

void profile_begin() {
    logs.clear(), by_site.assign(65536, nullptr), touched.clear(), counts.clear();
}

void note_request(unsigned site, uint64_t address, unsigned bytes, Op op, Space space, unsigned array) {
    Log *log = by_site[site];
    if (!log) log = by_site[site] = &logs[site];
    if (log->touched && log->array != array) flush(*log, site);  // one instruction, two arrays: kept apart
    if (!log->touched) {
        log->touched = true, log->bytes = bytes, log->op = op, log->space = space, log->array = array;
        touched.push_back(log);
    }
    log->addresses[self->index % 32].push_back(address);
}

void flush_warp(Block &, unsigned) {
    for (auto &entry : logs)
        if (entry.second.touched) flush(entry.second, entry.first);
    touched.clear();
}

std::string profile_json(const std::vector<Array> &arrays) {
    static const char *const spaces[] = {"global", "shared", "constant"};
    std::string out = "[";
    for (auto &entry : counts) {
        const Count &c = entry.second;
        auto number = [](const char *name, uint64_t value) { return std::string(", \"") + name + "\": " + std::to_string(value); };
        if (out.size() > 1) out += ", ";
        out += "{\"line\": " + std::to_string(std::get<0>(entry.first)) + ", \"space\": " + quoted(spaces[std::get<3>(entry.first)]) +
               ", \"op\": " + quoted(op_name(Op(std::get<2>(entry.first)))) + ", \"array\": " + quoted(arrays[std::get<1>(entry.first)].name) +
               number("requests", c.requests) + number("threads", c.threads) + number("bytes", c.bytes) + number("sectors", c.sectors) +
               number("ideal_sectors", c.ideal_sectors) + number("wavefronts", c.wavefronts) +
               number("ideal_wavefronts", c.ideal_wavefronts) + number("max_way", c.max_way) + "}";
    }
    return out + "]";
}

}  // namespace course
