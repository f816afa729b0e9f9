// After 72 hours, callers resolve the mails that are still uncertain: some are sent again, some are
// closed as failed, and some are left alone.
import { type Area, keyOf, type ListedSend, type Resolution, type Scene } from "../scene.ts";

const choices: (Resolution["outcome"] | undefined)[] = ["send_again", "failed", undefined];

async function resolve({ world, ledger }: Scene): Promise<void> {
  const path = "/sends?status=uncertain&limit=100";
  const { data } = await world.call<{ sends: ListedSend[] }>("GET", path);
  for (const { id, toEmail, subject } of data.sends) {
    const outcome = choices[Math.floor(world.random() * choices.length)];
    if (!outcome) continue;
    world.tell(`A caller resolves send ${id} as ${outcome}`);
    const resolution: Resolution = { id, key: keyOf(toEmail, subject), outcome, answer: "" };
    ledger.resolutions.push(resolution);
    const { status, error } = await world.call("POST", `/sends/${id}/resolve`, { outcome });
    resolution.answer = status === 200 ? "done" : error;
  }
}

/** A mail whose campaign was cancelled, or whose contact was erased, cannot be sent again. */
const isPermitted = ({ answer }: Resolution) =>
  answer === "done" || /was cancelled|no longer stored/.test(answer);

function check({ ledger }: Scene, sends: ListedSend[]): string[] {
  const byId = new Map(sends.map((send) => [send.id, send]));
  return ledger.resolutions.flatMap((resolution) => {
    const { id, key, outcome, answer } = resolution;
    if (!isPermitted(resolution)) return [`The mail ${key} cannot be resolved: ${answer}`];
    if (answer !== "done") return [];
    const status = byId.get(id)?.status;
    const isResolved = outcome === "failed" ? status === "failed" : status !== "uncertain";
    return isResolved ? [] : [`The mail ${key} was resolved as ${outcome}, but is ${status}`];
  });
}

export const resolutions: Area = {
  actions: {},
  late: { hours: 73, run: resolve },
  check,
};
