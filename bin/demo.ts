// Creates an organization in a running service, sends one mail and a batch through the provider
// sandbox, and shows the arrived mails.
import { randomUUID } from "node:crypto";
import { basename, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { styleText } from "node:util";
import {
  type ApiTarget,
  callApi,
  createSandboxAccount,
  sendRequest,
} from "../infra/local/api-client.ts";
import { CliError } from "../infra/local/cli-error.ts";
import { runCommand } from "../infra/local/command-line.ts";
import { createProgress, formatCount } from "../infra/local/demo/progress.ts";
import { type DemoRecipient, readRecipients } from "../infra/local/demo/recipients-csv.ts";
import {
  type ArrivedMail,
  type FailedSend,
  newestMailId,
  summarizeStatuses,
  waitForMails,
} from "../infra/local/demo/wait-for-mails.ts";
import { resolveServiceUrl } from "../infra/local/listen-address.ts";

const sampleCsv = fileURLToPath(new URL("demo-people.csv", import.meta.url));
const usage = `npm run demo -- [--csv people.csv] [--url http://127.0.0.1:3000]

Signs up at a service with the sandbox, sends to the people of a CSV file and shows their mail.
  --csv    the first line names the columns; one of them is email
  --url    address of the service; by default that of npm start with the same HOST and PORT`;
const batchSize = 1000;
const sender = { fromEmail: "hello@pennymail.test", fromName: "Pennymail demo" };

await runCommand({
  usage,
  options: { csv: { type: "string", default: sampleCsv }, url: { type: "string" } },
  // npm changes the working directory. Paths are relative to the caller's.
  run: ({ values: { csv, url } }) =>
    demo(resolve(process.env.INIT_CWD ?? "", csv), resolveServiceUrl(url, process.env)),
});

async function demo(csv: string, url: string) {
  const { finishStep, update } = createProgress({
    isTTY: process.stdout.isTTY,
    write: (text) => process.stdout.write(text),
  });
  const people = readRecipients(csv);
  const anonymous: ApiTarget = { url, headers: {} };
  const account = await createSandboxAccount(anonymous);
  const after = await newestMailId(anonymous);

  const { caller, email, password, key } = await signUp(anonymous);
  finishStep(`signed up as ${email}`);
  await callApi(caller, "POST /sites", { name: "Demo shop" });
  const template = await callApi<{ id: number }>(
    caller,
    "POST /templates",
    templateFor(people.columns),
  );
  finishStep(
    "created a site, an API key and a template with the variables " +
      ["email", ...people.columns].join(", "),
  );
  await addSendingConfig(caller, account.providers);
  finishStep("added a sending config for the sandbox and verified it with a test mail");

  const started = performance.now();
  await callApi(caller, "POST /send", {
    to: email,
    templateId: template.id,
    variables: people.recipients[0]!.variables,
    ...sender,
  });
  finishStep("sent one mail");
  const { batchIds, emails, rejected } = await sendBatches(
    caller,
    { templateId: template.id, recipients: people.recipients },
    (sent) => update("sent to the API", sent, people.recipients.length),
  );
  const requests = batchIds.length === 1 ? "one request" : `${batchIds.length} requests`;
  finishStep(`sent ${formatCount(emails.length)} more from ${basename(csv)}, in ${requests}`);
  const arrival = await waitForMails(
    caller,
    { batchIds, emails: [email, ...emails], after },
    (settled) => update("arrived or refused", settled, emails.length + 1),
  );
  const seconds = ((arrival.lastAt - started) / 1000).toFixed(1);
  finishStep(
    `${formatCount(arrival.arrived.length)} mails arrived, ${seconds} s after the first was sent`,
  );
  printResults({ ...arrival, rejected });
  const [batchId] = batchIds;
  if (emails.length)
    console.log(`  the batch so far: ${await summarizeStatuses(caller, batchId!)}`);
  printNextSteps(url, { email, password, key });
}

async function signUp(anonymous: ApiTarget) {
  const email = `demo-${randomUUID().slice(0, 8)}@example.com`;
  const password = randomUUID();
  const { status, cookie, body } = await sendRequest(anonymous, "POST /api/v1/auth/signup", {
    email,
    password,
    organizationName: "Demo",
  });
  if (status !== 201) throw new CliError(`Sign-up failed with status ${status}: ${body.error}`);
  const session: ApiTarget = { ...anonymous, headers: { cookie } };
  // The file can have more people than the free plan has mails.
  const { organization } = body.data as { organization: { id: number } };
  await sendRequest(anonymous, "POST /_local/plan", {
    organizationId: organization.id,
    plan: "growth",
  });
  const { key } = await callApi<{ key: string }>(session, "POST /api-keys", { name: "demo" });
  return {
    email,
    password,
    key,
    caller: { ...anonymous, headers: { authorization: `Bearer ${key}` } },
  };
}

/** A template that shows all variables of a recipient. */
function templateFor(columns: string[]) {
  const columnLines = columns.map(
    (column) => `<li>${column}: <b>{{ ${column} | default: "nothing" }}</b></li>`,
  );
  return {
    name: "Demo",
    subject: columns.includes("firstName")
      ? 'Welcome, {{ firstName | default: "there" }}'
      : "Welcome, {{ email }}",
    html: `<h1>Welcome</h1><p>Your data for {{ email }}:</p><ul>${columnLines.join("")}</ul>
<p><a href="https://shop.example/">Visit the shop</a></p>`,
  };
}

async function addSendingConfig(
  caller: ApiTarget,
  providers: Awaited<ReturnType<typeof createSandboxAccount>>["providers"],
) {
  const [provider, { credentials, webhookSecret }] = Object.entries(providers)[0]!;
  const { id } = await callApi<{ id: number }>(caller, "POST /sending-configs", {
    provider,
    credentials,
    webhookSecret,
    ...sender,
  });
  await callApi(caller, `POST /sending-configs/${id}/verify`, {
    to: "delivered@simulator.pennymail.test",
  });
}

interface Result {
  to: string;
  status: string;
  error: string | null;
}

async function sendBatches(
  caller: ApiTarget,
  { templateId, recipients: all }: { templateId: number; recipients: DemoRecipient[] },
  onProgress: (sent: number) => void,
) {
  const results: Result[] = [];
  const batchIds: number[] = [];
  for (let i = 0; i < all.length; i += batchSize) {
    const recipients = all
      .slice(i, i + batchSize)
      .map(({ email, variables }) => ({ to: email, variables }));
    const body = { templateId, recipients, trackOpens: true, trackClicks: true, ...sender };
    const batch = await callApi<{ batchId: number; results: Result[] }>(
      caller,
      "POST /send/batch",
      body,
    );
    batchIds.push(batch.batchId);
    results.push(...batch.results);
    onProgress(results.length);
  }
  const accepted = results.filter(({ status }) => status === "queued");
  return {
    batchIds,
    emails: accepted.map(({ to }) => to),
    rejected: results.filter((result) => !accepted.includes(result)),
  };
}

function printResults({
  arrived,
  failed,
  rejected,
}: {
  arrived: ArrivedMail[];
  failed: FailedSend[];
  rejected: Result[];
}) {
  const printFirst = <T>(all: T[], line: (one: T) => string) => {
    for (const one of all.slice(0, 5)) console.log(`    ${line(one)}`);
    if (all.length > 5)
      console.log(styleText("dim", `    and ${formatCount(all.length - 5)} more`));
  };
  printFirst(arrived, ({ to, subject }) => `${subject}  ${styleText("dim", to.email)}`);
  if (failed.length) console.log(`  ${formatCount(failed.length)} refused by the provider`);
  printFirst(failed, ({ toEmail, error }) => `${toEmail}  ${styleText("dim", error ?? "")}`);
  if (rejected.length) console.log(`  ${formatCount(rejected.length)} rejected by the service`);
  printFirst(rejected, ({ to, error }) => `${to}  ${styleText("dim", error ?? "")}`);
}

function printNextSteps(
  url: string,
  { email, password, key }: { email: string; password: string; key: string },
) {
  const line = (name: string, what: string) =>
    console.log(`  ${styleText("bold", name.padEnd(7))} ${what}`);
  const body = JSON.stringify({
    to: "you@example.com",
    ...sender,
    subject: "Hello",
    html: "<p>Hello</p>",
  });
  console.log();
  line("inbox", `${url}/_local/inbox`);
  line("docs", `${url}/api/v1/docs`);
  line("key", key);
  line("login", `${email} ${password}`);
  line(
    "try",
    `curl ${url}/api/v1/send -H 'Authorization: Bearer ${key}' ` +
      "-H 'Content-Type: application/json' \\",
  );
  line("", `  -d '${body}'`);
}
