"""Slips with threads: work called at once, late binding, joined one by one, never joined, a fault swallowed."""

import ast


def threads(place):
    """Thread(target=work, args=(t,)) with the call made at once, or the variable looked up later."""
    match place.node:
        case ast.Call(
            func, [], [ast.keyword("target", target), ast.keyword("args", ast.Tuple(args))]
        ):
            func, target = ast.unparse(func), ast.unparse(target)
            call = f"{target}({', '.join(map(ast.unparse, args))})"
            says = f"`lambda: {call}` reads the loop's variable when it RUNS: late binding"
            yield "late-binding", says, f"{func}(target=lambda: {call})"
            says = f"`target={call}` calls the work at once, in the calling thread"
            yield "called", says, f"{func}(target={call})"
        case ast.Call(ast.Attribute(thread, "start"), []):
            says = "`.run()` does the work in the calling thread: `.start()` is meant"
            yield "called", says, f"{ast.unparse(thread)}.run()"


def joins(place):
    """Each thread joined before the next is started."""
    match place.node, place.below:
        case (
            ast.For(target, each, [ast.Expr(ast.Call(ast.Attribute(attr="start"))) as start]),
            ast.For(_, _, [ast.Expr(ast.Call(ast.Attribute(attr="join"))) as join]),
        ):
            head = f"for {ast.unparse(target)} in {ast.unparse(each)}:"
            text = f"{head}\n    {ast.unparse(start)}\n    {ast.unparse(join)}"
            yield (
                "joined",
                "each thread is joined before the next is started: one after the other",
                text,
                2,
            )


RULES = (threads, joins)
