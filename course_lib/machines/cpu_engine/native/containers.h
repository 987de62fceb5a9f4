// A list and a text, of which little is asked. Those of the C++ library take a compiler longer than the tracer itself; and
// std::string comes compiled in a library, which takes ziglang a minute to build on first use.
#pragma once
#include <stdlib.h>
#include <string.h>

namespace course {

template <class T> struct List {  // of what may be moved as bytes; a copy is the same list, and nothing is freed
    T *items = nullptr;
    size_t count = 0, room = 0;

    T *begin() const { return items; }
    T *end() const { return items + count; }
    T &operator[](size_t i) const { return items[i]; }
    void resize(size_t wanted) {  // new ones are of zeros
        if (wanted > room) {
            room = wanted < 2 * room ? 2 * room : wanted;
            if (!(items = (T *)realloc((void *)items, room * sizeof(T)))) abort();
        }
        if (wanted > count) memset((void *)(items + count), 0, (wanted - count) * sizeof(T));
        count = wanted;
    }
    void add(const T &item) {
        T copy = item;  // it may be one of these
        resize(count + 1), items[count - 1] = copy;
    }
};

struct Text : List<char> {
    Text &append(const char *from, size_t bytes) {
        resize(count + bytes), memcpy(end() - bytes, from, bytes);
        return *this;
    }
    Text &operator+=(const char *text) { return append(text, strlen(text)); }
    Text &operator+=(char c) { return append(&c, 1); }
    bool operator!=(const Text &o) const { return count != o.count || memcmp(items, o.items, count); }
};

}  // namespace course
