/** The plugins: CUDA C in Python's strings in colour, folded outputs unread, narrow text, notebooks that are read unchanged. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import {
  EditorExtensionRegistry,
  IEditorExtensionRegistry,
  IEditorLanguageRegistry
} from '@jupyterlab/codemirror';
import type { Parser } from '@lezer/common';

import { kernelColours } from './colours';
import { readable } from './contrast';
import { keepFolded } from './folds';
import { keepUnchanged } from './opened';
import { keepNarrow } from './width';

/** JupyterLab's own C++ parser; null where there is none. */
async function cppParser(languages: IEditorLanguageRegistry): Promise<Parser | null> {
  const found = await languages.getLanguage('C++');
  return found?.support?.language.parser ?? null;
}

const colours: JupyterFrontEndPlugin<void> = {
  id: 'course-kernels:colours',
  description: 'Colours CUDA C in Python strings, and hides the first line of a folded output.',
  autoStart: true,
  requires: [IEditorExtensionRegistry, IEditorLanguageRegistry],
  activate: (
    _app: unknown,
    extensions: IEditorExtensionRegistry,
    languages: IEditorLanguageRegistry
  ) => {
    keepFolded();
    keepNarrow();
    let parser: Promise<Parser | null> | undefined; // loaded with the first kernel, and once
    const inKernels = kernelColours(() => (parser ??= cppParser(languages)));
    extensions.addExtension({
      name: colours.id,
      factory: () => EditorExtensionRegistry.createImmutableExtension([inKernels, readable])
    });
  }
};

const opened: JupyterFrontEndPlugin<void> = {
  id: 'course-kernels:opened',
  description: 'A notebook that was only opened is not called changed.',
  autoStart: true,
  activate: (app: JupyterFrontEnd) => keepUnchanged(app)
};

export default [colours, opened];
