// Compares the statistics of the service, which are counters of days, with its history.
import type { ListedSend } from "./scene.ts";
import type { World } from "./world.ts";

interface Overview {
  totals: Record<string, number> & { opens: { total: number }; clicks: { total: number } };
}

export interface ListedEvent {
  type: string;
  sendId: number;
}

/**
 * The figures of the last week equal the listed sends and events. A call that waits while its
 * campaign is paused has no counted mails, though events can tell of them.
 */
export async function checkStatistics(
  world: World,
  sends: ListedSend[],
  { events, isAtRest }: { events: ListedEvent[]; isAtRest: boolean },
): Promise<string[]> {
  const { data } = await world.call<Overview>("GET", "/analytics/overview?period=7d");
  const { totals } = data;
  const count = (type: string) => events.filter((event) => event.type === type).length;
  const sendsWith = (types: string[]) =>
    new Set(events.filter(({ type }) => types.includes(type)).map(({ sendId }) => sendId)).size;
  const refused = sends.filter(({ status }) => status === "failed").length;
  const negatives = listNegatives(data).map((name) => `${name} of the statistics is negative`);
  const expected: [name: string, shown: number | undefined, listed: number][] = [
    ["delivered", totals.delivered, sendsWith(["delivered", "open", "click", "unsubscribe"])],
    ["bounced", totals.bounced, count("bounce")],
    ["complained", totals.complained, count("spam_report")],
    ["opens", totals.opens.total, count("open")],
    ["clicks", totals.clicks.total, count("click")],
    ["uncertain", totals.uncertain, sends.filter(({ status }) => status === "uncertain").length],
    ["failed", totals.failed, refused],
  ];
  if (isAtRest) expected.push(["sent", totals.sent, sends.filter(isAccepted(events)).length]);
  const differences = expected.flatMap(([name, shown, listed]) =>
    shown === listed
      ? []
      : [`The statistics have ${shown} mails or events ${name}, and the history ${listed}`],
  );
  return [...negatives, ...differences];
}

/** The paths of all negative numbers, except changes against an earlier period. */
export function listNegatives(value: unknown, path = ""): string[] {
  if (typeof value === "number") return value < 0 ? [path] : [];
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([name, part]) =>
    name === "change" ? [] : listNegatives(part, path ? `${path}.${name}` : name),
  );
}

/** A provider accepted the mail, whatever came later. */
const isAccepted =
  (events: ListedEvent[]) =>
  ({ id, status }: ListedSend): boolean =>
    status === "sent" ||
    status === "delivered" ||
    (status === "failed" && events.some(({ sendId, type }) => sendId === id && type === "bounce"));
