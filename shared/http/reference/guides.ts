// What takes more than one request, or is asked of the other side.
import { retrySeconds } from "../../domain/webhooks/rows.ts";
import { providers } from "../../providers/index.ts";
import { type Html, html } from "../html.ts";

const known: [where: string, what: Html][] = [
  [
    "Every mail",
    html`<code>email</code>, and <code>name</code>: the <code>toName</code> of the request, the first and last name of a contact`,
  ],
  [
    "POST /send and /send/batch",
    html`What <code>variables</code> of the request hold, and over them those of the recipient. Nothing is read from contacts`,
  ],
  [
    "Campaigns, sequences, holidays",
    html`Of the contact <code>firstName</code>, <code>lastName</code>, <code>phone</code>, <code>company</code>, <code>timezone</code> and its
custom fields, as <code>customFields.plan</code> or for short <code>plan</code>; <code>unsubscribeUrl</code>, and <code>contactToken</code> for links that
<a href="#trackingIdentify">tracking</a> knows the reader by`,
  ],
];

export const variables = html`<p>Subject, html and text are <a href="https://liquidjs.com/">Liquid</a>. What they know depends on the mail:</p>
<table><thead><tr><th scope="col">Mail</th><th scope="col">Variables</th></tr></thead><tbody>
${known.map(([where, what]) => html`<tr><td>${where}</td><td>${what}</td></tr>\n`)}</tbody></table>
<pre><code>${`<p>Hello {{ firstName | default: "there" }},</p>
{% if customFields.plan == "pro" %}
<p>Your next invoice: {{ customFields.renewsAt | date: "%d %B" }}</p>
{% endif %}
<p><a href="{{ unsubscribeUrl }}">No more of these</a></p>`}</code></pre>
<p>Of two with the same name the contact's own field goes over a custom one, and any variable or custom field over <code>email</code> and <code>name</code>;
<code>unsubscribeUrl</code> and <code>contactToken</code> are always ours. Marketing mail has a link to unsubscribe in its footer anyway.</p>
<p>What is not given is empty; give it a <code>default</code>. <a href="#send">Sending</a> names it in <code>warnings</code>,
<a href="#renderTemplate">the preview of a template</a> in <code>missingVariables</code>. In html every output is escaped, unless its last filter is <code>raw</code>.
<code>"now"</code> is the time, in UTC, at which the mail was accepted. All tags and filters are there, but <code>include</code>, <code>render</code>,
<code>layout</code>, <code>block</code>, <code>sample</code> and those ending in <code>_exp</code>.</p>`;

export const files = (
  baseUrl: string,
): Html => html`<p>A file may stand in the request as base64, in <code>attachments[].content</code>. What is too big for that is
uploaded first: ask for a place, <code>PUT</code> the file there with the very type and size that you named, and name its <code>uploadId</code>, all within
the hour. An attachment may have 10 MB and can be named more than once. A file to be imported, with <code>"purpose": "import"</code>, may have 1 GB and be named for a day.</p>
<pre><code>${`curl ${baseUrl}/attachments -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
  -d '{"filename":"invoice.pdf","type":"application/pdf","size":48213}'
curl -X PUT --data-binary @invoice.pdf -H 'Content-Type: application/pdf' "$UPLOAD_URL"
curl ${baseUrl}/send -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
  -d '{"to":"ada@example.com","fromEmail":"hello@shop.example","subject":"Invoice","html":"<p>Here it is.</p>","attachments":[{"filename":"invoice.pdf","uploadId":"…"}]}'`}</code></pre>`;

