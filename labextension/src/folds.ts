/** A folded output keeps its secret: JupyterLab shows its first line, which is often the answer. No output, no fold. */

const STYLE = `
.jp-OutputPlaceholder .jp-PlaceholderText { display: none; }
.jp-OutputPlaceholder .jp-Placeholder-contentContainer::before {
  content: 'folded until you run this cell';
  font-style: italic;
}
.jp-CodeCell.jp-mod-noOutputs .jp-OutputPlaceholder { display: none; }
.jp-RenderedMarkdown > details:not(:last-child) { margin-bottom: 1em; }
`;

/** For all notebooks of the page, from now on. */
export function keepFolded(): void {
  const style = document.createElement('style');
  style.textContent = STYLE;
  document.head.append(style);
}
