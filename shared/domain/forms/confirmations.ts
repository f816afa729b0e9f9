// Double opt-in: the link in a mail leads to a page with one button, and only the button confirms, as mail programs and scanners open links.
import { after, epochSeconds, now } from "../../clock.ts";
import { absent, all, any, atMost, contains, equals, exists, isNew, smaller } from "../../conditions.ts";
import { claim, get, remove, update, updateReturning } from "../../doors/table.ts";
import { missing } from "../../errors.ts";
import { keys } from "../../keys.ts";
import * as sealed from "../sealed-tokens.ts";
import { nameOf, type Site } from "../sites.ts";
import { accept } from "./acceptance.ts";
import type { FormItem } from "./form.ts";
import * as submissions from "./submissions.ts";

type Submission = submissions.SubmissionItem;

const validSeconds = 30 * 24 * 3600;

/** Of one submission; equal every time it is made. */
export async function tokenOf({ orgId, formId, sk: place }: Submission): Promise<string> {
  const seal = await sealed.sealer("confirm");
  return seal([orgId, formId, place]);
}

export interface Standing {
  email: string;
  siteName: string;
  language: string;
  confirmed: boolean;
}

const unknown = () => missing("This link is not valid");

/** What the page shows; changes nothing. Throws 404 for a token that is not ours, is older than 30 days, or whose form is gone. */
export const find = async (token: string): Promise<Standing> => told(await found(token));

const told = ({ submission, site }: Found): Standing => ({
  email: submission.email,
  siteName: nameOf(site),
  language: submission.language,
  confirmed: submission.status === "accepted",
});

interface Found {
  submission: Submission;
  form: FormItem;
  site: Site;
}

async function found(token: string): Promise<Found> {
  const content = await sealed.opened("confirm", token);
  if (!content) throw unknown();
  const [orgId, formId, place] = content as [number, number, string];
  const [submission, form] = await Promise.all([submissions.find(orgId, formId, place), get<FormItem>(keys.record(orgId, "FORM", formId))]);
  if (!submission || !form || isOver(submission)) throw unknown();
  const site = await get<Site>(keys.record(orgId, "SITE", form.siteId));
  if (!site) throw unknown();
  return { submission, form, site };
}

const isOver = ({ status, createdAt }: Submission): boolean => status === "pending" && after(validSeconds, new Date(createdAt)) < now();

/** The button was pressed: what waited for it is done. Safe to repeat. */
export async function confirm(token: string, { ip, userAgent }: { ip: string; userAgent?: string | undefined }): Promise<Standing> {
  const { submission, form, site } = await found(token);
  const { orgId, formId, email, sk: place } = submission;
  const set = {
    status: "accepted" as const,
    ...{ confirmedAt: now().toISOString(), confirmedIp: ip, confirmedUserAgent: userAgent?.slice(0, 300) },
    ...submissions.dueSoon(submission.id),
  };
  const mine = await updateReturning<Submission>(update(submission, { set }, { if: all(exists, equals("status", "pending")) }));
  // Who presses is there: another submission of theirs may be mailed at once.
  if (mine) await claim(remove(keys.confirmMail(orgId, formId, email)));
  const current = mine ?? (await submissions.find(orgId, formId, place));
  if (current?.duesk !== undefined) await accept(form, current);
  return told({ submission: current ?? submission, form, site });
}

const hourSeconds = 3600;
const mostAnHour = 5;

/**
 * Whether a mail may ask to confirm this submission: one an hour for each address and form, and five for each address and organization,
 * so that nobody can have others flooded. Who was allowed once is so again.
 */
export function mayAsk({ orgId, formId, email, sk: place }: Submission): Promise<boolean> {
  const time = epochSeconds();
  const [until, expires] = [time + hourSeconds, time + 2 * hourSeconds];
  const free = any(isNew, atMost("until", time), equals("place", place));
  const room = any(absent("places"), contains("places", place), smaller("places", mostAnHour));
  return claim(
    update(keys.confirmMail(orgId, formId, email), { set: { place, until, expires } }, { if: free }),
    update(
      keys.confirmMails(orgId, email, Math.floor(time / hourSeconds)),
      { add: { places: new Set([place]) }, set: { expires } },
      { if: room },
    ),
  );
}
