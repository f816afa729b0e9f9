// The command line as a customer installs it: child processes against a service.
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from "vitest";
import { verifyWebhook } from "../../shared/clients/sdk/webhooks.ts";
import { type ExportTable, formatWriters } from "../../shared/kernel/table-export.ts";
import { signedUp, type TestClient, uniqueEmail, waitForMail } from "../support/api-client.ts";
import { startCustomerEndpoint } from "../support/customer-endpoint.ts";
import { createSdkProject, type SdkProject } from "../support/sdk-project.ts";
import { waitFor } from "../support/wait-for.ts";

const url = inject("baseUrl");
let project: SdkProject;
beforeAll(async () => {
  project = await createSdkProject();
});
afterAll(() => project?.remove());

interface Ran {
  code: number | null;
  output: string;
  notes: string;
}

interface Running {
  child: ChildProcess;
  ran: Ran;
  ended: Promise<Ran>;
}

let lastHome = 0;
const running = new Set<ChildProcess>();
afterEach(() => {
  for (const child of running) child.kill();
});

/** A person with settings of their own. */
function createPerson(env: Record<string, string> = {}) {
  const home = join(project.folder, `home-${++lastHome}`);
  mkdirSync(home);
  /** `null` leaves the input open. */
  const start = (args: string[], input: string | null = ""): Running => {
    const command = join(project.folder, "node_modules/.bin/pennymail");
    const child = spawn(process.execPath, [command, ...args], {
      cwd: home,
      env: { PATH: process.env.PATH, XDG_CONFIG_HOME: home, ...env },
    });
    running.add(child);
    const ran: Ran = { code: null, output: "", notes: "" };
    child.stdout.on("data", (chunk: Buffer) => {
      ran.output += chunk;
    });
    child.stderr.on("data", (chunk: Buffer) => {
      ran.notes += chunk;
    });
    child.stdin.on("error", () => {});
    if (input !== null) child.stdin.end(input);
    const ended = new Promise<Ran>((resolve) => {
      child.once("close", (code) => {
        running.delete(child);
        resolve({ ...ran, code });
      });
    });
    return { child, ran, ended };
  };
  const run = (...args: string[]) => start(args).ended;
  /** The JSON that a command prints. */
  const json = async <T>(...args: string[]): Promise<T> => {
    const { code, output, notes } = await run(...args);
    expect({ code, notes: code ? notes : "" }).toEqual({ code: 0, notes: "" });
    return JSON.parse(output);
  };
  return { home, config: join(home, "pennymail/config.json"), start, run, json };
}

const loggedIn = async (client?: TestClient) => {
  const { apiKey, siteId } = client ?? (await signedUp());
  return createPerson({
    PENNYMAIL_URL: url,
    PENNYMAIL_API_KEY: apiKey,
    PENNYMAIL_SITE_ID: String(siteId),
  });
};

const hasSandbox = new URL(url).hostname === "127.0.0.1";

interface SandboxAccount {
  credentials: object;
  webhookSecret: string;
}

async function addSendingConfig(client: TestClient): Promise<void> {
  const response = await fetch(`${url}/_local/sandbox`);
  const { data } = (await response.json()) as { data: { providers: { sendgrid: SandboxAccount } } };
  const { credentials, webhookSecret } = data.providers.sendgrid;
  const config = { fromEmail: "hello@shop.example", credentials, webhookSecret };
  await client.call("POST", "/sending-configs", config);
}

describe("pennymail login", () => {
  test("stores a key that works, readable by its owner only; logout deletes it", async () => {
    const { apiKey } = await signedUp();
    const person = createPerson();
    const login = await person.start(["login", "--url", `${url}/`], `${apiKey}\n`).ended;
    expect(login).toMatchObject({ code: 0, output: "" });
    expect(login.notes).toContain(`at ${url}.`);
    expect(login.notes).not.toContain(apiKey);
    expect(statSync(person.config).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(person.config, "utf8"))).toEqual({ url, apiKey });
    const { sites } = await person.json<{ sites: unknown[] }>("sites", "list");
    expect(sites).toHaveLength(1);
    expect((await person.run("logout")).code).toBe(0);
    expect(readFileSync(person.config, "utf8")).not.toContain(apiKey);
    expect((await person.run("sites", "list")).code).toBe(4);
  });

  test("stores nothing for a key that is refused, and says what is missing", async () => {
    const person = createPerson();
    const refused = await person.start(["login", "--url", url], "pm_live_wrong\n").ended;
    expect(refused).toMatchObject({ code: 4 });
    expect(refused.notes).toContain("run `pennymail login`");
    expect((await person.run("login", "--url", "shop")).code).toBe(2);
    expect((await person.run("login", "--url", url)).notes).toContain("PENNYMAIL_API_KEY");
    expect(() => statSync(person.config)).toThrow("ENOENT");
    expect((await person.run("sites", "list")).notes).toContain("pennymail login");
  });
});

