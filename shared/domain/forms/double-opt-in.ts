// Double opt-in. The link in the confirmation email leads to a page with a button, and only the
// button confirms: mail clients and scanners open links by themselves. The same page serves
// submissions of forms, and contacts that a request or an import asked.

import { all, equals, exists } from "../../adapters/dynamodb/conditions.ts";
import { get, remove, transact, update, updateReturning } from "../../adapters/dynamodb/table.ts";
import { now } from "../../clock.ts";
import type { Brand } from "../../email/brand/brand.ts";
import { missing } from "../../errors.ts";
import * as records from "../../kernel/records.ts";
import * as sealedTokens from "../../kernel/sealed-tokens.ts";
import { keys } from "../../keys.ts";
import { displayNameOf, type Site } from "../identity/sites.ts";
import { acceptSubmission } from "./acceptance.ts";
import * as contactConfirmations from "./contact-confirmations.ts";
import type { FormItem } from "./form-schema.ts";
import * as submissions from "./submissions.ts";

type Submission = submissions.SubmissionItem;

/** Deterministic: a submission always has the same token. */
export async function createToken({ orgId, formId, sk: sortKey }: Submission): Promise<string> {
  const seal = await sealedTokens.createSealer("confirm");
  return seal([orgId, formId, sortKey]);
}

export interface OptInStatus {
  email: string;
  siteName: string;
  brand: Brand | null;
  language: string;
  state: "waiting" | "confirmed" | "expired";
}

const invalidLink = () => missing("This link is not valid");

/**
 * Returns the state that the confirmation page shows. Throws 404 if the token is forged, or the
 * form or the contact was deleted.
 */
export const findStatus = async (token: string): Promise<OptInStatus> =>
  toStatus(await findByToken(token));

interface Visitor {
  ip: string;
  userAgent?: string | undefined;
}

/** Confirms and applies what the link asks about. Does nothing if it has expired. Idempotent. */
export async function confirm(token: string, visitor: Visitor): Promise<OptInStatus> {
  const found = await findByToken(token);
  if (found.state === "expired") return toStatus(found);
  await found.confirm(visitor);
  return { ...toStatus(found), state: "confirmed" };
}

/** Sends the mail of an expired link again. Does nothing for any other link. */
export async function renew(token: string): Promise<OptInStatus> {
  const found = await findByToken(token);
  if (found.state === "expired") await found.renew();
  return toStatus(found);
}

interface FoundConfirmation extends OptInStatus {
  confirm(visitor: Visitor): Promise<void>;
  renew(): Promise<void>;
}

const toStatus = ({ email, siteName, brand, language, state }: FoundConfirmation): OptInStatus => ({
  email,
  siteName,
  brand,
  language,
  state,
});

async function findByToken(token: string): Promise<FoundConfirmation> {
  const content = await sealedTokens.openToken("confirm", token);
  if (!content) throw invalidLink();
  const [orgId, id, place, kind] = content as [number, number, string, "contact" | undefined];
  return kind === "contact"
    ? findContactConfirmation(orgId, id, place)
    : findSubmission(orgId, id, place);
}

async function findContactConfirmation(
  orgId: number,
  contactId: number,
  email: string,
): Promise<FoundConfirmation> {
  const asked = await contactConfirmations.findAsked(orgId, contactId, email);
  if (!asked) throw invalidLink();
  const { item, contact } = asked;
  const site = await getSite(orgId, contact.siteId);
  return {
    email: contact.email,
    ...toSiteFields(site),
    language: contactConfirmations.languageOf(contact) ?? site.brand?.language ?? "en",
    state: stateOf(item.confirmedAt !== undefined, item.requestedAt),
    confirm: (visitor) => contactConfirmations.confirmContact(asked, visitor),
    renew: () => contactConfirmations.renew(asked),
  };
}

async function findSubmission(
  orgId: number,
  formId: number,
  sortKey: string,
): Promise<FoundConfirmation> {
  const [submission, form] = await Promise.all([
    submissions.find(orgId, formId, sortKey),
    records.findAlive<FormItem>("FORM", orgId, formId),
  ]);
  if (!submission || !form) throw invalidLink();
  const { email, language, status, createdAt, renewedAt = createdAt } = submission;
  return {
    email,
    ...toSiteFields(await getSite(orgId, form.siteId)),
    language,
    state: stateOf(status === "accepted", renewedAt),
    confirm: (visitor) => confirmSubmission(form, submission, visitor),
    renew: () => renewSubmission(submission),
  };
}

async function getSite(orgId: number, siteId: number): Promise<Site> {
  const site = await get<Site>(keys.record(orgId, "SITE", siteId));
  if (!site) throw invalidLink();
  return site;
}

const toSiteFields = (site: Site): Pick<OptInStatus, "siteName" | "brand"> => ({
  siteName: displayNameOf(site),
  brand: site.brand ?? null,
});

function stateOf(isConfirmed: boolean, requestedAt: string): OptInStatus["state"] {
  if (isConfirmed) return "confirmed";
  return contactConfirmations.isExpired(requestedAt) ? "expired" : "waiting";
}

async function confirmSubmission(
  form: FormItem,
  submission: Submission,
  { ip, userAgent }: Visitor,
): Promise<void> {
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
}

async function renewSubmission(submission: Submission): Promise<void> {
  const { orgId, formId, id, sk: sortKey } = submission;
  await transact(
    update(
      submission,
      {
        set: { renewedAt: now().toISOString(), ...submissions.dueIndexAttributes(id) },
        remove: ["confirmationSendId", "reminderSendId", "remindAt", "error", "taken"],
      },
      { if: all(exists, equals("status", "pending")) },
    ),
  );
  await submissions.enqueueSubmission(orgId, formId, sortKey);
}
