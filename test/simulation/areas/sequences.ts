// A sequence of two emails with a wait and a branch between them. Callers enroll contacts, and some
// leave in the middle.
import type { Action, Area, ListedSend, Scene } from "../scene.ts";
import { configOf, keyOf } from "../scene.ts";

export const stepSubjects = {
  first: "First step",
  opened: "Step for openers",
  unopened: "Step for others",
};
const laterSubjects = [stepSubjects.opened, stepSubjects.unopened];

/** Enrolls contacts that no caller has enrolled before, so that each runs through once. */
async function enroll({ world, prepared, ledger }: Scene, action: Action): Promise<void> {
  const { sequenceId, contacts } = prepared;
  const known = new Set(ledger.enrollments.map(({ contactId }) => contactId));
  const picked = contacts.filter(({ id }) => !known.has(id)).slice(0, 1 + (action.size % 4));
  if (!picked.length) return;
  ledger.enrollments.push(...picked.map(({ id: contactId, email }) => ({ contactId, email })));
  const sendingConfigId = configOf(action, prepared).id;
  const path = `/sequences/${sequenceId}`;
  await world.call("PUT", path, { status: "active", sendingConfigId });
  const contactIds = picked.map(({ id }) => id);
  const { error } = await world.call("POST", `${path}/enroll`, { contactIds });
  // A request that is repeated after the contact left would enroll it again.
  for (const one of ledger.enrollments)
    if (contactIds.includes(one.contactId)) one.isAnswered = true;
  if (error) ledger.refusals.push(`Action ${action.number}: ${error}`);
}

async function cancel({ world, prepared, ledger }: Scene, { choice }: Action): Promise<void> {
  const all = ledger.enrollments.filter(
    ({ isAnswered, cancelledAt }) => isAnswered && cancelledAt === undefined,
  );
  const enrolled = all[Math.floor(choice * all.length)];
  if (!enrolled) return;
  const path = `/sequences/${prepared.sequenceId}/enrollments?contactId=${enrolled.contactId}`;
  const { status } = await world.call("DELETE", path);
  if (status === 200) enrolled.cancelledAt = world.time.now();
}

/** Does nothing before somebody is enrolled. */
const setStatus = async (scene: Scene, status: "active" | "paused") => {
  const { world, prepared, ledger } = scene;
  if (!ledger.enrollments.length) return;
  await world.call("PUT", `/sequences/${prepared.sequenceId}`, { status });
};

interface Detail {
  stats: { active: number; mails: Record<string, number> } & Record<string, number | object>;
  enrollments: { contactId: number; status: string }[];
}

const mailStates = ["queued", "sending", "sent", "delivered", "failed", "uncertain", "cancelled"];
const finished = ["completed", "cancelled", "failed"];

async function check(scene: Scene, sends: ListedSend[], isAtRest: boolean): Promise<string[]> {
  const { world, prepared, ledger } = scene;
  const { data } = await world.call<Detail>("GET", `/sequences/${prepared.sequenceId}/detail`);
  const { stats, enrollments } = data;
  const violations: string[] = [];
  const own = sends.filter(({ sequenceId }) => sequenceId === prepared.sequenceId);
  const erased = new Set(ledger.erasures.map(({ email }) => email));
  const { mails } = stats;
  const counted = mailStates.reduce((sum, name) => sum + (mails[name] ?? 0), 0);
  if (counted !== mails.accepted)
    violations.push(`The mails of the sequence do not add up: ${JSON.stringify(mails)}`);
  for (const state of mailStates.slice(2)) {
    const listed = own.filter((send) => send.status === state && !isExcluded(send)).length;
    if (listed !== mails[state])
      violations.push(`The sequence has ${mails[state]} mails ${state}, and lists ${listed}`);
  }
  for (const state of ["active", ...finished]) {
    const listed = enrollments.filter((one) => one.status === state).length;
    if (stats[state] !== listed)
      violations.push(`The sequence has ${stats[state]} enrollments ${state}, lists ${listed}`);
  }
  if (stats.active && isAtRest)
    violations.push(`${stats.active} enrollments wait, but nothing is left to do`);
  const statusOf = new Map(enrollments.map((one) => [one.contactId, one.status]));
  for (const { contactId, email, cancelledAt = Infinity } of ledger.enrollments) {
    const subjects = own.filter(({ toEmail }) => toEmail === email);
    const later = subjects.filter(({ subject }) => laterSubjects.includes(subject));
    const say = (what: string) => violations.push(`The enrollment of ${email} ${what}`);
    if (later.length > 1) say("took both branches");
    if (statusOf.get(contactId) === "completed" && subjects.length !== 2 && !erased.has(email))
      say(`is completed with ${subjects.length} mails`);
    for (const { createdAt, subject } of subjects)
      if (Date.parse(createdAt) > cancelledAt)
        say(`was cancelled before its mail ${keyOf(email, subject)}`);
  }
  return violations;
}

/** The mail was excluded at the hand-over, so it is not an accepted one. */
const isExcluded = ({ error }: ListedSend) => error === "suppressed" || error === "unsubscribed";

export const sequences: Area = {
  actions: {
    enroll: {
      weight: 6,
      describe: ({ size }) => `a caller enrolls up to ${1 + (size % 4)} contacts in the sequence`,
      run: enroll,
    },
    "cancel an enrollment": {
      weight: 2,
      describe: () => "a caller takes a contact out of the sequence",
      run: cancel,
    },
    "pause the sequence": {
      weight: 1,
      describe: () => "a caller pauses the sequence",
      run: (scene) => setStatus(scene, "paused"),
    },
    "resume the sequence": {
      weight: 1,
      describe: () => "a caller resumes the sequence",
      run: (scene) => setStatus(scene, "active"),
    },
  },
  resume: (scene) => setStatus(scene, "active"),
  check,
};
