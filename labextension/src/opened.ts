/** A notebook that is only read stays saved: JupyterLab notes in it which Python its kernel has, and calls it changed. */

import type { JupyterFrontEnd } from '@jupyterlab/application';

/** What JupyterLab writes by itself, when the kernel has told it. The kernel's name is the student's choice. */
const NOTED = 'language_info';

/** What is used here of a notebook's model. */
interface Model {
  dirty: boolean;
  metadataChanged: { connect(slot: (model: unknown, change: { key: string }) => void): void };
}

/** The model calls itself changed right after its signal, so what it was before is known when the signal comes. */
function stayUnchanged(model: Model): void {
  model.metadataChanged.connect((_, change) => {
    if (change.key === NOTED && !model.dirty) {
      queueMicrotask(() => {
        model.dirty = false;
      });
    }
  });
}

/** For all notebooks that are opened from now on. */
export function keepUnchanged(app: JupyterFrontEnd): void {
  app.docRegistry.addWidgetExtension('Notebook', {
    createNew: (_panel, context) => {
      void context.ready.then(() => stayUnchanged(context.model as unknown as Model));
    }
  });
}
