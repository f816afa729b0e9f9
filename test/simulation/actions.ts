// What the callers of the API do in a simulation.
import { erasure } from "./areas/erasure.ts";
import { resolutions } from "./areas/resolutions.ts";
import { sequences } from "./areas/sequences.ts";
import {
  type Action,
  type ActionDefinition,
  type Area,
  configOf,
  contactOf,
  type Scene,
  subjectOf,
} from "./scene.ts";
import type { PreparedWorld } from "./world.ts";

/** What some simulations do in addition. */
const areas: Record<string, Area> = { sequences, erasure, resolutions };
export const areaNames = Object.keys(areas);
export const areasOf = (names: string[]): Area[] => names.map((name) => areas[name]!);

const html = "<p>Hello</p>";

async function sendOne(
  { world, prepared, ledger }: Scene,
  action: Action,
  more: object = {},
): Promise<void> {
  const to = contactOf(action, prepared).email;
  const subject = subjectOf(action);
  const answer = await world.call<{ id: number; status: string }>("POST", "/send", {
    to,
    subject,
    html,
    sendingConfigId: configOf(action, prepared).id,
    ...more,
  });
  const { id, status } = answer.data ?? {};
  if (answer.status === 202) ledger.sends.push({ id, subject, to, isFree: status === "failed" });
  else ledger.refusals.push(`${subject}: ${answer.error}`);
}

async function sendBatch({ world, prepared, ledger }: Scene, action: Action): Promise<void> {
  const subject = subjectOf(action);
  const recipients = Array.from({ length: action.size }, (_, i) => ({
    to: `batch${action.number}-${i}@others.example`,
  }));
  const answer = await world.call<{ results: { to: string; id: number | null }[] }>(
    "POST",
    "/send/batch",
    { recipients, subject, html, sendingConfigId: configOf(action, prepared).id },
  );
  if (answer.status !== 202) return void ledger.refusals.push(`${subject}: ${answer.error}`);
  for (const { to, id } of answer.data.results)
    if (id !== null) ledger.sends.push({ id, subject, to });
}

async function sendCampaign({ world, prepared, ledger }: Scene, action: Action): Promise<void> {
  const subject = subjectOf(action);
  const { templateId, listId } = prepared;
  const created = await world.call<{ id: number }>("POST", "/campaigns", {
    name: subject,
    subject,
    templateId,
    listId,
    sendingConfigId: configOf(action, prepared).id,
  });
  if (created.status !== 201) return void ledger.refusals.push(`${subject}: ${created.error}`);
  const startedAt = world.time.now();
  const sent = await world.call("POST", `/campaigns/${created.data.id}/send`, {});
  if (sent.status >= 300) ledger.refusals.push(`${subject}: ${sent.error}`);
  ledger.campaigns.push({ id: created.data.id, subject, startedAt });
}

/** Changes a campaign that a caller started before. Does nothing without one. */
async function changeCampaign(scene: Scene, { choice }: Action, change: string): Promise<void> {
  const { campaigns } = scene.ledger;
  const campaign = campaigns[Math.floor(choice * campaigns.length)];
  if (campaign) await scene.world.call("POST", `/campaigns/${campaign.id}/${change}`, {});
}

/** A recipient uses the link in the newest mail that has one. Does nothing without one. */
async function unsubscribe({ world, ledger }: Scene): Promise<void> {
  const mail = world.outside.mails.findLast(({ html: text }) => unsubscribeLink.test(text));
  if (!mail) return;
  const [, token] = unsubscribeLink.exec(mail.html)!;
  const answer = await world.call("POST", `/unsubscribe?token=${token}`);
  if (answer.status === 200) ledger.departures.push({ email: mail.to, at: world.time.now() });
}
const unsubscribeLink = /\/unsubscribe\/([\w-]+)/;

const campaignChange = (change: string, weight: number): ActionDefinition => ({
  weight,
  describe: () => `a caller wants to ${change} a campaign`,
  run: (scene, action) => changeCampaign(scene, action, change),
});

