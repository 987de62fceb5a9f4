// The answer. Findings of one kind at one line (or pair of lines) are one finding: the first of them as the example, and
// a count.
#include <algorithm>

#include "trace.h"

namespace course {

static List<Finding> found;

static bool alike(const Finding &f, const Finding &g) {
    int f_line = f.here.line, f_other = f.other.line, g_line = g.here.line, g_other = g.other.line;
    if ((f_line != g_line || f_other != g_other) && (f_line != g_other || f_other != g_line)) return false;
    return f.array == g.array && !strcmp(f.tool, g.tool) && !strcmp(f.kind, g.kind);
}

static bool at_barrier(const Finding &f) { return !strcmp(f.tool, "synccheck") && f.index < 0; }

uint64_t outside[2];

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

static void add_errors(Text &out, bool poison_told) {
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

// Does an element come from a variable without a first value? An integer may have been counted on from where such start
// (see unset.py); that is a guess, so it is made only where a line has run that the compiler warns of.
static bool is_unset(const Array &a, uint64_t i) {
    if (a.floats && a.shape.element == 8) return is_unset(float(((const double *)a.start)[i]));
    if (a.floats) return is_unset(((const float *)a.start)[i]);
    uint32_t w = ((const uint32_t *)a.start)[i];
    bool near = w - kUnsetInteger + 9999 < 19999;
    return near && a.shape.element == 4 && strchr(course_reached, '1');
}

// Tells of the elements that this launch has written so. A vector may be stored of which only some numbers are set.
static void look_for_unset(const Array &a) {
    uint64_t step = a.shape.element, group = step ? 16 / step : 0;
    for (uint64_t i = 0; (step == 4 || step == 8) && i < a.bytes / step; i++) {
        Finding f = {"initcheck", "variable", &a, int64_t(i), {}, {}};
        unsigned site, other;
        if (!is_unset(a, i) || !last_write(cell_number(a, i * step), f.here, site)) continue;
        bool all = true;
        for (uint64_t j = i / group * group; j < std::min((i / group + 1) * group, a.bytes / step); j++)
            all &= is_unset(a, j) || !last_write(cell_number(a, j * step), f.other, other) || other != site ||
                   f.other.thread != f.here.thread || f.other.block != f.here.block;
        f.other = {};
        if (all) report(f);
    }
}

Text trace_json(bool poison_told) {
    guesses_end(), overruns_end();
    for (unsigned i = 0; poison_told && i < first_symbol; i++) look_for_unset(array_of(i));
    Text out;
    out += "{\"errors\": [", add_errors(out, poison_told), out += "], \"warned\": ", out += course_warned, out += ", \"reached\": \"";
    out += course_reached, out += "\", \"accesses\": [", add_profile(out), out += "]}";
    return out;
}

}  // namespace course
