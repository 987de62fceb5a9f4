/** The way on at hand: the links of a notebook's last cell stand above it, too, wherever its reader has scrolled to. */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import { Widget } from '@lumino/widgets';

const LAST = 'way-on'; // the id of that cell (course_tools/build/notebook.py)
const STEP = /\*\*([^*]+):\*\* \[([^\]]+)\]\(([^)\s]+)\)/g;

export const WAY = `
.course-way { display: flex; gap: 0.4em 1.2em; align-items: center; min-height: 28px; padding: 0 12px;
  overflow: hidden; white-space: nowrap; border-bottom: 1px solid var(--jp-border-color2);
  background: var(--jp-layout-color1); color: var(--jp-ui-font-color1);
  font: var(--jp-ui-font-size1) var(--jp-ui-font-family); }
.course-way button { padding: 0.2em 0; border: 0; background: none; color: var(--jp-content-link-color);
  font: inherit; cursor: pointer; overflow: hidden; text-overflow: ellipsis; }
.course-way button:hover { text-decoration: underline; }
.course-way button:focus-visible { outline: 2px solid currentColor; outline-offset: -2px; }
.course-way button[data-step='Next'] { margin-left: auto; }
`;
const WORDS: Record<string, (words: string) => string> = {
  Back: words => `← ${words}`,
  Next: words => `${words} →`
};

/** One link: what it is called, its words, and the path of the notebook that it opens. */
interface Step {
  name: string;
  words: string;
  path: string;
}

/** What is used here of a notebook's panel. */
interface Panel {
  contentHeader: { addWidget(widget: Widget): void };
}

/** What is used here of a notebook's context. */
interface Context {
  path: string;
  ready: Promise<void>;
  model: { sharedModel: { cells: { id: string; getSource(): string }[] } };
}

/** For all notebooks that are opened from now on. */
export function leadOn(app: JupyterFrontEnd): void {
  app.docRegistry.addWidgetExtension('Notebook', {
    createNew: (panel, context) => {
      const open = (path: string) => void app.commands.execute('docmanager:open', { path });
      const notebook = context as unknown as Context;
      void notebook.ready.then(() => {
        const steps = stepsOf(notebook);
        if (steps.length && !panel.isDisposed) {
          (panel as unknown as Panel).contentHeader.addWidget(new Widget({ node: bar(steps, open) }));
        }
      });
    }
  });
}

function stepsOf({ path, model }: Context): Step[] {
  const last = model.sharedModel.cells.at(-1);
  if (last?.id !== LAST) {
    return [];
  }
  return [...last.getSource().matchAll(STEP)].map(([, name, words, link]) => ({
    name,
    words,
    path: besides(path, link)
  }));
}

/** The path that a notebook calls `link`. */
function besides(path: string, link: string): string {
  const drive = path.includes(':') ? path.slice(0, path.indexOf(':') + 1) : '';
  const { pathname } = new URL(link, `file:///${encodeURI(path.slice(drive.length))}`);
  return drive + decodeURIComponent(pathname.slice(1));
}

function bar(steps: Step[], open: (path: string) => void): HTMLElement {
  const nav = document.createElement('nav');
  nav.className = 'course-way';
  nav.setAttribute('aria-label', 'The way through the course');
  for (const { name, words, path } of steps) {
    const button = document.createElement('button');
    button.dataset.step = name;
    button.textContent = WORDS[name]?.(words) ?? words[0].toUpperCase() + words.slice(1);
    button.title = `${name}: ${words}`;
    button.onclick = () => open(path);
    nav.append(button);
  }
  return nav;
}
