// The one look of the pages that our customers' people see: no script, nothing from elsewhere, readable on any screen.
import { type Html, html } from "../http/html.ts";
import type { Language } from "./words.ts";

/** A whole document; `title` is its heading too. */
export const page = (language: Language, title: string, ...content: Html[]): string => `<!doctype html>
${
  html`<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>
:root { color-scheme: light dark; --paper: #fff; --ink: #26211b; --soft: #635a50; --line: #e4dcd0; --ground: #faf7f2; --act: #8f431d; --on: #fff }
@media (prefers-color-scheme: dark) {
  :root { --paper: #24211e; --ink: #f3ede5; --soft: #c2b6a8; --line: #453f38; --ground: #171513; --act: #f0b48c; --on: #2a1608 }
}
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 24px 16px; background: var(--ground); color: var(--ink); font: 17px/1.55 system-ui, sans-serif }
main { width: 100%; max-width: 34rem; padding: clamp(24px, 6vw, 44px); background: var(--paper); border: 1px solid var(--line); border-radius: 14px; overflow-wrap: anywhere }
h1 { margin: 0 0 12px; font-size: clamp(1.4rem, 5vw, 1.75rem); line-height: 1.25; text-wrap: balance }
p { margin: 0 0 16px }
.soft { color: var(--soft) }
form { margin: 24px 0 0 }
button { min-height: 48px; padding: 10px 24px; border: 2px solid var(--act); border-radius: 10px; background: var(--act); color: var(--on); font: inherit; font-weight: 600; cursor: pointer }
button.quiet { background: transparent; color: var(--act) }
:focus-visible { outline: 3px solid var(--act); outline-offset: 3px }
main > :last-child { margin-bottom: 0 }
</style>
</head>
<body>
<main>
<h1>${title}</h1>
${content}
</main>
</body>
</html>
`.html
}`;
