/** The plugin: every editor of JupyterLab colours CUDA C in Python's strings, and folded outputs stay unread. */

import type { JupyterFrontEndPlugin } from '@jupyterlab/application';
import {
  EditorExtensionRegistry,
  IEditorExtensionRegistry,
  IEditorLanguageRegistry
} from '@jupyterlab/codemirror';
import type { Parser } from '@lezer/common';

import { kernelColours } from './colours';
import { readable } from './contrast';
import { keepFolded } from './folds';

/** JupyterLab's own C++ parser; null where there is none. */
async function cppParser(languages: IEditorLanguageRegistry): Promise<Parser | null> {
  const found = await languages.getLanguage('C++');
  return found?.support?.language.parser ?? null;
}

const plugin: JupyterFrontEndPlugin<void> = {
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
    let parser: Promise<Parser | null> | undefined; // loaded with the first kernel, and once
    const colours = kernelColours(() => (parser ??= cppParser(languages)));
    extensions.addExtension({
      name: plugin.id,
      factory: () => EditorExtensionRegistry.createImmutableExtension([colours, readable])
    });
  }
};

export default plugin;
