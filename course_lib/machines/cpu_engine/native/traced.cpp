// The checks as one unit: the compiler sees all that an access passes through.
#include "races.cpp"
#include "trace.cpp"
