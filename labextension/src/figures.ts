/** Figures are drawn on white, once for both themes: in a dark one light and dark change places, and colours stay. */

export const FIGURES = `
body[data-jp-theme-light='false'] .jp-OutputArea-output figure > img {
  filter: invert(0.93) hue-rotate(180deg);
}
`;
