import { beforeAll, expect, inject, test } from "vitest";
import {
  expectStatus,
  signedUp,
  type TestClient,
  type TestResponse,
  withoutNotices,
} from "../support/api-client.ts";
import { providerKeysInOrder } from "../support/provider-keys.ts";
import type {} from "../support/setup/service.ts";
import { waitFor } from "../support/wait-for.ts";

interface Config {
  id: number;
  provider: string;
  fromEmail: string;
  verified: boolean;
  firstEventAt: string | null;
  credentialsSet: string[];
  webhookUrl: string;
}
type Keys = Record<string, { credentials: Record<string, string>; webhookSecret: string }>;

const origin = inject("baseUrl").replace(/\/api\/v1$/, "");
// Only the local service has the provider sandbox.
const local = (path: string) =>
  fetch(`${origin}/_local${path}`, { headers: { accept: "application/json" } });
const read = async <T>(path: string): Promise<T> =>
  ((await (await local(path)).json()) as { data: T }).data;
const atHome = (await local("/sandbox")).ok;
let sandbox: Keys;
/** The organization of all refused requests. It has no config. */
let refused: TestClient;
beforeAll(async () => {
  refused = await signedUp();
  if (atHome) ({ providers: sandbox } = await read<{ providers: Keys }>("/sandbox"));
});
const mailsTo = async (email: string): Promise<{ id: number }[]> =>
  withoutNotices(
    (
      await read<{ mails: { id: number; subject: string }[] }>(
        `/inbox?to=${encodeURIComponent(email)}`,
      )
    ).mails,
  );

const minimal = {
  provider: "postmark",
  credentials: { apiKey: "secret-token-1" },
  fromEmail: "shop@pennymail.test",
};
const add = ({ call }: TestClient, fields: object = {}) =>
  call<Config>("POST", "/sending-configs", { ...minimal, ...fields });
const added = async (client: TestClient, fields: object = {}) =>
  expectStatus(201, await add(client, fields)).body.data;
const change = ({ call }: TestClient, id: number, changes: object) =>
  call<Config>("PUT", `/sending-configs/${id}`, changes);
const verify = ({ call }: TestClient, id: number, body: object = {}) =>
  call<Config>("POST", `/sending-configs/${id}/verify`, body);
const refusedFor = ({ status, body }: TestResponse<unknown>) => [status, body.details?.[0]?.path];

test("the providers are listed with their credentials, the default first", async () => {
  const { call } = await signedUp();
  const { providers } = expectStatus(
    200,
    await call<{ providers: { key: string; configFields: { name: string }[] }[] }>(
      "GET",
      "/providers",
    ),
  ).body.data;
  expect(providers.map(({ key }) => key)).toEqual([...providerKeysInOrder, "smtp"]);
  for (const provider of providers) {
    const shape = {
      name: expect.any(String),
      description: expect.stringMatching(/\w/),
      required: expect.any(Boolean),
      isSecret: expect.any(Boolean),
    };
    expect(provider).toMatchObject({
      supportsWebhooks: provider.key !== "smtp",
      capabilities: {
        supportsWebhooks: provider.key !== "smtp",
        maxAttachmentBytes: expect.any(Number),
      },
    });
    for (const field of provider.configFields) expect(field).toMatchObject(shape);
  }
  const field = (key: string, name: string) =>
    providers.find((one) => one.key === key)?.configFields.find((one) => one.name === name);
  expect(field("sendgrid", "apiKey")).toMatchObject({ required: true, options: null });
  expect(field("sendgrid", "region")).toMatchObject({ required: false, options: ["global", "eu"] });
  expect(field("ses", "configurationSet")).toMatchObject({ required: false, isSecret: false });
  expect(field("smtp", "host")).toMatchObject({ required: true, isSecret: false });
  expect(field("smtp", "password")).toMatchObject({ required: false, isSecret: true });
});

