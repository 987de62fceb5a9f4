/** Callouts: a question, a prediction, a check, what to take away. The notebooks' text says which; here it gets a look. */

import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';

const MARKDOWN = 'text/markdown';
const PREDICT = /^predict\b/i; // in bold anywhere in a paragraph: the book's rule, too
const BEGINS: [RegExp, string][] = [
  [/^Question\b/, 'question'],
  [/^Check\b/, 'check'],
  [/^Take away\b/, 'take-away'],
  [/^Task\b/, 'task']
];
const SUMMED_UP = /^(Key points|What you (now know|can now do))/;

export const CALLOUTS = `
body { --course-question: #4d5866; --course-check: #14692f; --course-take-away: #7d5000;
  --course-predict: #0b549c; --course-ground: #f1f5f9; --course-predict-ground: #e9f2fb;
  --course-check-ground: #edf7f0; --course-take-away-ground: #fdf5e3; }
body[data-jp-theme-light='false'] { --course-question: #b3bdc9; --course-check: #6fd394;
  --course-take-away: #ecc068; --course-predict: #82bdf5; --course-ground: #20262d;
  --course-predict-ground: #17293a; --course-check-ground: #16291d; --course-take-away-ground: #30280f; }
.jp-RenderedMarkdown .course-callout { box-sizing: border-box; padding: 0.5em 0.9em; border-radius: 3px;
  border-left: 4px solid var(--course-kind); background: var(--course-kind-ground); }
.jp-RenderedMarkdown ul.course-callout { padding-left: 2em; }
.jp-RenderedMarkdown .course-callout strong.course-label { color: var(--course-kind); }
.course-callout { --course-kind: var(--course-question); --course-kind-ground: var(--course-ground); }
.course-question { --course-kind-ground: transparent; }
.course-predict { --course-kind: var(--course-predict); --course-kind-ground: var(--course-predict-ground); }
.course-check { --course-kind: var(--course-check); --course-kind-ground: var(--course-check-ground); }
.course-take-away { --course-kind: var(--course-take-away);
  --course-kind-ground: var(--course-take-away-ground); }
`;

/** Every Markdown text that is rendered from now on has its callouts marked. */
export function markCallouts(registry: IRenderMimeRegistry): void {
  const factory = registry.getFactory(MARKDOWN);
  if (!factory) {
    return;
  }
  registry.addFactory({
    ...factory,
    createRenderer: options => {
      const renderer = factory.createRenderer(options);
      const render = renderer.renderModel.bind(renderer);
      renderer.renderModel = async model => {
        await render(model);
        mark(renderer.node);
      };
      return renderer;
    }
  });
}

function mark(text: HTMLElement): void {
  for (const bold of text.querySelectorAll('p > strong')) {
    const kind = kindOf(bold);
    if (kind) {
      bold.classList.add('course-label');
      bold.parentElement?.classList.add('course-callout', `course-${kind}`);
    }
  }
  for (const list of text.querySelectorAll('h1 + ul')) {
    list.classList.add('course-callout'); // what you will be able to do, the time, what it needs
  }
  for (const heading of text.querySelectorAll('h2')) {
    const list = heading.nextElementSibling;
    if (list?.matches('ul') && SUMMED_UP.test(heading.textContent ?? '')) {
      list.classList.add('course-callout', 'course-take-away');
    }
  }
}

/** What a word in bold makes of its paragraph; undefined: nothing. */
function kindOf(bold: Element): string | undefined {
  const words = bold.textContent ?? '';
  const first = bold.previousSibling === null;
  const begun = first && BEGINS.find(([pattern]) => pattern.test(words))?.[1];
  return begun || (PREDICT.test(words) ? 'predict' : undefined);
}
