/** Those of JupyterLab's colours of code whose contrast is below 4.5 to 1 (WCAG AA), and what they become. */

import { EditorView } from '@codemirror/view';

const VARIABLE = '--jp-mirror-editor-';
const THEMES: Record<string, Record<string, string>> = {
  'JupyterLab Light': {
    bracket: '#6b6b50', // 2.7 to 1 before
    comment: '#3a7575', // 4.2
    meta: '#9a10ee', // 4.4
    number: '#007800' // 4.3
  },
  'JupyterLab Dark': {
    comment: '#5fa3a3', // 3.5
    def: '#3d97ea', // 4.4
    meta: '#c77dff' // 3.4
  }
};

/** The colours, for editors of these two themes alone. */
export const readable = EditorView.baseTheme(
  Object.fromEntries(
    Object.entries(THEMES).map(([theme, colours]) => [
      `body[data-jp-theme-name="${theme}"] &`,
      Object.fromEntries(
        Object.entries(colours).map(([name, colour]) => [`${VARIABLE}${name}-color`, colour])
      )
    ])
  )
);