test("a config of an SMTP server has no webhook, and its fields are checked", async () => {
  const client = await signedUp();
  const credentials = {
    host: "smtp.shop.example",
    port: "2525",
    user: "shop",
    password: "a secret",
  };
  const made = await add(client, { provider: "smtp", credentials, webhookSecret: "a long secret" });
  expectStatus(201, made);
  expect(made.body.data).toMatchObject({
    provider: "smtp",
    webhookUrl: null,
    credentialsSet: ["host", "port", "user", "password"],
  });
  expect(made.body.warnings).toEqual([expect.stringContaining("webhookSecret")]);
  for (const [path, changes] of Object.entries({
    host: { host: "http://smtp.shop.example" },
    port: { port: 65_536 },
    tls: { tls: "maybe" },
    user: { user: "two\nlines" },
    password: { password: undefined },
    returnPath: { returnPath: "nobody" },
    poolSize: { poolSize: 0 },
  })) {
    const refused = await add(client, {
      provider: "smtp",
      credentials: { ...credentials, ...changes },
    });
    expectStatus(400, refused);
    expect(refused.body).toMatchObject({ details: [{ path: `credentials.${path}` }] });
  }
});

test("a config is created, read, listed and deleted, and no response has a secret", async () => {
  const client = await signedUp();
  const made = await add(client, {
    fromName: "The Shop",
    replyTo: "help@pennymail.test",
    ratePerSecond: 2.5,
    webhookSecret: "secret-token-2",
  });
  const { id } = expectStatus(201, made).body.data;
  expect(made.body).toEqual({
    data: {
      id: expect.any(Number),
      provider: "postmark",
      fromEmail: "shop@pennymail.test",
      fromName: "The Shop",
      replyTo: "help@pennymail.test",
      tracking: "provider",
      ratePerSecond: 2.5,
      warmUp: null,
      firstEventAt: null,
      fallbackConfigId: null,
      share: null,
      accountLimits: null,
      isByok: true,
      verified: false,
      verifiedAt: null,
      credentialsSet: ["apiKey"],
      webhookSecretSet: true,
      webhookUrl: expect.stringMatching(
        new RegExp(`/api/v1/webhooks/postmark\\?config_id=${id}&secret=YOUR_SECRET$`),
      ),
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    },
  });
  const shown = await client.call("GET", `/sending-configs/${id}`);
  expect(shown.body).toEqual(made.body);
  const second = await added(client);
  const listed = await client.call<{ sendingConfigs: Config[] }>("GET", "/sending-configs");
  expect(listed.body.data).toEqual({
    sendingConfigs: [second, made.body.data],
    pagination: { page: 1, limit: 50, total: 2, totalPages: 1, nextCursor: null },
  });
  const changed = await change(client, id, {
    credentials: { apiKey: "secret-token-3" },
    webhookSecret: "secret-token-4",
  });
  for (const { text } of [made, shown, listed, changed])
    expect(text).not.toMatch(/secret-token|sealed|revision/);

  const removed = await client.call("DELETE", `/sending-configs/${id}`);
  expect([removed.status, removed.body.data]).toEqual([200, { id, deleted: true }]);
  for (const missingFallback of [
    client.call("GET", `/sending-configs/${id}`),
    change(client, id, {}),
    verify(client, id),
  ])
    expect((await missingFallback).status).toBe(404);
});

test("a fallback is another config of the organization, which ifUnused=true keeps while it is used", async () => {
  const client = await signedUp();
  const spare = await added(client);
  const config = await added(client, { fallbackConfigId: spare.id });
  expect(config).toMatchObject({ fallbackConfigId: spare.id });
  const { id } = config;
  expect(refusedFor(await change(client, id, { fallbackConfigId: id }))).toEqual([
    400,
    "fallbackConfigId",
  ]);
  const stranger = await added(await signedUp());
  for (const fallbackConfigId of [stranger.id, 999_999_999]) {
    expect((await add(client, { fallbackConfigId })).status).toBe(404);
    expect((await change(client, id, { fallbackConfigId })).status).toBe(404);
  }
  const shown = await client.call("GET", `/sending-configs/${id}`);
  expect(shown.body.data).toEqual(config);
  const kept = await client.call("DELETE", `/sending-configs/${spare.id}?ifUnused=true`);
  expect([kept.status, kept.body.code]).toEqual([409, "in_use"]);
  expect(kept.body.details).toMatchObject([{ path: `sendingConfigs.${id}` }]);

  const cleared = await change(client, id, { fallbackConfigId: null });
  expect(cleared.body.data).toMatchObject({ fallbackConfigId: null });
  await change(client, id, { fallbackConfigId: spare.id });
  const deleted = await client.call("DELETE", `/sending-configs/${spare.id}`);
  expect(deleted.status).toBe(200);
  expect((await change(client, id, { fromName: "Shop" })).status).toBe(200);
});

