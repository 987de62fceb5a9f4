/** The plugins: CUDA C in Python's strings in colour; how notebooks look, and the way through them. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import {
  EditorExtensionRegistry,
  IEditorExtensionRegistry,
  IEditorLanguageRegistry
} from '@jupyterlab/codemirror';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { Parser } from '@lezer/common';

import { CALLOUTS, markCallouts } from './callouts';
import { kernelColours } from './colours';
import { readable } from './contrast';
import { FIGURES } from './figures';
import { FOLDS } from './folds';
import { keepUnchanged } from './opened';
import { addStyle } from './style';
import { leadOn, WAY } from './way';
import { WIDTH } from './width';

/** JupyterLab's own C++ parser; null where there is none. */
async function cppParser(languages: IEditorLanguageRegistry): Promise<Parser | null> {
  const found = await languages.getLanguage('C++');
  return found?.support?.language.parser ?? null;
}

const colours: JupyterFrontEndPlugin<void> = {
  id: 'course-kernels:colours',
  description: 'Colours CUDA C in Python strings.',
  autoStart: true,
  requires: [IEditorExtensionRegistry, IEditorLanguageRegistry],
  activate: (
    _app: unknown,
    extensions: IEditorExtensionRegistry,
    languages: IEditorLanguageRegistry
  ) => {
    let parser: Promise<Parser | null> | undefined; // loaded with the first kernel, and once
    const inKernels = kernelColours(() => (parser ??= cppParser(languages)));
    extensions.addExtension({
      name: colours.id,
      factory: () => EditorExtensionRegistry.createImmutableExtension([inKernels, readable])
    });
  }
};

const look: JupyterFrontEndPlugin<void> = {
  id: 'course-kernels:look',
  description: 'Callouts, narrow text, figures in dark themes; hides the first line of a folded output.',
  autoStart: true,
  requires: [IRenderMimeRegistry],
  activate: (_app: unknown, registry: IRenderMimeRegistry) => {
    addStyle([FOLDS, WIDTH, FIGURES, CALLOUTS].join(''));
    markCallouts(registry);
  }
};

const opened: JupyterFrontEndPlugin<void> = {
  id: 'course-kernels:opened',
  description: 'A notebook that was only opened is not called changed.',
  autoStart: true,
  activate: (app: JupyterFrontEnd) => keepUnchanged(app)
};

const way: JupyterFrontEndPlugin<void> = {
  id: 'course-kernels:way',
  description: 'Links to the lecture before, the exercise and the next lecture, above each notebook.',
  autoStart: true,
  activate: (app: JupyterFrontEnd) => {
    addStyle(WAY);
    leadOn(app);
  }
};

export default [colours, look, opened, way];
