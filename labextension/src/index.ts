/** The plugin: every editor of JupyterLab colours CUDA C in Python's strings. */

import type { JupyterFrontEndPlugin } from '@jupyterlab/application';
import {
  EditorExtensionRegistry,
  IEditorExtensionRegistry,
  IEditorLanguageRegistry
} from '@jupyterlab/codemirror';
import type { Parser } from '@lezer/common';

import { kernelColours } from './colours';
import { readable } from './contrast';

/** JupyterLab's own C++ parser; null where there is none. */
async function cppParser(languages: IEditorLanguageRegistry): Promise<Parser | null> {
  const found = await languages.getLanguage('C++');
  return found?.support?.language.parser ?? null;
}

const plugin: JupyterFrontEndPlugin<void> = {
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
    const colours = kernelColours(() => (parser ??= cppParser(languages)));
    extensions.addExtension({
      name: plugin.id,
      factory: () => EditorExtensionRegistry.createImmutableExtension([colours, readable])
    });
  }
};

export default plugin;
