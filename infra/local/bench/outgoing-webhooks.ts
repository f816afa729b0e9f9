// Webhook deliveries to the endpoints of customers: many events for a few endpoints, and a few
// events for many.
import { randomBytes } from "node:crypto";
import * as clock from "../../../shared/clock.ts";
import { inParallel } from "../../../shared/kernel/parallel.ts";
import { createAccounts } from "../sandbox/accounts.ts";
import { sendgrid } from "../sandbox/providers/sendgrid.ts";
import { type BenchReceiver, startReceiver } from "./http-receiver.ts";
import { noUnits } from "./measure.ts";
import { type MeasuredService, startMeasuredService } from "./measured-service.ts";
import { createOrganization } from "./organizations.ts";
import {
  buildPosts,
  createMailSource,
  type EventScene,
  postEvents,
  type SignedPost,
} from "./provider-events.ts";
import { type BenchRow, formatNumber, formatPerSecond, showProgress } from "./report.ts";

/** An organization can have 100 endpoints, so 1,000 endpoints need 10 organizations. */
const setups = [
  { organizations: 1, endpoints: 10, events: 1000 },
  { organizations: 10, endpoints: 100, events: 10 },
];
type EndpointSetup = (typeof setups)[number];

export async function run(): Promise<BenchRow[]> {
  const service = await startMeasuredService({ ALLOW_LOOPBACK_WEBHOOKS: "on" });
  const receiver = await startReceiver();
  try {
    const rows: BenchRow[] = [];
    for (const setup of setups) rows.push(...(await setupRows(service, receiver, setup)));
    return rows;
  } finally {
    await service.stop();
    await receiver.close();
  }
}

async function setupRows(
  service: MeasuredService,
  receiver: BenchReceiver,
  { organizations, endpoints, events }: EndpointSetup,
): Promise<BenchRow[]> {
  const account = createAccounts(randomBytes(32)).create();
  const scenes = await inParallel(
    4,
    Array.from({ length: organizations }),
    async (): Promise<EventScene> => {
      const caller = await createOrganization(service, {
        webhookSecret: sendgrid.webhook.deriveSecret(account),
      });
      for (let i = 0; i < endpoints; i++)
        await caller.call("POST", "/webhooks", {
          url: `${receiver.url}/${i}`,
          events: ["delivered"],
        });
      return { service, account, caller };
    },
  );
  const posts: { scene: EventScene; post: SignedPost }[] = [];
  for (const scene of scenes)
    for (const post of buildPosts(scene, await createMailSource(scene)(events), events))
      posts.push({ scene, post });
  service.takeUnits();
  const deliveries = organizations * endpoints * events;
  const { first, last } = await waitForDeliveries(receiver, deliveries, () =>
    inParallel(10, posts, ({ scene, post }) => postEvents(scene, post)),
  );
  await service.waitUntilIdle(2);
  const { forward = noUnits } = service.takeUnits();
  const label = `${formatNumber(organizations * endpoints)} endpoints`;
  return [
    {
      what: `${label}: deliveries`,
      value: formatPerSecond(deliveries / ((last - first) / 1000)),
      note:
        `${formatNumber(deliveries)}, from the first to the last; an organization makes at ` +
        "most 200 calls a second to one host",
    },
    {
      what: `${label}: write units per delivery`,
      value: formatNumber(forward.writeUnits / deliveries),
      note:
        `${formatNumber(forward.runs)} messages; ` +
        `and ${formatNumber(forward.readUnits / deliveries)} read units`,
    },
  ];
}

async function waitForDeliveries(
  receiver: BenchReceiver,
  n: number,
  postEvents: () => Promise<unknown>,
) {
  receiver.calls.length = 0;
  await postEvents();
  while (receiver.calls.length < n) {
    showProgress("deliveries", receiver.calls.length, n);
    await clock.sleep(20);
  }
  return { first: receiver.calls[0]!.at, last: receiver.calls.at(-1)!.at };
}
