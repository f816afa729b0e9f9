// In worlds where searches find each mail at once, a mail that was handed over does not stay
// uncertain for long.
import { keyOf, type ListedSend, type Scene } from "./scene.ts";

/** These providers can be asked for mails. */
export const searched = new Set(
  "sendgrid postmark mailgun sparkpost brevo mandrill mailjet resend smtp2go".split(" "),
);

/** By then, a lease has ended, and the provider was asked. */
const settlingMs = 15 * 60_000;

/**
 * The call that hands the mail over, and one look-up. After a second look-up without an answer, the
 * service waits for 15 minutes, then for 45.
 */
const maxFaults = 2;

/** Looks for uncertain mails 15 minutes after each mail, or after the last fault. */
export function watchUncertain({ world }: Scene, violations: string[]): void {
  const { time, outside } = world;
  let nextCheck = 0;
  const awaitCheck = () => {
    const at = Math.max(time.now(), world.faultsEndAt()) + settlingMs;
    if (nextCheck > time.now()) return;
    nextCheck = at;
    time.after(at - time.now(), () => {
      void check().catch((error: unknown) => violations.push(String(error)));
    });
  };
  async function check(): Promise<void> {
    if (world.faultsEndAt() + settlingMs > time.now()) return awaitCheck();
    const askedAt = time.now();
    const { data } = await world.call<{ sends: ListedSend[] }>(
      "GET",
      "/sends?status=uncertain&limit=100",
    );
    if (world.faultsEndAt() + settlingMs > askedAt) return awaitCheck();
    const early = outside.mails.filter(({ at }) => at + settlingMs <= askedAt);
    const settled = early.filter(({ calledAt }) => world.countFaultsSince(calledAt) <= maxFaults);
    const keys = new Set(settled.map(({ to, subject }) => keyOf(to, subject)));
    for (const { toEmail, subject, provider } of data.sends) {
      const key = keyOf(toEmail, subject);
      if (!keys.has(key) || !searched.has(provider)) continue;
      const violation = `The mail ${key} is uncertain after 15 minutes, but ${provider} has it`;
      violations.push(violation);
      world.tell(violation);
    }
    if (early.length < outside.mails.length) awaitCheck();
  }
  outside.onMail(awaitCheck);
}
