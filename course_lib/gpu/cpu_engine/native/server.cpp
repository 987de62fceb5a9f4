// The process that kernels run in: reads requests from standard input, answers on what was standard output.
// A wild pointer or an endless loop ends this process only; the notebook's kernel reads why, or stops waiting.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "blocks.h"
#ifdef COURSE_TRACE
#include "trace.h"
#endif

namespace course {

uint64_t ticks() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return uint64_t(t.tv_sec) * 1000000000u + t.tv_nsec;
}

int print(const char *format, ...) {
    va_list rest;
    va_start(rest, format);
    int n = vprintf(format, rest);
    va_end(rest);
    return n;
}

void failed_assert(const char *text, int line) {
    uint3 t = self->thread_idx, b = self->block->block_idx;
    printf("line %d: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n", line, b.x, b.y, b.z, t.x, t.y, t.z, text);
    fflush(stdout);
    _exit(4);
}

namespace {
int answers;  // where the answers go
std::string stuck_message;

void take(void *to, size_t bytes) {
    for (char *at = (char *)to; bytes;) {
        ssize_t n = read(0, at, bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) _exit(0);  // the notebook has gone
        at += n, bytes -= n;
    }
}
template <class T> T take() {
    T value;
    take(&value, sizeof value);
    return value;
}
std::string take_text() {
    std::string text(take<uint32_t>(), ' ');
    if (!text.empty()) take(&text[0], text.size());
    return text;
}
void give(const void *from, size_t bytes) {
    for (const char *at = (const char *)from; bytes;) {
        ssize_t n = write(answers, at, bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) _exit(0);
        at += n, bytes -= n;
    }
}
void answer(uint64_t nanoseconds, const std::string &text) {
    fflush(stdout);
    uint64_t head[2] = {nanoseconds, text.size()};
    give(head, sizeof head);
    give(text.data(), text.size());
}

void describe() {
    std::string out = "{\"kernels\": {";
    for (const Kernel *k = kernels; k; k = k->next) {
        out += std::string(k == kernels ? "" : ", ") + "\"" + k->name + "\": [";
        for (unsigned i = 0; i < k->count; i++)
            out += std::string(i ? ", " : "") + "[\"" + k->parameters[i].kind + "\", " + std::to_string(k->parameters[i].bytes) + "]";
        out += "]";
    }
    out += "}, \"symbols\": {";
    for (const Symbol *s = symbols; s; s = s->next)
        out += std::string(s == symbols ? "" : ", ") + "\"" + s->name + "\": [" + std::to_string((uint64_t)s->address) + ", " +
               std::to_string(s->bytes) + ", " + (s->constant ? "true" : "false") + "]";
    answer(0, out + "}}");
}

void copy_symbol(bool to_device) {
    uint64_t address = take<uint64_t>(), bytes = take<uint64_t>();
    if (!to_device) return answer(0, std::string((const char *)address, bytes));
    std::string data(bytes, ' ');
    take(&data[0], bytes);
    memcpy((void *)address, data.data(), bytes);
    answer(0, "");
}

void launch_kernel() {
    std::string name = take_text();
    uint32_t numbers[9];
    take(numbers, sizeof numbers);
    launch.grid_dim = {numbers[0], numbers[1], numbers[2]};
    launch.block_dim = {numbers[3], numbers[4], numbers[5]};
    launch.shared_bytes = numbers[6];
    launch.threads = numbers[3] * numbers[4] * numbers[5];
    unsigned workers = numbers[7], seconds = numbers[8];
    std::vector<uint32_t> only(take<uint32_t>());
    if (!only.empty()) take(only.data(), only.size() * 4);
    std::vector<std::string> values(take<uint32_t>());
    std::vector<void *> pointers;
    for (auto &value : values) value = take_text();
    for (auto &value : values) pointers.push_back(&value[0]);
#ifdef COURSE_TRACE
    std::vector<Array> arrays(take<uint32_t>());
    for (Array &a : arrays) {
        a.start = take<uint64_t>(), a.bytes = take<uint64_t>(), a.element = take<uint32_t>(), a.name = take_text();
        a.space = Space::global;
    }
    for (const Symbol *s = symbols; s; s = s->next)
        arrays.push_back({s->name, (uint64_t)s->address, s->bytes, s->constant ? Space::constant : Space::global, 0});
    trace_begin(arrays);
    workers = 1;
    alarm(seconds);
#else
    (void)seconds;
#endif
    const Kernel *kernel = kernels;
    while (kernel && name != kernel->name) kernel = kernel->next;
    uint64_t start = ticks();
    run_grid(*kernel, pointers.data(), workers, only.empty() ? nullptr : only.data(), only.size());
    uint64_t spent = ticks() - start;
#ifdef COURSE_TRACE
    alarm(0);
    answer(spent, trace_json());
#else
    answer(spent, stuck_message);
    stuck_message.clear();
#endif
}

#ifdef COURSE_TRACE
// A traced kernel that crashes or runs too long still tells what it was doing, as its last words.
void last_words(int signal) {
    bool late = signal == SIGALRM;
    if (self) report(late ? "timeout" : "crash", late ? "timeout" : "crash", last_line(), late ? "" : strsignal(signal), -1);
    answer(0, trace_json());
    _exit(0);
}

void listen_for_signals() {
    static char other_stack[64 << 10];  // the own one may have run over
    stack_t stack = {};
    stack.ss_sp = other_stack, stack.ss_size = sizeof other_stack;
    sigaltstack(&stack, nullptr);
    struct sigaction action = {};
    action.sa_handler = last_words, action.sa_flags = SA_ONSTACK;
    for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM}) sigaction(signal, &action, nullptr);
}
#else
void barrier_error(Block &block, const char *what, int line, int, unsigned thread, unsigned count) {
    if (strcmp(what, "stuck") || !stuck_message.empty()) return;
    stuck_message = std::to_string(line) + " " + std::to_string(block.index) + " " + std::to_string(thread) + " " + std::to_string(count);
}
#endif

void map_arena(const char *path, uint64_t bytes, uint64_t base) {
    int file = open(path, O_RDWR);
    void *at = mmap((void *)base, bytes * 2, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file < 0 || at != (void *)base) {
        fprintf(stderr, "no device memory at %#llx\n", (unsigned long long)base);
        _exit(5);
    }
    close(file);
#ifdef COURSE_TRACE
    arena = {(char *)at, bytes, (uint8_t *)at + bytes};
#endif
}
}  // namespace
}  // namespace course

int main(int, char **arguments) {
    using namespace course;
    answers = dup(1);
    int output = open(arguments[4], O_WRONLY | O_APPEND | O_CREAT, 0600);  // what kernels print
    dup2(output, 1);
    map_arena(arguments[1], strtoull(arguments[2], nullptr, 10), strtoull(arguments[3], nullptr, 10));
#ifdef COURSE_TRACE
    listen_for_signals();
#else
    hooks.barrier_error = barrier_error;
#endif
    for (;;) switch (take<uint32_t>()) {
            case 0: launch_kernel(); break;
            case 1: describe(); break;
            case 2: copy_symbol(true); break;
            case 3: copy_symbol(false); break;
            default: return 1;
        }
}
