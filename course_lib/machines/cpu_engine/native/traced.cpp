// The tracer as one unit: the compiler sees all that an access passes through, and reads the library's headers once.
#include "errors.cpp"
#include "races.cpp"
#include "profile.cpp"
#include "trace.cpp"
