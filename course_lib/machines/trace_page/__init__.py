"""A traced launch as a page of HTML: the source with its costs and findings at their lines, and tables beside it."""

from course_lib.machines.trace_page.page import aligned, bare, page, said, styled, table

__all__ = ["aligned", "bare", "page", "said", "styled", "table"]
