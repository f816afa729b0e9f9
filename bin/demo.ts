// A first look: `npm run demo`, `npm run demo -- --csv people.csv --url http://127.0.0.1:3000`. Makes an organization of its own
// in a running service (that of `npm start` with the same HOST and PORT, unless --url names another), sends one mail and a batch through
// the provider sandbox, and shows what arrived.
import { randomUUID } from "node:crypto";
import { basename, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, styleText } from "node:util";
import { named } from "../infra/local/address.ts";
import { ask, type Caller, call, sandboxAccount } from "../infra/local/caller.ts";
import { type Arrived, arrivals, type Failed, fates, newestMail } from "../infra/local/demo/arrivals.ts";
import { type Person, readPeople } from "../infra/local/demo/people.ts";
import { figure, progress } from "../infra/local/demo/progress.ts";
import { Trouble } from "../infra/local/trouble.ts";

const sample = fileURLToPath(new URL("demo-people.csv", import.meta.url));
const usage = "npm run demo -- [--csv people.csv] [--url http://127.0.0.1:3000]";
const perBatch = 1000;
const from = { fromEmail: "hello@pennymail.test", fromName: "Pennymail demo" };

try {
  await demo();
} catch (error) {
  if (!(error instanceof Trouble)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

async function demo() {
  const { csv, url } = settings();
  const { done, moved } = progress({ isTTY: process.stdout.isTTY, write: (text) => process.stdout.write(text) });
  const people = readPeople(csv);
  const nobody: Caller = { url, headers: {} };
  const account = await sandboxAccount(nobody);
  const after = await newestMail(nobody);

  const { caller, email, password, key } = await signUp(nobody);
  done(`signed up as ${email}`);
  await call(caller, "POST", "/sites", { name: "Demo shop" });
  const template = await call<{ id: number }>(caller, "POST", "/templates", templateFor(people.columns));
  done(`made a site, an API key and a template with ${["email", ...people.columns].join(", ")}`);
  await addProvider(caller, account.providers);
  done("added a sending config at the sandbox, and verified it with a test mail");

  const started = performance.now();
  await call(caller, "POST", "/send", { to: email, templateId: template.id, variables: people.people[0]!.variables, ...from });
  done("sent one mail");
  const { batchIds, emails, rejected } = await sendBatches(caller, template.id, people.people, (sent) =>
    moved("handed in", sent, people.people.length),
  );
  done(
    `sent ${figure(emails.length)} more from ${basename(csv)}, in ${batchIds.length === 1 ? "one request" : `${batchIds.length} requests`}`,
  );
  const outcome = await arrivals(caller, { batchIds, emails: [email, ...emails], after }, (settled) =>
    moved("arrived or refused", settled, emails.length + 1),
  );
  done(`${figure(outcome.arrived.length)} mails arrived, ${((outcome.lastAt - started) / 1000).toFixed(1)} s after the first was sent`);
  report({ ...outcome, rejected });
  const [batchId] = batchIds;
  if (emails.length) console.log(`  the batch so far: ${await fates(caller, batchId!)}`);
  whereToLook(url, { email, password, key });
}

function settings(): { csv: string; url: string } {
  const options = { csv: { type: "string", default: sample }, url: { type: "string" } } as const;
  try {
    const { csv, url } = parseArgs({ options }).values;
    // npm runs us in its own folder; files are named as seen from the caller's.
    return { csv: resolve(process.env.INIT_CWD ?? "", csv), url: named(url, process.env) };
  } catch (error) {
    throw new Trouble(`${(error as Error).message.split(". ")[0]}. Usage: ${usage}`);
  }
}

async function signUp(nobody: Caller) {
  const email = `demo-${randomUUID().slice(0, 8)}@example.com`;
  const password = randomUUID();
  const { status, cookie, body } = await ask(nobody, "POST", "/api/v1/auth/signup", { email, password, organizationName: "Demo" });
  if (status !== 201) throw new Trouble(`Signing up was answered ${status}: ${body.error}`);
  const session: Caller = { ...nobody, headers: { cookie } };
  // The file may have more people than the free plan has mails.
  const { organization } = body.data as { organization: { id: number } };
  await ask(nobody, "POST", "/_local/plan", { organizationId: organization.id, plan: "growth" });
  const { key } = await call<{ key: string }>(session, "POST", "/api-keys", { name: "demo" });
  return { email, password, key, caller: { ...nobody, headers: { authorization: `Bearer ${key}` } } };
}

/** Says all that is known of someone. */
function templateFor(columns: string[]) {
  const facts = columns.map((column) => `<li>${column}: <b>{{ ${column} | default: "nothing" }}</b></li>`);
  return {
    name: "Demo",
    subject: columns.includes("firstName") ? 'Welcome, {{ firstName | default: "there" }}' : "Welcome, {{ email }}",
    html: `<h1>Welcome</h1><p>What we know of {{ email }}:</p><ul>${facts.join("")}</ul><p><a href="https://shop.example/">Have a look around</a></p>`,
  };
}

async function addProvider(caller: Caller, providers: Awaited<ReturnType<typeof sandboxAccount>>["providers"]) {
  const [provider, { credentials, webhookSecret }] = Object.entries(providers)[0]!;
  const { id } = await call<{ id: number }>(caller, "POST", "/sending-configs", { provider, credentials, webhookSecret, ...from });
  await call(caller, "POST", `/sending-configs/${id}/verify`, { to: "delivered@simulator.pennymail.test" });
}

interface Result {
  to: string;
  status: string;
  error: string | null;
}

async function sendBatches(caller: Caller, templateId: number, people: Person[], sent: (count: number) => void) {
  const results: Result[] = [];
  const batchIds: number[] = [];
  for (let i = 0; i < people.length; i += perBatch) {
    const recipients = people.slice(i, i + perBatch).map(({ email, variables }) => ({ to: email, variables }));
    const body = { templateId, recipients, trackOpens: true, trackClicks: true, ...from };
    const batch = await call<{ batchId: number; results: Result[] }>(caller, "POST", "/send/batch", body);
    batchIds.push(batch.batchId);
    results.push(...batch.results);
    sent(results.length);
  }
  const accepted = results.filter(({ status }) => status === "queued");
  return { batchIds, emails: accepted.map(({ to }) => to), rejected: results.filter((result) => !accepted.includes(result)) };
}

function report({ arrived, failed, rejected }: { arrived: Arrived[]; failed: Failed[]; rejected: Result[] }) {
  const few = <T>(all: T[], line: (one: T) => string) => {
    for (const one of all.slice(0, 5)) console.log(`    ${line(one)}`);
    if (all.length > 5) console.log(styleText("dim", `    and ${figure(all.length - 5)} more`));
  };
  few(arrived, ({ to, subject }) => `${subject}  ${styleText("dim", to.email)}`);
  if (failed.length) console.log(`  ${figure(failed.length)} refused by the provider`);
  few(failed, ({ toEmail, error }) => `${toEmail}  ${styleText("dim", error ?? "")}`);
  if (rejected.length) console.log(`  ${figure(rejected.length)} rejected by the service`);
  few(rejected, ({ to, error }) => `${to}  ${styleText("dim", error ?? "")}`);
}

function whereToLook(url: string, { email, password, key }: { email: string; password: string; key: string }) {
  const line = (name: string, what: string) => console.log(`  ${styleText("bold", name.padEnd(7))} ${what}`);
  const body = JSON.stringify({ to: "you@example.com", ...from, subject: "Hello", html: "<p>Hello</p>" });
  console.log();
  line("inbox", `${url}/_local/inbox`);
  line("docs", `${url}/api/v1/docs`);
  line("key", key);
  line("login", `${email} ${password}`);
  line("go on", `curl ${url}/api/v1/send -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' \\`);
  line("", `  -d '${body}'`);
}
