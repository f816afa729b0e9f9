// An organization in which the request examples of the OpenAPI document succeed. A record that an
// example names by id is created at its first use, with the request example of its kind. Ids in
// examples are 1, 2, ... for each kind.
import { expectStatus, signedUp, type TestClient, type TestResponse } from "./api-client.ts";
import { kindByFieldName } from "./named-by.ts";
import type { DocumentedOperation } from "./openapi-document.ts";
import { addMember, uploadPicture } from "./openapi-example-setup.ts";

type Fields = Record<string, unknown>;
interface WithId {
  id: number;
}

export interface ExampleWorld extends TestClient {
  service: string;
  /** Returns the id of the n-th record of a kind, such as `templates` or `scoring/rules`. */
  ensureRecord(kind: string, n?: number): Promise<number>;
  /**
   * Replaces the ids of an example by those of this world, and moves its dates by the days since
   * `exampleDay`.
   */
  fillIds<T>(example: T): Promise<T>;
  /** The request example of an operation, with the ids of this world. */
  requestExample(key: string): Promise<Fields>;
  /** Makes a request that must succeed. Returns `data` of the response. */
  callAndExpect<T = WithId>(method: string, path: string, body?: unknown): Promise<T>;
  runUntilIdle(): Promise<void>;
}

const kinds: Record<string, string> = {
  ...kindByFieldName,
  contactIds: "contacts",
  config_id: "sending-configs",
};

/** The day to which the dates of the examples are relative. */
const exampleDay = Date.UTC(2026, 11, 1);
const dayMs = 86_400_000;

export async function createExampleWorld(
  operations: DocumentedOperation[],
  { service, email }: { service: string; email?: string | undefined },
): Promise<ExampleWorld> {
  const client = await signedUp({ service, ...(email !== undefined && { email }) });
  const known = new Map<string, Promise<number>>([["sites 1", Promise.resolve(client.siteId)]]);
  const shift = Math.max(0, Math.floor((Date.now() - exampleDay) / dayMs));

  const self: ExampleWorld = {
    ...client,
    service,
    ensureRecord: (kind, n = 1) => {
      const name = `${kind} ${n}`;
      const found = known.get(name) ?? make(kind, n);
      known.set(name, found);
      return found;
    },
    fillIds: async <T>(example: T) => (await fill(example, "")) as T,
    requestExample: async (key) => {
      const example = operations.find((operation) => operation.key === key)!.requestBody?.content[
        "application/json"
      ]?.example;
      return (await self.fillIds(example)) as Fields;
    },
    callAndExpect: async <T>(method: string, path: string, body?: unknown) =>
      dataOf(await client.call<T>(method, path, body, asSession)),
    runUntilIdle: async () => void (await fetch(`${service}/_local/settle`, { method: "POST" })),
  };

  async function make(kind: string, n: number): Promise<number> {
    const maker = makers[kind] ?? createFromExample;
    const id = await maker(self, kind, n);
    return id;
  }

  async function fill(value: unknown, name: string): Promise<unknown> {
    if (Array.isArray(value)) return mapInSequence(value, (operation) => fill(operation, name));
    if (typeof value === "number" && kinds[name]) return self.ensureRecord(kinds[name], value);
    if (typeof value === "string")
      return value.replace(/^\d{4}-\d\d-\d\d(?=T|$)/, (day) => shiftDate(day, shift));
    if (typeof value !== "object" || value === null) return value;
    if ("subscribed" in value) return { ...value, id: await self.ensureRecord("topics") };
    // Segment rules that name a tag need it.
    if ("field" in value && value.field === "tag") await self.ensureRecord("tags");
    return Object.fromEntries(
      await mapInSequence(Object.entries(value), async ([key, operation]) => [
        key,
        await fill(operation, key),
      ]),
    );
  }
  return self;
}

const asSession = { as: "session" } as const;
const dataOf = <T>(answer: TestResponse<T>): T =>
  expectStatus(answer.status < 300 ? answer.status : 200, answer).body.data;
const shiftDate = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 10);