export const suppressionImport = (
  baseUrl: string,
): Html => html`<p><a href="#suppressionsImport">The import</a> takes up to 10,000 rows, as JSON or as CSV. JSON is
<code>{"emails": ["…"]}</code>, or <code>{"suppressions": [{"email": "…", "reason": "bounce", "detail": "…"}]}</code>. CSV is separated by comma, semicolon
or tab; with a header that names a column <code>email</code>, columns <code>reason</code> and <code>detail</code> are read too; without one each row's first cell is the
address. Other columns are passed over. A bad row fails alone, and an import that is made again adds nothing twice.</p>
<pre><code>${`curl ${baseUrl}/suppressions/import -H "Authorization: Bearer $KEY" -H 'Content-Type: text/csv' --data-binary @- <<'END'
email,reason,detail
ada@example.com,bounce,550 5.1.1 user unknown
grace@example.com,unsubscribe,
END`}</code></pre>`;

const proofs: [header: string, what: string][] = [
  ["X-Webhook-Signature", "HMAC-SHA256 of the raw body in lower-case hex, keyed by the endpoint's secret"],
  ["X-Webhook-Signature-Previous", "The same with the secret before, while both hold after a change"],
  ["webhook-id", "The same for every attempt at one event: drop what you have seen"],
  ["webhook-timestamp", "When this attempt was made, in Unix seconds"],
  ["webhook-signature", "As Standard Webhooks has it: v1, and the base64 of the HMAC-SHA256 of id.timestamp.body"],
];

/** May be broken after a hyphen: a phone is narrow. */
const breakable = (header: string): Html[] => header.split(/(?<=-)/).map((part, i) => (i ? html`<wbr>${part}` : html`${part}`));

export const webhooks = html`<p><a href="#createWebhook">An endpoint</a> of yours is called with a <code>POST</code> for each event, with a JSON body of
<code>event</code>, <code>sendId</code>, <code>contactId</code>, <code>email</code> and <code>timestamp</code>. Compare signatures in constant time, over the bytes as they came.</p>
<table><thead><tr><th scope="col">Header</th><th scope="col">What it is</th></tr></thead><tbody>
${proofs.map(([header, what]) => html`<tr><td><code>${breakable(header)}</code></td><td>${what}</td></tr>\n`)}</tbody></table>
<p>Any 2xx within 15 seconds is delivered. Anything else is tried again after ${retrySeconds
  .map(inWords)
  .join(", ")
  .replace(/, (?=[^,]*$)/, " and ")}, each a
little more or less; then it is <code>dead</code>, as at once after <code>410</code>. Redirects are not followed. Events may come twice and in any order. What became of each is
<a href="#listWebhookDeliveries">listed</a> for 30 days, and can be delivered again.</p>`;

function inWords(seconds: number): string {
  const [count, unit] =
    seconds % 3600 === 0 ? [seconds / 3600, "hour"] : seconds % 60 === 0 ? [seconds / 60, "minute"] : [seconds, "second"];
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

const chosen = "A word of your choice, 12 characters or more, that you also put in place of YOUR_SECRET in the webhookUrl";
const secrets: Record<string, string> = {
  sendgrid: "The verification key (a public key) of the Signed Event Webhook",
  mailgun: "The HTTP webhook signing key of the account",
  sparkpost:
    "A token of your choice, that the webhook sends as the password of basic authentication or in the custom header X-Webhook-Token",
  mandrill: "The key that Mandrill shows beside the webhook",
  resend: "The signing secret of the webhook; begins with whsec_",
};

export const providerWebhooks = html`<p>What becomes of your mail we hear from the provider. At its console enter the <code>webhookUrl</code> of
<a href="#getSendingConfig">the sending config</a>, have it report all kinds of events, and give us what proves its calls as <code>webhookSecret</code>:</p>
<table><thead><tr><th scope="col">Provider</th><th scope="col">webhookSecret</th></tr></thead><tbody>
${providers.map(({ key, name }) => html`<tr><td>${name}</td><td>${secrets[key] ?? chosen}</td></tr>\n`)}</tbody></table>
<p>SMTP2GO must also be told to repeat the header <code>X-Send-Id</code>, and Amazon SES needs a configuration set whose SNS topic calls the URL. Without a secret no event is
believed.</p>`;
