// Findings of one kind at one line (or pair of lines) are one finding: the first of them as the example, and a count.
#include <string.h>

#include "trace.h"

namespace course {

static List<Finding> found;

static bool alike(const Finding &f, const Finding &g) {
    int f_line = f.here.line, f_other = f.other.line, g_line = g.here.line, g_other = g.other.line;
    if ((f_line != g_line || f_other != g_other) && (f_line != g_other || f_other != g_line)) return false;
    return f.array == g.array && !strcmp(f.tool, g.tool) && !strcmp(f.kind, g.kind);
}

static bool at_barrier(const Finding &f) { return !strcmp(f.tool, "synccheck") && f.index < 0; }

uint64_t outside[2];  // of both looks at a launch: where accesses in wrong places went

void report(const Finding &f) {
    if (!strcmp(f.tool, "memcheck")) outside[second_look] = outside[second_look] * 31 + uint64_t(f.index);
    for (Finding &known : found)
        if (alike(f, known)) {
            if (!at_barrier(f)) known.count += f.count;  // of a barrier it counts the threads, not how often
            return;
        }
    found.add(f);
}

static void add_side(Text &out, const Side &s) { add_row(out, s.line, s.block, s.thread, s.op); }

static const Array none = {"", 0, 0, Space::global, {}};

void add_errors(Text &out, bool poison_told) {
    for (const Finding &f : found) {
        if (!poison_told && !strcmp(f.tool, "synccheck") && !at_barrier(f)) continue;
        const Array &a = f.array ? *f.array : none;
        next(out) += '[';
        add(out, f.tool), add(out, f.kind), add(out, a.name), add(out, f.index), add(out, f.count);
        next(out) += '[';
        for (unsigned n : a.shape.dimensions)
            if (n) add(out, n);
        out += ']', add_side(out, f.here), add_side(out, f.other), out += ']';
    }
}

}  // namespace course