async function mapInSequence<T, R>(all: T[], work: (operation: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const one of all) results.push(await work(one));
  return results;
}

type ExampleMaker = (world: ExampleWorld, kind: string, n: number) => Promise<number>;

const createFromExample: ExampleMaker = async (world, kind) =>
  (
    await world.callAndExpect(
      "POST",
      `/${kind}`,
      await world.requestExample(`POST /api/v1/${kind}`),
    )
  ).id;

/** Fields that must differ for a second record of the kind. */
const secondRecordFields = (n: number, unlike: Fields): Fields => (n > 1 ? unlike : {});

const makers: Record<string, ExampleMaker> = {
  contacts: async (world, kind, n) => {
    const body = {
      ...(await world.requestExample("POST /api/v1/contacts")),
      ...secondRecordFields(n, { email: "bob@example.com" }),
    };
    return (await world.callAndExpect("POST", `/${kind}`, body)).id;
  },
  members: (world) => addMember(world, "viewer"),
  // Every world invites another address, because all worlds share the inbox.
  invitations: async (world) =>
    (
      await world.callAndExpect("POST", "/invitations", {
        email: `bob-${crypto.randomUUID()}@example.com`,
        role: "viewer",
      })
    ).id,
  // The tag of the example is created by applying it to the contact.
  tags: async (world) => {
    const { tag } = await world.callAndExpect<{ tag: WithId }>(
      "POST",
      `/contacts/${await world.ensureRecord("contacts")}/tags`,
      {
        name: "customer",
      },
    );
    return tag.id;
  },
  "sending-configs": async (world) => {
    const answer = await fetch(`${world.service}/_local/sandbox`);
    const { data } = (await answer.json()) as { data: { providers: { sendgrid: Fields } } };
    const { credentials, webhookSecret } = data.providers.sendgrid;
    const example = await world.requestExample("POST /api/v1/sending-configs");
    const { id } = await world.callAndExpect("POST", "/sending-configs", {
      ...example,
      credentials,
      webhookSecret,
    });
    await world.callAndExpect("POST", `/sending-configs/${id}/verify`, { to: "ada@example.com" });
    return id;
  },
  sends: async (world) => {
    await world.ensureRecord("sending-configs");
    return (
      await world.callAndExpect("POST", "/send", await world.requestExample("POST /api/v1/send"))
    ).id;
  },
  "secure-messages": async (world) => {
    await world.ensureRecord("sending-configs");
    return (
      await world.callAndExpect("POST", "/send", {
        ...(await world.requestExample("POST /api/v1/send")),
        secure: true,
      })
    ).id;
  },
  "inbound-emails": async (world) => {
    const siteId = await world.ensureRecord("sites");
    const { data } = (
      await world.call<{ urls: { mime: string } }>("GET", `/inbound-settings/${siteId}`)
    ).body;
    const url = new URL(data.urls.mime);
    await world.call("POST", `/inbound/mime${url.search}`, undefined, {
      raw: "From: ann@example.com\r\nSubject: Hello\r\n\r\nHello",
      headers: { "content-type": "message/rfc822" },
    });
    await world.runUntilIdle();
    const list = await world.call<{ inboundEmails: WithId[] }>("GET", "/inbound-emails");
    return list.body.data.inboundEmails[0]!.id;
  },
  forms: async (world, kind) => {
    await world.ensureRecord("sending-configs");
    const id = await createFromExample(world, kind, 1);
    await world.callAndExpect("PUT", `/forms/${id}`, { status: "active" });
    return id;
  },
  imports: async (world) => {
    const { body } = await world.call<WithId>("POST", "/imports/upload", undefined, {
      raw: "email,firstName\nann@example.com,Ann\nnobody,Bob\n",
      headers: { "content-type": "text/csv" },
    });
    await world.runUntilIdle();
    return body.data.id;
  },
  media: async (world) =>
    (await world.callAndExpect("POST", "/media", await uploadPicture(world))).id,
  exports: async (world, kind) => {
    const id = await createFromExample(world, kind, 1);
    await world.runUntilIdle();
    return id;
  },
};
