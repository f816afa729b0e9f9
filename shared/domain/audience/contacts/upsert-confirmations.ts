// Double opt-in of many contacts that one request or import has stored.
import { inParallel } from "../../../kernel/parallel.ts";
import * as confirmations from "./confirmations.ts";
import type { UpsertTarget } from "./upsert-steps.ts";

/**
 * Enqueues the confirmation mails of new contacts, and asks the others that are pending. A request
 * has the id that is reserved for its row, so a repeat after a crash asks nobody twice.
 */
export async function askToConfirm(orgId: number, targets: UpsertTarget[]): Promise<void> {
  const asked = targets.filter(
    ({ mergedRow, current, skipped, error }) =>
      mergedRow.sendConfirmation &&
      current?.status === "pending" &&
      !skipped &&
      error === undefined,
  );
  await inParallel(
    8,
    asked.filter(({ created }) => !created),
    ({ current, id, confirmationSource: source }) =>
      confirmations.request(current!, { request: `row ${id}`, source }),
  );
  if (asked.length)
    await confirmations.enqueueMails(
      orgId,
      asked.map(({ current }) => current!.id),
    );
}
