// A person is more than a contact. Mail to an address without a contact, from before it existed, or
// of a contact that was deleted since, is exported and erased too.
import { gunzipSync } from "node:zlib";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { put, write } from "../../shared/adapters/dynamodb/table.ts";
import * as clock from "../../shared/clock.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import * as suppressions from "../../shared/domain/audience/suppressions/suppressions.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import { erase, erasePerson } from "../../shared/domain/privacy/erasure.ts";
import { getAddressData, getPersonalData } from "../../shared/domain/privacy/personal-data.ts";
import { listSends } from "../../shared/domain/sending/list-sends.ts";
import { getSend } from "../../shared/domain/sending/read-sends.ts";
import { erasedEmail } from "../../shared/kernel/email-fields.ts";
import { keys, zeroPad } from "../../shared/keys.ts";
import { runWorkers, useVirtualQueues } from "../support/campaigns.ts";
import { createContact } from "../support/contacts.ts";
import { crashAtSomeSteps } from "../support/crash-injection.ts";
import { applyMessages, createEvent, createEventMessage } from "../support/delivery-events.ts";
import { currentMemoryTable } from "../support/memory-dynamodb.ts";
import { removePauses } from "../support/pause-dynamodb-call.ts";
import {
  createSender,
  send,
  sendBatch,
  type TestSender,
  uniqueRecipients,
} from "../support/sending.ts";

beforeAll(useVirtualQueues);
afterEach(removePauses);

const uniqueAddress = () => uniqueRecipients(1)[0]!.to;
const invoice = { subject: "Invoice for Erna", metadata: { customer: "Erna" } };

/** Sends a single email and one of a batch to an address without a contact. Both are delivered. */
async function mailWithoutContact(from: TestSender, email: string): Promise<number[]> {
  const single = await send(from, { to: email, html: "<p>Dear Erna</p>", ...invoice });
  const batch = await sendBatch(
    from,
    [
      { to: email, metadata: invoice.metadata, variables: { name: "Erna" } },
      ...uniqueRecipients(9),
    ],
    { subject: "Invoice for {{ name }}" },
  );
  await runWorkers({ forSeconds: 60 });
  const ids = [single.id, batch.results[0]!.id!];
  const events = ids.map((id) => createEvent(id, "delivered", 1, { email }));
  await applyMessages(await createEventMessage(from.caller.orgId, events));
  return ids;
}

/** The items of the organization that have the text, also compressed. Needs tables in memory. */
function findItemsWith(orgId: number, text: string): string[] {
  const items = currentMemoryTable()?.items() ?? [];
  return items.flatMap((item) => {
    const zipped = Object.values(item).map(({ B }) => (typeof B === "string" ? unzip(B) : ""));
    const name = `${item.pk!.S} ${item.sk!.S}`;
    const isOwn = name.startsWith(`${orgId}#`);
    return isOwn && [JSON.stringify(item), ...zipped].join().includes(text) ? [name] : [];
  });
}

function unzip(base64: string): string {
  try {
    return gunzipSync(Buffer.from(base64, "base64")).toString();
  } catch {
    return "";
  }
}

async function expectErased({ caller: { orgId } }: TestSender, email: string, ids: number[]) {
  for (const id of ids)
    expect(await getSend(orgId, id)).toMatchObject({ toEmail: erasedEmail, subject: "(erased)" });
  for (const text of [email, "Erna"]) expect(findItemsWith(orgId, text)).toEqual([]);
  expect(await suppressions.find(orgId, email)).toMatchObject({ reason: "manual", detail: null });
}

