// Who may get marketing mail, asked when it is made ready and again when it is handed over.
import { after } from "../../clock.ts";
import { getMany } from "../../doors/table.ts";
import { canonical } from "../../email.ts";
import { keys } from "../../keys.ts";
import type { ContactItem } from "../contacts/contact.ts";
import * as contacts from "../contacts.ts";
import * as suppressions from "../suppressions.ts";
import type { LeftOut } from "./sources.ts";

/** Why a contact gets no marketing mail now; undefined when it may. `suppressed`: lower-case addresses; `capDays`: 0 for no cap. */
export function obstacle(contact: ContactItem | undefined, suppressed: Set<string>, capDays = 0): LeftOut | undefined {
  if (!contact) return "unsubscribed";
  if (contact.status === "suppressed" || suppressed.has(canonical(contact.email))) return "suppressed";
  if (contact.status !== "subscribed") return "unsubscribed";
  const capped = capDays > 0 && (contact.lastMarketingAt ?? "") > after(-capDays * 24 * 3600).toISOString();
  return capped ? "capped" : undefined;
}

interface Invited {
  to: string;
  contactId?: number | undefined;
}

/** In the order asked. Whoever has another address by now is still who was meant; whoever is gone gets nothing. */
export async function obstacles(orgId: number, siteId: number, invited: Invited[], capDays = 0): Promise<(LeftOut | undefined)[]> {
  const [there, suppressed] = await Promise.all([
    getMany<ContactItem>(invited.map(({ to }) => keys.contact(orgId, siteId, canonical(to)))),
    suppressions.among(
      orgId,
      invited.map(({ to }) => to),
      "marketing",
    ),
  ]);
  const strays = invited.filter(({ contactId }, i) => there[i]?.id !== contactId);
  const moved = new Map(
    (
      await contacts.byIds(
        orgId,
        strays.flatMap(({ contactId }) => contactId ?? []),
      )
    ).map((one) => [one.id, one]),
  );
  return invited.map(({ contactId, to }, i) => {
    const contact = there[i]?.id === contactId ? there[i] : moved.get(contactId!);
    return suppressed.has(canonical(to)) ? "suppressed" : obstacle(contact, suppressed, capDays);
  });
}