test("a share goes to another config of the organization", async () => {
  const client = await signedUp();
  const other = await added(client);
  const share = { sendingConfigId: other.id, percent: 25 };
  const { id, ...config } = await added(client, { share });
  expect(config).toMatchObject({ share });
  const toItself = await change(client, id, { share: { ...share, sendingConfigId: id } });
  expect(refusedFor(toItself)).toEqual([400, "share.sendingConfigId"]);
  const stranger = await added(await signedUp());
  const foreign = { ...share, sendingConfigId: stranger.id };
  expect((await add(client, { share: foreign })).status).toBe(404);
  expect((await change(client, id, { share: foreign })).status).toBe(404);
  const kept = await client.call("DELETE", `/sending-configs/${other.id}?ifUnused=true`);
  expect([kept.status, kept.body.code]).toEqual([409, "in_use"]);
  const cleared = await change(client, id, { share: null });
  expect(cleared.body.data).toMatchObject({ share: null });
});

test("the provider defaults to the first of the ten, and apiKey may be a field of the config", async () => {
  const client = await signedUp();
  const config = await added(client, {
    provider: undefined,
    credentials: undefined,
    apiKey: "SG.legacy",
  });
  expect(config).toMatchObject({ provider: "sendgrid", credentialsSet: ["apiKey"] });
  expect(config.webhookUrl).toMatch(/\/webhooks\/sendgrid\?config_id=\d+$/);
  expect((await add(client, { credentials: { apiKey: "inner" }, apiKey: "outer" })).status).toBe(
    201,
  );
});

test.each([
  [{ provider: "pigeon" }, "provider"],
  [{ credentials: undefined }, "credentials.apiKey"],
  [{ credentials: {} }, "credentials.apiKey"],
  [{ credentials: { apiKey: 7 } }, "credentials.apiKey"],
  [{ credentials: { apiKey: "line\nbreak" } }, "credentials.apiKey"],
  [{ credentials: { apiKey: "a".repeat(2049) } }, "credentials.apiKey"],
  [{ credentials: "key" }, "credentials"],
  [{ provider: "mailgun" }, "credentials.domain"],
  [
    { provider: "mailgun", credentials: { apiKey: "k", domain: "evil.example/../x" } },
    "credentials.domain",
  ],
  [
    {
      provider: "ses",
      credentials: { accessKeyId: "a", secretAccessKey: "b", region: "evil.example#" },
    },
    "credentials.region",
  ],
  [{ provider: "sendgrid", credentials: { apiKey: "k", region: "mars" } }, "credentials.region"],
  [{ fallbackConfigId: "7" }, "fallbackConfigId"],
  [{ fallbackConfigId: 0 }, "fallbackConfigId"],
  [{ share: { sendingConfigId: 1, percent: 0 } }, "share.percent"],
  [{ share: { sendingConfigId: 1, percent: 101 } }, "share.percent"],
  [{ share: { percent: 10 } }, "share.sendingConfigId"],
  [{ fromEmail: "nobody" }, "fromEmail"],
  [{ fromEmail: "a@x.test\nBcc: b@x.test" }, "fromEmail"],
  [{ fromEmail: "a@x\n.test" }, "fromEmail"],
  [{ fromEmail: "Ada <a@x.test>" }, "fromEmail"],
  [{ fromName: "Ada\r\nBcc: b@x.test" }, "fromName"],
  [{ fromName: "x".repeat(101) }, "fromName"],
  [{ ratePerSecond: 0 }, "ratePerSecond"],
  [{ ratePerSecond: "fast" }, "ratePerSecond"],
  [{ webhookSecret: "s".repeat(501) }, "webhookSecret"],
  [{ webhookSecret: "" }, "webhookSecret"],
])("%j is refused, and the error names %s", async (fields, path) => {
  expect(refusedFor(await add(refused, fields))).toEqual([400, path]);
  expect(
    (await refused.call<{ sendingConfigs: unknown[] }>("GET", "/sending-configs")).body.data
      .sendingConfigs,
  ).toEqual([]);
});

