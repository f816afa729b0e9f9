// The accounts page: the credentials for sending configs, and the recipients of the simulator.
import { escapeHtml } from "../merge-syntax.ts";

interface AccountView {
  account: string;
  providers: Record<
    string,
    {
      name: string;
      url: string;
      credentials: Record<string, string>;
      /** Absent: it has no webhooks. */
      webhookSecret?: string;
    }
  >;
  postmasterTools: { serviceAccountKey: string };
  recipients: Record<string, string>;
}

export const renderAccountsPage = (
  { account, providers, postmasterTools, recipients }: AccountView,
  publicUrl: string,
): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Accounts · Pennymail sandbox</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/_local/sandbox/look.css">
<script type="module" src="/_local/sandbox/sandbox.js"></script>
</head>
<body>
<header class="bar">
  <h1>Sandbox account</h1>
  <nav aria-label="Sandbox">
    <a class="button" href="/">Home</a> <a class="button" href="/api/v1/docs">Docs</a>
    <a class="button" href="/_local/inbox">Inbox</a>
    <a class="button" href="/_local/sandbox">New account</a>
  </nav>
</header>
<main class="guide">
<p>This is account <code>${escapeHtml(account)}</code> at each of the ten providers,
and at an SMTP server.
It works as long as the data folder exists.
Keep <a href="/_local/sandbox?account=${escapeHtml(account)}">this link</a> to see it again.</p>
<p>Post one of the bodies below to <code>${escapeHtml(publicUrl)}/api/v1/sending-configs</code>.
Mails of that config arrive in the <a href="/_local/inbox">inbox</a>,
and its webhook URL receives the provider's signed events.</p>
<h2>Sending configs</h2>
${Object.entries(providers).map(renderProvider).join("\n")}
<h2>Google Postmaster Tools</h2>
<p>Enter this key in the console under Settings, Gmail. Google then shows made-up figures
of the domains from which this account has sent email: none if the first part of the domain is
<code>quiet</code>, and too many reports of spam if it is <code>complained</code>.</p>
<details>
<summary>Key of a service account</summary>
${renderCopied("google", "Key of a service account", postmasterTools.serviceAccountKey)}
</details>
<h2>Simulated recipients</h2>
<p>Mail to these addresses at <code>simulator.pennymail.test</code> has a fixed outcome. You can add
a <code>+label</code>: <code>bounced+7@simulator.pennymail.test</code>.
Mail to any other address is delivered.
Providers refuse senders at <code>unverified.pennymail.test</code> as not verified.</p>
<table>
<thead><tr><th scope="col">Recipient</th><th scope="col">Outcome</th></tr></thead>
<tbody>${Object.entries(recipients)
  .map(
    ([email, description]) =>
      `<tr><td><code>${escapeHtml(email.split("@")[0]!)}@</code></td>` +
      `<td>${escapeHtml(description)}</td></tr>`,
  )
  .join("\n")}</tbody>
</table>
<p id="news" class="hidden" role="status"></p>
</main>
</body>
</html>
`;

function renderProvider(
  [key, { name, url, credentials, webhookSecret }]: [string, AccountView["providers"][string]],
  index: number,
): string {
  const body = {
    provider: key,
    fromEmail: "hello@pennymail.test",
    fromName: "Pennymail",
    credentials,
    webhookSecret,
  };
  const label = escapeHtml(name);
  return `<details${index ? "" : " open"}>
<summary>${label}</summary>
<p>Until the next start, its API answers at <code>${escapeHtml(url)}</code>, for its SDK too.</p>
${renderCopied(key, `Body for ${name}`, JSON.stringify(body, null, 2))}
</details>`;
}

const renderCopied = (key: string, label: string, text: string): string => `<div class="body">
<pre id="body-${key}" tabindex="0" aria-label="${escapeHtml(label)}">${escapeHtml(text)}</pre>
<button type="button" data-copies="body-${key}">Copy<span class="hidden"> the
${escapeHtml(label)}</span></button></div>`;
