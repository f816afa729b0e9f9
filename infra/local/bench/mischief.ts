// A bad line between a provider and the service: calls change their order, one in ten comes twice, and none is ever lost.
import { setTimeout as pause } from "node:timers/promises";
import { openReceiver, type Received } from "./receiver.ts";

/** An event as SendGrid posts it. */
interface Posted {
  event: string;
  sendId: string;
  sg_event_id: string;
  sg_message_id: string;
}

export interface Line {
  /** Where the provider believes the service to be. */
  url: string;
  /** Distinct events that were to be carried, by their name at the provider. */
  events: Map<string, Set<string>>;
  /** The messages that the provider has made of each send; more than one is one mail too many. */
  messages: Map<string, Set<string>>;
  carried: { calls: number; again: number };
  /** Resolves once nothing is left to carry. */
  empty(): Promise<void>;
  close(): Promise<void>;
}

const carriers = 8;

/** `to` is where the service really is. */
export async function openLine(to: () => string): Promise<Line> {
  const receiver = await openReceiver((call) => {
    note(line, call);
    waiting.push({ call, again: Math.random() < 0.1 });
    return 200;
  });
  const waiting: { call: Omit<Received, "status">; again: boolean }[] = [];
  const [stopping, working] = [new AbortController(), new Set<object>()];
  const line: Line = {
    url: receiver.url,
    events: new Map(),
    messages: new Map(),
    carried: { calls: 0, again: 0 },
    async empty() {
      while (waiting.length || working.size) await pause(20);
    },
    async close() {
      stopping.abort();
      await Promise.all(all);
      await receiver.close();
    },
  };
  const carrier = async () => {
    while (!stopping.signal.aborted) {
      const [taken] = waiting.splice(Math.floor(Math.random() * waiting.length), 1);
      if (!taken) {
        await pause(10);
        continue;
      }
      working.add(taken);
      const arrived = await carry(`${to()}${taken.call.path}`, taken.call);
      line.carried.calls++;
      if (!arrived) waiting.push(taken);
      else if (taken.again) waiting.push({ ...taken, again: false });
      if (arrived && taken.again) line.carried.again++;
      working.delete(taken);
    }
  };
  const all = Array.from({ length: carriers }, carrier);
  return line;
}

function note({ events, messages }: Line, { body }: Pick<Received, "body">) {
  for (const { event, sendId, sg_event_id: id, sg_message_id: message } of JSON.parse(body.toString("utf8")) as Posted[]) {
    events.set(event, (events.get(event) ?? new Set()).add(id));
    messages.set(sendId, (messages.get(sendId) ?? new Set()).add(message));
  }
}

/** Whether the service has taken it; where it has not, the line waits a little. */
async function carry(url: string, { headers, body }: Pick<Received, "headers" | "body">): Promise<boolean> {
  await pause(Math.random() * 150);
  try {
    const { host: _, connection: __, "content-length": ___, ...kept } = headers;
    const response = await fetch(url, { method: "POST", headers: kept as Record<string, string>, body: new Uint8Array(body) });
    await response.text();
    if (response.ok) return true;
  } catch {
    // It is being restarted.
  }
  await pause(200);
  return false;
}