test("a config needs no fromEmail; a weak webhookSecret is accepted with a warning", async () => {
  const client = await signedUp();
  const made = expectStatus(
    201,
    await add(client, {
      provider: "ses",
      credentials: {
        accessKeyId: "AKIDEXAMPLE",
        secretAccessKey: "secret-key-of-aws",
        region: "eu-west-1",
      },
      fromEmail: undefined,
      webhookSecret: "short",
    }),
  );
  expect(made.body).toMatchObject({
    data: { fromEmail: null, webhookSecretSet: true },
    warnings: [expect.stringContaining("12 characters")],
  });
  const { id } = made.body.data;
  expect(refusedFor(await verify(client, id))).toEqual([400, "fromEmail"]);
  const mail = { to: "ada@example.com", sendingConfigId: id, subject: "Hi", html: "<p>Hi</p>" };
  expect(refusedFor(await client.call("POST", "/send", mail))).toEqual([400, "fromEmail"]);
  const headers = { "X-A": "a".repeat(996) };
  expect(
    refusedFor(
      await client.call("POST", "/send", { ...mail, fromEmail: "me@example.com", headers }),
    ),
  ).toEqual([400, "headers.X-A"]);
});

test("values exactly at the limits are accepted when creating and updating", async () => {
  const client = await signedUp();
  const most = {
    credentials: { apiKey: "a".repeat(2048) },
    fromName: "x".repeat(100),
    webhookSecret: "s".repeat(500),
    ratePerSecond: 0.01,
  };
  const { id } = await added(client, most);
  expect((await change(client, id, most)).status).toBe(200);
  expect(refusedFor(await change(client, id, { fromName: "a\nb" }))).toEqual([400, "fromName"]);
  expect(refusedFor(await change(client, id, { fromEmail: "nobody" }))).toEqual([400, "fromEmail"]);
  expect(refusedFor(await change(client, id, { credentials: {} }))).toEqual([
    400,
    "credentials.apiKey",
  ]);
  expect(refusedFor(await change(client, id, { provider: "resend" }))).toEqual([
    400,
    "credentials",
  ]);
});

test("an unknown field is ignored with a warning", async () => {
  const client = await signedUp();
  const made = expectStatus(
    201,
    await add(client, { credentials: { apiKey: "k", colour: "red" }, shape: "round" }),
  );
  expect(made.body.data.credentialsSet).toEqual(["apiKey"]);
  expect(made.body.warnings?.toSorted()).toEqual([
    "Ignored fields: credentials.colour",
    "Ignored fields: shape",
  ]);
  const changed = expectStatus(
    200,
    await change(client, made.body.data.id, { credentials: { apiKey: "k", weight: 1 } }),
  );
  expect(changed.body.warnings).toEqual(["Ignored fields: credentials.weight"]);
});

test("an update changes the given fields only; null removes name, rate and webhook secret", async () => {
  const client = await signedUp();
  const config = await added(client, {
    fromName: "Shop",
    ratePerSecond: 5,
    webhookSecret: "a-secret-of-ours",
  });
  const changed = expectStatus(200, await change(client, config.id, { fromName: "Market" })).body
    .data;
  expect(changed).toEqual({ ...config, fromName: "Market", updatedAt: expect.any(String) });
  const emptied = expectStatus(
    200,
    await change(client, config.id, { fromName: null, ratePerSecond: null, webhookSecret: null }),
  ).body.data;
  expect(emptied).toEqual({
    ...config,
    fromName: null,
    ratePerSecond: null,
    webhookSecretSet: false,
    updatedAt: expect.any(String),
  });
});

