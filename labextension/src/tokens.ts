/** A kernel as parts, each with the classes that the editor's theme has for it. */

import { highlightingFor } from '@codemirror/language';
import type { EditorState } from '@codemirror/state';
import type { Tree } from '@lezer/common';
import { highlightTree, tags } from '@lezer/highlight';
import type { Tag } from '@lezer/highlight';

import type { Kernel, Range } from './kernels';
import { QUALIFIER } from './parses';

const BUILT_IN = /threadIdx|blockIdx|blockDim|gridDim|warpSize/;
const OWN_WORD = new RegExp(`${QUALIFIER.source}|\\b(?:${BUILT_IN.source})\\b`, 'g');

/** A part of the document; style: classes, "" for plain text. */
export interface Part extends Range {
  style: string;
}

/** All parts of the kernel between two places of the document, without the fields of an f-string. */
export function partsOf(state: EditorState, kernel: Kernel, tree: Tree, seen: Range): Part[] {
  const from = Math.max(kernel.from, seen.from) - kernel.from;
  const to = Math.min(kernel.to, seen.to) - kernel.from;
  const parts = tokens(state, kernel.text, tree, { from, to }).map(part => ({
    from: part.from + kernel.from,
    to: part.to + kernel.from,
    style: part.style
  }));
  return parts.flatMap(part => withoutFields(part, kernel.fields));
}

/** The parts of a text without a gap: what C++ names, CUDA's own words, and the rest. */
function tokens(state: EditorState, text: string, tree: Tree, { from, to }: Range): Part[] {
  const style = (found: readonly Tag[]) => styleOf(state, found);
  const parts: Part[] = [];
  let at = from;
  const rest = (end: number) => {
    parts.push(...between(state, text, { from: at, to: end }));
    at = end;
  };
  highlightTree(
    tree,
    { style },
    (begin, end, name) => {
      rest(begin);
      parts.push({ from: begin, to: end, style: name });
      at = end;
    },
    from,
    to
  );
  rest(to);
  return parts;
}

/** The classes of the editor's theme; where it has none for types, they are keywords. */
function styleOf(state: EditorState, found: readonly Tag[]): string | null {
  const style = highlightingFor(state, found);
  const isType = found.includes(tags.standard(tags.typeName));
  return style ?? (isType ? highlightingFor(state, [tags.keyword]) : null);
}

/** What the theme has no colour for: CUDA's own words get one, the rest is plain. */
function between(state: EditorState, text: string, { from, to }: Range): Part[] {
  const parts: Part[] = [];
  let at = from;
  for (const word of text.slice(from, to).matchAll(OWN_WORD)) {
    const begin = from + word.index;
    parts.push({ from: at, to: begin, style: '' });
    at = begin + word[0].length;
    const tag = BUILT_IN.test(word[0]) ? tags.standard(tags.variableName) : tags.keyword;
    parts.push({ from: begin, to: at, style: highlightingFor(state, [tag]) ?? '' });
  }
  return [...parts, { from: at, to, style: '' }].filter(part => part.to > part.from);
}

/** What is left of a part when the fields are cut out of it. */
function withoutFields(part: Part, fields: Range[]): Part[] {
  const parts: Part[] = [];
  let at = part.from;
  for (const { from, to } of fields) {
    parts.push({ from: at, to: Math.min(from, part.to), style: part.style });
    at = Math.max(at, to);
  }
  return [...parts, { from: at, to: part.to, style: part.style }].filter(({ from, to }) => to > from);
}
