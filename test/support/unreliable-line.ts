// An unreliable connection between a provider and the service: it reorders webhooks, repeats one in
// ten, and loses none.
import { setTimeout as pause } from "node:timers/promises";
import { type ReceivedCall, startReceiver } from "../../infra/local/bench/http-receiver.ts";
import { randomOfTest } from "./seeded-random.ts";

/** An event as SendGrid posts it. */
interface PostedEvent {
  event: string;
  sendId: string;
  sg_event_id: string;
  sg_message_id: string;
}

export interface UnreliableLine {
  /** The URL to which the provider posts. */
  url: string;
  /** Distinct events by the provider's name of their type. */
  events: Map<string, Set<string>>;
  /** The provider's messages by send. More than one means that a mail went out twice. */
  messages: Map<string, Set<string>>;
  forwarded: { calls: number; duplicates: number };
  /** Resolves once all webhooks are forwarded. */
  waitUntilEmpty(): Promise<void>;
  close(): Promise<void>;
}

const forwarderCount = 8;
const random = randomOfTest("unreliable line");

/** `to` returns the URL of the service. */
export async function openUnreliableLine(to: () => string): Promise<UnreliableLine> {
  const receiver = await startReceiver((call) => {
    recordEvents(line, call);
    waiting.push({ call, again: random() < 0.1 });
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
      const [next] = waiting.splice(Math.floor(random() * waiting.length), 1);
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

/** Forwards a webhook. Returns whether the service accepted it, and waits a moment otherwise. */
async function forwardCall(
  url: string,
  { headers, body }: Pick<ReceivedCall, "headers" | "body">,
): Promise<boolean> {
  await pause(random() * 150);
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
    // The service is being restarted.
  }
  await pause(200);
  return false;
}
