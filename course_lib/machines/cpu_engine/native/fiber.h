// Fibers: a stack and a saved stack pointer. The switch keeps what the platform's calling convention says a call keeps.
#pragma once
#include <stdint.h>

// In assembly, macOS puts a _ before names.
#define COURSE_PREFIXED(prefix, n) #prefix #n
#define COURSE_NAME_AFTER(prefix, n) COURSE_PREFIXED(prefix, n)
#define COURSE_ASM_NAME(n) COURSE_NAME_AFTER(__USER_LABEL_PREFIX__, n)

extern "C" void course_fiber_main();                   // where a new fiber begins; never returns

#if defined(__x86_64__) && !defined(_WIN32)
asm(".text\n.globl " COURSE_ASM_NAME(course_switch) "\n" COURSE_ASM_NAME(course_switch) ":\n"
    "pushq %rbp\npushq %rbx\npushq %r12\npushq %r13\npushq %r14\npushq %r15\n"
    "movq %rsp, (%rdi)\nmovq %rsi, %rsp\n"
    "popq %r15\npopq %r14\npopq %r13\npopq %r12\npopq %rbx\npopq %rbp\n"
    "popq %rcx\njmp *%rcx\n");  // not `ret`, of which the processor foresees that it goes back to this thread

inline void *course_new_fiber(char *stack, unsigned bytes) {
    // After `ret` the stack must be 8 below a multiple of 16, as after a call.
    uint64_t *top = (uint64_t *)(((uintptr_t)stack + bytes) & ~(uintptr_t)15);
    *--top = 0;
    *--top = (uint64_t)course_fiber_main;
    return top - 6;  // six registers, whatever they hold
}
#elif defined(__aarch64__) && !defined(_WIN32)
asm(".text\n.globl " COURSE_ASM_NAME(course_switch) "\n" COURSE_ASM_NAME(course_switch) ":\n"
    "sub sp, sp, #160\n"
    "stp x19, x20, [sp]\nstp x21, x22, [sp, #16]\nstp x23, x24, [sp, #32]\nstp x25, x26, [sp, #48]\n"
    "stp x27, x28, [sp, #64]\nstp x29, x30, [sp, #80]\n"
    "stp d8, d9, [sp, #96]\nstp d10, d11, [sp, #112]\nstp d12, d13, [sp, #128]\nstp d14, d15, [sp, #144]\n"
    "mov x9, sp\nstr x9, [x0]\nmov sp, x1\n"
    "ldp x19, x20, [sp]\nldp x21, x22, [sp, #16]\nldp x23, x24, [sp, #32]\nldp x25, x26, [sp, #48]\n"
    "ldp x27, x28, [sp, #64]\nldp x29, x30, [sp, #80]\n"
    "ldp d8, d9, [sp, #96]\nldp d10, d11, [sp, #112]\nldp d12, d13, [sp, #128]\nldp d14, d15, [sp, #144]\n"
    "add sp, sp, #160\nret\n");

inline void *course_new_fiber(char *stack, unsigned bytes) {
    uint64_t *top = (uint64_t *)(((uintptr_t)stack + bytes) & ~(uintptr_t)15) - 20;
    top[10] = 0;                              // x29
    top[11] = (uint64_t)course_fiber_main;  // x30, where ret goes
    return top;
}
#else
#error "no switch from thread to thread is written for this processor"
#endif
