// The process that kernels run in: reads requests from standard input, answers on what was standard output.
// A wild pointer or an endless loop ends this process only; the notebook's kernel reads why, or stops waiting.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "trace.h"

// Not of the C++ library, which is not linked: that of ziglang takes ziglang a minute to build on first use.
void *operator new(size_t bytes) { void *made = malloc(bytes); return made ? made : (abort(), made); }
void operator delete(void *p) noexcept { free(p); }
void operator delete(void *p, size_t) noexcept { free(p); }

namespace course {

Arena arena;

uint64_t ticks() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return uint64_t(t.tv_sec) * 1000000000u + t.tv_nsec;
}

void failed_assert(const char *text, int line) {
    uint3 t = self->thread_idx, b = self->block->block_idx;
    printf("line %d: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",  // as CUDA words it
           line, b.x, b.y, b.z, t.x, t.y, t.z, text);
    fflush(stdout);
#ifdef COURSE_TRACE
    last_words("crash", "assert", line);
#endif
    _exit(4);
}

static FILE *answers;
constexpr int kAnswered = 117;  // how a process ends that a launch had to itself, if it could answer
[[noreturn]] static void end() { _exit(ferror(answers) ? 0 : kAnswered); }

static void take(void *to, size_t bytes) {
    if (fread(to, 1, bytes, stdin) != bytes) _exit(0);  // the notebook has gone
}
template <class T> static T take() {
    T value;
    take(&value, sizeof value);
    return value;
}
static const char *take_text() {
    size_t bytes = take<uint32_t>();
    char *text = (char *)calloc(bytes + 1, 1);
    return take(text, bytes), text;
}

Text &next(Text &out) { return !out.count || strchr("[{ ", out.end()[-1]) ? out : out += ", "; }
void add(Text &out, long long number) {
    char digits[24];
    snprintf(digits, sizeof digits, "%lld", number), next(out) += digits;
}
void add(Text &out, const char *text) {
    for (next(out) += '"'; *text; text++) {
        if (*text == '"' || *text == '\\') out += '\\';
        out += (unsigned char)*text < 32 ? ' ' : *text;
    }
    out += '"';
}

static void answer(uint64_t nanoseconds, const char *text, size_t bytes) {
    fflush(stdout);
    uint64_t head[2] = {nanoseconds, bytes};
    fwrite(head, 1, sizeof head, answers);
    fwrite(text, 1, bytes, answers);
    fflush(answers);
}

// {"kernels": {name: [[kind, bytes], ...]}, "symbols": {name: [address, bytes, is constant, element]}}
static void describe() {
    Text out;
    out += "{\"kernels\": {";
    for (const Kernel *k = Kernel::first; k; k = k->next) {
        add(out, k->name), out += ": [";
        for (const Parameter *p = k->parameters; p->bytes; p++) add_row(out, (const char[]){p->kind, 0}, p->bytes);
        out += ']';
    }
    out += "}, \"symbols\": {";
    for (const Symbol *s = Symbol::first; s; s = s->next)
        add(out, s->name), out += ": ", add_row(out, s->address, s->bytes, int(s->constant), s->element);
    out += "}}", answer(0, out.items, out.count);
    free(out.items);
}

static void copy_symbol(bool to_device) {
    uint64_t address = take<uint64_t>(), bytes = take<uint64_t>();
    if (to_device) take((void *)address, bytes);
    answer(0, (const char *)address, to_device ? 0 : bytes);
}

#ifdef COURSE_TRACE
static void begin_launch(unsigned seconds) {
    List<Array *> arrays;
    arrays.resize(take<uint32_t>());
    for (Array *&place : arrays) {
        Array &a = *(place = new Array);
        a.start = take<uint64_t>(), a.bytes = take<uint64_t>(), a.shape.element = take<uint32_t>();
        a.floats = a.shape.element >> 31, a.shape.element &= ~0u >> 1;
        a.name = take_text(), a.space = Space::global;
        if (a.shape.element) a.shape.dimensions[0] = unsigned(a.bytes / a.shape.element);
    }
    for (const Symbol *s = Symbol::first; s; s = s->next)
        arrays.add(new Array{s->name, s->address, s->bytes, s->constant ? Space::constant : Space::global,
                             {s->element, {unsigned(s->bytes / s->element), 0, 0, 0}}});
    trace_begin(arrays);
    late = 0;
    alarm(seconds);
}
static Text last_answer;  // of the first look

// The undefined values that a shuffle took are an error if it matters what they were: once more, with others.
template <class Run> static Text look_again(const Text &before, Run run) {
    last_answer = trace_json();
    Text after = contents(), otherwise = trace_json(false);
    fflush(stdout);
    off_t printed = lseek(1, 0, SEEK_END);
    put_back(before), second_look = true, run(), second_look = false;
    fflush(stdout), (void)!ftruncate(1, printed), lseek(1, printed, SEEK_SET);
    bool matters = contents() != after || outside[0] != outside[1];
    put_back(after);
    return matters ? last_answer : otherwise;
}

template <class Run> static Text launch_run(Run run) {
    Text before = contents();
    poisoned = false, last_answer = {};
    run();
    return poisoned ? look_again(before, run) : trace_json();
}

// A traced kernel that crashes or runs too long still tells what it was doing.
void last_words(const char *tool, const char *why, int line) {
    if (self) report_end(tool, why, line);
    Text said = last_answer.count ? last_answer : trace_json();
    answer(0, said.items, said.count), end();
}

