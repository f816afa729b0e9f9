// Callers erase contacts while their mail is under way, and people who got mail without a contact.
// Afterwards the address is in no item, apart from the places that
// shared/domain/privacy/README.md names.
import type { WireItem, WireValue } from "../expressions.ts";
import {
  type Action,
  type Area,
  contactOf,
  erasedEmail,
  type ListedSend,
  type Scene,
} from "../scene.ts";

async function erase(scene: Scene, action: Action): Promise<void> {
  const { id, email } = contactOf(action, scene.prepared);
  await eraseWith(scene, email, `/contacts/${id}?erase=true`);
}

/** The recipient of a batch, by address, or as a contact that did not exist when it was mailed. */
async function eraseStranger(scene: Scene, action: Action): Promise<void> {
  const { world, prepared, ledger } = scene;
  const strangers = ledger.sends.filter(({ to }) => prepared.contacts.every((c) => c.email !== to));
  const email = strangers[Math.floor(action.choice * 997) % strangers.length]?.to;
  if (email === undefined) return;
  const { siteId } = prepared;
  const { data } =
    action.size % 2 ? await world.call<{ id: number }>("POST", "/contacts", { email, siteId }) : {};
  const path = data?.id ? `${data.id}?erase=true` : `by-email/${encodeURIComponent(email)}`;
  await eraseWith(scene, email, `/contacts/${path}`);
}

const finalStatuses = new Set(["sent", "delivered", "failed", "cancelled"]);

async function eraseWith({ world, ledger }: Scene, email: string, path: string): Promise<void> {
  const list = `/sends?limit=100&email=${encodeURIComponent(email)}`;
  const { data } = await world.call<{ sends: ListedSend[] }>("GET", list);
  const listed = (statuses: Set<string>) =>
    data?.sends.filter(({ status }) => statuses.has(status)).map(({ id }) => id) ?? [];
  const askedAt = world.time.now();
  const { status } = await world.call("DELETE", path);
  // A repeated request finds no contact any more.
  if (status !== 200 && status !== 404) return;
  const at = world.time.now();
  const uncertain = listed(new Set(["uncertain"]));
  ledger.erasures.push({ email, askedAt, at, ended: listed(finalStatuses), uncertain });
}

/**
 * The record of mail that was under way or uncertain keeps the address: see
 * shared/domain/privacy/README.md.
 */
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
  return ledger.erasures.flatMap(({ email, askedAt, at, ended, uncertain }) => [
    ...items
      .filter(({ name, text }) => text.includes(email) && !isWebhookDelivery.test(name))
      .filter(({ name }) => {
        const about = sends.filter((send) => isAbout(name, send));
        const own = about.filter(({ toEmail }) => toEmail === email);
        if (/^\d+#B/.test(name)) return !own.length && about.some(isErased);
        if (!/^\d+#S\d/.test(name)) return true;
        if (about.some(isErased)) return true;
        return own.some(
          ({ id, subject }) =>
            ended.includes(id) ||
            (!uncertain.includes(id) && wasMailed({ email, subject, before: askedAt })),
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
    "erase a stranger": {
      weight: 3,
      describe: () => "a caller erases the recipient of a batch",
      run: eraseStranger,
    },
  },
  check,
};