test("a send that the recipient index has at two times is listed once, and erased", async () => {
  const from = await createSender("postmark");
  const { caller } = from;
  const email = uniqueAddress();
  const ids = await mailWithoutContact(from, email);
  const position = `2026-01-02T03:04:05.006Z#${zeroPad(ids[0]!)}`;
  await write(put(keys.recipientSend(caller.orgId, email, position), {}));
  const [{ sends: exported }, { sends: listed }] = await Promise.all([
    getAddressData(caller, email),
    listSends(caller, { limit: 50 }, { email }),
  ]);
  for (const sends of [exported, listed])
    expect(sends.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  await erasePerson(caller, email);
  await expectErased(from, email, ids);
  await from.provider.stop();
});

const siteOf = ({ caller, siteId }: TestSender) => ({ caller, orgId: caller.orgId, siteId });

describe("mail from before the contact existed", () => {
  test("is in the export of the contact and erased with it", async () => {
    const from = await createSender("postmark");
    const email = uniqueAddress();
    const ids = await mailWithoutContact(from, email);
    const { id } = await createContact(siteOf(from), email);
    const later = await send(from, { to: email, ...invoice });
    await runWorkers({ forSeconds: 60 });
    const data = await getPersonalData(from.caller, id);
    expect(data.sends.map((one) => one.id).toSorted()).toEqual([...ids, later.id].toSorted());
    expect(data.sends.at(-1)).toMatchObject({ ...invoice, events: [{ type: "delivered" }] });
    await erase(from.caller, id);
    await expectErased(from, email, [...ids, later.id]);
    await from.provider.stop();
  });

  test("is erased by a repeated erasure if the first one crashed", async () => {
    const from = await createSender("postmark");
    await crashAtSomeSteps(async (crash) => {
      const email = uniqueAddress();
      const ids = await mailWithoutContact(from, email);
      const { id } = await createContact(siteOf(from), email);
      await crash(() => erase(from.caller, id));
      await erase(from.caller, id).catch((error) => expect(error.kind).toBe("missing"));
      await expectErased(from, email, ids);
    });
    await from.provider.stop();
  });

  test("of a contact that was deleted belongs to the next contact with the address", async () => {
    const from = await createSender("postmark");
    const email = uniqueAddress();
    const first = await createContact(siteOf(from), email);
    const ids = await mailWithoutContact(from, email);
    await contacts.remove(from.caller, first.id);
    const { id } = await createContact(siteOf(from), email);
    expect((await getPersonalData(from.caller, id)).sends).toHaveLength(2);
    await erase(from.caller, id);
    await expectErased(from, email, ids);
    await from.provider.stop();
  });
});

test("the erasure of a contact leaves the sends of a contact of another site", async () => {
  const from = await createSender("postmark");
  const { caller } = from;
  const email = uniqueAddress();
  const other = await sites.create(caller, sites.NewSite.parse({ name: "Other" }));
  const [own, others] = [
    await createContact(siteOf(from), email),
    await createContact({ ...siteOf(from), siteId: other.id }, email),
  ];
  const site = { siteId: other.id };
  const [ofOwn, ofOther] = [
    await send(from, { to: email, siteId: from.siteId, ...invoice }),
    await send(from, { to: email, ...site, ...invoice }),
  ];
  await runWorkers({ forSeconds: 60 });
  const limited = { ...caller, siteIds: [from.siteId] };
  const idsOf = async (who: typeof caller, id: number) =>
    (await getPersonalData(who, id)).sends.map((one) => one.id);
  expect(await idsOf(limited, own.id)).toEqual([ofOwn.id]);
  expect(await idsOf(caller, others.id)).toEqual([ofOther.id]);
  await erase(caller, own.id);
  expect(await getSend(caller.orgId, ofOwn.id)).toMatchObject({ toEmail: erasedEmail });
  expect(await getSend(caller.orgId, ofOther.id)).toMatchObject({ toEmail: email });
  await erase(caller, others.id);
  await expectErased(from, email, [ofOwn.id, ofOther.id]);
  await from.provider.stop();
});

describe("a person without a contact", () => {
  test("is exported and erased by address", async () => {
    const from = await createSender("postmark");
    const email = uniqueAddress();
    const ids = await mailWithoutContact(from, email);
    expect(await getAddressData(from.caller, email.toUpperCase())).toMatchObject({
      email,
      contacts: [],
      sends: expect.arrayContaining(ids.map((id) => expect.objectContaining({ id, ...invoice }))),
      suppression: null,
      complete: true,
    });
    await crashAtSomeSteps(async (crash) => {
      await crash(() => erasePerson(from.caller, email.toUpperCase()));
      expect(await erasePerson(from.caller, email)).toEqual({
        ...{ id: email, deleted: true, contacts: 0, unfinishedSends: 0 },
      });
      await expectErased(from, email, ids);
    });
    expect(await getAddressData(from.caller, email)).toMatchObject({
      sends: [],
      suppression: { email: expect.stringMatching(/^sha256:/) },
    });
    await from.provider.stop();
  });

  test("is exported and erased with the contacts of all sites", async () => {
    const from = await createSender("postmark");
    const { caller } = from;
    const email = uniqueAddress();
    const ids = await mailWithoutContact(from, email);
    const other = await sites.create(caller, sites.NewSite.parse({ name: "Other" }));
    await createContact(siteOf(from), email);
    await createContact({ ...siteOf(from), siteId: other.id }, email);
    const last = await send(from, { to: email, siteId: other.id, ...invoice });
    await runWorkers({ forSeconds: 60 });
    const data = await getAddressData(caller, email);
    expect(data.contacts).toHaveLength(2);
    const found = [...data.contacts, data].flatMap((one) => one.sends.map(({ id }) => id));
    expect([...new Set(found)].toSorted()).toEqual([...ids, last.id].toSorted());
    expect(await erasePerson(caller, email)).toMatchObject({ contacts: 2, unfinishedSends: 0 });
    await expectErased(from, email, [...ids, last.id]);
    await from.provider.stop();
  });

  test("gets no scheduled email, and what is queued is found by the next erasure", async () => {
    const from = await createSender("postmark");
    const email = uniqueAddress();
    const at = clock.addSeconds(3600).toISOString();
    const scheduled = await send(from, { to: email, scheduledAt: at, ...invoice });
    const queued = await send(from, { to: email, ...invoice });
    expect(await erasePerson(from.caller, email)).toMatchObject({ unfinishedSends: 1 });
    // Email that has waited for a minute is checked again.
    clock.advanceClock(120);
    await runWorkers({ forSeconds: 7200 });
    expect(from.provider.mails).toEqual([]);
    expect(await getSend(from.caller.orgId, scheduled.id)).toMatchObject({ status: "cancelled" });
    expect(await getSend(from.caller.orgId, queued.id)).toMatchObject({ error: "suppressed" });
    expect(await erasePerson(from.caller, email)).toMatchObject({ unfinishedSends: 0 });
    await expectErased(from, email, [scheduled.id, queued.id]);
    await from.provider.stop();
  });

  test("is a matter of the whole organization", async () => {
    const from = await createSender("postmark");
    const limited = { ...from.caller, siteIds: [from.siteId] };
    for (const work of [erasePerson, getAddressData])
      await expect(work(limited, uniqueAddress())).rejects.toMatchObject({ kind: "forbidden" });
    await from.provider.stop();
  });
});