// What is deployed has no sandbox to send through.
describe.skipIf(!hasSandbox)("pennymail init", () => {
  test("goes from nothing to a first email by answers, and can be repeated", async () => {
    const person = createPerson();
    const [email, password] = [uniqueEmail(), "a horse of one's own"];
    const answers = [url, email, password, "y", "My shop", "sandbox", "hello@shop.example"];
    const init = await person.start(["init"], `${answers.join("\n")}\n`).ended;
    expect({ code: init.code, notes: init.notes }).toMatchObject({ code: 0 });
    for (const made of ["the account", "an API key", "the site", "the sending config"])
      expect(init.notes).toContain(`✓ Created ${made}`);
    const [, ...first] = init.output.match(/"[^"]*"|'[^']*'|\S+/g)!;
    const sent = await person.json<{ id: number }>(...first.map((word) => word.replace(/'/g, "")));
    expect(sent).toMatchObject({ status: "queued" });

    const again = await person.run("init");
    expect(again.code).toBe(0);
    expect(again.notes.match(/ is there|key works/g)).toHaveLength(3);
  });

  test("takes the answers as options, and names the one that is missing", async () => {
    const person = createPerson({ PENNYMAIL_PASSWORD: "a horse of one's own" });
    const account = ["init", "--url", url, "--email", uniqueEmail(), "--sign-up"];
    const half = await person.run(...account);
    expect(half).toMatchObject({ code: 2 });
    expect(half.notes).toContain("give it as --site-name");
    const rest = ["--site-name", "Shop", "--provider", "postmark"];
    const credentials = ["--credentials", '{"apiKey":"x"}', "--webhook-secret", "a long secret"];
    const done = await person.run(
      "init",
      ...rest,
      ...credentials,
      "--from-email",
      "a@shop.example",
    );
    expect(done.code, done.notes).toBe(0);
    expect(done.notes).toContain("/webhooks/postmark?config_id=");
    expect((await person.run("init", "--provider", "none")).code).toBe(0);
  });
});

test.skipIf(!hasSandbox)("pennymail init asks for the second factor", async () => {
  const client = await signedUp();
  await client.call("POST", "/mfa/email-otp/enable", undefined, { as: "session" });
  const person = createPerson({ PENNYMAIL_PASSWORD: client.password });
  const account = ["--url", url, "--email", client.email];
  const config = ["--provider", "sandbox", "--from-email", "hello@shop.example"];
  const init = person.start(["init", ...account, ...config], null);
  await waitFor(() => expect(init.ran.notes).toContain("Code in the email"));
  const code = await waitFor(async () => {
    const { text } = await waitForMail(client.email);
    return /\b\d{6}\b/.exec(text ?? "")![0];
  });
  init.child.stdin!.end(`${code}\n`);
  const { code: exitCode, notes } = await init.ended;
  expect({ exitCode, notes }).toMatchObject({ exitCode: 0 });
  expect(notes).toContain("✓ Logged in with the second factor");
  expect(await person.json("sites", "get", String(client.siteId))).toMatchObject({ name: "Shop" });
});

describe("operations", () => {
  test("print JSON into a pipe, and all pages with --all", async () => {
    const person = await loggedIn();
    writeFileSync(join(person.home, "ada.json"), JSON.stringify({ email: "ada@example.com" }));
    const ada = await person.json<{ id: number; email: string; tags: { name: string }[] }>(
      ...["contacts", "create", "--data", "@ada.json", "--tags", "vip", "--first-name", "Ada"],
    );
    expect(ada).toMatchObject({
      email: "ada@example.com",
      firstName: "Ada",
      tags: [{ name: "vip" }],
    });
    const piped = person.start(["contacts", "create", "--data", "-"], '{"email":"b@example.com"}');
    expect(JSON.parse((await piped.ended).output)).toMatchObject({ email: "b@example.com" });
    const all = await person.run("contacts", "list", "--limit", "1", "--all");
    const emails = all.output
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).email);
    expect(emails).toEqual(["b@example.com", "ada@example.com"]);
    const id = String(ada.id);
    expect(await person.json("contacts", "update", id, "--first-name", "null")).toMatchObject({
      firstName: null,
    });
    expect((await person.run("contacts", "export", "--format", "csv")).output).toMatch(
      /^id,|email/,
    );
    expect(await person.json("contacts", "delete", id, "--erase", "false")).toMatchObject({
      deleted: true,
    });
  });

  test("end with the documented exit codes, and errors that say what to do", async () => {
    const person = await loggedIn();
    const cases: [number, string, string[]][] = [
      [1, "not_found", ["contacts", "get", "999"]],
      [1, "email", ["contacts", "create", "--email", "nonsense"]],
      [2, "--email", ["contacts", "create"]],
      [2, "id must be a number", ["contacts", "get", "x"]],
      [2, "An argument is missing", ["contacts", "get"]],
      [2, "Unexpected argument: 2", ["contacts", "get", "1", "2"]],
      [2, "Unknown option '--colour'", ["contacts", "list", "--colour"]],
      [2, "pennymail contacts --help", ["contacts", "creat"]],
      [2, "pennymail --help", ["contact"]],
      [1, "session", ["members", "delete", "1"]],
    ];
    for (const [code, why, args] of cases) {
      const ran = await person.run(...args);
      expect({ args, code: ran.code, output: ran.output }).toEqual({ args, code, output: "" });
      expect(ran.notes).toContain(why);
    }
    const asJson = await person.run("contacts", "get", "999", "--json");
    expect(JSON.parse(asJson.notes)).toMatchObject({ code: "not_found", status: 404 });
    const away = createPerson({ PENNYMAIL_URL: "http://127.0.0.1:2", PENNYMAIL_API_KEY: "x" });
    const unreachable = await away.run("sites", "list");
    expect(unreachable).toMatchObject({ code: 3, output: "" });
    expect(unreachable.notes).toContain("pennymail login --url URL");
  });

  test("explain themselves with --help, and complete in a shell", async () => {
    const person = createPerson();
    const helps: [string[], string][] = [
      [["--help"], "Exit codes:"],
      [[], "sending-configs"],
      [["contacts", "--help"], "remove-tag ID TAG-ID"],
      [["contacts", "create", "--help"], "--custom-fields JSON"],
      [["import", "--help"], "--[no-]start-sequences"],
      [["listen", "-h"], "--forward-to URL"],
      [["--version"], "."],
    ];
    for (const [args, text] of helps) {
      const { code, output } = await person.run(...args);
      expect({ args, code }).toEqual({ args, code: 0 });
      expect(output).toContain(text);
    }
    expect((await person.run("completion", "zsh")).output).toContain("bashcompinit");
    const lines: [string, string[]][] = [
      ["pennymail sen", ["send", "send-batch", "send-list", "sends", "sending-configs"]],
      ["pennymail contacts remove", ["remove-tag"]],
      ["pennymail contacts create --first", ["--first-name"]],
      ["pennymail listen --for", ["--forward-to"]],
    ];
    for (const [line, words] of lines) {
      const shell = createPerson({ COMP_LINE: `${line} ignored`, COMP_POINT: String(line.length) });
      const last = line.split(" ").at(-1)!;
      const { output } = await shell.run("completion", "words", "pennymail", last, "pennymail");
      expect(output.split("\n").filter(Boolean)).toEqual(words);
    }
  });
});

describe("pennymail import", () => {
  test("waits until the import is finished", async () => {
    const person = await loggedIn();
    const file = join(person.home, "people.csv");
    writeFileSync(file, "email,first name\na@example.com,A\nb@example.com,B\nnobody,C\n");
    expect(await person.json("import", file, "--tags", "new", "--tags", "csv")).toMatchObject({
      status: "completed",
      filename: "people.csv",
      created: 2,
      failed: 1,
      tags: ["new", "csv"],
    });
    expect((await person.run("import", join(person.home, "none.csv"))).code).toBe(2);
    writeFileSync(file, "name\nA\n");
    const refused = await person.run("import", file);
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.notes).toContain("email");
  });

  test("uploads a file that is too large for one request", async () => {
    const person = await loggedIn();
    const file = join(person.home, "large.csv");
    const rows = Array.from({ length: 50 }, (_, n) => `p${n}@example.com,${"x".repeat(90_000)}`);
    writeFileSync(file, ["email,notes", ...rows].join("\n"));
    const mapping = JSON.stringify({ email: "email", notes: "ignore" });
    expect(await person.json("import", file, "--mapping", mapping)).toMatchObject({
      status: "completed",
      created: 50,
    });
  });
});

