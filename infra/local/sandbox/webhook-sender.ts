// Posts simulated events to webhook URLs in the format of the provider, shortly after it accepted
// the mail. Batches events and retries failed posts as the provider does.
import { randomUUID } from "node:crypto";
import * as client from "../../../shared/adapters/http/client.ts";
import * as clock from "../../../shared/clock.ts";
import { renderPart } from "./inbox.ts";
import { eventsAfterAccept } from "./simulator.ts";
import type {
  CapturedMail,
  MailEventKind,
  SandboxAccount,
  SandboxProvider,
  SimulatedEvent,
  WebhookAttempt,
  WebhookPost,
  WebhookTarget,
} from "./types.ts";
import { formatEvent } from "./webhook-format.ts";
import type { WebhookTargets } from "./webhook-targets.ts";

const retryDelaysMs = [300, 1000, 3000];
const maxParallelPosts = 6;
const maxPendingEvents = 100_000;
/** How long a URL that responded with 404 or 410 gets no posts. */
const pauseAfter404Ms = 2000;

interface PendingEvent {
  event: SimulatedEvent;
  attempt: WebhookAttempt;
}

/** The pending events of one URL. */
interface TargetQueue {
  target: WebhookTarget;
  pending: PendingEvent[];
  running: number;
  pausedUntil: number;
}

/** An account at a provider. */
export interface Mailer {
  provider: SandboxProvider;
  account: SandboxAccount;
}

/** `isConfirmed` returns false for a target that cannot be used: SNS confirms subscriptions. */
export function createWebhookSender(
  targets: WebhookTargets,
  isConfirmed: (target: WebhookTarget, account: SandboxAccount) => Promise<boolean> | boolean,
) {
  const queues = new Map<string, TargetQueue>();
  const timers = new Map<NodeJS.Timeout, { due: number; run: () => void }>();
  const running = new Set<Promise<void>>();
  const stats = { webhooksPosted: 0, webhooksFailed: 0 };
  let stopped = false;

  function schedule(delayMs: number, run: () => void): void {
    const timer = setTimeout(() => {
      timers.delete(timer);
      run();
    }, delayMs);
    timers.set(timer.unref(), { due: performance.now() + delayMs, run });
  }

  /** Runs the earliest timers at once. */
  function runEarliest(): void {
    const earliest = Math.min(...timers.values().map(({ due }) => due));
    for (const [timer, { due, run }] of timers) {
      if (due > earliest + 10) continue;
      clearTimeout(timer);
      timers.delete(timer);
      run();
    }
  }

  function enqueueEvents(
    kind: MailEventKind,
    mails: CapturedMail[],
    { provider, account }: Mailer,
  ): void {
    if (!provider.webhook.events[kind]) return;
    const events = mails.flatMap((mail) => createEvent(kind, mail) ?? []);
    for (const target of targets.listFor(provider.key, account.id)) {
      const queue = queues.get(target.url) ?? { target, pending: [], running: 0, pausedUntil: 0 };
      queues.set(target.url, queue);
      for (const event of events) queue.pending.push({ event, attempt: recordAttempt(event) });
      queue.pending.splice(0, queue.pending.length - maxPendingEvents);
      startDeliveries(queue, { provider, account });
    }
  }

  function startDeliveries(queue: TargetQueue, mailer: Mailer): void {
    while (!stopped && queue.running < maxParallelPosts && queue.pending.length) {
      queue.running++;
      const batch = queue.pending.splice(0, mailer.provider.webhook.eventsPerPost);
      const done = deliverBatch(queue, batch, mailer).finally(() => {
        running.delete(done);
        queue.running--;
        startDeliveries(queue, mailer);
      });
      running.add(done);
    }
  }

  async function deliverBatch(
    queue: TargetQueue,
    batch: PendingEvent[],
    mailer: Mailer,
  ): Promise<void> {
    const isPaused = clock.now().getTime() < queue.pausedUntil;
    const events = batch.map(({ event }) => event);
    const status = isPaused ? 404 : await postWithRetries(queue.target, events, mailer);
    for (const { attempt } of batch) attempt.status = status;
    if (isGone(status)) queue.pausedUntil = clock.now().getTime() + pauseAfter404Ms;
    stats[isSuccess(status) ? "webhooksPosted" : "webhooksFailed"] += batch.length;
  }

  async function postWithRetries(
    target: WebhookTarget,
    events: SimulatedEvent[],
    { provider: { webhook }, account }: Mailer,
  ): Promise<number> {
    if (!(await isConfirmed(target, account))) return 0;
    const formatted = events.map((event) => formatEvent(webhook, event));
    const post = await webhook.buildPost(formatted, target, account);
    for (let attempt = 0; ; attempt++) {
      const status = await postOnce(target.url, post, attempt);
      const delayMs = retryDelaysMs[attempt];
      const isFinal =
        isSuccess(status) || isGone(status) || webhook.shouldRetry?.(status) === false;
      if (isFinal || stopped || delayMs === undefined) return status;
      await new Promise<void>((resolve) => schedule(delayMs, resolve));
    }
  }

  return {
    /** Schedules the events that follow the acceptance of these mails. */
    scheduleEvents(mails: CapturedMail[], mailer: Mailer): void {
      const events = mails
        .filter((mail) => !mail.withoutEvents)
        .flatMap((mail) => eventsAfterAccept(mail).map((event) => ({ ...event, mail })));
      // One timer serves a whole batch.
      for (const [delayMs, sameTime] of Map.groupBy(events, (event) => event.delayMs))
        schedule(delayMs, () => {
          for (const [kind, sameKind] of Map.groupBy(sameTime, (event) => event.kind))
            enqueueEvents(
              kind,
              sameKind.map(({ mail }) => mail),
              mailer,
            );
        });
    },
    /** Posts all pending events without waiting for their time. */
    async flush(): Promise<void> {
      while (timers.size || running.size) {
        runEarliest();
        await Promise.race([Promise.allSettled(running), clock.sleep(20)]);
      }
    },
    stats: () => ({ ...stats }),
    async stop(): Promise<void> {
      stopped = true;
      while (timers.size) runEarliest();
      const { promise: timeout, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, 500);
      await Promise.race([Promise.allSettled(running), timeout]);
      clearTimeout(timer);
    },
  };
}

