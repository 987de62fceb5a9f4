"""The training of a net, measured in one way for all benches: who trains, how it is checked and timed, its tables."""
