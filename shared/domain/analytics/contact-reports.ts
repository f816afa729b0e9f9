// Reports about contacts. They filter by the current state of contacts, not by their history.
import * as z from "zod";
import {
  absent,
  all,
  any,
  type Condition,
  equals,
  not,
  present,
  sizeBelow,
} from "../../adapters/dynamodb/conditions.ts";
import { getMany } from "../../adapters/dynamodb/table.ts";
import type { CallerScope } from "../../caller.ts";
import { type PageRequest, toPagination } from "../../kernel/paging.ts";
import { Count, RecordId, Timestamp } from "../../kernel/record-fields.ts";
import { keys } from "../../keys.ts";
import * as contactReader from "../audience/contacts/contact-reader.ts";
import {
  type CountedContact,
  contactStatuses,
  NamedRecord,
} from "../audience/contacts/contact-schema.ts";
import { createMailReader } from "../audience/mail-counts/mail-counts.ts";
import { activeIds } from "../automation/sequence-schema.ts";
import * as sites from "../identity/sites.ts";

export const ReportedContact = z
  .object({
    contactId: RecordId.describe("Id of the contact, for GET /contacts/:id."),
    email: z.string().describe("Email address of the contact."),
    firstName: z.string().nullable().describe("First name, or `null`."),
    lastName: z.string().nullable().describe("Last name, or `null`."),
    status: z.enum(contactStatuses).describe("Status of the contact, as in GET /contacts/:id."),
    score: z.number().describe("Lead score."),
    sendCount: Count.describe("Number of emails handed to a provider for this contact."),
    openCount: Count.describe("Number of opens by the contact, repeated ones included."),
    clickCount: Count.describe("Number of clicks by the contact, repeated ones included."),
    lastSentAt: Timestamp.nullable().describe(
      "When the latest email was handed to a provider. `null`: never.",
    ),
    sequences: z
      .array(NamedRecord)
      .describe(
        "Sequences in which the contact has an active enrollment, whether or not the " +
          "sequence is active.",
      ),
    createdAt: Timestamp.describe("When the contact was created."),
  })
  .meta({ id: "ReportedContact" });
export type ReportedContact = z.output<typeof ReportedContact>;

export const contactReports = ["multi-sequence", "unengaged-contacts", "no-sequences"] as const;
export type ContactReport = (typeof contactReports)[number];

/** A contact is unengaged after this many sends without an open or click. */
const minSends = 5;

const isZero = (count: string): Condition => any(absent(count), equals(count, 0));

const subscribed = equals("status", "subscribed");
const filters: Record<ContactReport, Condition> = {
  "multi-sequence": all(present("sequences"), not(sizeBelow("sequences", 2))),
  "unengaged-contacts": all(subscribed, isZero("openCount"), isZero("clickCount")),
  "no-sequences": subscribed,
};

export async function contactQueryFor(
  orgId: number,
  siteId: number,
  report: ContactReport,
): Promise<contactReader.ContactQuery> {
  const filter = filters[report];
  if (report === "multi-sequence") return { filter };
  if (report === "unengaged-contacts")
    return {
      filter,
      test: ({ sendCount = 0 }) => sendCount >= minSends,
      readMails: createMailReader({ orgId, siteId }),
    };
  const active = await activeIds(orgId, siteId);
  return { filter, test: ({ sequences }) => !active.some((id) => sequences?.has(id)) };
}

/**
 * Ordered by address. A page can be short although more follow, if the filter skipped very many
 * contacts.
 */
export async function list(
  caller: CallerScope,
  request: PageRequest,
  { report, siteId: requestedSiteId }: { report: ContactReport; siteId: number | undefined },
) {
  const { orgId } = caller;
  const siteId = await sites.resolveSiteId(caller, requestedSiteId);
  const filter = await contactQueryFor(orgId, siteId, report);
  const { items, next } = await contactReader.readSitePage({ orgId, siteId }, request, filter);
  const readMails = filter.readMails ?? createMailReader({ orgId, siteId });
  return {
    contacts: await toReportedContacts(orgId, await readMails(items)),
    pagination: toPagination(request, null, next),
  };
}

export async function toReportedContacts(
  orgId: number,
  items: CountedContact[],
): Promise<ReportedContact[]> {
  const names = await getSequenceNames(
    orgId,
    items.flatMap(({ sequences }) => [...(sequences ?? [])]),
  );
  return items.map((item) => ({
    contactId: item.id,
    email: item.email,
    firstName: item.firstName ?? null,
    lastName: item.lastName ?? null,
    status: item.status,
    score: item.score ?? 0,
    sendCount: item.sendCount ?? 0,
    openCount: item.openCount ?? 0,
    clickCount: item.clickCount ?? 0,
    lastSentAt: item.lastSentAt ?? null,
    sequences: [...(item.sequences ?? [])]
      .toSorted((a, b) => a - b)
      .map((id) => ({ id, name: names.get(id) ?? "" })),
    createdAt: item.createdAt,
  }));
}

async function getSequenceNames(orgId: number, ids: number[]): Promise<Map<number, string>> {
  const distinct = [...new Set(ids)];
  const found = await getMany<{ id: number; name: string }>(
    distinct.map((id) => keys.record(orgId, "SEQUENCE", id)),
  );
  return new Map(found.flatMap((sequence) => (sequence ? [[sequence.id, sequence.name]] : [])));
}

export const contactReportColumns = [
  "contactId",
  "email",
  "firstName",
  "lastName",
  "status",
  "score",
  "sendCount",
  "openCount",
  "clickCount",
  "lastSentAt",
  "sequences",
  "createdAt",
] as const satisfies (keyof ReportedContact)[];
