// The layout of all pages for contacts and users: one column, no script, no external resources,
// light and dark mode.
import type { Brand } from "../email/brand/brand.ts";
import { directionOf } from "../email/languages.ts";
import { type Html, html } from "../kernel/html.ts";
import { renderBrandFooter, renderLogo, writeBrandStyle } from "./page-brand.ts";

interface PageContent {
  /** BCP 47 */
  lang: string;
  title: string;
  /** Below the title. */
  body: Html | Html[];
  /** A wide column, for long content. */
  wide?: boolean;
  /** The brand of the site. Absent: the look of the service. */
  brand?: Brand | null | undefined;
  /** Search engines may list it. */
  isPublic?: boolean;
  /** Further elements of the head. */
  head?: Html;
}

export const renderPage = ({
  lang,
  title,
  body,
  wide = false,
  brand,
  ...rest
}: PageContent): string =>
  html`<!doctype html>
<html lang="${lang}" dir="${directionOf(lang)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${!rest.isPublic && html`<meta name="robots" content="noindex">`}
<title>${title}</title>
<link rel="icon" href="${icon}">
${rest.head}
<style>${pageStyle}${!!brand && writeBrandStyle(brand)}</style>
</head>
<body>
${!!brand && renderLogo(brand)}<main${wide && html` class="wide"`}>
<h1>${title}</h1>
${body}
</main>
${!!brand && renderBrandFooter(brand)}</body>
</html>
`.html;

/** An attribute for a field whose entry was refused. */
export const invalidIf = (isInvalid: boolean): Html | false =>
  isInvalid && html` aria-invalid="true"`;

const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 " +
  "16'%3E%3Crect y='2' width='16' height='12' rx='2' fill='%239a4a22'/%3E%3Cpath d='M1 4l7 5 " +
  "7-5' fill='none' stroke='white' stroke-width='1.5'/%3E%3C/svg%3E";

/** Contrast is checked in both modes by the browser tests. */
const pageStyle: Html = {
  html: `
:root {
  color-scheme: light dark;
  --page: light-dark(#faf7f2, #191714);
  --sheet: light-dark(#fff, #221f1b);
  --ink: light-dark(#26211b, #ece6dd);
  --faint: light-dark(#635a50, #b0a698);
  --line: light-dark(#8d8275, #7d7367);
  --accent: light-dark(#8f431d, #f0a27a);
  --on-accent: light-dark(#fff, #191714);
  --bad: light-dark(#9a271d, #f79b90);
  font: 16px / 1.55 system-ui, sans-serif;
}
* { box-sizing: border-box; }
body { margin: 0; padding: 1rem; background: var(--page); color: var(--ink); }
main { max-width: 30rem; margin: 8vh auto 0; padding: 1.5rem; background: var(--sheet);
  border-radius: 12px; box-shadow: 0 1px 3px light-dark(#0002, #0008); overflow-wrap: anywhere; }
main.wide { max-width: 52rem; margin-top: 0; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .75rem; text-wrap: balance; }
h2 { font-size: 1.1rem; margin: 1.5rem 0 0; }
:target { outline: 2px solid var(--accent); outline-offset: .5rem; scroll-margin-top: 1rem; }
p { margin: .75rem 0; }
a { color: var(--accent); }
ul { padding-inline-start: 1.2rem; }
li { margin: .5rem 0; }
form { margin: 1.25rem 0 0; }
label { display: block; font-weight: 600; margin: 1rem 0 .25rem; }
input, select, textarea { width: 100%; min-height: 44px; padding: .5rem .75rem;
  font: inherit; color: inherit; background: var(--page);
  border: 1px solid var(--line); border-radius: 8px; }
textarea { min-height: 8rem; }
label:has([type=checkbox], [type=radio]) { display: flex; gap: .75rem; align-items: start;
  font-weight: 400; }
:is([type=checkbox], [type=radio]) { flex: none; width: 24px; min-height: 24px; margin: 0;
  accent-color: var(--accent); }
fieldset { margin: 0; padding: 0; border: 0; min-width: 0; }
hr { margin: 1.5rem 0 0; border: 0; border-top: 1px solid var(--line); }
legend { padding: 0; font-weight: 600; }
.hint { margin: -.25rem 0 1rem; margin-inline-start: 36px; color: var(--faint); font-size: .9rem; }
[aria-invalid] { border: 2px solid var(--bad); }
button { width: 100%; min-height: 44px; margin-top: 1rem; padding: .5rem 1.25rem;
  font: inherit; font-weight: 600; cursor: pointer;
  color: var(--on-accent); background: var(--accent); border: 0; border-radius: 8px; }
button.quiet { color: var(--accent); background: none; border: 2px solid; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.mails { padding: 0; list-style: none; }
.mails li { margin: 0; padding: 1rem 0; border-top: 1px solid var(--line); }
.mails a { font-weight: 600; }
.mails p { margin: .25rem 0; }
.mails time { display: block; }
.pages { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; }
.pages a { display: inline-block; padding: .5rem 0; }
.faint { color: var(--faint); font-size: .9rem; }
.text { white-space: pre-wrap; }
.bad { color: var(--bad); font-weight: 600; }
iframe { display: block; width: 100%; height: 75vh; border: 1px solid var(--line);
  border-radius: 8px; background: #fff; }
`,
};
