import { html } from "../http/html.ts";
import { page } from "./page.ts";

/** What somebody finds who opens the address of the service itself. */
export const home = (further: { words: string; to: string }[]): string =>
  page({
    lang: "en",
    title: "Pennymail",
    body: html`<p>This is a mail service: it sends newsletters, automated series and single mails for the sites of its customers, by an HTTP interface.</p>
<ul>
<li><a href="/api/v1/docs">Read how to use it</a></li>
<li><a href="/api/v1/openapi.json">Its description for programs (OpenAPI 3.1)</a></li>
<li><a href="/reset-password">Forgot your password?</a></li>
${further.map(({ words, to }) => html`<li><a href="${to}">${words}</a></li>`)}
</ul>
<p class="faint">Did you get a mail that you do not want? The link to unsubscribe is in the mail itself.</p>`,
  });
