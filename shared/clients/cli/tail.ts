// `pennymail tail`: shows sends and delivery events while they happen.
import type { PagedList } from "../sdk/paged-list.ts";
import { type ApiClient, connect, type ListPage } from "./api-client.ts";
import { type Command, type CommandInput, textOf } from "./command.ts";
import { CommandError } from "./exit-codes.ts";
import { createFeed, follow } from "./feed.ts";
import { parseNumber } from "./operation-options.ts";
import { bold, dim, printable } from "./terminal.ts";

export const tail: Command = {
  usage: "tail [options]",
  summary: "Show sends and delivery events while they happen",
  description: "Begins with the latest ones, and ends with Ctrl-C.",
  options: {
    lines: { type: "string" },
    "site-id": { type: "string" },
    interval: { type: "string" },
  },
  optionTexts: {
    "--lines NUMBER": "How many of the latest to begin with, up to 100. Default: 10",
    "--site-id NUMBER": "Only this site",
    "--interval NUMBER": "Seconds between two looks, at least 1. Default: 3",
  },
  run: showActivity,
};

interface Send {
  id: number;
  toEmail: string;
  subject: string;
  status: string;
  createdAt: string;
}

interface DeliveryEvent {
  id: number;
  sendId: number;
  toEmail: string;
  subject: string;
  type: string;
  timestamp: string;
  data: { url?: string; reason?: string };
}

/** A line of the output. */
interface Activity {
  at: string;
  /** Status of a send, or type of an event. */
  what: string;
  sendId: number;
  toEmail: string;
  text: string;
  record: object;
}

async function showActivity({ terminal, values }: CommandInput): Promise<void> {
  const lines = parseNumber(textOf(values.lines) ?? "10", "--lines");
  const seconds = parseInterval(textOf(values.interval) ?? "3");
  const site = textOf(values["site-id"]);
  const query = site === undefined ? {} : { siteId: parseNumber(site, "--site-id") };
  const client = connect(terminal);
  const sends = feedOf<Send>(client, "sends", query);
  const events = feedOf<DeliveryEvent>(client, "events", query);
  const waiting: Activity[] = [];
  let shown = lines;
  const poll = async () => {
    waiting.push(...(await sends()).map(fromSend));
    waiting.push(...(await events()).map(fromEvent));
    const sorted = waiting.splice(0).sort((a, b) => a.at.localeCompare(b.at));
    const first = Math.max(0, sorted.length - shown);
    shown = Number.POSITIVE_INFINITY;
    for (const activity of sorted.slice(first)) printActivity(activity, { terminal, values });
  };
  await follow(poll, { seconds, terminal });
}

/** Fewer than 60 looks per minute stay below the rate limit of every plan. */
export function parseInterval(text: string): number {
  const seconds = parseNumber(text, "--interval");
  if (seconds < 1) throw new CommandError("--interval must be at least 1");
  return seconds;
}

export const feedOf = <Item extends { id: number }>(
  client: ApiClient,
  group: "sends" | "events",
  query: object,
) => createFeed(() => client[group]!.list!({ limit: 100, ...query }) as PagedList<Item, ListPage>);

const fromSend = (send: Send): Activity => ({
  at: send.createdAt,
  what: send.status,
  sendId: send.id,
  toEmail: send.toEmail,
  text: send.subject,
  record: { kind: "send", ...send },
});

const fromEvent = (event: DeliveryEvent): Activity => ({
  at: event.timestamp,
  what: event.type,
  sendId: event.sendId,
  toEmail: event.toEmail,
  text: event.data.reason ?? event.data.url ?? event.subject,
  record: { kind: "event", ...event },
});

function printActivity(
  { at, what, sendId, toEmail, text, record }: Activity,
  { terminal, values }: Pick<CommandInput, "terminal" | "values">,
): void {
  const isJson = values.json === true || !terminal.isInteractive;
  const time = dim(timeOf(at), terminal);
  const words = [bold(what.padEnd(11), terminal), String(sendId).padEnd(9), printable(toEmail)];
  const line = `${time}  ${words.join("  ")}  ${dim(printable(text), terminal)}`;
  terminal.write(`${isJson ? JSON.stringify(record) : line}\n`);
}

/** `14:03:27` in the time zone of the terminal. */
export const timeOf = (timestamp: string): string =>
  new Date(timestamp).toLocaleTimeString("en-GB");
