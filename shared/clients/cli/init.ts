// `pennymail init`: from nothing to the first email.
import { hostname } from "node:os";
import { AuthenticationError } from "../sdk/errors.ts";
import { type ApiClient, call, createClient } from "./api-client.ts";
import { type Command, type CommandInput, textOf } from "./command.ts";
import { readConfig } from "./config-file.ts";
import { CommandError } from "./exit-codes.ts";
import { checkUrl, saveCredential } from "./login.ts";
import { parseJson } from "./operation-options.ts";
import { openPrompt, type Prompt } from "./prompt.ts";
import { printable, type Terminal } from "./terminal.ts";

export const init: Command = {
  usage: "init [options]",
  summary: "Create an API key, a site and a sending config",
  description:
    "Asks for what the options do not say, and skips what is there already. The password can " +
    "also be in PENNYMAIL_PASSWORD.",
  options: {
    url: { type: "string" },
    email: { type: "string" },
    "sign-up": { type: "boolean" },
    "site-name": { type: "string" },
    provider: { type: "string" },
    "from-email": { type: "string" },
    credentials: { type: "string" },
    "webhook-secret": { type: "string" },
  },
  optionTexts: {
    "--url URL": "URL of the service",
    "--email TEXT": "Email address to log in with",
    "--sign-up": "Create the account if there is none",
    "--site-name TEXT": "Name of the site",
    "--provider TEXT": "Email provider; `sandbox` is the one of `npm start`",
    "--from-email TEXT": "Email address of the sender",
    "--credentials JSON": "Credentials of the provider: `pennymail providers list` names them",
    "--webhook-secret TEXT": "Secret that verifies the webhooks of the provider",
  },
  run: initialize,
};

/** The steps share the terminal, the options and the questions. */
interface Setup {
  terminal: Terminal;
  prompt: Prompt;
  option(name: string): string | undefined;
  /** The option, or the answer to the question. */
  ask(name: string, question: string, fallback?: string): Promise<string>;
}

async function initialize({ terminal, values }: CommandInput): Promise<void> {
  const prompt = openPrompt();
  const option = (name: string) => textOf(values[name]);
  const ask: Setup["ask"] = async (name, question, fallback) =>
    option(name) ?? prompt.ask(question, `--${name}`, fallback);
  const setup: Setup = { terminal, prompt, option, ask };
  try {
    const { client, url } = await ensureKey(setup, values["sign-up"] === true);
    await ensureSite(setup, client);
    const sender = await ensureSendingConfig(setup, client, url);
    terminal.writeError("\nSend the first email:\n");
    terminal.write(
      `pennymail send --to you@example.com --from-email ${sender ?? "hello@shop.example"} ` +
        `--subject Hello --html '<p>Hello</p>'\n`,
    );
  } finally {
    prompt.close();
  }
}

const step = ({ terminal }: Setup, text: string) => terminal.writeError(`✓ ${text}\n`);

/** The stored key if it works, else a new one of the user. */
async function ensureKey(setup: Setup, maySignUp: boolean) {
  const { url: known, apiKey: stored } = readConfig();
  const url = checkUrl(
    setup.option("url") ?? known ?? (await setup.ask("url", "URL of the service", localUrl)),
  );
  if (stored && known && url === checkUrl(known)) {
    const client = createClient({ url, apiKey: stored }, setup.terminal);
    await call(client, "account.getCallerIdentity");
    step(setup, `The stored API key works at ${url}`);
    return { client, url };
  }
  const session = await openSession(setup, url, maySignUp);
  const name = `pennymail on ${hostname()}`.slice(0, 100);
  const { key: apiKey } = await call<{ key: string }>(session, "apiKeys.create", { name });
  saveCredential({ url, apiKey });
  step(setup, "Created an API key and stored it");
  return { client: createClient({ url, apiKey }, setup.terminal), url };
}

const localUrl = "http://127.0.0.1:3000";

/** A client with the session of the user. */
async function openSession(setup: Setup, url: string, maySignUp: boolean): Promise<ApiClient> {
  const email = await setup.ask("email", "Email address");
  const password =
    process.env.PENNYMAIL_PASSWORD ??
    (await setup.prompt.askSecret("Password", "PENNYMAIL_PASSWORD"));
  let cookie = "";
  const client = createClient({ url }, setup.terminal, {
    hooks: {
      request: ({ headers }) => {
        if (cookie) headers.set("cookie", cookie);
      },
      response: ({ headers }) => {
        cookie = headers.getSetCookie()[0]?.split(";")[0] ?? cookie;
      },
    },
  });
  const proof = { email, password };
  await logInOrSignUp(setup, client, { proof, maySignUp });
  return client;
}

interface LoginResult {
  mfaRequired?: true;
  mfaToken: string;
  methods: string[];
}

