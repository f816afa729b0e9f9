import { html } from "../kernel/html.ts";
import { renderPage } from "./page-layout.ts";

/** The page at the root URL of the service. */
export const renderHomePage = (extraLinks: { label: string; href: string }[]): string =>
  renderPage({
    lang: "en",
    title: "Pennymail",
    body: html`
<p>Pennymail sends newsletters, automated sequences and single emails through an HTTP API.</p>
<ul>
<li><a href="/app">Console: sign in or create an account</a></li>
<li><a href="/api/v1/docs">API documentation</a></li>
<li><a href="/api/v1/openapi.json">OpenAPI 3.1 document</a></li>
<li><a href="/reset-password">Forgot your password?</a></li>
${extraLinks.map(({ label, href }) => html`<li><a href="${href}">${label}</a></li>`)}
</ul>
<p class="faint">
Received an email that you do not want? Use the unsubscribe link in that email.
</p>`,
  });
