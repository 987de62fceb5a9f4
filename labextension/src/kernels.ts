/** Which strings of a Python document are kernels, and where. */

import { syntaxTree } from '@codemirror/language';
import type { EditorState } from '@codemirror/state';
import type { SyntaxNode } from '@lezer/common';

// The same rule as in course_tools/book/cuda_strings.py: a test compares the two lines.
export const CUDA = /__(?:global|device|shared)__|^\s*\/\/ CUDA/;
const OPENING = /^[a-zA-Z]*("""|''')/;
const MOST = 100_000; // characters: a longer string stays a string

/** A part of the document. */
export interface Range {
  from: number;
  to: number;
}

/** The inside of a string that holds CUDA C. */
export interface Kernel extends Range {
  text: string; // as written, but for the fields: x in place of each of their characters
  fields: Range[]; // an f-string's {...}, which are Python
}

/** The kernels between two places of a document, in its order. */
export function kernelsIn(state: EditorState, from: number, to: number): Kernel[] {
  const found: Kernel[] = [];
  syntaxTree(state).iterate({
    from,
    to,
    enter: ({ name, node }) => {
      if (name !== 'String' && name !== 'FormatString') {
        return true;
      }
      const kernel = kernelOf(state, node);
      if (kernel) {
        found.push(kernel);
      }
      return false;
    }
  });
  return found;
}

/** The kernel in a string; null where it holds none. */
function kernelOf(state: EditorState, node: SyntaxNode): Kernel | null {
  if (node.to - node.from > MOST) {
    return null;
  }
  const literal = state.sliceDoc(node.from, node.to);
  const opening = OPENING.exec(literal);
  if (!opening) {
    return null;
  }
  const start = opening[0].length;
  // A string that is being typed has no end yet, and reaches to the end of the cell.
  const closed = literal.length >= start + 3 && literal.endsWith(opening[1]);
  const inside = literal.slice(start, closed ? -3 : undefined);
  const from = node.from + start;
  const fields = node.getChildren('FormatReplacement').map(({ from, to }) => ({ from, to }));
  const text = withoutFields(inside, from, fields);
  return CUDA.test(text) ? { from, to: from + text.length, text, fields } : null;
}

/** The text with x in place of each character of a field: {n} is read as a name. */
function withoutFields(text: string, start: number, fields: Range[]): string {
  for (const { from, to } of fields) {
    text = text.slice(0, from - start) + 'x'.repeat(to - from) + text.slice(to - start);
  }
  return text;
}
