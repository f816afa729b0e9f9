import type { Html } from "../html.ts";

/** Colours are checked for contrast in both modes by the browser tests. */
export const style: Html = {
  html: `
:root {
  color-scheme: light dark;
  --page: light-dark(#faf7f2, #191714);
  --sheet: light-dark(#fff, #221f1b);
  --code: light-dark(#f4efe7, #14120f);
  --ink: light-dark(#26211b, #ece6dd);
  --faint: light-dark(#635a50, #b0a698);
  --line: light-dark(#e4dcd0, #3a352e);
  --accent: light-dark(#8f431d, #f0a27a);
  --green: light-dark(#23603a, #8fd3a1);
  --blue: light-dark(#1f5688, #93c4f2);
  --amber: light-dark(#7a4d00, #ecc274);
  --red: light-dark(#9a271d, #f79b90);
  --mono: ui-monospace, "SF Mono", Menlo, Consolas, monospace;
  font: 16px / 1.55 system-ui, sans-serif;
}
* { box-sizing: border-box; }
html { scroll-padding-top: 4.5rem; }
body { margin: 0; background: var(--page); color: var(--ink); }
a { color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
main:focus { outline: none; }
code, pre { font: .875em / 1.55 var(--mono); }
code { overflow-wrap: anywhere; }
pre { margin: .5rem 0 1rem; padding: .75rem 1rem; background: var(--code); border: 1px solid var(--line); border-radius: 8px;
  white-space: pre-wrap; overflow-wrap: anywhere; }
pre code { font-size: 1em; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .5rem; overflow-wrap: anywhere; }
h2 { font-size: 1.3rem; margin: 2.5rem 0 .75rem; }
h4 { font-size: .9rem; margin: 1.25rem 0 .25rem; }
p { margin: .5rem 0; max-width: 72ch; }
main > section > ul { max-width: 72ch; padding-left: 1.2rem; }
table { border-collapse: collapse; width: 100%; max-width: 56rem; font-size: .94rem; }
th, td { text-align: left; vertical-align: top; padding: .45rem .75rem .45rem 0; border-bottom: 1px solid var(--line); }
th { color: var(--faint); font-weight: 600; }
.codes code { display: block; }

.skip { position: absolute; left: -999rem; z-index: 2; padding: .5rem 1rem; background: var(--sheet); }
.skip:focus { left: .5rem; top: .5rem; }
header { position: sticky; top: 0; z-index: 1; display: flex; align-items: center; gap: 1rem; padding: .5rem 1.25rem; min-height: 3.5rem;
  background: var(--sheet); border-bottom: 1px solid var(--line); }
.brand { font-weight: 700; color: inherit; text-decoration: none; white-space: nowrap; }
.brand span { font-weight: 400; color: var(--faint); }
search { flex: 1; min-width: 0; max-width: 30rem; margin-left: auto; }
search form { display: flex; gap: .5rem; }
search label { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
input, button { font: inherit; color: inherit; min-height: 2.5rem; padding: 0 .75rem; border: 1px solid var(--line); border-radius: 6px; }
input { flex: 1; min-width: 0; background: var(--page); }
::placeholder { color: var(--faint); opacity: 1; }
button { background: var(--sheet); cursor: pointer; }
button:hover { border-color: var(--accent); }
.machine { font: .875rem var(--mono); white-space: nowrap; }

.frame { display: grid; grid-template-columns: 14rem minmax(0, 1fr); max-width: 92rem; margin: 0 auto; }
nav { position: sticky; top: 3.5rem; align-self: start; max-height: calc(100vh - 3.5rem); overflow-y: auto; padding: 1.5rem .5rem 3rem 1.25rem; }
nav ul { list-style: none; margin: 0 0 1rem; padding: 0; }
nav a { display: flex; justify-content: space-between; gap: .5rem; padding: .3rem .6rem; border-radius: 6px; color: inherit; text-decoration: none; }
nav a:hover { background: var(--sheet); color: var(--accent); }
nav p { margin: 0 0 1rem; }
nav .part { margin: 0 0 .25rem .6rem; font-size: .85rem; color: var(--faint); }
.count { color: var(--faint); font-size: .85rem; }
main { padding: 1.75rem 1.5rem 6rem; min-width: 0; }
.lead { font-size: 1.1rem; }
.base { display: inline-block; margin-top: 0; }

.endpoint { border: 1px solid var(--line); border-radius: 8px; background: var(--sheet); margin: .4rem 0; }
summary { padding: .6rem .9rem; cursor: pointer; border-radius: 8px; list-style: none; }
summary::-webkit-details-marker { display: none; }
summary:hover { background: light-dark(#fdfbf7, #282420); }
summary h3 { display: grid; grid-template-columns: 4.3rem minmax(0, auto) minmax(0, 1fr); gap: 0 .75rem; align-items: baseline; margin: 0;
  font-size: 1rem; font-weight: 400; }
.endpoint[open] > summary { border-bottom: 1px solid var(--line); border-radius: 8px 8px 0 0; }
.method { font: 700 .78rem var(--mono); }
.get { color: var(--blue); }
.post { color: var(--green); }
.put, .patch { color: var(--amber); }
.delete { color: var(--red); }
.path { font-weight: 600; font-size: .92rem; }
.what { color: var(--faint); overflow-wrap: anywhere; }
.body { padding: .25rem .9rem 1rem; scroll-margin-top: 8rem; }
.body:target { animation: found 2s; }
@keyframes found { from { background: light-dark(#f6e7dc, #3a2a20); } }
@media (prefers-reduced-motion) { .body:target { animation: none; } }
.who { display: flex; justify-content: space-between; align-items: baseline; gap: 1rem; color: var(--faint); font-size: .94rem; }
.anchor { flex: none; font-size: .88rem; }
.columns { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 0 2rem; }
.samples pre { font-size: .92rem; }
.fields { margin: .25rem 0 0; border-top: 1px solid var(--line); }
.fields > div { padding: .4rem 0; border-bottom: 1px solid var(--line); }
.fields dt code { font-weight: 600; }
.fields dd { margin: .1rem 0 0; font-size: .92rem; }
.type, .limit, .hint { color: var(--faint); font-size: .88rem; }
.hint { margin: .25rem 0; }
.required { color: var(--red); font-size: .82rem; }
.status { font: 700 .85rem var(--mono); }
.good { color: var(--green); }
.bad { color: var(--red); }
.errors { list-style: none; margin: .25rem 0; padding: 0; font-size: .94rem; }

@media (max-width: 70rem) {
  .columns { grid-template-columns: minmax(0, 1fr); }
}
@media (max-width: 52rem) {
  html { scroll-padding-top: 7rem; }
  header { gap: .6rem; padding: .5rem 1rem; }
  .brand span, .machine { display: none; }
  .frame { display: block; }
  nav { top: 3.5rem; z-index: 1; display: flex; gap: .25rem; padding: .25rem 1rem; overflow-x: auto; background: var(--page);
    border-bottom: 1px solid var(--line); }
  nav .part { display: none; }
  nav p { margin: 0; }
  nav ul { display: flex; gap: .25rem; margin: 0; }
  nav a { padding: .5rem .6rem; white-space: nowrap; }
  main { padding: 1.25rem 1rem 4rem; }
  summary h3 { grid-template-columns: auto minmax(0, 1fr); }
  .what { grid-column: 1 / -1; }
  .body { scroll-margin-top: 11rem; }
}
@media print {
  header, nav, .skip { display: none; }
  .frame { display: block; }
  details::details-content { content-visibility: visible; }
}
`,
};
