// Double opt-in. The link in the confirmation email leads to a page with a button, and only the
// button confirms: mail clients and scanners open links by themselves.

import {
  absent,
  all,
  any,
  atMost,
  contains,
  equals,
  exists,
  isNew,
  sizeBelow,
} from "../../adapters/dynamodb/conditions.ts";
import { get, remove, transact, update, updateReturning } from "../../adapters/dynamodb/table.ts";
import { addSeconds, epochSeconds, now } from "../../clock.ts";
import { missing } from "../../errors.ts";
import * as records from "../../kernel/records.ts";
import * as sealed from "../../kernel/sealed-tokens.ts";
import { keys } from "../../keys.ts";
import { displayNameOf, type Site } from "../identity/sites.ts";
import { acceptSubmission } from "./acceptance.ts";
import type { FormItem } from "./form-schema.ts";
import * as submissions from "./submissions.ts";

type Submission = submissions.SubmissionItem;

const validSeconds = 30 * 24 * 3600;

/** Deterministic: a submission always has the same token. */
export async function createToken({ orgId, formId, sk: sortKey }: Submission): Promise<string> {
  const seal = await sealed.createSealer("confirm");
  return seal([orgId, formId, sortKey]);
}

export interface OptInStatus {
  email: string;
  siteName: string;
  language: string;
  confirmed: boolean;
}

const invalidLink = () => missing("This link is not valid");

/**
 * Returns the state that the confirmation page shows. Throws 404 if the token is forged or older
 * than 30 days, or the form was deleted.
 */
export const findStatus = async (token: string): Promise<OptInStatus> =>
  toStatus(await findByToken(token));

const toStatus = ({ submission, site }: PendingConfirmation): OptInStatus => ({
  email: submission.email,
  siteName: displayNameOf(site),
  language: submission.language,
  confirmed: submission.status === "accepted",
});

interface PendingConfirmation {
  submission: Submission;
  form: FormItem;
  site: Site;
}

async function findByToken(token: string): Promise<PendingConfirmation> {
  const content = await sealed.openToken("confirm", token);
  if (!content) throw invalidLink();
  const [orgId, formId, sortKey] = content as [number, number, string];
  const [submission, form] = await Promise.all([
    submissions.find(orgId, formId, sortKey),
    records.findAlive<FormItem>("FORM", orgId, formId),
  ]);
  if (!submission || !form || isExpired(submission)) throw invalidLink();
  const site = await get<Site>(keys.record(orgId, "SITE", form.siteId));
  if (!site) throw invalidLink();
  return { submission, form, site };
}

const isExpired = ({ status, createdAt }: Submission): boolean =>
  status === "pending" && addSeconds(validSeconds, new Date(createdAt)) < now();

/** Confirms and applies the submission. Idempotent. */
export async function confirm(
  token: string,
  { ip, userAgent }: { ip: string; userAgent?: string | undefined },
): Promise<OptInStatus> {
  const { submission, form, site } = await findByToken(token);
  const { orgId, formId, email, sk: sortKey } = submission;
  const set = {
    status: "accepted" as const,
    confirmedAt: now().toISOString(),
    confirmedIp: ip,
    confirmedUserAgent: userAgent?.slice(0, 300),
    ...submissions.dueIndexAttributes(submission.id),
  };
  const confirmed = await updateReturning<Submission>(
    update(submission, { set }, { if: all(exists, equals("status", "pending")) }),
  );
  // The owner of the email address has answered, so their next submission may be mailed at once.
  if (confirmed) await transact(remove(keys.confirmMail(orgId, formId, email)));
  const current = confirmed ?? (await submissions.find(orgId, formId, sortKey));
  if (current?.duesk !== undefined) await acceptSubmission(form, current);
  return toStatus({ submission: current ?? submission, form, site });
}

const hourSeconds = 3600;
const maxMailsPerHour = 5;

/**
 * Returns whether a confirmation email may be sent for this submission: one per hour for each email
 * address and form, and five per hour for each address and organization, so that a form cannot be
 * used to flood a mailbox. A retry for the same submission is allowed.
 */
export function reserveMailSlot({
  orgId,
  formId,
  email,
  sk: sortKey,
}: Submission): Promise<boolean> {
  const time = epochSeconds();
  const until = time + hourSeconds;
  const expires = time + 2 * hourSeconds;
  const isFree = any(isNew, atMost("until", time), equals("place", sortKey));
  const hasRoom = any(
    absent("places"),
    contains("places", sortKey),
    sizeBelow("places", maxMailsPerHour),
  );
  return transact(
    update(
      keys.confirmMail(orgId, formId, email),
      { set: { place: sortKey, until, expires } },
      { if: isFree },
    ),
    update(
      keys.confirmMailCount(orgId, email, Math.floor(time / hourSeconds)),
      { add: { places: new Set([sortKey]) }, set: { expires } },
      { if: hasRoom },
    ),
  );
}
