// Waits until every mail has arrived at the sandbox or has failed.
import { setTimeout as pause } from "node:timers/promises";
import { type ApiTarget, callApi, sendRequest } from "../api-client.ts";
import { CliError } from "../cli-error.ts";

export interface ArrivedMail {
  id: number;
  to: { email: string };
  subject: string;
}

export interface FailedSend {
  toEmail: string;
  error: string | null;
}

export interface ExpectedMails {
  batchIds: number[];
  /** Addresses that were accepted. */
  emails: string[];
  /** The id of the newest mail in the inbox before the demo started. */
  after: number;
}

const idleTimeoutSeconds = 60;
const pollMs = 250;

/** Throws when no mail arrived for a minute. */
export async function waitForMails(
  caller: ApiTarget,
  expectedMails: ExpectedMails,
  onProgress: (settled: number) => void,
) {
  const missing = new Set(expectedMails.emails.map((email) => email.toLowerCase()));
  const all = missing.size;
  const arrived: ArrivedMail[] = [];
  const failed = new Map<string, FailedSend>();
  let newest = expectedMails.after;
  let lastAt = performance.now();
  for (let idle = 0; missing.size > 0; idle++) {
    const mails = await listNewMails(caller, newest);
    newest = mails.at(-1)?.id ?? newest;
    const expected = mails.filter(({ to }) => missing.delete(to.email.toLowerCase()));
    arrived.push(...expected);
    // Looks for refused mails only when nothing arrives, because it takes a request per batch.
    const refused =
      expected.length || idle % 8 !== 3
        ? []
        : await listFailedSends(caller, expectedMails.batchIds);
    for (const failedSend of refused)
      if (missing.delete(failedSend.toEmail.toLowerCase()))
        failed.set(failedSend.toEmail, failedSend);
    onProgress(all - missing.size);
    if (expected.length) [idle, lastAt] = [0, performance.now()];
    if (idle * pollMs > idleTimeoutSeconds * 1000)
      throw new CliError(
        `${missing.size} of ${all} mails did not arrive within a minute after the last arrival: ` +
          "check the output of the service",
      );
    if (missing.size) await pause(pollMs);
  }
  return { arrived, lastAt, failed: [...failed.values()] };
}

interface InboxPage {
  mails: ArrivedMail[];
  pagination: { nextCursor: string | null };
}

/** Mails with a higher id than `after`, oldest first. */
async function listNewMails(caller: ApiTarget, after: number): Promise<ArrivedMail[]> {
  const mails: ArrivedMail[] = [];
  let cursor: string | null = "";
  do {
    const query: string = `limit=1000&after=${after}${cursor && `&cursor=${cursor}`}`;
    const { body } = await sendRequest(caller, `GET /_local/inbox?${query}`);
    const { data } = body as { data: InboxPage };
    mails.push(...data.mails);
    cursor = data.pagination.nextCursor;
  } while (cursor);
  return mails.reverse();
}

export const newestMailId = async (caller: ApiTarget): Promise<number> => {
  const { data } = (await sendRequest(caller, "GET /_local/inbox?limit=1")).body as {
    data: InboxPage;
  };
  return data.mails[0]?.id ?? 0;
};

async function listFailedSends(caller: ApiTarget, batchIds: number[]): Promise<FailedSend[]> {
  const lists = await Promise.all(
    batchIds.map((id) =>
      callApi<{ sends: FailedSend[] }>(caller, `GET /sends?batchId=${id}&status=failed&limit=100`),
    ),
  );
  return lists.flatMap(({ sends }) => sends);
}

const finalStatuses = new Set(["delivered", "failed", "cancelled"]);

/** Counts the first 100 mails of a batch by status. Waits up to 3 seconds for final statuses. */
export async function summarizeStatuses(caller: ApiTarget, batchId: number): Promise<string> {
  for (let tries = 1; ; tries++) {
    const { sends } = await callApi<{ sends: { status: string }[] }>(
      caller,
      `GET /sends?batchId=${batchId}&limit=100`,
    );
    const open = sends.filter(({ status }) => !finalStatuses.has(status));
    if (open.length && tries < 5) await pause(600);
    else return countByStatus(sends.map(({ status }) => status));
  }
}

const countByStatus = (statuses: string[]): string =>
  [...Map.groupBy(statuses, (status) => status)]
    .map(([status, all]) => `${all.length} ${status}`)
    .join(", ");
