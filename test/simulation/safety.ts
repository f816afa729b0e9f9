// Checks each mail at the moment when a provider gets it, so that the story tells what happened just
// before. It reads no answer of the service, so it does not change the run.
import { stepSubjects } from "./areas/sequences.ts";
import { type Action, keyOf, type Scene, subjectOf } from "./scene.ts";

/** A hand-over that began before the answer may take as long as the retries of its calls. */
const graceMs = 60_000;

/**
 * Returns the violations so far: nobody gets a mail twice, and nobody gets marketing mail after
 * leaving.
 */
export function watchMails({ world, ledger }: Scene, actions: Action[]): string[] {
  const campaigns = actions.filter(({ kind }) => kind === "campaign").map(subjectOf);
  const marketing = new Set([...campaigns, ...Object.values(stepSubjects)]);
  const copies = new Map<string, number>();
  const violations: string[] = [];
  const say = (violation: string) => {
    violations.push(violation);
    world.tell(violation);
  };
  world.outside.onMail(({ to, subject, calledAt }) => {
    const key = keyOf(to, subject);
    const count = (copies.get(key) ?? 0) + 1;
    copies.set(key, count);
    const sentAgain = ledger.resolutions.filter(
      (one) => one.key === key && one.outcome === "send_again",
    ).length;
    if (count > 1 + sentAgain) say(`The mail ${key} was handed over ${count} times`);
    const hasLeft = ledger.departures.some(
      ({ email, at }) => email === to && at + graceMs < calledAt,
    );
    if (hasLeft && marketing.has(subject))
      say(`The mail ${key} was handed over after the recipient had left`);
  });
  return violations;
}
