// Secure messages from the request to the page: whoever dies, a link that went out shows what was said, and what is revoked is gone.
import { DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { send as sendGroup } from "../../functions/http/send.ts";
import * as clock from "../../shared/clock.ts";
import { NewContact } from "../../shared/domain/contacts/contact.ts";
import { erase, erasedEmail } from "../../shared/domain/contacts/erasure.ts";
import * as contacts from "../../shared/domain/contacts.ts";
import { locked, unlocked } from "../../shared/domain/secure-messages/cipher.ts";
import { blobOf } from "../../shared/domain/secure-messages/item.ts";
import * as messages from "../../shared/domain/secure-messages.ts";
import * as due from "../../shared/domain/sending/due.ts";
import * as blobs from "../../shared/doors/blobs.ts";
import { sessionCookie } from "../../shared/http/authenticate.ts";
import { dueShards } from "../../shared/keys.ts";
import { ask } from "../support/events.ts";
import type { Mail } from "../support/fake-provider.ts";
import { heldUp, letGo } from "../support/held-up.ts";
import { atSomeSteps } from "../support/killer.ts";
import * as mailroom from "../support/mailroom.ts";

vi.setConfig({ testTimeout: 120_000 });
beforeAll(mailroom.opened);
afterEach(letGo);

const secret = "the code of the safe is 4711";
const html = `<p>{{ name }}, ${secret}</p>`;
const fields = { secure: true, subject: "Yours, {{ name }}", html, variables: { name: "Ada" } };
const tokenOf = ({ html: notice }: Mail): string => /\/secure\/([\w-]+)"/.exec(notice)![1]!;
const mailsTo = ({ provider }: mailroom.Sender, to: string) => provider.mails.filter((mail) => mail.to === to);
const listed = async ({ caller }: mailroom.Sender) => messages.list(caller, { limit: 100 }, {});
const settle = (hours = 3) => mailroom.settle({ forSeconds: hours * 3600 });
const sweep = async () => {
  for (let shard = 0; shard < dueShards; shard++) await due.drain("SECURE", shard);
};
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => "done",
    (error: { code?: string }) => error.code ?? String(error),
  );

async function sent(from: mailroom.Sender, more: Partial<Parameters<typeof mailroom.send>[1]> = {}) {
  const { to = mailroom.recipients(1)[0]!.to } = more;
  const { id } = await mailroom.send(from, { ...fields, ...more, to });
  await settle();
  const [mail] = mailsTo(from, to);
  return { id, to, mail: mail!, token: tokenOf(mail!) };
}

describe("whoever dies", () => {
  test.each(["postmark", "resend"] as const)(
    "over accepting a single mail at %s: not accepted at all, or one notice whose link works",
    async (key) => {
      const from = await mailroom.sender(key);
      let accepted = 0;
      const steps = await atSomeSteps(3, async (kill) => {
        const { to } = mailroom.recipients(1)[0]!;
        let id: number | undefined;
        await kill(async () => ({ id } = await mailroom.send(from, { ...fields, to })));
        await settle();
        await mailroom.balanced(from, id === undefined ? [] : [id]);
        const mails = mailsTo(from, to);
        if (id !== undefined) expect(mails).toHaveLength(1);
        for (const mail of mails) expect((await messages.view(tokenOf(mail), undefined))?.said).toEqual({ html: `<p>Ada, ${secret}</p>` });
        accepted += mails.length;
        const { secureMessages, pagination } = await listed(from);
        expect([secureMessages.filter(({ toEmail }) => toEmail === to).length, pagination.total]).toEqual([mails.length, accepted]);
      });
      expect(steps).toEqual(
        expect.arrayContaining(["before PutObjectCommand", "after TransactWriteCommand", "after GenerateDataKeyCommand"]),
      );
      await from.provider.stop();
    },
  );

  test("over accepting a batch: all of it or nothing, and each link shows its own message", async () => {
    const from = await mailroom.sender("postmark");
    let accepted = 0;
    await atSomeSteps(3, async (kill) => {
      const recipients = mailroom.recipients(3).map(({ to }, i) => ({ to, variables: { name: `Number ${i}` } }));
      let ids: number[] = [];
      await kill(async () => {
        ids = (await mailroom.sendBatch(from, recipients, { ...fields })).results.map(({ id }) => id!);
      });
      await settle();
      await mailroom.balanced(from, ids);
      const mails = recipients.flatMap(({ to }) => mailsTo(from, to));
      expect([0, 3]).toContain(mails.length);
      if (ids.length) expect(mails).toHaveLength(3);
      accepted += mails.length;
      for (const mail of mails) {
        const i = recipients.findIndex(({ to }) => to === mail.to);
        expect([mail.subject, (await messages.view(tokenOf(mail), undefined))?.said.html]).toEqual([
          `Yours, Number ${i}`,
          `<p>Number ${i}, ${secret}</p>`,
        ]);
      }
      expect((await listed(from)).pagination.total).toBe(accepted);
    });
    await from.provider.stop();
  });

  test("over handing it over: the question put again says the same to the byte", async () => {
    const from = await mailroom.sender("resend");
    await atSomeSteps(3, async (kill) => {
      const { to } = mailroom.recipients(1)[0]!;
      await mailroom.send(from, { ...fields, to });
      let used = false;
      await mailroom.settle({
        forSeconds: 3 * 3600,
        kill: async (work) => {
          if (used) return work();
          used = true;
          return kill(work);
        },
      });
      const mails = mailsTo(from, to);
      expect(mails).toHaveLength(1);
      expect((await messages.view(tokenOf(mails[0]!), undefined))?.said.html).toContain(secret);
    });
    await from.provider.stop();
  });

  test("over revoking it: once it is marked nobody reads it, and a tick finishes what was begun", async () => {
    const from = await mailroom.sender("postmark");
    await atSomeSteps(3, async (kill) => {
      const { id, token } = await sent(from);
      await kill(() => messages.revoke(from.caller, id));
      const { status } = await messages.find(from.caller, id);
      clock.advance(60);
      await sweep();
      expect(
        [await messages.view(token, undefined), await blobs.get(blobOf(from.caller.orgId, id))].map((one) => one === undefined),
      ).toEqual(status === "revoked" ? [true, true] : [false, false]);
      expect(await codeOf(messages.revoke(from.caller, id))).toBe(status === "revoked" ? "already_revoked" : "done");
      expect(await blobs.get(blobOf(from.caller.orgId, id))).toBeUndefined();
    });
    await from.provider.stop();
  });
});

