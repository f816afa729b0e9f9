import { type ErrorMeaning, errorMeanings } from "../error-codes.ts";
import { type Html, html } from "../kernel/html.ts";
import { renderPage } from "./page-layout.ts";

/** Explains every error code. The id of each section is the code. */
export const renderErrorCodesPage = (): string =>
  renderPage({
    lang: "en",
    title: "Error codes",
    body: html`<p>Every error of the API has a <code>code</code>, and this page explains each.
See also the <a href="/api/v1/docs#description/errors">guide on errors</a>.</p>
${Object.entries(errorMeanings).map(renderMeaning)}`,
    wide: true,
  });

const renderMeaning = ([code, { statuses, cause, remedy }]: [string, ErrorMeaning]): Html =>
  html`<section id="${code}">
<h2><a href="#${code}"><code>${code}</code></a></h2>
<p>${renderInline(cause)} <span class="faint">HTTP status ${statuses.join(" or ")}.</span></p>
<p><b>What to do:</b> ${renderInline(remedy)}</p>
</section>
`;

/** Text between backticks becomes `code`. */
const renderInline = (text: string): Html[] =>
  text.split("`").map((part, i) => (i % 2 ? html`<code>${part}</code>` : html`${part}`));
