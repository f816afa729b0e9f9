// What to know before the first request.
import { plans } from "../../plans.ts";
import { type Html, html } from "../html.ts";
import { basePath } from "../route.ts";
import { files, providerWebhooks, suppressionImport, variables, webhooks } from "./guides.ts";

export interface Chapter {
  id: string;
  title: string;
  body: Html;
}

/** Where the page is, and where credentials to try with are given out, if anywhere. */
export interface Place {
  /** Without a trailing slash. */
  origin: string;
  sandboxUrl?: string | undefined;
}

export function chapters({ origin, sandboxUrl }: Place): Chapter[] {
  const baseUrl = origin + basePath;
  return [
    { id: "start", title: "First send", body: start(baseUrl, sandboxUrl) },
    { id: "authentication", title: "Authentication", body: authentication },
    { id: "conventions", title: "Requests and answers", body: conventions },
    { id: "errors", title: "Errors", body: errors },
    { id: "paging", title: "Paging", body: paging(baseUrl) },
    { id: "idempotency", title: "Idempotency", body: idempotency },
    { id: "rate-limits", title: "Rate limits", body: rateLimits },
    { id: "variables", title: "Variables in templates", body: variables },
    { id: "statuses", title: "What becomes of a send", body: statuses },
    { id: "provider-webhooks", title: "What the provider tells us", body: providerWebhooks },
    { id: "webhooks", title: "What we tell you", body: webhooks },
    { id: "files", title: "Uploading files", body: files(baseUrl) },
    { id: "suppression-import", title: "Importing suppressions", body: suppressionImport(baseUrl) },
  ];
}

export const introduction = (
  origin: string,
  all: Chapter[],
): Html => html`<p class="lead">Transactional and marketing email over JSON. All paths are relative to</p>
<pre class="base"><code>${origin}${basePath}</code></pre>
${all.map(({ id, title, body }) => html`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>${body}</section>\n`)}`;

const start = (
  baseUrl: string,
  sandboxUrl: string | undefined,
): Html => html`<p>Sign up, make a key, a site and a sending config, and send:</p>
<pre><code>${firstSend(baseUrl, sandboxUrl)}</code></pre>
<p>A sending config is your own account at a mail provider; <a href="#listProviders">the providers</a> tell what each needs. ${
  sandboxUrl === undefined
    ? html`Put your own credentials where <code>SG....</code> stands.`
    : html`Here the fourth <code>curl</code> takes an account at <a href="${sandboxUrl}">the provider sandbox</a>, and no mail leaves this machine.`
}</p>`;

/** A sandbox makes a new account at every look: all that is needed of it is taken from one. */
const fromSandbox = (url: string): string => `'$(curl -s ${url} | grep -o '"apiKey":"SG[^}]*},"webhookSecret":"[^"]*"')'`;

const firstSend = (baseUrl: string, sandboxUrl: string | undefined): string => `API=${baseUrl}; JSON='Content-Type: application/json'
curl -sS -w '\\n' -c jar -H "$JSON" $API/auth/signup -d '{"email":"me@shop.example","password":"a long pass phrase"}'
KEY=$(curl -sS -b jar -H "$JSON" $API/api-keys -d '{"name":"first"}' | grep -o 'pm_live_[0-9A-Za-z]\\{40,\\}')
curl -sS -w '\\n' -H "Authorization: Bearer $KEY" -H "$JSON" $API/sites -d '{"name":"My shop"}'
curl -sS -w '\\n' -H "Authorization: Bearer $KEY" -H "$JSON" $API/sending-configs -d '{"fromEmail":"hello@shop.example","credentials":{${
  sandboxUrl === undefined ? '"apiKey":"SG...."}' : fromSandbox(sandboxUrl)
}}'
curl -sS -w '\\n' -H "Authorization: Bearer $KEY" -H "$JSON" $API/send -d '{"to":"ada@example.com","fromEmail":"hello@shop.example","subject":"Hello","html":"<p>Hello Ada</p>"}'`;

const authentication = html`<p>With an API key: <code>Authorization: Bearer pm_live_…</code>. The key is shown once, when it is made; we keep only its hash. A key has
scopes: <code>*</code> for everything, or <code>&lt;group&gt;:read</code> and <code>&lt;group&gt;:write</code>, where the group is the first segment of a path
(<code>send:write</code>, <code>sends:read</code>). A key with a <code>siteId</code> sees that site alone.</p>
<p>With a session: <a href="#authSignup">sign up</a> or <a href="#authLogin">log in</a> to get the cookie <code>__Host-session</code>, which lives 7 days. Keys and
passwords can only be changed with a session. In the examples <code>$KEY</code> is your key and the file <code>jar</code> keeps the cookie.</p>`;

const conventions = html`<ul>
<li>Bodies are JSON with <code>Content-Type: application/json</code>; names are camelCase.</li>
<li>A good answer is <code>{"data": …}</code>. Beside it may be <code>warnings</code>, a list of sentences: a field or query parameter that we do not know is ignored and named there.</li>
<li><code>201</code>: created. <code>202</code>: accepted, the work is done later. <code>200</code>: everything else that worked.</li>
<li>Ids are positive integers. Times are ISO 8601 in UTC with milliseconds.</li>
<li>Where <code>siteId</code> is left out, it is the key's site, else your only site; lists then cover all sites that you may see.</li>
</ul>`;