test("requests with the same Idempotency-Key create one config", async () => {
  const client = await signedUp();
  const headers = { "idempotency-key": "once" };
  const [first, again] = [
    await client.call<Config>("POST", "/sending-configs", minimal, { headers }),
    await client.call<Config>("POST", "/sending-configs", minimal, { headers }),
  ];
  expect(again.body).toEqual(expectStatus(201, first).body);
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  expect((await client.call("GET", "/sending-configs")).body.data).toMatchObject({
    pagination: { total: 1 },
  });
});

test("a config of another organization is a 404", async () => {
  const [one, other] = [await signedUp(), await signedUp()];
  const { id } = await added(one);
  for (const [method, path, body] of [
    ["GET", `/sending-configs/${id}`, undefined],
    ["PUT", `/sending-configs/${id}`, { fromName: "Mine" }],
    ["DELETE", `/sending-configs/${id}`, undefined],
    ["POST", `/sending-configs/${id}/verify`, {}],
  ] as const)
    expect((await other.call(method, path, body)).status, `${method} ${path}`).toBe(404);
  expect((await other.call("GET", "/sending-configs")).body.data).toMatchObject({
    sendingConfigs: [],
  });
  expect((await one.call("GET", `/sending-configs/${id}`)).body.data).toMatchObject({
    fromName: null,
  });
});

test("a site-bound key reads configs and providers and cannot change them", async () => {
  const client = await signedUp();
  const { id } = await added(client);
  const as = { key: await client.newKey({ siteId: client.siteId }) };
  for (const path of ["/providers", "/sending-configs", `/sending-configs/${id}`])
    expect((await client.call("GET", path, undefined, { as })).status, path).toBe(200);
  for (const [method, path, body] of [
    ["POST", "/sending-configs", minimal],
    ["PUT", `/sending-configs/${id}`, { fromName: "Mine" }],
    ["DELETE", `/sending-configs/${id}`, undefined],
    ["POST", `/sending-configs/${id}/verify`, {}],
  ] as const) {
    const refused = await client.call(method, path, body, { as });
    expect([refused.status, refused.body.code], path).toEqual([403, "site_forbidden"]);
  }
});

test("verifying counts against the general rate limit and accepts only an address", async () => {
  const client = await signedUp();
  const { id } = await added(client);
  expect(refusedFor(await verify(client, id, { to: "a@x.test\nBcc: b@x.test" }))).toEqual([
    400,
    "to",
  ]);
  const answer = await verify(client, id, { to: "nobody" });
  expect([answer.status, answer.headers.get("x-ratelimit-limit")]).toEqual([400, "100"]);
});

test.runIf(atHome)(
  "a delivered test mail verifies a config; a new sender needs a new verification",
  async () => {
    const client = await signedUp();
    const { credentials } = sandbox.sendgrid!;
    const { id } = await added(client, { provider: "sendgrid", credentials });
    const verified = expectStatus(200, await verify(client, id)).body.data;
    expect(verified).toMatchObject({
      verified: true,
      verifiedAt: expect.any(String),
      sentTo: client.email,
    });
    expect(await mailsTo(client.email)).toHaveLength(1);
    expect(
      expectStatus(200, await change(client, id, { fromName: "Shop" })).body.data.verified,
    ).toBe(true);
    expect(
      expectStatus(200, await change(client, id, { fromEmail: "new@pennymail.test" })).body.data,
    ).toMatchObject({
      verified: false,
      verifiedAt: null,
    });
  },
);

test.runIf(atHome)(
  "the error of a refusal has the provider's message; a provider failure is reported as such",
  async () => {
    const client = await signedUp();
    const { id } = await added(client, {
      provider: "sendgrid",
      credentials: { apiKey: "SG.wrong" },
    });
    const refused = await verify(client, id);
    expect([refused.status, refused.body.code]).toEqual([400, "provider_refused"]);
    expect(refused.body.error).toMatch(/authorization/i);
    const unknown = await added(client, {
      provider: "sendgrid",
      credentials: sandbox.sendgrid!.credentials,
      fromEmail: "a@unverified.pennymail.test",
    });
    expect((await verify(client, unknown.id)).body).toMatchObject({ code: "provider_refused" });
    const busy = await added(client, {
      provider: "sendgrid",
      credentials: sandbox.sendgrid!.credentials,
    });
    const failed = await verify(client, busy.id, {
      to: `flaky+503-${busy.id}@simulator.pennymail.test`,
    });
    expect([failed.status, failed.body.code]).toEqual([502, "upstream"]);
  },
);