const everywhere: Record<string, ActionDefinition> = {
  single: {
    weight: 6,
    describe: (action, prepared) =>
      `a caller sends one mail to ${contactOf(action, prepared).email} with ` +
      configOf(action, prepared).provider,
    run: (scene, action) => sendOne(scene, action),
  },
  scheduled: {
    weight: 2,
    describe: (action, prepared) =>
      `a caller schedules one mail to ${contactOf(action, prepared).email} with ` +
      configOf(action, prepared).provider,
    run: (scene, action) => {
      const at = scene.world.time.now() + 60_000 * (1 + action.size);
      return sendOne(scene, action, { scheduledAt: new Date(at).toISOString() });
    },
  },
  batch: {
    weight: 3,
    describe: (action, prepared) =>
      `a caller sends a batch to ${action.size} addresses with ${configOf(action, prepared).provider}`,
    run: sendBatch,
  },
  campaign: {
    weight: 6,
    describe: (action, prepared) =>
      `a caller sends a campaign to the list with ${configOf(action, prepared).provider}`,
    run: sendCampaign,
  },
  "cancel a campaign": campaignChange("cancel", 1),
  "pause a campaign": campaignChange("pause", 1),
  "resume a campaign": campaignChange("resume", 1),
  "cancel a send": {
    weight: 1,
    describe: () => "a caller cancels the mail that was accepted last",
    async run({ world, ledger }) {
      const last = ledger.sends.at(-1);
      if (last) await world.call("POST", `/sends/${last.id}/cancel`, {});
    },
  },
  suppress: {
    weight: 1,
    describe: (action, prepared) => `a caller suppresses ${contactOf(action, prepared).email}`,
    async run({ world, prepared, ledger }, action) {
      const { email } = contactOf(action, prepared);
      const answer = await world.call("POST", "/suppressions", { email, reason: "manual" });
      if (answer.status < 300) ledger.departures.push({ email, at: world.time.now() });
    },
  },
  unsubscribe: {
    weight: 4,
    describe: () => "the recipient of the newest campaign mail unsubscribes",
    run: unsubscribe,
  },
};

const definitions: Record<string, ActionDefinition> = Object.assign(
  {},
  everywhere,
  ...Object.values(areas).map(({ actions }) => actions),
);

/** The names of actions, each as often as its weight says. */
const toKinds = (actions: Record<string, ActionDefinition>): string[] =>
  Object.entries(actions).flatMap(([kind, { weight }]) => Array<string>(weight).fill(kind));

/** Actions within these hours, several of them close together. */
export function createActions(random: () => number, hours: number, names: string[]): Action[] {
  const count = 3 + Math.floor(random() * 9);
  const bursts = Array.from({ length: 2 }, () => random() * hours * 3_600_000);
  const kinds = [everywhere, ...areasOf(names).map(({ actions }) => actions)].flatMap(toKinds);
  return Array.from({ length: count }, (_, i) => ({
    at: Math.round(bursts[Math.floor(random() * bursts.length)]! + random() ** 3 * 60_000),
    kind: kinds[Math.floor(random() * kinds.length)]!,
    number: i + 1,
    choice: random(),
    size: 1 + Math.floor(random() * 12),
  })).toSorted((a, b) => a.at - b.at);
}

export const describeAction = (action: Action, prepared: PreparedWorld): string =>
  `Action ${action.number}: ${definitions[action.kind]!.describe(action, prepared)}`;

export const runAction = (scene: Scene, action: Action): Promise<void> =>
  definitions[action.kind]!.run(scene, action);

/** Resumes everything that callers paused, so that no mail waits in the end. */
export async function resumeAll(scene: Scene, names: string[]): Promise<void> {
  for (const { id } of scene.ledger.campaigns)
    await scene.world.call("POST", `/campaigns/${id}/resume`, {});
  for (const area of areasOf(names)) await area.resume?.(scene);
}
