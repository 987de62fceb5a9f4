// Findings of one kind at one line are one report, with the first of them as the example and a count.
#include <map>
#include <tuple>

#include "trace.h"

namespace course {

namespace {
struct Finding {
    std::string tool, kind, array, op;
    int line;
    int64_t index;
    unsigned block, thread;
    bool has_other;
    Other other;
    uint64_t count;
};
std::map<std::tuple<std::string, std::string, int, std::string, int>, Finding> found;
std::vector<decltype(found)::key_type> order;
}  // namespace

std::string quoted(const std::string &text) {
    std::string out = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += (unsigned char)c < 32 ? ' ' : c;
    }
    return out + "\"";
}

void errors_begin() { found.clear(), order.clear(); }

void report_at(const char *tool, const char *kind, int line, const std::string &array, int64_t index, unsigned block,
               unsigned thread, const Other *other, unsigned count, const char *op) {
    auto key = std::make_tuple(std::string(tool), std::string(kind), line, array, other ? other->line : 0);
    auto at = found.find(key);
    if (at != found.end()) {
        at->second.count += count;
        return;
    }
    found[key] = {tool, kind, array, op, line, index, block, thread, other != nullptr, other ? *other : Other(), count};
    order.push_back(key);
}

void report(const char *tool, const char *kind, int line, const std::string &array, int64_t index, const Other *other,
            const char *op) {
    report_at(tool, kind, line, array, index, self->block->index, self->index, other, 1, op);
}

std::string errors_json() {
    std::string out = "[";
    for (auto &key : order) {
        const Finding &f = found[key];
        if (out.size() > 1) out += ", ";
        out += "{\"tool\": " + quoted(f.tool) + ", \"kind\": " + quoted(f.kind) + ", \"line\": " + std::to_string(f.line) +
               ", \"array\": " + quoted(f.array) + ", \"op\": " + quoted(f.op) + ", \"index\": " + std::to_string(f.index) + ", \"block\": " +
               std::to_string(f.block) + ", \"thread\": " + std::to_string(f.thread) + ", \"count\": " + std::to_string(f.count);
        if (f.has_other)
            out += ", \"other\": {\"line\": " + std::to_string(f.other.line) + ", \"block\": " + std::to_string(f.other.block) +
                   ", \"thread\": " + std::to_string(f.other.thread) + ", \"op\": " + quoted(f.other.op) + "}";
        out += "}";
    }
    return out + "]";
}

}  // namespace course
