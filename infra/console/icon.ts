/** The picture that stands for Pennymail, as SVG. */
export const createIcon = (color = "#a8481f"): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<circle cx="16" cy="16" r="16" fill="${color}"/><path d="M13 23V9h4.5a4.5 4.5 0 0 1 0 9H13"
fill="none" stroke="#fff" stroke-width="3"/></svg>`;
