// A bad line between a provider and the service: calls change their order, one in ten comes twice,
// and none is ever lost.
import { setTimeout as pause } from "node:timers/promises";
import { type ReceivedCall, startReceiver } from "../../infra/local/bench/http-receiver.ts";

/** An event as SendGrid posts it. */
interface PostedEvent {
  event: string;
  sendId: string;
  sg_event_id: string;
  sg_message_id: string;
}

export interface UnreliableLine {
  /** Where the provider believes the service to be. */
  url: string;
  /** Distinct events that were to be carried, by their name at the provider. */
  events: Map<string, Set<string>>;
  /** The messages that the provider has made of each send; more than one is one mail too many. */
  messages: Map<string, Set<string>>;
  forwarded: { calls: number; duplicates: number };
  /** Resolves once nothing is left to carry. */
  waitUntilEmpty(): Promise<void>;
  close(): Promise<void>;
}

const forwarderCount = 8;

/** `to` is where the service really is. */
export async function openUnreliableLine(to: () => string): Promise<UnreliableLine> {
  const receiver = await startReceiver((call) => {
    recordEvents(line, call);
    waiting.push({ call, again: Math.random() < 0.1 });
    return 200;
  });
  const waiting: { call: Omit<ReceivedCall, "status">; again: boolean }[] = [];
  const [stopping, working] = [new AbortController(), new Set<object>()];
  const line: UnreliableLine = {
    url: receiver.url,
    events: new Map(),
    messages: new Map(),
    forwarded: { calls: 0, duplicates: 0 },
    async waitUntilEmpty() {
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
      const [next] = waiting.splice(Math.floor(Math.random() * waiting.length), 1);
      if (!next) {
        await pause(10);
        continue;
      }
      working.add(next);
      const arrived = await forwardCall(`${to()}${next.call.path}`, next.call);
      line.forwarded.calls++;
      if (!arrived) waiting.push(next);
      else if (next.again) waiting.push({ ...next, again: false });
      if (arrived && next.again) line.forwarded.duplicates++;
      working.delete(next);
    }
  };
  const all = Array.from({ length: forwarderCount }, carrier);
  return line;
}

function recordEvents({ events, messages }: UnreliableLine, { body }: Pick<ReceivedCall, "body">) {
  for (const { event, sendId, sg_event_id: id, sg_message_id: message } of JSON.parse(
    body.toString("utf8"),
  ) as PostedEvent[]) {
    events.set(event, (events.get(event) ?? new Set()).add(id));
    messages.set(sendId, (messages.get(sendId) ?? new Set()).add(message));
  }
}

/** Whether the service has taken it; where it has not, the line waits a little. */
async function forwardCall(
  url: string,
  { headers, body }: Pick<ReceivedCall, "headers" | "body">,
): Promise<boolean> {
  await pause(Math.random() * 150);
  try {
    const { host: _, connection: __, "content-length": ___, ...kept } = headers;
    const response = await fetch(url, {
      method: "POST",
      headers: kept as Record<string, string>,
      body: new Uint8Array(body),
    });
    await response.text();
    if (response.ok) return true;
  } catch {
    // It is being restarted.
  }
  await pause(200);
  return false;
}