describe.skipIf(!hasSandbox)("live events", () => {
  const email = { fromEmail: "hello@shop.example", subject: "Hello", html: "<p>Hello</p>" };

  test("are shown by pennymail tail while they happen", async () => {
    const client = await signedUp();
    await addSendingConfig(client);
    const person = await loggedIn(client);
    await client.call("POST", "/send", { to: "old@example.com", ...email });
    const tail = person.start(["tail", "--interval", "1"]);
    await waitFor(() => expect(tail.ran.output).toContain("old@example.com"));
    await client.call("POST", "/send", { to: "new@example.com", ...email });
    const lines = () =>
      tail.ran.output
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line));
    await waitFor(() =>
      expect(lines()).toContainEqual(
        expect.objectContaining({ kind: "event", type: "delivered", toEmail: "new@example.com" }),
      ),
    );
    const shown = lines().map(({ kind, id }) => `${kind} ${id}`);
    expect(new Set(shown).size).toBe(shown.length);
    expect(lines()).toContainEqual(
      expect.objectContaining({ kind: "send", toEmail: "new@example.com" }),
    );
    tail.child.kill("SIGINT");
    await tail.ended;
  });

  test("are posted by pennymail listen, signed, to a program on this computer", async () => {
    const client = await signedUp();
    await addSendingConfig(client);
    const person = await loggedIn(client);
    const sendTo = async (to: string) =>
      (await client.call<{ id: number }>("POST", "/send", { to, ...email })).body.data.id;
    await sendTo("old@example.com");
    await waitFor(async () => {
      const events = await client.call<{ events: unknown[] }>("GET", "/events");
      expect(events.body.data.events).toHaveLength(1);
    });
    const contact = { siteId: client.siteId, email: "new@example.com" };
    const created = await client.call<{ id: number }>("POST", "/contacts", contact);
    const endpoint = await startCustomerEndpoint();
    const target = endpoint.url.replace("http://", "");
    const options = ["--forward-to", target, "--interval", "1", "--events", "delivered"];
    const listen = person.start(["listen", ...options]);
    await waitFor(() => expect(listen.ran.output).toMatch(/^[\da-f]{64}\n$/));
    const secret = listen.ran.output.trim();
    const sendId = await sendTo("new@example.com");
    await waitFor(() => expect(endpoint.deliveries).toHaveLength(1));
    const [delivery] = endpoint.deliveries;
    expect(await verifyWebhook(delivery!.body, delivery!.headers, secret)).toMatchObject({
      event: "delivered",
      sendId,
      contactId: created.body.data.id,
      email: "new@example.com",
      timestamp: expect.any(String),
      siteId: client.siteId,
      providerMessageId: expect.any(String),
      tags: [],
      data: {},
    });
    await waitFor(() => expect(listen.ran.notes).toContain("-> 200"));
    listen.child.kill("SIGINT");
    await listen.ended;
    endpoint.close();
    const again = person.start(["listen", ...options]);
    await waitFor(() => expect(again.ran.output.trim()).toBe(secret));
  });
});

