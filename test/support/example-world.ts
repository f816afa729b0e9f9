// An organization in which the examples of the OpenAPI document hold: what an example names by id is made, by the example of its own
// creation, when it is first named. Ids in examples are 1, 2, ... of their kind.
import { type Answer, type Client, must, signedUp } from "./client.ts";
import { namedBy } from "./named-by.ts";
import type { Told } from "./openapi.ts";

type Fields = Record<string, unknown>;
interface Named {
  id: number;
}

export interface World extends Client {
  service: string;
  /** The id of the nth of a kind, such as `templates` or `scoring/rules`. */
  made(kind: string, n?: number): Promise<number>;
  /** An example with the ids of this world, and with dates that are as far ahead as in the world of the examples. */
  filled<T>(example: T): Promise<T>;
  /** The request example of an operation, filled. */
  example(key: string): Promise<Fields>;
  /** A good answer's `data`. */
  done<T = Named>(method: string, path: string, body?: unknown): Promise<T>;
  settled(): Promise<void>;
}

const kinds: Record<string, string> = { ...namedBy, contactIds: "contacts", config_id: "sending-configs" };

/** When the examples were written. */
const exampleDay = Date.UTC(2026, 11, 1);
const dayMs = 86_400_000;

export async function world(operations: Told[], service: string): Promise<World> {
  const client = await signedUp({ service });
  const known = new Map<string, Promise<number>>([["sites 1", Promise.resolve(client.siteId)]]);
  const shift = Math.max(0, Math.floor((Date.now() - exampleDay) / dayMs));

  const self: World = {
    ...client,
    service,
    made: (kind, n = 1) => {
      const name = `${kind} ${n}`;
      const found = known.get(name) ?? make(kind, n);
      known.set(name, found);
      return found;
    },
    filled: async <T>(example: T) => (await fill(example, "")) as T,
    example: async (key) => {
      const told = operations.find((one) => one.key === key)!.requestBody?.content["application/json"]?.example;
      return (await self.filled(told)) as Fields;
    },
    done: async <T>(method: string, path: string, body?: unknown) => good(await client.call<T>(method, path, body, asSession)),
    settled: async () => void (await fetch(`${service}/_local/settle`, { method: "POST" })),
  };

  async function make(kind: string, n: number): Promise<number> {
    const maker = makers[kind] ?? simply;
    const id = await maker(self, kind, n);
    return id;
  }

  async function fill(value: unknown, name: string): Promise<unknown> {
    if (Array.isArray(value)) return inTurn(value, (one) => fill(one, name));
    if (typeof value === "number" && kinds[name]) return self.made(kinds[name], value);
    if (typeof value === "string") return value.replace(/^\d{4}-\d\d-\d\d(?=T|$)/, (day) => later(day, shift));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(await inTurn(Object.entries(value), async ([key, one]) => [key, await fill(one, key)]));
  }
  return self;
}

const asSession = { as: "session" } as const;
const good = <T>(answer: Answer<T>): T => must(answer.status < 300 ? answer.status : 200, answer).body.data;
const later = (day: string, days: number): string => new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 10);

async function inTurn<T, R>(all: T[], work: (one: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const one of all) results.push(await work(one));
  return results;
}

type Maker = (world: World, kind: string, n: number) => Promise<number>;

const simply: Maker = async (world, kind) => (await world.done("POST", `/${kind}`, await world.example(`POST /api/v1/${kind}`))).id;

/** A second one of what must be unlike the first. */
const another = (n: number, unlike: Fields): Fields => (n > 1 ? unlike : {});

const makers: Record<string, Maker> = {
  contacts: async (world, kind, n) => {
    const body = { ...(await world.example("POST /api/v1/contacts")), ...another(n, { email: "bob@example.com" }) };
    return (await world.done("POST", `/${kind}`, body)).id;
  },
  // The example of a contact brings it along.
  tags: async (world) => {
    const { tag } = await world.done<{ tag: Named }>("POST", `/contacts/${await world.made("contacts")}/tags`, { name: "customer" });
    return tag.id;
  },
  "sending-configs": async (world) => {
    const answer = await fetch(`${world.service}/_local/sandbox`);
    const { data } = (await answer.json()) as { data: { providers: { sendgrid: Fields } } };
    const { credentials, webhookSecret } = data.providers.sendgrid;
    const example = await world.example("POST /api/v1/sending-configs");
    const { id } = await world.done("POST", "/sending-configs", { ...example, credentials, webhookSecret });
    await world.done("POST", `/sending-configs/${id}/verify`, { to: "ada@example.com" });
    return id;
  },
  sends: async (world) => {
    await world.made("sending-configs");
    return (await world.done("POST", "/send", await world.example("POST /api/v1/send"))).id;
  },
  "secure-messages": async (world) => {
    await world.made("sending-configs");
    return (await world.done("POST", "/send", { ...(await world.example("POST /api/v1/send")), secure: true })).id;
  },
  forms: async (world, kind) => {
    await world.made("sending-configs");
    const id = await simply(world, kind, 1);
    await world.done("PUT", `/forms/${id}`, { status: "active" });
    return id;
  },
  imports: async (world) => {
    const { body } = await world.call<Named>("POST", "/imports/upload", undefined, {
      raw: "email,firstName\nann@example.com,Ann\nnobody,Bob\n",
      headers: { "content-type": "text/csv" },
    });
    await world.settled();
    return body.data.id;
  },
  exports: async (world, kind) => {
    const id = await simply(world, kind, 1);
    await world.settled();
    return id;
  },
};
