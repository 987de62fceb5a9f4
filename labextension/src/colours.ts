/** The extension of one editor: decorations over the kernels that can be seen. */

import { syntaxTree } from '@codemirror/language';
import { Prec, RangeSetBuilder, StateEffect } from '@codemirror/state';
import type { Extension } from '@codemirror/state';
import { Decoration, EditorView, ViewPlugin } from '@codemirror/view';
import type { DecorationSet, ViewUpdate } from '@codemirror/view';
import type { Parser } from '@lezer/common';

import { kernelsIn } from './kernels';
import { Parses } from './parses';
import { partsOf } from './tokens';

/** Gives the parser of C++; null where there is none. */
export type Load = () => Promise<Parser | null>;

const parserLoaded = StateEffect.define<null>();

// Without a colour of its own plain text would have the string's. `:where` loses against other rules.
const plainText = EditorView.baseTheme({
  ':where(& .course-kernel)': { color: 'var(--jp-content-font-color1, currentColor)' }
});

/** What an editor needs to colour kernels. */
export function kernelColours(load: Load): Extension {
  const plugin = ViewPlugin.define(view => new KernelColours(view, load), {
    decorations: ({ decorations }) => decorations
  });
  return [Prec.highest(plugin), plainText]; // highest: inside of the string's own mark
}

class KernelColours {
  decorations: DecorationSet;
  private readonly parses = new Parses();
  private parser: Parser | null = null;
  private asked = false;
  private gone = false;

  constructor(
    private readonly view: EditorView,
    private readonly load: Load
  ) {
    this.decorations = this.paint();
  }

  update({ changes, docChanged, startState, state, transactions, viewportChanged }: ViewUpdate) {
    const tree = syntaxTree(state);
    const other = transactions.some(
      one => one.reconfigured || one.effects.some(effect => effect.is(parserLoaded))
    );
    if (docChanged && tree.length < this.view.viewport.to) {
      this.decorations = this.decorations.map(changes); // Python is still being parsed
    } else if (docChanged || viewportChanged || other || tree !== syntaxTree(startState)) {
      this.decorations = this.paint();
    }
  }

  destroy() {
    this.gone = true;
  }

  private paint(): DecorationSet {
    const { state, viewport } = this.view;
    const kernels = kernelsIn(state, viewport.from, viewport.to);
    if (!this.parser) {
      if (kernels.length) {
        this.ask();
      }
      return Decoration.none;
    }
    const trees = this.parses.trees(
      this.parser,
      kernels.map(({ text }) => text)
    );
    const marks = new RangeSetBuilder<Decoration>();
    kernels.forEach((kernel, index) => {
      for (const { from, to, style } of partsOf(state, kernel, trees[index], viewport)) {
        marks.add(from, to, mark(style));
      }
    });
    return marks.finish();
  }

  /** Load the parser, then paint; once for an editor. */
  private ask() {
    if (this.asked) {
      return;
    }
    this.asked = true;
    void this.load().then(parser => {
      this.parser = parser;
      if (parser && !this.gone) {
        this.view.dispatch({ effects: parserLoaded.of(null) });
      }
    });
  }
}

const made = new Map<string, Decoration>();

/** The decoration with these classes. */
function mark(style: string): Decoration {
  const decoration = made.get(style) ?? Decoration.mark({ class: `course-kernel ${style}`.trim() });
  made.set(style, decoration);
  return decoration;
}
