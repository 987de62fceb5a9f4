/** Lines that can be read: text about 80 characters wide, whatever the window; code, tables and pictures may be wider. */

export const WIDTH = `
.jp-RenderedMarkdown :is(p, ul, ol, blockquote) { max-width: 42em; }
.jp-RenderedMarkdown > :is(h1, h2, h3, h4) { line-height: 1.2; }
.jp-RenderedMarkdown > table { margin-left: 0; }
/* The longest name of a notebook fits into the list of files */
#jp-left-stack { min-width: 18rem !important; }
`;
