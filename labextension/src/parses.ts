/** CUDA C read as C++: what was read before an edit is read again only around the edit. */

import { Parser, Tree, TreeFragment } from '@lezer/common';

/** What C++ does not know; it is left out before a kernel is parsed. */
export const QUALIFIER = new RegExp(
  '\\b__(?:global|device|host|shared|constant|managed|restrict|forceinline|noinline' +
    '|launch_bounds)__\\b',
  'g'
);

interface Parse {
  text: string;
  tree: Tree;
}

/** The trees of an editor's kernels. */
export class Parses {
  private kept: Parse[] = [];

  /** The tree of each text; the texts are in the order of the document. */
  trees(parser: Parser, texts: string[]): Tree[] {
    const old = this.kept;
    this.kept = texts.map((text, index) => {
      const same = old.find(parse => parse.text === text);
      return same ?? { text, tree: parseAgain(parser, text, old[index]) };
    });
    return this.kept.map(parse => parse.tree);
  }
}

/** The tree of `text`, with what still holds of the tree that was there before. */
function parseAgain(parser: Parser, text: string, old?: Parse): Tree {
  const source = text.replace(QUALIFIER, word => ' '.repeat(word.length));
  if (!old) {
    return parser.parse(source);
  }
  const fragments = TreeFragment.applyChanges(TreeFragment.addTree(old.tree), [edit(old.text, text)]);
  return parser.parse(source, fragments);
}

/** The smallest edit that makes `now` of `before`. */
function edit(before: string, now: string) {
  const least = Math.min(before.length, now.length);
  let from = 0;
  while (from < least && before[from] === now[from]) {
    from++;
  }
  let end = 0;
  while (end < least - from && before.at(-1 - end) === now.at(-1 - end)) {
    end++;
  }
  return { fromA: from, toA: before.length - end, fromB: from, toB: now.length - end };
}
