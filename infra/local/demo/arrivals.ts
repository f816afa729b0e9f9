// Waits until every mail has arrived at the sandbox, or is known never to.
import { setTimeout as pause } from "node:timers/promises";
import { ask, type Caller, call } from "../caller.ts";
import { Trouble } from "../trouble.ts";

export interface Arrived {
  id: number;
  to: { email: string };
  subject: string;
}

export interface Failed {
  toEmail: string;
  error: string | null;
}

export interface Wanted {
  batchIds: number[];
  /** Addresses that were accepted. */
  emails: string[];
  /** Newest mail of the inbox before the demo began. */
  after: number;
}

const patienceSeconds = 60;
const lookMilliseconds = 250;

/** Gives up when nothing has moved for a minute. */
export async function arrivals(caller: Caller, wanted: Wanted, moved: (settled: number) => void) {
  const missing = new Set(wanted.emails.map((email) => email.toLowerCase()));
  const all = missing.size;
  const arrived: Arrived[] = [];
  const failed = new Map<string, Failed>();
  let newest = wanted.after;
  let lastAt = performance.now();
  for (let idle = 0; missing.size > 0; idle++) {
    const mails = await since(caller, newest);
    newest = mails.at(-1)?.id ?? newest;
    const ours = mails.filter(({ to }) => missing.delete(to.email.toLowerCase()));
    arrived.push(...ours);
    // What the provider refused never arrives: looked for when nothing else comes, as it costs a request per batch.
    const refused = ours.length || idle % 8 !== 3 ? [] : await failures(caller, wanted.batchIds);
    for (const one of refused) if (missing.delete(one.toEmail.toLowerCase())) failed.set(one.toEmail, one);
    moved(all - missing.size);
    if (ours.length) [idle, lastAt] = [0, performance.now()];
    if (idle * lookMilliseconds > patienceSeconds * 1000)
      throw new Trouble(`${missing.size} of ${all} mails did not arrive within a minute after the last: the service's output may tell why`);
    if (missing.size) await pause(lookMilliseconds);
  }
  return { arrived, lastAt, failed: [...failed.values()] };
}

interface Inbox {
  mails: Arrived[];
  pagination: { nextCursor: string | null };
}

/** Mails newer than this one, oldest first. */
async function since(caller: Caller, after: number): Promise<Arrived[]> {
  const mails: Arrived[] = [];
  let cursor: string | null = "";
  do {
    const path: string = `/_local/inbox?limit=1000&after=${after}${cursor && `&cursor=${cursor}`}`;
    const { data } = (await ask(caller, "GET", path)).body as { data: Inbox };
    mails.push(...data.mails);
    cursor = data.pagination.nextCursor;
  } while (cursor);
  return mails.reverse();
}

export const newestMail = async (caller: Caller): Promise<number> => {
  const { data } = (await ask(caller, "GET", "/_local/inbox?limit=1")).body as { data: Inbox };
  return data.mails[0]?.id ?? 0;
};

async function failures(caller: Caller, batchIds: number[]): Promise<Failed[]> {
  const lists = await Promise.all(
    batchIds.map((id) => call<{ sends: Failed[] }>(caller, "GET", `/sends?batchId=${id}&status=failed&limit=100`)),
  );
  return lists.flatMap(({ sends }) => sends);
}

const decided = new Set(["delivered", "failed", "cancelled"]);

/** What the provider's webhooks have told of the first hundred: `9 delivered, 2 failed`. Waits a few seconds for the last of them. */
export async function fates(caller: Caller, batchId: number): Promise<string> {
  for (let tries = 1; ; tries++) {
    const { sends } = await call<{ sends: { status: string }[] }>(caller, "GET", `/sends?batchId=${batchId}&limit=100`);
    const open = sends.filter(({ status }) => !decided.has(status));
    if (open.length && tries < 5) await pause(600);
    else return tally(sends.map(({ status }) => status));
  }
}

const tally = (statuses: string[]): string =>
  [...Map.groupBy(statuses, (status) => status)].map(([status, all]) => `${all.length} ${status}`).join(", ");