/** The webhooks of a new account are its own. */
const freshAccount = async (provider: string) =>
  (await read<{ providers: Keys }>("/sandbox")).providers[provider]!;
const connectedProviders = providerKeysInOrder.filter((key) => key !== "smtp");

const flip = (text: string) => text.slice(0, -1) + (text.endsWith("a") ? "b" : "a");

test.runIf(atHome).each(providerKeysInOrder)(
  "%s is asked whether it knows the credentials, and nothing is stored or sent",
  async (provider) => {
    const client = await signedUp();
    const check = async (credentials: object) =>
      expectStatus(
        200,
        await client.call<{ status: string; error: string | null }>(
          "POST",
          "/sending-configs/check-credentials",
          { provider, credentials },
        ),
      ).body.data;
    const { credentials } = sandbox[provider]!;
    expect(await check(credentials)).toEqual({ status: "accepted", error: null });
    const name = "accessKeyId" in credentials ? "accessKeyId" : "apiKey";
    const wrong = { ...credentials, [name]: flip(credentials[name]!) };
    const refused = await check(wrong);
    expect(refused).toEqual({ status: "refused", error: expect.stringMatching(/\w/) });
    expect(refused.error).not.toContain(wrong[name]);
    const { body } = await client.call<object>("GET", "/sending-configs");
    expect(body.data).toMatchObject({ sendingConfigs: [] });
  },
);

interface Connected {
  steps: { step: string; state: string; code: string; message: string }[];
  domain: { name: string; dnsRecords: { provider: string | null; state: string }[] } | null;
}

test.runIf(atHome).each(connectedProviders)(
  "%s is connected in one step: its events arrive, and a second run changes nothing",
  async (provider) => {
    const client = await signedUp();
    const connect = async (id: number) =>
      expectStatus(200, await client.call<Connected>("POST", `/sending-configs/${id}/connect`)).body
        .data;
    const { credentials } = await freshAccount(provider);
    const { id } = await added(client, {
      provider,
      credentials,
      fromEmail: `hello@connect-${provider}-${Date.now()}.example.com`,
    });
    const { steps, domain } = await connect(id);
    const stateOf = (name: string) => steps.find(({ step }) => step === name)?.state;
    expect([stateOf("account"), stateOf("webhook")]).toEqual(["done", "created"]);
    expect(domain!.dnsRecords.some((record) => record.provider === provider)).toBe(true);
    expectStatus(200, await verify(client, id));
    await waitFor(async () => {
      const { body } = await client.call<Config>("GET", `/sending-configs/${id}`);
      expect(body.data.firstEventAt).toEqual(expect.any(String));
    });
    const again = await connect(id);
    expect(again.steps.map(({ state }) => state)).not.toContain("created");
    expect(again.steps.find(({ step }) => step === "events")?.state).toBe("done");
    for (const { message } of again.steps)
      for (const [name, value] of Object.entries(credentials))
        if (/key/i.test(name)) expect(message).not.toContain(value);
  },
);

test.runIf(atHome)("an address is removed from the list of the provider, too", async () => {
  const client = await signedUp();
  const { credentials } = await freshAccount("brevo");
  const { id } = await added(client, { provider: "brevo", credentials });
  const email = `bounced+both-${id}@simulator.pennymail.test`;
  expectStatus(200, await verify(client, id, { to: email }));
  expectStatus(200, await client.call("POST", `/sending-configs/${id}/connect`));
  await waitFor(async () => {
    const { body } = await client.call<object>("GET", `/suppressions/check/${email}`);
    expect(body.data).toMatchObject({ suppressed: true, reason: "bounce", source: "brevo" });
  });
  const path = `/suppressions/${encodeURIComponent(email)}?alsoAtProvider=true`;
  const answer = await client.call<object>("DELETE", path);
  expect([answer.status, answer.body.warnings ?? []]).toEqual([200, []]);
  expect((await client.call("DELETE", path)).status).toBe(404);
  expect((await client.call("DELETE", `${path}&alsoAtProvider=maybe`)).status).toBe(400);
});