describe("pennymail verify-audit", () => {
  const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
  const rows = [
    {
      page: "b-000000",
      contactId: 7,
      sendId: 9001,
      outcome: "failed",
      error: 'no "x",\n{1-2,3,4,e"\u2028',
    },
    { page: "b-000000", contactId: 3, sendId: null, outcome: "suppressed", error: null },
    { page: "a-000001", contactId: 5, sendId: 8000, outcome: "mailed", error: null },
  ];
  const [firstPage, secondPage] = ["5,8000,mailed\n", "7,9001,failed\n3,,suppressed\n"];
  const hash = [`a-000001,1,${sha256(firstPage)}`, `b-000000,2,${sha256(secondPage)}`].reduce(
    (soFar, page) => sha256(`${soFar}\n${page}\n`),
    sha256(""),
  );

  test("recomputes the hash of a CSV or JSON file, and finds changed and added rows", async () => {
    const person = createPerson();
    const { csv, json } = formatWriters;
    const columns = ["page", "contactId", "sendId", "outcome", "error"];
    const table: ExportTable = {
      jsonName: "rows",
      columns,
      cells: (row) => columns.map((column) => row[column] as string | number | null),
    };
    for (const writer of [csv, json]) {
      const file = join(person.home, "audit");
      const save = (some: typeof rows) =>
        writeFileSync(
          file,
          writer.header(table, { bom: true }) +
            writer.rows(table, some, true) +
            writer.footer(table),
        );
      save(rows);
      const outcomes = { failed: 1, suppressed: 1, mailed: 1 };
      expect(await person.json("verify-audit", file, "--hash", hash)).toEqual({
        ...{ rows: 3, pages: 2, hash },
        ...outcomes,
      });
      save(rows.with(1, { ...rows[1]!, outcome: "mailed" }));
      expect(await person.run("verify-audit", file, "--hash", hash)).toMatchObject({
        code: 1,
        notes: expect.stringContaining("not the expected one"),
      });
      save([...rows, rows[0]!]);
      expect((await person.run("verify-audit", file)).notes).toContain("1 rows repeat a contact");
      save(rows);
      appendFileSync(file, " a-000001,9,,mailed,\n");
      expect(await person.run("verify-audit", file, "--hash", hash)).toMatchObject({
        code: 2,
        notes: expect.stringContaining("is no row of an audit"),
      });
    }
    expect((await person.run("verify-audit", join(person.home, "none"))).code).toBe(2);
  });

  test("asks the service for the hash of a campaign", async () => {
    const client = await signedUp();
    const { body } = await client.call<{ id: number }>("POST", "/campaigns", { name: "Draft" });
    const person = await loggedIn(client);
    const file = join(person.home, "audit");
    writeFileSync(file, "page,contactId,sendId,outcome,error\n");
    const refused = await person.run("verify-audit", file, "--campaign", String(body.data.id));
    expect(refused).toMatchObject({
      code: 1,
      notes: expect.stringContaining("the campaign has no hash yet"),
    });
  });
});