const isSuccess = (status: number) => status >= 200 && status < 300;
const isGone = (status: number) => status === 404 || status === 410;

/** Undefined for a click on a mail without a link. */
function createEvent(kind: MailEventKind, mail: CapturedMail): SimulatedEvent | undefined {
  const url = kind === "clicked" ? findFirstLink(renderPart(mail, "html") ?? "") : "";
  if (url === undefined) return undefined;
  return { kind, mail, at: clock.addSeconds(eventDelaySeconds[kind] ?? 0), id: randomUUID(), url };
}

// The service treats an open or click within seconds of delivery as a scanner. Simulated opens and
// clicks therefore carry a later time, and are posted at once.
const eventDelaySeconds: Partial<Record<MailEventKind, number>> = { opened: 12, clicked: 20 };

function recordAttempt({ kind, mail, at }: SimulatedEvent): WebhookAttempt {
  const attempt = { kind, at: at.toISOString(), status: 0 };
  mail.webhookAttempts.push(attempt);
  return attempt;
}

function findFirstLink(html: string): string | undefined {
  const [, double, single, bare] =
    /<a\b[^>]*?\bhref\s*=\s*(?:"(https?:[^"]+)"|'(https?:[^']+)'|(https?:[^\s>"']+))/i.exec(html) ??
    [];
  return (double ?? single ?? bare)?.replaceAll("&amp;", "&");
}

/** The status of the response, 0 without one. */
async function postOnce(url: string, post: WebhookPost, attempt: number): Promise<number> {
  try {
    const headers = post.headers(attempt);
    const { body } = post;
    return (await client.request({ method: "POST", url, headers, body, timeoutSeconds: 10 }))
      .status;
  } catch {
    return 0;
  }
}
