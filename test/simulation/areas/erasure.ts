// Callers erase contacts while their mail is under way. Afterwards the address is in no item, apart
// from the places that shared/domain/README.md names.
import type { WireItem, WireValue } from "../expressions.ts";
import {
  type Action,
  type Area,
  contactOf,
  erasedEmail,
  type ListedSend,
  type Scene,
} from "../scene.ts";

async function erase({ world, prepared, ledger }: Scene, action: Action): Promise<void> {
  const { id, email } = contactOf(action, prepared);
  const askedAt = world.time.now();
  const { status } = await world.call("DELETE", `/contacts/${id}?erase=true`);
  // A repeated request finds no contact any more.
  if (status !== 200 && status !== 404) return;
  const at = world.time.now();
  // These are not known as sent.
  const { data } = await world.call<{ sends: ListedSend[] }>("GET", "/sends?limit=100");
  const kept = data.sends.filter(({ toEmail }) => toEmail === email);
  ledger.erasures.push({ email, askedAt, at, kept: kept.map((send) => send.id) });
}

/** The record of mail that was under way keeps the address, as shared/domain/README.md says. */
const underWayMs = 10 * 60_000;

/** A hand-over that began before the answer may take as long as the retries of its calls. */
const graceMs = 60_000;

function check({ world, ledger }: Scene, sends: ListedSend[]): string[] {
  if (!ledger.erasures.length) return [];
  const wasMailed = ({
    email,
    subject,
    before,
  }: {
    email: string;
    subject: string;
    before: number;
  }) =>
    world.outside.mails.some(
      (mail) => mail.to === email && mail.subject === subject && mail.at < before - underWayMs,
    );
  const now = world.time.now() / 1000;
  const items = [...world.table.items()]
    .filter(({ expires }) => !expires || Number(expires.N) > now)
    .map((item) => ({ name: `${item.pk!.S} ${item.sk!.S}`, text: readableText(item) }));
  const single = new Set(ledger.sends.map(({ subject }) => subject));
  return ledger.erasures.flatMap(({ email, askedAt, at, kept }) => [
    ...items
      .filter(({ name, text }) => text.includes(email) && !isWebhookDelivery.test(name))
      .filter(({ name }) => {
        const about = sends.filter((send) => isAbout(name, send));
        const own = about.filter(({ toEmail }) => toEmail === email);
        if (/^\d+#B/.test(name)) return !own.length && about.some(isErased);
        if (!/^\d+#S\d/.test(name)) return true;
        return own.some(
          ({ id, subject }) => !kept.includes(id) && wasMailed({ email, subject, before: askedAt }),
        );
      })
      .map(({ name }) => `${email} was erased, but the item ${name} has the address`),
    ...world.outside.mails
      .filter((mail) => mail.to === email && mail.calledAt > at + graceMs)
      .filter(({ subject }) => !single.has(subject))
      .map(({ subject }) => `${email} was erased, but got the mail "${subject}" afterwards`),
  ]);
}

const isErased = ({ toEmail }: ListedSend) => toEmail === erasedEmail;
const isWebhookDelivery = /^\d+#W\d+ /;

/** Whether the item is the send, or belongs to its block of 1,000 ids. */
function isAbout(name: string, { id }: ListedSend): boolean {
  const [, kind, shard, sortKey] = /^\d+#([SB])(\d+) (.+)$/.exec(name) ?? [];
  if (kind === "S") return Number(sortKey) === id;
  return kind === "B" && Number(shard) === Math.floor(id / 1000);
}

/** The text of an item, with its compressed values, which a simulation stores uncompressed. */
function readableText(item: WireItem): string {
  const packed = Object.values(item).flatMap(({ B }: WireValue) => (B ? [String(B)] : []));
  return [JSON.stringify(item), ...packed.map(unpack)].join("\n");
}

const unpack = (base64: string): string => Buffer.from(base64, "base64").toString();

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