const problems: [status: string, codes: string, when: string][] = [
  ["400", "validation_failed limit_exceeded invalid_json …", "Something in the request is wrong; details name the fields"],
  ["401", "unauthorized", "No credential, or a bad one"],
  ["402", "payment_required payment_failed", "Plan and credits do not suffice; or the card was refused"],
  ["403", "site_forbidden scope_missing session_required origin_forbidden", "This credential may not do that"],
  ["404", "not_found", "There is no such thing, or it belongs to someone else"],
  ["405", "method_not_allowed", "The path is known, the method is not"],
  ["409", "conflict idempotency_mismatch idempotency_in_progress …", "It does not fit what is there"],
  ["410", "", "It was there, and is revoked or expired; a page for people says so"],
  ["413", "payload_too_large", "The body is too large"],
  ["415", "unsupported_media_type", "Wrong Content-Type"],
  ["429", "rate_limited", "Too many requests; Retry-After tells when to come back"],
  ["500", "internal", "Our fault; tell us the requestId"],
  ["502", "upstream", "A mail provider or another outside service has trouble"],
  ["503", "unavailable", "We cannot now; the sentence tells why"],
];

const errors = html`<pre><code>${JSON.stringify(
  {
    error: "fromEmail: must be one valid email address",
    code: "validation_failed",
    requestId: "0b1f6c1e-5a0e-4c53-9d2b-7b3b1a7a4f10",
    details: [{ path: "fromEmail", message: "fromEmail: must be one valid email address" }],
  },
  null,
  2,
)}</code></pre>
<p><code>error</code> is a sentence for people, <code>code</code> a stable word for programs. Every answer has the header <code>X-Request-Id</code>.</p>
<table><thead><tr><th scope="col">Status</th><th scope="col">When</th><th scope="col">Codes</th></tr></thead><tbody>
${problems.map(([status, codes, when]) => html`<tr><td>${status}</td><td>${when}</td><td class="codes">${(codes ? codes.split(" ") : []).map((code) => html`<code>${breakable(code)}</code> `)}</td></tr>\n`)}</tbody></table>`;

/** May be broken after an underscore. */
function breakable(word: string): Html[] {
  return word.split(/(?<=_)/).map((part, i) => (i ? html`<wbr>${part}` : html`${part}`));
}

const paging = (
  baseUrl: string,
): Html => html`<p>Lists are newest first and take <code>limit</code> (50; at most 100) with <code>cursor</code> or <code>page</code>. Each answer has
<code>pagination</code>; give its <code>nextCursor</code> as <code>cursor</code> to go on, until it is <code>null</code>. <code>page</code> counts from 1 and reaches
to the 10,000th entry; the cursor reaches everything. <code>total</code> is <code>null</code> where nothing keeps count.</p>
<pre><code>curl "${baseUrl}/sends?limit=100&amp;cursor=…" -H "Authorization: Bearer $KEY"</code></pre>`;

const idempotency = html`<p>Any <code>POST</code> with a credential takes the header <code>Idempotency-Key</code>, 1 to 255 characters of your choice. For 24 hours the same key with the
same request gets the first answer again, with <code>Idempotent-Replayed: true</code>, and nothing is done twice; with another request it is <code>409</code>.
Answers with <code>5xx</code> and <code>429</code> are not kept: just try again. Secrets that are shown once are left out of a repeated answer.</p>`;

const rateLimits = html`<p>Requests per organization and minute, by plan. Each endpoint says which of the two it counts against.</p>
<table><thead><tr><th scope="col">Plan</th><th scope="col">General</th><th scope="col">Send</th></tr></thead><tbody>
${Object.values(plans).map(
  ({ name, generalPerMinute, sendPerMinute }) =>
    html`<tr><td>${name}</td><td>${generalPerMinute.toLocaleString("en-US")}</td><td>${sendPerMinute.toLocaleString("en-US")}</td></tr>\n`,
)}</tbody></table>
<p>Every answer to a credential has <code>X-RateLimit-Limit</code>, <code>X-RateLimit-Remaining</code> and <code>X-RateLimit-Reset</code> (Unix seconds). Public endpoints are
limited by client address. A batch of 1,000 recipients is one request.</p>`;

const outcomes: [status: string, meaning: string][] = [
  ["scheduled", "It waits for scheduledAt, and can still be cancelled"],
  ["queued", "It is about to be handed to the provider"],
  ["sending", "It is being handed over"],
  ["sent", "The provider has it"],
  ["delivered", "The recipient's server has it"],
  ["failed", "It was suppressed, refused or bounced; error tells why"],
  ["uncertain", "We cannot know whether the provider took it, and do not send it a second time; its webhook may settle it"],
  ["cancelled", "It was cancelled before its time"],
];

const statuses = html`<table><thead><tr><th scope="col">Status</th><th scope="col">Meaning</th></tr></thead><tbody>
${outcomes.map(([status, meaning]) => html`<tr><td><code>${status}</code></td><td>${meaning}</td></tr>\n`)}</tbody></table>`;
