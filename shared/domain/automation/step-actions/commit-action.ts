// Does the action of a run in the transaction that notes on the enrollment that it is done. So the
// action is done exactly once, even after a crash or when two workers run the enrollment.
import { ConditionFailed, type Write } from "../../../adapters/dynamodb/table.ts";
import { isTransient } from "../../../errors.ts";
import * as contacts from "../../audience/contacts/contacts.ts";
import type { SequenceChain } from "../../audience/contacts/reactions.ts";
import type { ActionProblem } from "../enrollment-schema.ts";
import { type EnrollmentTransition, isEnd } from "../enrollment-transition.ts";
import { maxChainDepth } from "../sequence-starts.ts";
import type { EnrollmentRun } from "../step-runner.ts";
import { commitGroup, commitWithRetry } from "../transition-commits.ts";
import { contactChanges } from "./contact-changes.ts";

/** Returns the transition if it was committed. */
export function commitActionRun(run: EnrollmentRun): Promise<EnrollmentTransition[]> {
  let { contact } = run;
  return commitWithRetry([run.transition], async () => {
    const { orgId, contactId } = run.transition.enrollment;
    contact ??= (await contacts.getByIds(orgId, [contactId], { consistent: true }))[0];
    const current = contact;
    contact = undefined;
    return current !== undefined && commitOnce({ ...run, contact: current });
  });
}

/** Returns false, with nothing committed, when the enrollment or the contact has changed. */
async function commitOnce({
  transition,
  contact,
  actionStep,
}: EnrollmentRun & { contact: NonNullable<EnrollmentRun["contact"]> }): Promise<boolean> {
  const { enrollment } = transition;
  const { id: stepId, stepOrder, actionConfig: config } = actionStep!;
  const chain: SequenceChain = { depth: (enrollment.depth ?? 0) + 1, refusedIds: new Set() };
  // An event that a wait ended with in this run.
  const wokenBy = transition.wokenBy ?? enrollment.wokenBy;
  const current = { ...enrollment, ...(wokenBy !== undefined && { wokenBy }) };
  let isCommitted = false;
  const commitWith = async (outcome: ActionOutcome, writes: Write[]): Promise<void> => {
    const problem = outcome.problem ?? describeRefused(chain);
    const completed = withOutcome(transition, { ...outcome, stepId, problem });
    if (!(await commitGroup([completed], writes))) throw new ConditionFailed(0);
    isCommitted = true;
  };
  const commit = (...writes: Write[]) => commitWith({ isDone: true }, writes);
  try {
    const change = contactChanges[config!.action];
    const subject = { contact, enrollment: current, stepId, stepOrder, config: config! };
    await change(subject, { commit, chain });
    if (!isCommitted) await commit();
    return true;
  } catch (error) {
    if (error instanceof ConditionFailed) return false;
    if (isCommitted || isTransient(error)) throw error;
    return commitWith({ isDone: false, problem: (error as Error).message }, []).then(
      () => true,
      falseIfChanged,
    );
  }
}

function falseIfChanged(error: unknown): boolean {
  if (error instanceof ConditionFailed) return false;
  throw error;
}

interface ActionOutcome {
  isDone: boolean;
  problem?: string | undefined;
}

function describeRefused({ refusedIds }: SequenceChain): string | undefined {
  if (!refusedIds.size) return undefined;
  const names = [...refusedIds].slice(0, 5).join(", ");
  return (
    `Did not start the sequence ${names}: more than ${maxChainDepth} sequences in a row were ` +
    "started by actions"
  );
}

const maxActionProblems = 20;
const maxMessageLength = 300;

function withOutcome(
  transition: EnrollmentTransition,
  { isDone, problem, stepId }: ActionOutcome & { stepId: number },
): EnrollmentTransition {
  const { to, enrollment } = transition;
  if (isEnd(to)) return transition;
  const message = problem?.slice(0, maxMessageLength).toWellFormed();
  const added: ActionProblem[] =
    message === undefined ? [] : [{ stepId, message, createdAt: to.at }];
  const actionProblems = [...(enrollment.actionProblems ?? []), ...added].slice(-maxActionProblems);
  return {
    ...transition,
    ...(isDone && { actedStepId: stepId }),
    to: { ...to, ...(added.length && { actionProblems }) },
  };
}