test("erasing a contact revokes what was sent to it, dead at any step or not, and nobody else's", async () => {
  const from = await mailroom.sender("postmark");
  const { orgId } = from.caller;
  const beside = await sent(from);
  await atSomeSteps(3, async (kill) => {
    const { to } = mailroom.recipients(1)[0]!;
    const contact = await contacts.create(from.caller, NewContact.parse({ email: to }));
    const { id, token } = await sent(from, { to });
    await kill(() => erase(from.caller, contact.id));
    await erase(from.caller, contact.id).catch((error) => expect(error.kind).toBe("missing"));
    expect([await messages.cover(token), await messages.view(token, undefined), await blobs.get(blobOf(orgId, id))]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(await messages.find(from.caller, id)).toMatchObject({ status: "revoked", toEmail: erasedEmail, subject: "(erased)" });
  });
  expect((await messages.view(beside.token, undefined))?.said.html).toContain(secret);
  await from.provider.stop();
});

test.each(["/send", "/send/batch"] as const)(
  "POST %s made again under its Idempotency-Key: one notice, and what was revoked stays gone",
  async (path) => {
    const from = await mailroom.sender("postmark");
    let n = 0;
    await atSomeSteps(3, async (kill) => {
      const { to } = mailroom.recipients(1)[0]!;
      const content = { ...fields, sendingConfigId: from.configId };
      const body = path === "/send" ? { ...content, to } : { ...content, recipients: [{ to }] };
      const headers = { "idempotency-key": `secure ${path} ${++n}` };
      const post = () => ask(sendGroup, `POST ${path}`, { body, headers, cookies: [`${sessionCookie}=${from.token}`] });
      await kill(post);
      clock.advance(60);
      await settle(0.25);
      const [early] = mailsTo(from, to);
      if (early) await messages.revoke(from.caller, early.sendId);
      expect(await post()).toMatchObject({ status: 202 });
      await settle(0.25);
      const mails = mailsTo(from, to);
      expect(mails).toHaveLength(1);
      const viewed = await messages.view(tokenOf(mails[0]!), undefined);
      expect(viewed?.said.html).toEqual(early ? undefined : `<p>Ada, ${secret}</p>`);
      if (early) expect(await blobs.get(blobOf(from.caller.orgId, early.sendId))).toBeUndefined();
    });
    await from.provider.stop();
  },
);

test("what it says lies nowhere but in the blob, and there it cannot be read", async () => {
  const from = await mailroom.sender("postmark");
  const { id, token } = await sent(from, {
    securePassphrase: "open sesame",
    variables: { name: "Ada", pin: "0815-pin" },
    html: `${html}{{ pin }}`,
  });
  await mailroom.sendBatch(from, [{ to: mailroom.recipients(1)[0]!.to, variables: { pin: "0815-pin" } }], {
    ...fields,
    html: `${html}{{ pin }}`,
  });
  await settle();
  const { gunzipSync } = await import("node:zlib");
  const { Items = [] } = await new DynamoDBClient({}).send(new ScanCommand({ TableName: process.env.TABLE_NAME }));
  const unzipped = Items.map(({ gz, content }) =>
    [gz?.B, content?.M?.gz?.B].map((bytes) => (bytes ? gunzipSync(bytes).toString() : "")).join(),
  );
  const all = JSON.stringify(Items) + unzipped.join();
  expect(unzipped.join()).toContain("secureUrl");
  for (const word of [secret, "0815-pin", "open sesame", token]) expect(all).not.toContain(word);
  const { orgId } = from.caller;
  const blob = (await blobs.get(blobOf(orgId, id)))!;
  expect(Buffer.from(blob).toString("latin1")).not.toContain(secret.slice(0, 8));
  expect((await unlocked(orgId, id, blob)).html).toContain(secret);
  await expect(unlocked(orgId, id + 1, blob)).rejects.toThrow();
  await expect(unlocked(orgId + 1, id, blob)).rejects.toThrow();
  await expect(unlocked(orgId, id, blob.with(blob.length - 1, blob.at(-1)! ^ 1))).rejects.toThrow();
  await from.provider.stop();
});

test("each locking has a key and a nonce of its own", async () => {
  const [one, other] = [await locked(1, 2, { text: secret }), await locked(1, 2, { text: secret })];
  expect(Buffer.from(one).equals(Buffer.from(other))).toBe(false);
  expect([await unlocked(1, 2, one), await unlocked(1, 2, other)]).toEqual([{ text: secret }, { text: secret }]);
});

test("it expires when it is said to, counted from when it is due, and then its blob is deleted", async () => {
  const from = await mailroom.sender("postmark");
  const scheduledAt = clock.after(2 * 24 * 3600).toISOString();
  const { id } = await mailroom.send(from, { ...fields, to: mailroom.recipients(1)[0]!.to, scheduledAt, secureExpiresInDays: 1 });
  await mailroom.settle({ forSeconds: 2 * 24 * 3600 + 60 });
  const token = tokenOf(from.provider.mails[0]!);
  expect((await messages.find(from.caller, id)).expiresAt).toBe(new Date(Date.parse(scheduledAt) + 86_400_000).toISOString());
  clock.advance(24 * 3600 - 120);
  expect(await messages.view(token, undefined)).toBeDefined();
  clock.advance(120);
  expect([await messages.cover(token), await messages.view(token, undefined)]).toEqual([undefined, undefined]);
  await sweep();
  expect(await blobs.get(blobOf(from.caller.orgId, id))).toBeUndefined();
  expect(await messages.find(from.caller, id)).toMatchObject({ status: "expired", viewCount: 1 });
  await from.provider.stop();
});

test("what is revoked while it is being opened is not shown, and counts no view", async () => {
  const from = await mailroom.sender("postmark");
  const { id, token } = await sent(from);
  const holding = heldUp(UpdateCommand);
  const opening = messages.view(token, undefined);
  await holding.reached;
  await messages.revoke(from.caller, id);
  holding.release();
  expect(await opening).toBeUndefined();
  expect(await messages.find(from.caller, id)).toMatchObject({ viewCount: 0 });
  await from.provider.stop();
});

test("five wrong passphrases in an hour shut it for everyone, also when they come together; the right one counts a view", async () => {
  const from = await mailroom.sender("postmark");
  const { id, token } = await sent(from, { securePassphrase: "open sesame" });
  expect((await messages.view(token, "open sesame"))?.said.html).toContain(secret);
  const guesses = await Promise.all(Array.from({ length: 8 }, (_, i) => codeOf(messages.view(token, `guess ${i}`))));
  expect(guesses.filter((code) => code === "wrong_passphrase")).toHaveLength(5);
  expect(await codeOf(messages.view(token, "open sesame"))).toBe("rate_limited");
  clock.advance(3600);
  expect(await codeOf(messages.view(token, "open sesame"))).toBe("done");
  expect(await messages.find(from.caller, id)).toMatchObject({ viewCount: 2, hasPassphrase: true });
  await from.provider.stop();
});

test("a recipient of a batch whose message cannot be rendered fails alone, and a suppressed one has no message", async () => {
  const from = await mailroom.sender("postmark");
  const [good, bad] = mailroom.recipients(2);
  const recipients = [
    { ...good!, variables: { n: 3 } },
    { ...bad!, variables: { n: 10_000_000 } },
  ];
  const { results } = await mailroom.sendBatch(from, recipients, { ...fields, html: "{% for i in (1..n) %}x{% endfor %}" });
  await settle();
  expect(results.map(({ status }) => status)).toEqual(["queued", "failed"]);
  const { secureMessages, pagination } = await listed(from);
  expect([secureMessages.map(({ toEmail }) => toEmail), pagination.total]).toEqual([[good!.to], 1]);
  await from.provider.stop();
});

test("of many messages each is listed once, page by page", async () => {
  const from = await mailroom.sender("postmark");
  for (let i = 0; i < 3; i++) await mailroom.sendBatch(from, mailroom.recipients(60), fields);
  const seen: number[] = [];
  let cursor: string | undefined;
  do {
    const { secureMessages, pagination } = await messages.list(from.caller, { limit: 50, cursor }, {});
    expect(pagination.total).toBe(180);
    seen.push(...secureMessages.map(({ id }) => id));
    cursor = pagination.nextCursor ?? undefined;
  } while (cursor);
  expect([seen.length, new Set(seen).size]).toEqual([180, 180]);
  await from.provider.stop();
});
