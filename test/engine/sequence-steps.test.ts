// Steps that branch by chance and that end a sequence: what each contact gets, and the counts.
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { advanceEnrollments } from "../../shared/domain/automation/advance.ts";
import * as enrollments from "../../shared/domain/automation/enrollments.ts";
import { getDetail } from "../../shared/domain/automation/sequence-detail.ts";
import { crashAtSomeSteps } from "../support/crash-injection.ts";
import { removePauses } from "../support/pause-dynamodb-call.ts";
import {
  createContacts,
  createSequence,
  createSequenceSender,
  expectBalanced,
  listSubjectsTo,
  minutes,
  runFor,
  type SequenceSender,
  useVirtualQueues,
} from "../support/sequences.ts";

beforeAll(useVirtualQueues);
afterEach(removePauses);

const split = (...branches: [weight: number, nextStepOrder: number | null][]) => ({
  type: "split",
  splitConfig: {
    branches: branches.map(([weight, nextStepOrder]) => ({ weight, nextStepOrder })),
  },
});
const halves = [split([1, 2], [1, 4]), "A", { type: "exit" }, "B"];

const subjectsOf = async (sender: SequenceSender, contactIds: number[]): Promise<string[]> =>
  (await Promise.all(contactIds.map((id) => listSubjectsTo(sender, id)))).flat();

describe("a split", () => {
  test("sends each contact one of the ways, by weight, and counts them", async () => {
    const sender = await createSequenceSender();
    const { id, steps } = await createSequence(sender, halves);
    const contactIds = await createContacts(sender, 40);
    await enrollments.enroll(sender.caller, id, { contactIds });
    await runFor(minutes(2));
    const subjects = await subjectsOf(sender, contactIds);
    const countOf = (subject: string) => subjects.filter((one) => one === subject).length;
    expect(subjects).toHaveLength(40);
    const { finished } = await expectBalanced(sender, id, steps);
    expect(finished.filter(({ reason }) => reason === "exit_step")).toHaveLength(countOf("A"));
    const { steps: details } = await getDetail(sender.caller, id);
    expect(details[0]?.stats.ways).toMatchObject([
      { reached: countOf("A") },
      { reached: countOf("B") },
    ]);
    await sender.provider.stop();
  });

  test("leads a contact the same way each time that it goes through the sequence", async () => {
    const sender = await createSequenceSender();
    const { id } = await createSequence(sender, [split([1, 2], [1, 3]), { type: "exit" }, 60]);
    const contactIds = await createContacts(sender, 6);
    const readWays = async () => {
      await enrollments.enroll(sender.caller, id, { contactIds });
      await runFor(minutes(2));
      const { active } = await expectBalanced(sender, id, []);
      const waiting = active.map(({ contactId, ways = {} }) => [contactId, ways]);
      await runFor(minutes(61));
      return waiting;
    };
    const first = await readWays();
    expect(await readWays()).toEqual(first);
    await sender.provider.stop();
  });

  test("counts each contact once, also after a crash at any step", async () => {
    const sender = await createSequenceSender();
    await crashAtSomeSteps(async (crash) => {
      const sequence = await createSequence(sender, halves);
      const contactIds = await createContacts(sender, 2);
      await enrollments.enroll(sender.caller, sequence.id, { contactIds });
      const { active } = await expectBalanced(sender, sequence.id, sequence.steps);
      await crash(() => advanceEnrollments(active));
      await runFor(minutes(5));
      expect(await subjectsOf(sender, contactIds)).toHaveLength(2);
      const { counts } = await expectBalanced(sender, sequence.id, sequence.steps);
      expect(counts).toMatchObject({ active: 0, completed: 2 });
      const { steps } = await getDetail(sender.caller, sequence.id);
      expect(steps[0]!.stats.ways.reduce((sum, { reached }) => sum + reached, 0)).toBe(2);
    });
    await sender.provider.stop();
  });
});
