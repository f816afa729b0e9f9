// The accounts page: which credentials to put on a sending config, and which recipients choose their fate.
import { escaped } from "../templates.ts";

interface Shown {
  account: string;
  providers: Record<string, { name: string; credentials: Record<string, string>; webhookSecret: string }>;
  recipients: Record<string, string>;
}

export const sandboxPage = ({ account, providers, recipients }: Shown, publicUrl: string): string => `<!doctype html>
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
  <nav aria-label="Sandbox"><a class="button" href="/">Home</a> <a class="button" href="/api/v1/docs">Docs</a> <a class="button" href="/_local/inbox">Inbox</a> <a class="button" href="/_local/sandbox">New account</a></nav>
</header>
<main class="guide">
<p>This is account <code>${escaped(account)}</code> at each of the ten providers, made just now and good for as long as this data folder.
Keep <a href="/_local/sandbox?account=${escaped(account)}">this link</a> to see it again.</p>
<p>Post one of the bodies below to <code>${escaped(publicUrl)}/api/v1/sending-configs</code>. Mails sent through that config arrive in the
<a href="/_local/inbox">inbox</a>, and the config's webhook URL gets the provider's own signed events.</p>
<h2>Sending configs</h2>
${Object.entries(providers).map(provider).join("\n")}
<h2>Recipients that choose their fate</h2>
<p>At <code>simulator.pennymail.test</code>, each with a <code>+label</code> if you like: <code>bounced+7@simulator.pennymail.test</code>.
Mail to any other address is delivered.
A sender at <code>unverified.pennymail.test</code> is refused as one that is not verified.</p>
<table>
<thead><tr><th scope="col">Recipient</th><th scope="col">What happens</th></tr></thead>
<tbody>${Object.entries(recipients)
  .map(([email, what]) => `<tr><td><code>${escaped(email.split("@")[0]!)}@</code></td><td>${escaped(what)}</td></tr>`)
  .join("\n")}</tbody>
</table>
<p id="news" class="hidden" role="status"></p>
</main>
</body>
</html>
`;

function provider([key, { name, credentials, webhookSecret }]: [string, Shown["providers"][string]], index: number): string {
  const body = { provider: key, fromEmail: "hello@pennymail.test", fromName: "Pennymail", credentials, webhookSecret };
  return `<details${index ? "" : " open"}>
<summary>${escaped(name)}</summary>
<div class="body"><pre id="body-${key}" tabindex="0" aria-label="Body for ${escaped(name)}">${escaped(JSON.stringify(body, null, 2))}</pre>
<button type="button" data-copies="body-${key}">Copy<span class="hidden"> the body for ${escaped(name)}</span></button></div>
</details>`;
}