test.runIf(atHome)("a key that the provider does not know connects nothing", async () => {
  const client = await signedUp();
  const { credentials } = sandbox.resend!;
  const wrong = { apiKey: flip(credentials.apiKey!) };
  const { id } = await added(client, { provider: "resend", credentials: wrong });
  const answer = await client.call<Connected>("POST", `/sending-configs/${id}/connect`);
  const { steps } = expectStatus(200, answer).body.data;
  expect(steps).toMatchObject([{ step: "account", state: "failed", code: "key_refused" }]);
  const { body } = await client.call<object>("GET", "/domains");
  expect(body.data).toMatchObject({ domains: [] });
});

test.runIf(atHome)(
  "an SMTP server is asked for a login, and says how bounces come back",
  async () => {
    const client = await signedUp();
    const { credentials } = sandbox.smtp!;
    const { id } = await added(client, { provider: "smtp", credentials });
    const connect = async () => {
      const answer = await client.call<Connected>("POST", `/sending-configs/${id}/connect`);
      return expectStatus(200, answer).body.data.steps.map(({ code }) => code);
    };
    const others = ["domain_listed", "dns_missing"];
    expect(await connect()).toEqual(["login_accepted", "no_webhooks", ...others]);
    const { bounceMailbox } = await read<{ bounceMailbox: object }>("/sandbox");
    const mailbox = { siteId: client.siteId, ...bounceMailbox };
    const path = `/sending-configs/${id}/bounce-mailbox`;
    expectStatus(200, await client.call("PUT", path, mailbox));
    expect(await connect()).toEqual(["login_accepted", "bounces_read", ...others]);
  },
);

test("credentials that lack a field are refused before the provider is asked", async () => {
  const answer = await refused.call("POST", "/sending-configs/check-credentials", {
    provider: "mailgun",
    credentials: { apiKey: "key" },
  });
  expect([answer.status, ...refusedFor(answer)]).toEqual([400, 400, "credentials.domain"]);
});

test.runIf(atHome)("the first event of a provider is dated once, until it changes", async () => {
  const client = await signedUp();
  const { credentials, webhookSecret } = sandbox.sendgrid!;
  const config = { provider: "sendgrid", credentials, webhookSecret };
  const { id, firstEventAt } = await added(client, config);
  expect(firstEventAt).toBeNull();
  const readFirst = async () =>
    expectStatus(200, await client.call<Config>("GET", `/sending-configs/${id}`)).body.data
      .firstEventAt;
  expectStatus(200, await verify(client, id));
  const first = await waitFor(async () => {
    const at = await readFirst();
    expect(at).toEqual(expect.any(String));
    return at;
  });
  expectStatus(200, await verify(client, id));
  await fetch(`${origin}/_local/settle`, { method: "POST" });
  expect(await readFirst()).toBe(first);
  const other = { provider: "postmark", credentials: sandbox.postmark!.credentials };
  expect(expectStatus(200, await change(client, id, other)).body.data.firstEventAt).toBeNull();
});

test.runIf(atHome)(
  "a user who forgot the password gets a mail with a token that sets a new one",
  async () => {
    const client = await signedUp();
    expectStatus(
      200,
      await client.call(
        "POST",
        "/auth/forgot-password",
        { email: client.email },
        { as: "anonymous" },
      ),
    );
    await fetch(`${origin}/_local/settle`, { method: "POST" });
    const [mail, ...otherMails] = await mailsTo(client.email);
    expect(otherMails).toEqual([]);
    const { text } = await read<{ text: string }>(`/inbox/${mail!.id}`);
    const [, token] = /reset-password\?token=([\w-]+)/.exec(text) ?? [];
    const again = { token, password: "a much newer horse" };
    expectStatus(
      200,
      await client.call("POST", "/auth/reset-password", again, { as: "anonymous" }),
    );
    expectStatus(
      200,
      await client.call(
        "POST",
        "/auth/login",
        { email: client.email, password: again.password },
        { as: "anonymous" },
      ),
    );
    expect(
      (await client.call("POST", "/auth/reset-password", again, { as: "anonymous" })).status,
    ).toBe(400);
  },
);
