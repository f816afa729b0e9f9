// Ids that contacts have in the customer's own system. Each is unique in its site: an item, written
// in the transaction that changes the contact, points to the contact that has the id.
import { any, equals, isNew } from "../../../adapters/dynamodb/conditions.ts";
import { getMany, put, remove, type Write } from "../../../adapters/dynamodb/table.ts";
import { conflict, type Problem } from "../../../errors.ts";
import { type Key, keys } from "../../../keys.ts";
import type { ContactItem } from "./contact-schema.ts";

interface ExternalIdItem {
  contactId: number;
}

/** A contact, or one that is to be created. */
type Holder = Pick<ContactItem, "orgId" | "siteId" | "id"> & {
  externalId?: string | null | undefined;
};

export const externalIdTaken = (): Problem =>
  conflict("externalId: another contact of the site has it", {
    code: "external_id_exists",
    details: [{ path: "externalId", message: "externalId: another contact of the site has it" }],
  });

/** Frees the id that the contact had and takes the one that it gets. */
export const externalIdWrites = (
  before: Holder | undefined,
  after: Holder | undefined,
  orThrow?: Problem,
): Write[] => {
  if (before?.externalId === after?.externalId) return [];
  return [
    ...(before?.externalId ? [remove(keyOf(before), { if: isHeldBy(before) })] : []),
    ...(after?.externalId
      ? [
          put(
            keyOf(after),
            { contactId: after.id },
            { if: isHeldBy(after), ...(orThrow && { orThrow }) },
          ),
        ]
      : []),
  ];
};

const keyOf = ({ orgId, siteId, externalId }: Holder): Key =>
  keys.externalId(orgId, siteId, externalId ?? "");
/** A retry after a crash finds the item that it has written. */
const isHeldBy = ({ id }: Holder) => any(isNew, equals("contactId", id));

/** The ids of the contacts with this external id, at most one for each site. */
export async function getContactIds(
  orgId: number,
  siteIds: readonly number[],
  externalId: string,
): Promise<number[]> {
  const items = await getMany<ExternalIdItem>(
    siteIds.map((siteId) => keys.externalId(orgId, siteId, externalId)),
    { consistent: true },
  );
  return items.flatMap((item) => item?.contactId ?? []);
}

/** Those of the contacts whose external id another contact has, also one earlier in the list. */
export async function listTaken(contacts: Holder[]): Promise<Set<Holder>> {
  const claiming = contacts.filter(({ externalId }) => externalId);
  const items = await getMany<ExternalIdItem>(claiming.map(keyOf), { consistent: true });
  const holders = new Map<string, number>();
  for (const [index, { id, siteId, externalId }] of claiming.entries()) {
    const place = `${siteId} ${externalId}`;
    holders.set(place, items[index]?.contactId ?? holders.get(place) ?? id);
  }
  return new Set(
    claiming.filter(({ id, siteId, externalId }) => holders.get(`${siteId} ${externalId}`) !== id),
  );
}
