// Findings of one kind at one line (or pair of lines) are one finding: the first of them as the example, and a count.
#include <map>
#include <tuple>

#include "trace.h"

namespace course {

typedef std::tuple<Text, Text, const Array *, int, int> Key;
static std::map<Key, size_t> known;
static std::vector<Finding> found;

void errors_begin() { known.clear(), found.clear(); }

void report(const Finding &f) {
    int low = std::min(f.here.line, f.other.line), high = std::max(f.here.line, f.other.line);
    auto added = known.insert({Key(f.tool, f.kind, f.array, low, high), found.size()});
    if (added.second)
        found.push_back(f);
    else if (f.tool != "synccheck" || f.index >= 0)  // of a barrier it counts the threads, not how often
        found[added.first->second].count += f.count;
}

static Text side(const Side &s) { return row(s.line, uint64_t(s.block), uint64_t(s.thread), s.op); }

static const Array none = {"", 0, 0, Space::global, {}};

Text errors_json(bool poison_told) {
    Text out;
    for (const Finding &f : found) {
        if (!poison_told && f.tool == "synccheck" && f.index >= 0) continue;
        const Array &a = f.array ? *f.array : none;
        Text shape;
        for (unsigned n : a.shape.dimensions)
            if (n) shape += (shape.empty() ? "" : ", ") + json(uint64_t(n));
        Text cells = row(f.tool, f.kind, a.name, f.index, f.count);
        cells.back() = ',';
        out += (out.empty() ? "" : ", ") + cells + " [" + shape + "], " + side(f.here) + ", " + side(f.other) + "]";
    }
    return "[" + out + "]";
}

}  // namespace course
