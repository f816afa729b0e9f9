// A stand-in for SendGrid that accepts every mail and counts the mails of each recipient by itself.
// It shares no code with the service and keeps no mail, so that it can count millions.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";

export interface CountingProvider {
  url: string;
  /** Mails of all accepted calls. */
  accepted(): number;
  /** The most calls that waited for their response at the same time. */
  mostCallsInFlight(): number;
  /** Counts the recipients by what they got, and starts again. */
  takeCounts(): ReceivedCounts;
  stop(): Promise<void>;
}

export interface ReceivedCounts {
  none: number;
  one: number;
  several: number;
  /** Mails to addresses that are not of the audience. */
  strangers: number;
}

/** Counts the mails of each recipient. See `startCountingProvider` for the addresses. */
export function createMailCounter(recipients: number, onMail: (email: string) => void = () => {}) {
  let mailsByReader = new Uint8Array(recipients);
  let [strangers, accepted] = [0, 0];
  return {
    count(email: string): void {
      const reader = Number(/^reader(\d+)\./.exec(email)?.[1] ?? recipients);
      if (reader < recipients) mailsByReader[reader]!++;
      else strangers++;
      accepted++;
      onMail(email);
    },
    accepted: () => accepted,
    takeCounts(): ReceivedCounts {
      const counts = { none: 0, one: 0, several: 0, strangers };
      for (const mails of mailsByReader) {
        if (mails === 0) counts.none++;
        else if (mails === 1) counts.one++;
        else counts.several++;
      }
      mailsByReader = new Uint8Array(recipients);
      strangers = 0;
      return counts;
    },
  };
}

interface SendGridCall {
  personalizations: { to: { email: string }[] }[];
}

/**
 * Responds after `latencyMs`. The addresses of the audience are those of `uniqueAddress`, from 0 to
 * `recipients` - 1. `onMail` is called for each mail that is accepted.
 */
export async function startCountingProvider(
  recipients: number,
  latencyMs: number,
  onMail: (email: string) => void = () => {},
): Promise<CountingProvider> {
  const counter = createMailCounter(recipients, onMail);
  let [inFlight, mostInFlight] = [0, 0];
  const server = createServer(async (request, response) => {
    mostInFlight = Math.max(mostInFlight, ++inFlight);
    const { personalizations }: SendGridCall = JSON.parse(await text(request));
    await pause(latencyMs);
    for (const { to } of personalizations) for (const { email } of to) counter.count(email);
    inFlight--;
    response.writeHead(202, { "x-message-id": `m${counter.accepted()}` }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    accepted: counter.accepted,
    mostCallsInFlight: () => mostInFlight,
    takeCounts: counter.takeCounts,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