test("pennymail open opens a page in the browser", async () => {
  const person = createPerson();
  const opened = join(person.home, "opened");
  const browser = join(person.home, "browser");
  writeFileSync(browser, `#!/bin/sh\nprintf %s "$1" > ${opened}\n`, { mode: 0o755 });
  const reader = createPerson({ PENNYMAIL_URL: url, BROWSER: browser });
  expect((await reader.run("open", "docs")).output).toBe(`${url}/api/v1/docs\n`);
  await waitFor(() => expect(readFileSync(opened, "utf8")).toBe(`${url}/api/v1/docs`));
  expect((await reader.run("open", "nothing")).code).toBe(2);
  const missing = createPerson({ PENNYMAIL_URL: url, BROWSER: join(person.home, "none") });
  expect((await missing.run("open")).code).toBe(0);
});

test.skipIf(!hasSandbox)("the commands of the guide run", async () => {
  const guide = readFileSync(new URL("../../shared/http/guides/cli.md", import.meta.url), "utf8");
  const [, commands = ""] = /^```sh\n([\s\S]*?)^```$/m.exec(guide) ?? [];
  const client = await signedUp();
  await addSendingConfig(client);
  const person = await loggedIn(client);
  writeFileSync(join(person.home, "people.csv"), "email\nbob@example.com\n");
  const child = spawn("sh", ["-e"], {
    cwd: person.home,
    env: {
      PATH: `${join(project.folder, "node_modules/.bin")}:${process.env.PATH}`,
      XDG_CONFIG_HOME: person.home,
      PENNYMAIL_API_KEY: client.apiKey,
    },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      output += chunk;
    });
  child.stdin.end(commands.replace("https://mail.shop.example", url));
  const code = await new Promise((resolve) => child.once("close", resolve));
  expect(code, output).toBe(0);
  const contacts = readFileSync(join(person.home, "contacts.jsonl"), "utf8");
  expect(contacts.match(/"email":"\w+/g)).toEqual(['"email":"bob', '"email":"ada']);
});