async function logInOrSignUp(
  setup: Setup,
  client: ApiClient,
  { proof, maySignUp }: { proof: { email: string; password: string }; maySignUp: boolean },
): Promise<void> {
  const result = await call<LoginResult>(client, "account.logIn", proof).catch((error) => {
    if (!(error instanceof AuthenticationError)) throw error;
    return undefined;
  });
  if (result?.mfaRequired) return proveSecondFactor(setup, client, result);
  if (result) return step(setup, `Logged in as ${proof.email}`);
  const question = "No account has this email and password. Create one? (y/n)";
  const answer = maySignUp ? "y" : await setup.prompt.ask(question, "--sign-up");
  if (!/^y/i.test(answer)) throw new CommandError("Run `pennymail init` again to log in");
  await call(client, "account.signUp", proof);
  step(setup, `Created the account ${proof.email}`);
}

async function proveSecondFactor(
  setup: Setup,
  client: ApiClient,
  { mfaToken, methods }: LoginResult,
): Promise<void> {
  if (!methods.includes("totp")) await call(client, "mfa.sendCode", { mfaToken });
  const source = methods.includes("totp") ? "of the authenticator app" : "in the email";
  const code = await setup.prompt.ask(`Code ${source}`, "an answer");
  await call(client, "mfa.verifyCode", { mfaToken, code });
  step(setup, "Logged in with the second factor");
}

async function ensureSite(setup: Setup, client: ApiClient): Promise<void> {
  const { sites } = await call<{ sites: { id: number; name: string }[] }>(client, "sites.list");
  const [first] = sites;
  if (first) return step(setup, `The site ${first.id} is there: ${printable(first.name)}`);
  const name = await setup.ask("site-name", "Name of your site", "My shop");
  const { id } = await call<{ id: number }>(client, "sites.create", { name });
  step(setup, `Created the site ${id}`);
}

interface SendingConfig {
  id: number;
  fromEmail: string | null;
  /** Null: the provider has no webhooks. */
  webhookUrl: string | null;
}

/** Returns the sender's address. */
async function ensureSendingConfig(setup: Setup, client: ApiClient, url: string) {
  const list = await call<{ sendingConfigs: SendingConfig[] }>(client, "sendingConfigs.list");
  const [first] = list.sendingConfigs;
  if (first) {
    step(setup, `The sending config ${first.id} is there`);
    return first.fromEmail;
  }
  const sandbox = await readSandbox(url);
  const provider = await setup.ask("provider", "Email provider", sandbox ? "sandbox" : "sendgrid");
  const fromEmail = await setup.ask("from-email", "Email address of the sender");
  const account =
    provider === "sandbox" && sandbox
      ? sandboxAccount(sandbox)
      : await askAccount(setup, client, provider);
  const created = await call<SendingConfig>(client, "sendingConfigs.create", {
    ...account,
    fromEmail,
  });
  step(setup, `Created the sending config ${created.id}`);
  if (provider !== "sandbox" && created.webhookUrl)
    step(setup, `Enter this URL at the provider for its webhook: ${created.webhookUrl}`);
  return fromEmail;
}

type SandboxAccounts = Record<string, { credentials: object; webhookSecret: string }>;

/** Accounts at the provider sandbox of `npm start`; undefined at any other service. */
async function readSandbox(url: string): Promise<SandboxAccounts | undefined> {
  const response = await fetch(`${url}/_local/sandbox`, {
    headers: { accept: "application/json" },
  }).catch(() => undefined);
  const body = response?.ok ? await response.json().catch(() => undefined) : undefined;
  return (body as { data?: { providers?: SandboxAccounts } } | undefined)?.data?.providers;
}

function sandboxAccount({ sendgrid }: SandboxAccounts) {
  const { credentials, webhookSecret } = sendgrid!;
  return { provider: "sendgrid", credentials, webhookSecret };
}

interface ProviderInfo {
  key: string;
  name: string;
  configFields: { name: string; description: string; required: boolean }[];
}

/** Asks for the credentials that the provider needs. */
async function askAccount(setup: Setup, client: ApiClient, provider: string) {
  const { providers } = await call<{ providers: ProviderInfo[] }>(client, "providers.list");
  const known = providers.find(({ key }) => key === provider);
  if (!known)
    throw new CommandError(
      `--provider must be one of ${providers.map(({ key }) => key).join(", ")}`,
    );
  const webhookSecret = setup.option("webhook-secret");
  const credentials = setup.option("credentials");
  return {
    provider,
    credentials: credentials
      ? parseJson(credentials, "--credentials")
      : await askFields(setup, known),
    ...(webhookSecret !== undefined && { webhookSecret }),
  };
}

async function askFields({ prompt }: Setup, { name, configFields }: ProviderInfo) {
  const answers: Record<string, string> = {};
  for (const field of configFields.filter(({ required }) => required))
    answers[field.name] = await prompt.askSecret(`${name}: ${field.name}`, "--credentials");
  return answers;
}
