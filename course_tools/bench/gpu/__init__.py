"""`course bench gpu`: products, barriers, compiles of the CPU engine; on a GPU the ladder, copies, launches, nets."""
