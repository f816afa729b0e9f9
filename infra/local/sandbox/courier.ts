// Carries events to the webhook URLs: a little later, in the provider's own batches, with a few more tries when it fails.
import { randomUUID } from "node:crypto";
import * as clock from "../../../shared/clock.ts";
import * as web from "../../../shared/doors/web.ts";
import type { Account, Happening, Hook, Kind, Mail, MailProvider, Parcel, Posted } from "./contract.ts";
import { steps } from "./fates.ts";
import type { Hooks } from "./hooks.ts";
import { rendered } from "./inbox.ts";

const retryDelaysMs = [300, 1000, 3000];
const parallel = 6;
const maxWaiting = 100_000;
/** How long nothing goes to a URL that answered "there is nothing here". */
const restMs = 2000;

interface Waiting {
  happening: Happening;
  posted: Posted;
}

interface Lane {
  hook: Hook;
  waiting: Waiting[];
  running: number;
  restUntil: number;
}

/** `mayPost` holds a hook back until it may be used: SNS wants its subscription confirmed first. */
export function courier(hooks: Hooks, mayPost: (hook: Hook, account: Account) => Promise<boolean> | boolean) {
  const lanes = new Map<string, Lane>();
  const timers = new Map<NodeJS.Timeout, { due: number; run: () => void }>();
  const running = new Set<Promise<void>>();
  const stats = { webhooksPosted: 0, webhooksFailed: 0 };
  let stopped = false;

  function later(delayMs: number, run: () => void): void {
    const timer = setTimeout(() => {
      timers.delete(timer);
      run();
    }, delayMs);
    timers.set(timer.unref(), { due: performance.now() + delayMs, run });
  }

  /** Runs what is due first, ahead of its time. */
  function hurry(): void {
    const first = timers.values().reduce((earliest, { due }) => Math.min(earliest, due), Number.POSITIVE_INFINITY);
    for (const [timer, { due, run }] of timers) {
      if (due > first + 10) continue;
      clearTimeout(timer);
      timers.delete(timer);
      run();
    }
  }

  function happen(kind: Kind, mails: Mail[], provider: MailProvider, account: Account): void {
    if (!provider.webhook.notices[kind]) return;
    const happenings = mails.flatMap((mail) => happening(kind, mail) ?? []);
    for (const hook of hooks.of(provider.key, account.id)) {
      const lane = laneOf(hook);
      for (const one of happenings) lane.waiting.push({ happening: one, posted: noted(one) });
      lane.waiting.splice(0, lane.waiting.length - maxWaiting);
      work(lane, provider, account);
    }
  }

  function laneOf(hook: Hook): Lane {
    const lane = lanes.get(hook.url) ?? { hook, waiting: [], running: 0, restUntil: 0 };
    lanes.set(hook.url, lane);
    return lane;
  }

  function work(lane: Lane, provider: MailProvider, account: Account): void {
    while (!stopped && lane.running < parallel && lane.waiting.length) {
      lane.running++;
      const batch = lane.waiting.splice(0, provider.webhook.perPost);
      const done = post(lane, batch, provider, account).finally(() => {
        running.delete(done);
        lane.running--;
        work(lane, provider, account);
      });
      running.add(done);
    }
  }

  async function post(lane: Lane, batch: Waiting[], provider: MailProvider, account: Account): Promise<void> {
    const status = clock.now().getTime() < lane.restUntil ? 404 : await carry(lane, batch, provider, account);
    for (const { posted } of batch) posted.status = status;
    const good = status >= 200 && status < 300;
    if (!good && (status === 404 || status === 410)) lane.restUntil = clock.now().getTime() + restMs;
    stats[good ? "webhooksPosted" : "webhooksFailed"] += batch.length;
  }

  async function carry({ hook }: Lane, batch: Waiting[], provider: MailProvider, account: Account): Promise<number> {
    if (!(await mayPost(hook, account))) return 0;
    const events = batch.map(({ happening }) => provider.webhook.notices[happening.kind]!(happening));
    const parcel = await provider.webhook.pack(events, hook, account);
    for (let attempt = 0; ; attempt++) {
      const status = await deliver(hook.url, parcel, attempt);
      const delayMs = retryDelaysMs[attempt];
      const final = status === 404 || status === 410 || (status > 0 && status < 300) || !provider.webhook.retries(status);
      if (final || stopped || delayMs === undefined) return status;
      await new Promise<void>((resolve) => later(delayMs, resolve));
    }
  }

  return {
    /** What follows for mails that were just accepted. */
    expect(mails: Mail[], provider: MailProvider, account: Account): void {
      const heard = mails.filter((mail) => !mail.silent);
      for (const [delayMs, kinds] of planned(heard)) {
        later(delayMs, () => {
          for (const [kind, those] of kinds) happen(kind, those, provider, account);
        });
      }
    },
    /** Lets everything happen that is still to come, without waiting for its time. */
    async settle(): Promise<void> {
      while (timers.size || running.size) {
        hurry();
        await Promise.race([Promise.allSettled(running), clock.sleep(20)]);
      }
    },
    stats: () => ({ ...stats }),
    async stop(): Promise<void> {
      stopped = true;
      while (timers.size) hurry();
      const { promise: patience, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, 500);
      await Promise.race([Promise.allSettled(running), patience]);
      clearTimeout(timer);
    },
  };
}

/** Mails by the moment and kind of what happens to them: one timer serves a whole batch. */
function planned(mails: Mail[]): Map<number, Map<Kind, Mail[]>> {
  const plan = new Map<number, Map<Kind, Mail[]>>();
  for (const mail of mails) {
    for (const { kind, delayMs } of steps(mail)) {
      const kinds = plan.get(delayMs) ?? new Map<Kind, Mail[]>();
      plan.set(delayMs, kinds);
      const those = kinds.get(kind);
      if (those) those.push(mail);
      else kinds.set(kind, [mail]);
    }
  }
  return plan;
}

function happening(kind: Kind, mail: Mail): Happening | undefined {
  const url = kind === "clicked" ? firstLink(rendered(mail, "html") ?? "") : "";
  return url === undefined ? undefined : { kind, mail, at: clock.after(readingSeconds[kind] ?? 0), id: randomUUID(), url };
}

// Who clicks within seconds of delivery is a scanner: a simulated person is told to have read for a while, without anyone waiting.
const readingSeconds: Partial<Record<Kind, number>> = { opened: 12, clicked: 20 };

function noted({ kind, mail, at }: Happening): Posted {
  const posted = { kind, at: at.toISOString(), status: 0 };
  mail.posted.push(posted);
  return posted;
}

function firstLink(html: string): string | undefined {
  const [, double, single, bare] = /<a\b[^>]*?\bhref\s*=\s*(?:"(https?:[^"]+)"|'(https?:[^']+)'|(https?:[^\s>"']+))/i.exec(html) ?? [];
  return (double ?? single ?? bare)?.replaceAll("&amp;", "&");
}

/** The status answered, 0 for no answer. */
async function deliver(url: string, parcel: Parcel, attempt: number): Promise<number> {
  try {
    const headers = parcel.headers(attempt);
    return (await web.call({ method: "POST", url, headers, body: parcel.body, timeoutSeconds: 10 })).status;
  } catch {
    return 0;
  }
}
