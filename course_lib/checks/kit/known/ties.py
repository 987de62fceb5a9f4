"""Planted answers that take the last of equally good ones, where the task leaves open which: min(..., key=...)."""

import ast


def with_other_ties(task, is_right):
    """(what the mistake is, the cell's source) of a `Task`'s planted answers with such a search, ties the other way.

    is_right: (value) -> does the check pass it? None of them where the solution, searched so, is not right any more.
    """
    solution = _last(task.solution)
    if solution is None or not is_right(task.value_of(solution)):
        return []
    found = [(says, _last(source)) for says, source in task.planted]
    return [(says, source) for says, source in found if source]


def _last(source):
    """The source with the last of equals where it had the first, or None."""
    searches = _Searches()
    tree = searches.visit(ast.parse(source))
    return ast.unparse(tree) if searches.found else None


class _Searches(ast.NodeTransformer):
    """Turns round what each min or max with a key looks through."""

    found = False

    def visit_Call(self, node):
        self.generic_visit(node)
        search = isinstance(node.func, ast.Name) and node.func.id in ("min", "max")
        if search and len(node.args) == 1 and any(word.arg == "key" for word in node.keywords):
            self.found = True
            node.args = [ast.parse(f"list({ast.unparse(node.args[0])})[::-1]", mode="eval").body]
        return node
