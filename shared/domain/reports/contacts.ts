// Reports about contacts: filters over what they are now, never over what happened to them.
import * as z from "zod";
import type { Caller } from "../../caller.ts";
import { absent, all, any, atLeast, type Condition, equals, not, present, smaller } from "../../conditions.ts";
import { getMany } from "../../doors/table.ts";
import { keys } from "../../keys.ts";
import { type PageRequest, pagination } from "../../paging.ts";
import { type ContactItem, contactStatuses } from "../contacts/contact.ts";
import * as reader from "../contacts/reader.ts";
import * as sites from "../sites.ts";

export const ReportedContact = z
  .object({
    contactId: z.int(),
    email: z.string(),
    firstName: z.string().nullable(),
    lastName: z.string().nullable(),
    status: z.enum(contactStatuses),
    score: z.number(),
    sendCount: z.int(),
    openCount: z.int(),
    clickCount: z.int(),
    lastSentAt: z.string().nullable(),
    sequences: z.array(z.object({ id: z.int(), name: z.string() })).describe("In which it is active"),
    createdAt: z.string(),
  })
  .meta({ id: "ReportedContact" });
export type ReportedContact = z.output<typeof ReportedContact>;

export const contactReports = ["multi-sequence", "unengaged-contacts", "no-sequences"] as const;
export type ContactReport = (typeof contactReports)[number];

/** So many mails without an open or click, and a contact is unengaged. */
const fewestSends = 5;

const never = (count: string): Condition => any(absent(count), equals(count, 0));

export const wanted: Record<ContactReport, Condition> = {
  "multi-sequence": all(present("sequences"), not(smaller("sequences", 2))),
  "unengaged-contacts": all(equals("status", "subscribed"), atLeast("sendCount", fewestSends), never("openCount"), never("clickCount")),
  "no-sequences": all(equals("status", "subscribed"), absent("sequences")),
};

/** By address. A page may be short, and yet lead on to others, when very many contacts had to be looked through. */
export async function list(who: Pick<Caller, "orgId" | "siteId">, report: ContactReport, given: number | undefined, request: PageRequest) {
  const siteId = await sites.resolve(who, given);
  const { items, next } = await reader.page(who.orgId, siteId, request, { filter: wanted[report] });
  return { contacts: await told(who.orgId, items), pagination: pagination(request, null, next) };
}

export async function told(orgId: number, items: ContactItem[]): Promise<ReportedContact[]> {
  const names = await sequenceNames(
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
    sequences: [...(item.sequences ?? [])].toSorted((a, b) => a - b).map((id) => ({ id, name: names.get(id) ?? "" })),
    createdAt: item.createdAt,
  }));
}

async function sequenceNames(orgId: number, ids: number[]): Promise<Map<number, string>> {
  const distinct = [...new Set(ids)];
  const found = await getMany<{ id: number; name: string }>(distinct.map((id) => keys.record(orgId, "SEQUENCE", id)));
  return new Map(found.flatMap((one) => (one ? [[one.id, one.name]] : [])));
}

export const columns = [
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
