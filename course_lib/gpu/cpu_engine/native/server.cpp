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

#include "trace.h"

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
    printf("line %d: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",  // as CUDA words it
           line, b.x, b.y, b.z, t.x, t.y, t.z, text);
    fflush(stdout);
    _exit(4);
}

namespace {
int answers;  // where the answers go
#ifndef COURSE_TRACE
char stuck_message[200];
#endif

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

// {"kernels": {name: [[kind, bytes], ...]}, "symbols": {name: [address, bytes, is constant]}}
void describe() {
    std::string kernels, symbols;
    for (const Kernel *k = Kernel::first; k; k = k->next) {
        std::string parameters;
        for (const Parameter *p = k->parameters; p->bytes; p++)
            parameters += (p == k->parameters ? "" : ", ") + row(std::string(1, p->kind), uint64_t(p->bytes));
        kernels += (kernels.empty() ? "" : ", ") + json(k->name) + ": [" + parameters + "]";
    }
    for (const Symbol *s = Symbol::first; s; s = s->next)
        symbols += (symbols.empty() ? "" : ", ") + json(s->name) + ": " + row(s->address, s->bytes, int(s->constant));
    answer(0, "{\"kernels\": {" + kernels + "}, \"symbols\": {" + symbols + "}}");
}

void copy_symbol(bool to_device) {
    uint64_t address = take<uint64_t>(), bytes = take<uint64_t>();
    if (!to_device) return answer(0, std::string((const char *)address, bytes));
    std::string data(bytes, ' ');
    take(&data[0], bytes);
    memcpy((void *)address, data.data(), bytes);
    answer(0, "");
}

#ifdef COURSE_TRACE
void begin_launch(unsigned seconds) {
    std::vector<Array> arrays(take<uint32_t>());
    for (Array &a : arrays) {
        a.start = take<uint64_t>(), a.bytes = take<uint64_t>(), a.shape.element = take<uint32_t>(), a.name = take_text();
        a.space = Space::global;
        if (a.shape.element) a.shape.dimensions[0] = unsigned(a.bytes / a.shape.element);
    }
    for (const Symbol *s = Symbol::first; s; s = s->next)
        arrays.push_back({s->name, s->address, s->bytes, s->constant ? Space::constant : Space::global,
                          {s->element, {unsigned(s->bytes / s->element), 0, 0, 0}}});
    trace_begin(arrays);
    late = 0;
    alarm(seconds);
}
std::string end_launch() { return trace_json(); }

// A traced kernel that crashes or runs too long still tells what it was doing, as its last words. The alarm leaves that
// to the next traced access, which is not in the middle of an allocation; the second alarm, to nobody.
void on_signal(int signal) {
    if (signal == SIGALRM && !late) {
        late = 1;
        alarm(1);
        return;
    }
    last_words(signal == SIGALRM ? "timeout" : "crash", strsignal(signal));
}

void prepare() {
    static char other_stack[64 << 10];  // the own one may have run over
    stack_t stack = {};
    stack.ss_sp = other_stack, stack.ss_size = sizeof other_stack;
    sigaltstack(&stack, nullptr);
    struct sigaction action = {};
    action.sa_handler = on_signal, action.sa_flags = SA_ONSTACK;
    for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM}) sigaction(signal, &action, nullptr);
}
#else
void begin_launch(unsigned seconds) {
    stuck_message[0] = 0;
    alarm(seconds + 5);  // not to go on for ever if nobody waits any more
}
std::string end_launch() { return stuck_message; }
void prepare() {}
#endif

void launch_kernel() {
    std::string name = take_text();
    uint32_t numbers[9];
    take(numbers, sizeof numbers);
    launch.grid_dim = {numbers[0], numbers[1], numbers[2]};
    launch.block_dim = {numbers[3], numbers[4], numbers[5]};
    launch.shared_bytes = numbers[6];
    launch.threads = numbers[3] * numbers[4] * numbers[5];
    std::vector<uint32_t> only(take<uint32_t>());
    if (!only.empty()) take(only.data(), only.size() * 4);
    std::vector<void *> arguments(take<uint32_t>());
    for (void *&argument : arguments) {
        size_t bytes = take<uint32_t>();
        argument = aligned_alloc(64, (bytes + 63) / 64 * 64);
        take(argument, bytes);
    }
    begin_launch(numbers[8]);
    const Kernel *kernel = Kernel::first;
    while (kernel && name != kernel->name) kernel = kernel->next;
    uint64_t start = ticks();
    run_grid(*kernel, arguments.data(), numbers[7], only.empty() ? nullptr : only.data(), only.size());
    uint64_t spent = ticks() - start;
    alarm(0);
    answer(spent, end_launch());
    for (void *argument : arguments) free(argument);
}

void map_arena(int file, uint64_t bytes, uint64_t base) {
    void *at = mmap((void *)base, bytes * 2, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at != (void *)base) {
        fprintf(stderr, "no device memory at %#llx\n", (unsigned long long)base);
        _exit(5);
    }
#ifdef COURSE_TRACE
    arena = {(char *)at, bytes, (uint8_t *)at + bytes};
#endif
}
}  // namespace

#ifdef COURSE_TRACE
void last_words(const char *tool, const char *why) {
    if (self) report_end(tool, why);
    answer(0, trace_json());
    _exit(0);
}
#else
void barrier_error(const BarrierError &e) {
    if (e.kind == BarrierError::stuck && !stuck_message[0])
        snprintf(stuck_message, sizeof stuck_message, "%u threads of block %u wait for ever at the barrier in line %d",
                 e.count, e.block, e.line);
}
#endif
}  // namespace course

// Arguments: the descriptor of the device memory's file, its bytes, where to map it, the descriptor for what kernels print.
int main(int, char **arguments) {
    using namespace course;
    answers = dup(1);
    dup2(atoi(arguments[4]), 1);
    map_arena(atoi(arguments[1]), strtoull(arguments[2], nullptr, 10), strtoull(arguments[3], nullptr, 10));
    prepare();
    for (;;) switch (take<uint32_t>()) {
            case 0: launch_kernel(); break;
            case 1: describe(); break;
            case 2: copy_symbol(true); break;
            case 3: copy_symbol(false); break;
            default: return 1;
        }
}
