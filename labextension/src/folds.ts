/** A folded output keeps its secret: JupyterLab shows its first line, which is often the answer. No output, no fold. */

export const FOLDS = `
.jp-OutputPlaceholder .jp-PlaceholderText { display: none; }
.jp-OutputPlaceholder .jp-Placeholder-contentContainer::before {
  content: 'folded until you run this cell';
  font-style: italic;
}
.jp-CodeCell.jp-mod-noOutputs .jp-OutputPlaceholder { display: none; }
.jp-RenderedMarkdown > details:not(:last-child) { margin-bottom: 1em; }
`;
