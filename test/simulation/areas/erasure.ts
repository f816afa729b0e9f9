// Callers erase contacts while their mail is under way. Afterwards the address is in no item, apart
// from the places that shared/domain/README.md names.
import { gunzipSync } from "node:zlib";
import type { WireItem, WireValue } from "../expressions.ts";
import { type Action, type Area, contactOf, type ListedSend, type Scene } from "../scene.ts";

async function erase({ world, prepared, ledger }: Scene, action: Action): Promise<void> {
  const { id, email } = contactOf(action, prepared);
  const { status } = await world.call("DELETE", `/contacts/${id}?erase=true`);
  // A repeated request finds no contact any more.
  if (status === 200 || status === 404) ledger.erasures.push({ email, at: world.time.now() });
}

/** A hand-over that began before the answer may take as long as the retries of its calls. */
const graceMs = 60_000;

function check({ world, ledger }: Scene, sends: ListedSend[]): string[] {
  if (!ledger.erasures.length) return [];
  const now = world.time.now() / 1000;
  const items = [...world.table.items()]
    .filter(({ expires }) => !expires || Number(expires.N) > now)
    .map((item) => ({ name: `${item.pk!.S} ${item.sk!.S}`, text: readableText(item) }));
  const single = new Set(ledger.sends.map(({ subject }) => subject));
  // Mail that waited is not sent, and its record keeps the address.
  const unsent = sends.filter(({ status }) => status === "failed" || status === "cancelled");
  return ledger.erasures.flatMap(({ email, at }) => [
    ...items
      .filter(({ name, text }) => text.includes(email) && !isWebhookDelivery.test(name))
      .filter(({ name }) => !unsent.some((one) => one.toEmail === email && isAbout(name, one)))
      .filter(({ name }) => !isBlock(name) || sends.some((one) => isAbout(name, one)))
      .map(({ name }) => `${email} was erased, but the item ${name} has the address`),
    ...world.outside.mails
      .filter((mail) => mail.to === email && mail.calledAt > at + graceMs)
      .filter(({ subject }) => !single.has(subject))
      .map(({ subject }) => `${email} was erased, but got the mail "${subject}" afterwards`),
  ]);
}

/** A block without sends was staged, and accepted under other ids. It expires. */
const isBlock = (name: string): boolean => /^\d+#B\d+ /.test(name);
const isWebhookDelivery = /^\d+#W\d+ /;

/** Whether the item is the send, or belongs to its block of 1,000 ids. */
function isAbout(name: string, { id }: ListedSend): boolean {
  const [, kind, shard, sortKey] = /^\d+#([SB])(\d+) (.+)$/.exec(name) ?? [];
  if (kind === "S") return Number(sortKey) === id;
  return kind === "B" && Number(shard) === Math.floor(id / 1000);
}

/** The text of an item, with its compressed values. */
function readableText(item: WireItem): string {
  const packed = Object.values(item).flatMap(({ B }: WireValue) => (B ? [String(B)] : []));
  return [JSON.stringify(item), ...packed.map(unpack)].join("\n");
}

function unpack(base64: string): string {
  const bytes = Buffer.from(base64, "base64");
  return bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes).toString() : "";
}

export const erasure: Area = {
  actions: {
    erase: {
      weight: 4,
      describe: (action, prepared) => `a caller erases ${contactOf(action, prepared).email}`,
      run: erase,
    },
  },
  check,
};