// The alarm leaves that to the next traced access, which is not amid an allocation; the second alarm, to nobody.
static void on_signal(int signal, siginfo_t *info, void *) {
    // The guard page at the end of a stack, which -fstack-clash-protection lets nobody step over.
    bool full = self && signal == SIGSEGV && uint64_t((char *)info->si_addr - self->stack + 4096) < 8192;
    if (full) last_words("crash", "stack");
    if (signal == SIGALRM && !late) late = 1, look_at_all(), alarm(1);
    else last_words(signal == SIGALRM ? "timeout" : "crash", strsignal(signal));
}

// A launch gets a process to itself, a copy of this one: what it leaves in its memory, and how it ends, is nothing to the
// next. Where no copy is allowed this process goes on with the launch, and ends with it. The copy serves until it is told
// to end, so that what the kernel left in variables can be read.
static void begin_in_copy() {
    fflush(stdout);
    pid_t copy = fork();
    if (copy <= 0) return answer(0, "copy", copy ? 0 : 4);
    int status = 0;
    waitpid(copy, &status, 0);
    if (WIFSIGNALED(status)) signal(WTERMSIG(status), SIG_DFL), raise(WTERMSIG(status));
    if (WEXITSTATUS(status) != kAnswered) _exit(WEXITSTATUS(status));
}

static void prepare() {
    static char other_stack[64 << 10];  // the own one may have run over
    stack_t stack = {};
    stack.ss_sp = other_stack, stack.ss_size = sizeof other_stack;
    sigaltstack(&stack, nullptr);
    struct sigaction action = {};
    action.sa_sigaction = on_signal, action.sa_flags = SA_ONSTACK | SA_SIGINFO;
    const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGALRM};
    for (int signal : signals) sigaction(signal, &action, nullptr);
}
#else
static char stuck[200];

static void begin_launch(unsigned seconds) {
    stuck[0] = 0;
    alarm(seconds + 5);  // not to go on for ever if nobody waits any more
}
template <class Run> static Text launch_run(Run run) {
    run();
    return {{stuck, strlen(stuck), 0}};
}
uint64_t in_slot(uint64_t address) { return address; }
static void begin_in_copy() {}
static void prepare() {}

void barrier_error(const char *kind, int line, unsigned, unsigned count, int, int) {
    if (!strcmp(kind, "stuck") && !stuck[0])
        snprintf(stuck, sizeof stuck, "%u threads of block %u wait for ever at the barrier in line %d", count,
                 self->block->index, line_of_site(line));
}
#endif

static void launch_kernel() {
    const char *name = take_text();
    uint32_t numbers[9];
    take(numbers, sizeof numbers);
    launch = {{numbers[0], numbers[1], numbers[2]}, {numbers[3], numbers[4], numbers[5]}, numbers[6],
              numbers[3] * numbers[4] * numbers[5]};
    List<unsigned> only;
    only.resize(take<uint32_t>()), take(only.items, only.count * 4);
    List<void *> arguments;
    arguments.resize(take<uint32_t>());
    for (void *&argument : arguments) {
        size_t bytes = take<uint32_t>();
        argument = aligned_alloc(64, (bytes + 63) / 64 * 64);
        take(argument, bytes);
    }
    begin_launch(numbers[8]);
    const Kernel *kernel = Kernel::first;
    while (strcmp(name, kernel->name)) kernel = kernel->next;
    for (size_t i = 0; i < arguments.count && kTraced; i++)
        if (kernel->parameters[i].kind == 'p') *(uint64_t *)arguments[i] = in_slot(*(uint64_t *)arguments[i]);
    uint64_t start = ticks();
    Text said = launch_run([&] { run_grid(*kernel, arguments.items, numbers[7], only.items, only.count); });
    uint64_t spent = ticks() - start;
    alarm(0);
    answer(spent, said.items, said.count);
    for (void *argument : arguments) free(argument);
    free(arguments.items), free(only.items), free((void *)name);
}

}  // namespace course

// Arguments: the descriptor of the device memory, its bytes, where to map it, the descriptor for what kernels print.
int main(int, char **arguments) {
    using namespace course;
    answers = fdopen(dup(1), "w");
    rlimit most = {64 << 20, 64 << 20};  // a kernel that prints without end does not fill the disk
    setrlimit(RLIMIT_FSIZE, &most), signal(SIGXFSZ, SIG_IGN);
    dup2(atoi(arguments[4]), 1);
    uint64_t bytes = strtoull(arguments[2], nullptr, 10);
    void *base = (void *)strtoull(arguments[3], nullptr, 10);
    if (mmap(base, bytes * 2, PROT_READ | PROT_WRITE, MAP_SHARED, atoi(arguments[1]), 0) != base) {
        fprintf(stderr, "no device memory at %p\n", base);
        return 5;
    }
    arena = {(char *)base, bytes, (uint8_t *)base + bytes, atoi(arguments[1])};
    prepare();
    setvbuf(stdin, nullptr, _IONBF, 0);  // what comes after a request may be for a copy of this process
    for (;;) switch (take<uint32_t>()) {
            case 0: launch_kernel(); break;
            case 1: describe(); break;
            case 2: copy_symbol(true); break;
            case 3: copy_symbol(false); break;
            case 4: begin_in_copy(); break;
            case 5: end();
            default: return 1;
        }
}
