// Events on their way to endpoints of customers: a few that hear a lot, and many that hear a little.
import { randomBytes } from "node:crypto";
import * as clock from "../../../shared/clock.ts";
import { inParallel } from "../../../shared/parallel.ts";
import { accounts } from "../sandbox/accounts.ts";
import { webhook } from "../sandbox/events/sendgrid.ts";
import { organization } from "./callers.ts";
import { deliver, type Parcel, parcelsOf, type Scene, sentMails } from "./inbound.ts";
import { openReceiver, type Receiver } from "./receiver.ts";
import { number, perSecond, progress, type Row } from "./report.ts";
import { type Measured, measured } from "./service.ts";

/** An organization may have 100 endpoints: a thousand of them belong to ten. */
const casts = [
  { organizations: 1, endpoints: 10, events: 1000 },
  { organizations: 10, endpoints: 100, events: 10 },
];
type Cast = (typeof casts)[number];

export async function run(): Promise<Row[]> {
  const service = await measured({ ALLOW_LOOPBACK_WEBHOOKS: "on" });
  const receiver = await openReceiver();
  try {
    const rows: Row[] = [];
    for (const cast of casts) rows.push(...(await castRows(service, receiver, cast)));
    return rows;
  } finally {
    await service.stop();
    await receiver.close();
  }
}

async function castRows(service: Measured, receiver: Receiver, { organizations, endpoints, events }: Cast): Promise<Row[]> {
  const account = accounts(randomBytes(32)).open();
  const scenes = await inParallel(4, Array.from({ length: organizations }), async (): Promise<Scene> => {
    const caller = await organization(service, { webhookSecret: webhook.secret(account) });
    for (let i = 0; i < endpoints; i++) await caller.call("POST", "/webhooks", { url: `${receiver.url}/${i}`, events: ["delivered"] });
    return { service, account, caller };
  });
  const parcels: { scene: Scene; one: Parcel }[] = [];
  for (const scene of scenes) for (const one of parcelsOf(scene, await sentMails(scene)(events), events)) parcels.push({ scene, one });
  service.spent();
  const deliveries = organizations * endpoints * events;
  const { first, last } = await received(receiver, deliveries, () => inParallel(10, parcels, ({ scene, one }) => deliver(scene, one)));
  await service.quiet(2);
  const { forward = { times: 0, readUnits: 0, writeUnits: 0 } } = service.spent();
  const how = `${number(organizations * endpoints)} endpoints`;
  return [
    {
      what: `${how}: deliveries`,
      value: perSecond(deliveries / ((last - first) / 1000)),
      note: `${number(deliveries)}, from the first to the last`,
    },
    {
      what: `${how}: write units per delivery`,
      value: number(forward.writeUnits / deliveries),
      note: `${number(forward.times)} messages; beside it ${number(forward.readUnits / deliveries)} read units`,
    },
  ];
}

async function received(receiver: Receiver, n: number, begin: () => Promise<unknown>) {
  receiver.calls.length = 0;
  await begin();
  while (receiver.calls.length < n) {
    progress("deliveries", receiver.calls.length, n);
    await clock.sleep(20);
  }
  return { first: receiver.calls[0]!.at, last: receiver.calls.at(-1)!.at };
}
