"""What the checks of chapter 12 let a function send: the sums that are owed, and nothing else."""

SUMS = {"Allreduce", "allreduce", "Iallreduce"}
PICKLED = 256  # bytes that pickling may add to an array


def hand_made(n):
    """So many times the array do n ranks send in all, if they add it up by messages: by ring, tree or doubling."""
    q = 1 << (n.bit_length() - 1)
    return max(2 * (n - 1), q * (q.bit_length() - 1) + 2 * (n - q))


def beyond_the_sums(report, owed, by_hand):
    """Words on what is sent beyond the sums that are owed, or None.

    owed: the bytes of each array that a rank has to put into a sum. by_hand: the bytes that all ranks together may
    send, if they add up by messages of their own.
    """
    calls, messages = report.collectives[0], sum(report.messages)
    number, others = sum(calls.values()), sorted(set(calls) - SUMS)
    put_in = sum(e["bytes"] for e in report.events if e["rank"] == 0 and e["op"] in SUMS)
    if len(report.collectives) == 1:
        return None  # one rank, and nobody to send to
    if others:
        idle = ", which moves nothing: sums wait by themselves" * (
            {*others} <= {"Barrier", "barrier"}
        )
        return f"a rank calls {', '.join(others)}{idle}"
    if number > len(owed):
        return f"{number} collective calls a rank, {len(owed)} are owed"
    if messages and (number or not owed):
        return f"{number} collective calls a rank, and {messages} messages besides"
    if put_in > sum(owed) + PICKLED * calls["allreduce"]:
        return f"a rank puts {put_in:,} bytes into its sums, {sum(owed):,} are owed"
    if sum(report.bytes) > by_hand + PICKLED * messages:
        return f"the ranks send {sum(report.bytes):,} bytes to each other, {by_hand:,} at most are needed for the sums"
    return None
