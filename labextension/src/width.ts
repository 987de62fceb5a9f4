/** Lines that can be read: text about 80 characters wide, whatever the window; code, tables and pictures may be wider. */

const STYLE = `
.jp-RenderedMarkdown :is(p, ul, ol, blockquote) { max-width: 42em; }
.jp-RenderedMarkdown > :is(h1, h2, h3, h4) { line-height: 1.2; }
.jp-RenderedMarkdown > table { margin-left: 0; }
`;

/** For all notebooks of the page, from now on. */
export function keepNarrow(): void {
  const style = document.createElement('style');
  style.textContent = STYLE;
  document.head.append(style);
}
