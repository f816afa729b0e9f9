// Secure messages from the request to the page: after any crash, a link that was sent shows its
// message, and a revoked message is unreadable.
import { DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { send as sendGroup } from "../../functions/http/send.ts";
import * as blobs from "../../shared/adapters/s3/objects.ts";
import * as clock from "../../shared/clock.ts";
import { NewContact } from "../../shared/domain/audience/contacts/contact-schema.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import * as due from "../../shared/domain/due-work.ts";
import { erase } from "../../shared/domain/privacy/erasure.ts";
import { cancelSend } from "../../shared/domain/sending/cancel-send.ts";
import {
  decrypt,
  decryptBody,
  encryptBody,
} from "../../shared/domain/sending/secure-messages/cipher.ts";
import {
  blobKeyOf,
  fileBlobKeyOf,
} from "../../shared/domain/sending/secure-messages/secure-message-item.ts";
import * as messages from "../../shared/domain/sending/secure-messages/secure-messages.ts";
import { sessionCookieName } from "../../shared/http/authenticate.ts";
import { erasedEmail } from "../../shared/kernel/email-fields.ts";
import { dueShards } from "../../shared/keys.ts";
import { crashAtSomeSteps } from "../support/crash-injection.ts";
import type { FakeProviderMail } from "../support/fake-provider.ts";
import { invokeRoute } from "../support/lambda-requests.ts";
import { useDynamoDbEngine } from "../support/memory-dynamodb.ts";
import { pauseCall, removePauses } from "../support/pause-dynamodb-call.ts";
import * as mailTest from "../support/sending.ts";

useDynamoDbEngine();

beforeAll(mailTest.useOwnTableAndQueues);
afterEach(removePauses);

const secret = "the code of the safe is 4711";
const html = `<p>{{ name }}, ${secret}</p>`;
const fields = { secure: true, subject: "Yours, {{ name }}", html, variables: { name: "Ada" } };
const tokenOf = ({ html: notice }: FakeProviderMail): string =>
  /\/secure\/([\w-]+)"/.exec(notice)![1]!;
const mailsTo = ({ provider }: mailTest.TestSender, to: string) =>
  provider.mails.filter((mail) => mail.to === to);
const listed = async ({ caller }: mailTest.TestSender) => messages.list(caller, { limit: 100 }, {});
const settle = (hours = 3) => mailTest.runWorkers({ forSeconds: hours * 3600 });
const sweep = async () => {
  for (let shard = 0; shard < dueShards; shard++) await due.drain("SECURE", shard);
};
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => "done",
    (error: { code?: string }) => error.code ?? String(error),
  );

async function sent(
  from: mailTest.TestSender,
  more: Partial<Parameters<typeof mailTest.send>[1]> = {},
) {
  const { to = mailTest.uniqueRecipients(1)[0]!.to } = more;
  const { id } = await mailTest.send(from, { ...fields, ...more, to });
  await settle();
  const [mail] = mailsTo(from, to);
  return { id, to, mail: mail!, token: tokenOf(mail!) };
}

describe("a crash", () => {
  test.each(["postmark", "resend"] as const)(
    "while accepting a single mail at %s leaves nothing, or one notice with a working link",
    async (key) => {
      const from = await mailTest.createSender(key);
      let accepted = 0;
      const steps = await crashAtSomeSteps(async (crash) => {
        const { to } = mailTest.uniqueRecipients(1)[0]!;
        let id: number | undefined;
        await crash(async () => ({ id } = await mailTest.send(from, { ...fields, to })));
        await settle();
        await mailTest.expectBalanced(from, id === undefined ? [] : [id]);
        const mails = mailsTo(from, to);
        if (id !== undefined) expect(mails).toHaveLength(1);
        for (const mail of mails)
          expect((await messages.openMessage(tokenOf(mail), undefined))?.said).toEqual({
            html: `<p>Ada, ${secret}</p>`,
          });
        accepted += mails.length;
        const { secureMessages, pagination } = await listed(from);
        expect([
          secureMessages.filter(({ toEmail }) => toEmail === to).length,
          pagination.total,
        ]).toEqual([mails.length, accepted]);
      });
      expect(steps).toEqual(
        expect.arrayContaining([
          "before PutObject",
          "after TransactWriteItems",
          "after GenerateDataKey",
        ]),
      );
      await from.provider.stop();
    },
  );

  test("while accepting a batch leaves all or nothing, and each link shows its own message", async () => {
    const from = await mailTest.createSender("postmark");
    let accepted = 0;
    await crashAtSomeSteps(async (crash) => {
      const recipients = mailTest
        .uniqueRecipients(3)
        .map(({ to }, i) => ({ to, variables: { name: `Number ${i}` } }));
      let ids: number[] = [];
      await crash(async () => {
        ids = (await mailTest.sendBatch(from, recipients, { ...fields })).results.map(
          ({ id }) => id!,
        );
      });
      await settle();
      await mailTest.expectBalanced(from, ids);
      const mails = recipients.flatMap(({ to }) => mailsTo(from, to));
      expect([0, 3]).toContain(mails.length);
      if (ids.length) expect(mails).toHaveLength(3);
      accepted += mails.length;
      for (const mail of mails) {
        const i = recipients.findIndex(({ to }) => to === mail.to);
        expect([
          mail.subject,
          (await messages.openMessage(tokenOf(mail), undefined))?.said.html,
        ]).toEqual([`Yours, Number ${i}`, `<p>Number ${i}, ${secret}</p>`]);
      }
      expect((await listed(from)).pagination.total).toBe(accepted);
    });
    await from.provider.stop();
  });

  test("during the hand-over leads to an identical second request", async () => {
    const from = await mailTest.createSender("resend");
    await crashAtSomeSteps(async (crash) => {
      const { to } = mailTest.uniqueRecipients(1)[0]!;
      await mailTest.send(from, { ...fields, to });
      let used = false;
      await mailTest.runWorkers({
        forSeconds: 3 * 3600,
        crash: async (work) => {
          if (used) return work();
          used = true;
          return crash(work);
        },
      });
      const mails = mailsTo(from, to);
      expect(mails).toHaveLength(1);
      expect((await messages.openMessage(tokenOf(mails[0]!), undefined))?.said.html).toContain(
        secret,
      );
    });
    await from.provider.stop();
  });

  test("while revoking leaves the message readable or unreadable, and the schedule deletes its body", async () => {
    const from = await mailTest.createSender("postmark");
    await crashAtSomeSteps(async (crash) => {
      const { id, token } = await sent(from);
      await crash(() => messages.revoke(from.caller, id));
      const { status } = await messages.findSecureMessage(from.caller, id);
      clock.advanceClock(60);
      await sweep();
      expect(
        [
          await messages.openMessage(token, undefined),
          await blobs.get(blobKeyOf(from.caller.orgId, id)),
        ].map((one) => one === undefined),
      ).toEqual(status === "revoked" ? [true, true] : [false, false]);
      expect(await codeOf(messages.revoke(from.caller, id))).toBe(
        status === "revoked" ? "already_revoked" : "done",
      );
      expect(await blobs.get(blobKeyOf(from.caller.orgId, id))).toBeUndefined();
    });
    await from.provider.stop();
  });
});

test("erasing a contact revokes its messages and no others, even after a crash at any step", async () => {
  const from = await mailTest.createSender("postmark");
  const { orgId } = from.caller;
  const otherMessage = await sent(from);
  await crashAtSomeSteps(async (crash) => {
    const { to } = mailTest.uniqueRecipients(1)[0]!;
    const contact = await contacts.create(from.caller, NewContact.parse({ email: to }));
    const { id, token } = await sent(from, { to });
    await crash(() => erase(from.caller, contact.id));
    await erase(from.caller, contact.id).catch((error) => expect(error.kind).toBe("missing"));
    expect([
      await messages.getCover(token),
      await messages.openMessage(token, undefined),
      await blobs.get(blobKeyOf(orgId, id)),
    ]).toEqual([undefined, undefined, undefined]);
    expect(await messages.findSecureMessage(from.caller, id)).toMatchObject({
      status: "revoked",
      toEmail: erasedEmail,
      subject: "(erased)",
    });
  });
  expect((await messages.openMessage(otherMessage.token, undefined))?.said.html).toContain(secret);
  await from.provider.stop();
});

test.each(["/send", "/send/batch"] as const)(
  "POST %s repeated with its Idempotency-Key sends one notice, and a revoked message stays revoked",
  async (path) => {
    const from = await mailTest.createSender("postmark");
    let n = 0;
    await crashAtSomeSteps(async (crash) => {
      const { to } = mailTest.uniqueRecipients(1)[0]!;
      const content = { ...fields, sendingConfigId: from.configId };
      const body = path === "/send" ? { ...content, to } : { ...content, recipients: [{ to }] };
      const headers = { "idempotency-key": `secure ${path} ${++n}` };
      const post = () =>
        invokeRoute(sendGroup, `POST ${path}`, {
          body,
          headers,
          cookies: [`${sessionCookieName}=${from.token}`],
        });
      await crash(post);
      clock.advanceClock(60);
      await settle(0.25);
      const [early] = mailsTo(from, to);
      if (early) await messages.revoke(from.caller, early.sendId);
      expect(await post()).toMatchObject({ status: 202 });
      await settle(0.25);
      const mails = mailsTo(from, to);
      expect(mails).toHaveLength(1);
      const viewed = await messages.openMessage(tokenOf(mails[0]!), undefined);
      expect(viewed?.said.html).toEqual(early ? undefined : `<p>Ada, ${secret}</p>`);
      if (early)
        expect(await blobs.get(blobKeyOf(from.caller.orgId, early.sendId))).toBeUndefined();
    });
    await from.provider.stop();
  },
);

test("the content is stored only in the blob, encrypted", async () => {
  const from = await mailTest.createSender("postmark");
  const { id, token } = await sent(from, {
    securePassphrase: "open sesame",
    variables: { name: "Ada", pin: "0815-pin" },
    html: `${html}{{ pin }}`,
  });
  await mailTest.sendBatch(
    from,
    [{ to: mailTest.uniqueRecipients(1)[0]!.to, variables: { pin: "0815-pin" } }],
    {
      ...fields,
      html: `${html}{{ pin }}`,
    },
  );
  await settle();
  const { gunzipSync } = await import("node:zlib");
  const { Items = [] } = await new DynamoDBClient({}).send(
    new ScanCommand({ TableName: process.env.TABLE_NAME }),
  );
  const unzipped = Items.map(({ gz, content }) =>
    [gz?.B, content?.M?.gz?.B].map((bytes) => (bytes ? gunzipSync(bytes).toString() : "")).join(),
  );
  const all = JSON.stringify(Items) + unzipped.join();
  expect(unzipped.join()).toContain("secureUrl");
  for (const word of [secret, "0815-pin", "open sesame", token]) expect(all).not.toContain(word);
  const { orgId } = from.caller;
  const blob = (await blobs.get(blobKeyOf(orgId, id)))!;
  expect(Buffer.from(blob).toString("latin1")).not.toContain(secret.slice(0, 8));
  expect((await decryptBody(orgId, id, blob)).html).toContain(secret);
  await expect(decryptBody(orgId, id + 1, blob)).rejects.toThrow();
  await expect(decryptBody(orgId + 1, id, blob)).rejects.toThrow();
  await expect(
    decryptBody(orgId, id, blob.with(blob.length - 1, blob.at(-1)! ^ 1)),
  ).rejects.toThrow();
  await from.provider.stop();
});

test("each encryption uses its own key and nonce", async () => {
  const [one, other] = [
    await encryptBody(1, 2, { text: secret }),
    await encryptBody(1, 2, { text: secret }),
  ];
  expect(Buffer.from(one).equals(Buffer.from(other))).toBe(false);
  expect([await decryptBody(1, 2, one), await decryptBody(1, 2, other)]).toEqual([
    { text: secret },
    { text: secret },
  ]);
});

test("the message of a cancelled scheduled mail is revoked", async () => {
  const from = await mailTest.createSender("postmark");
  const scheduledAt = clock.addSeconds(2 * 24 * 3600).toISOString();
  const { id } = await mailTest.send(from, {
    ...fields,
    to: mailTest.uniqueRecipients(1)[0]!.to,
    scheduledAt,
  });
  await cancelSend(from.caller, id);
  expect((await messages.findSecureMessage(from.caller, id)).status).toBe("revoked");
  expect(await blobs.get(blobKeyOf(from.caller.orgId, id))).toBeUndefined();
});

test("a message expires at its time, counted from the scheduled time, and its blob is deleted", async () => {
  const from = await mailTest.createSender("postmark");
  const scheduledAt = clock.addSeconds(2 * 24 * 3600).toISOString();
  const { id } = await mailTest.send(from, {
    ...fields,
    to: mailTest.uniqueRecipients(1)[0]!.to,
    scheduledAt,
    secureExpiresInDays: 1,
  });
  await mailTest.runWorkers({ forSeconds: 2 * 24 * 3600 + 60 });
  const token = tokenOf(from.provider.mails[0]!);
  expect((await messages.findSecureMessage(from.caller, id)).expiresAt).toBe(
    new Date(Date.parse(scheduledAt) + 86_400_000).toISOString(),
  );
  clock.advanceClock(24 * 3600 - 120);
  expect(await messages.openMessage(token, undefined)).toBeDefined();
  clock.advanceClock(120);
  expect([await messages.getCover(token), await messages.openMessage(token, undefined)]).toEqual([
    undefined,
    undefined,
  ]);
  await sweep();
  expect(await blobs.get(blobKeyOf(from.caller.orgId, id))).toBeUndefined();
  const expired = await messages.findSecureMessage(from.caller, id);
  expect(expired).toMatchObject({ status: "expired", viewCount: 1, updatedAt: expired.expiresAt });
  await from.provider.stop();
});

test("a message revoked while it is being opened is not shown and counts no view", async () => {
  const from = await mailTest.createSender("postmark");
  const { id, token } = await sent(from);
  const holding = pauseCall("UpdateItem");
  const opening = messages.openMessage(token, undefined);
  await holding.reached;
  await messages.revoke(from.caller, id);
  holding.release();
  expect(await opening).toBeUndefined();
  expect(await messages.findSecureMessage(from.caller, id)).toMatchObject({ viewCount: 0 });
  await from.provider.stop();
});

test("five wrong passphrases in an hour, also simultaneous ones, lock the message", async () => {
  const from = await mailTest.createSender("postmark");
  const { id, token } = await sent(from, { securePassphrase: "open sesame" });
  expect((await messages.openMessage(token, "open sesame"))?.said.html).toContain(secret);
  const guesses = await Promise.all(
    Array.from({ length: 8 }, (_, i) => codeOf(messages.openMessage(token, `guess ${i}`))),
  );
  expect(guesses.filter((code) => code === "wrong_passphrase")).toHaveLength(5);
  expect(await codeOf(messages.openMessage(token, "open sesame"))).toBe("rate_limited");
  clock.advanceClock(3600);
  expect(await codeOf(messages.openMessage(token, "open sesame"))).toBe("done");
  expect(await messages.findSecureMessage(from.caller, id)).toMatchObject({
    viewCount: 2,
    hasPassphrase: true,
  });
  await from.provider.stop();
});

test("a recipient whose message cannot be rendered fails alone; a suppressed one has no message", async () => {
  const from = await mailTest.createSender("postmark");
  const [good, bad] = mailTest.uniqueRecipients(2);
  const recipients = [
    { ...good!, variables: { n: 3 } },
    { ...bad!, variables: { n: 10_000_000 } },
  ];
  const { results } = await mailTest.sendBatch(from, recipients, {
    ...fields,
    html: "{% for i in (1..n) %}x{% endfor %}",
  });
  await settle();
  expect(results.map(({ status }) => status)).toEqual(["queued", "failed"]);
  const { secureMessages, pagination } = await listed(from);
  expect([secureMessages.map(({ toEmail }) => toEmail), pagination.total]).toEqual([[good!.to], 1]);
  await from.provider.stop();
});

test("paging lists each message once", async () => {
  const from = await mailTest.createSender("postmark");
  for (let i = 0; i < 3; i++) await mailTest.sendBatch(from, mailTest.uniqueRecipients(60), fields);
  const seen: number[] = [];
  let cursor: string | undefined;
  do {
    const { secureMessages, pagination } = await messages.list(
      from.caller,
      { limit: 50, cursor },
      {},
    );
    expect(pagination.total).toBe(180);
    seen.push(...secureMessages.map(({ id }) => id));
    cursor = pagination.nextCursor ?? undefined;
  } while (cursor);
  expect([seen.length, new Set(seen).size]).toEqual([180, 180]);
  await from.provider.stop();
});

describe("the files of a message", () => {
  const attachments = [
    { filename: "safe.txt", content: Buffer.from(secret).toString("base64") },
    { filename: "second.bin", content: "AAEC" },
  ];
  const filesOf = (from: mailTest.TestSender, id: number) =>
    Promise.all([0, 1].map((file) => blobs.get(fileBlobKeyOf(from.caller.orgId, id, file))));
  const linksOf = async (token: string) =>
    (await messages.openMessage(token, undefined))!.files.map(
      ({ url }) => /\/secure\/files\/([\w-]+)$/.exec(url)![1]!,
    );

  test("are stored encrypted, each for its place, and are not in the notice", async () => {
    const from = await mailTest.createSender("postmark");
    const { id, token, mail } = await sent(from, { attachments });
    expect(JSON.stringify(mail)).not.toContain("safe.txt");
    const [first, second] = (await filesOf(from, id)) as [Uint8Array, Uint8Array];
    expect(Buffer.from(first).toString("latin1")).not.toContain(secret.slice(0, 8));
    const { orgId } = from.caller;
    expect((await decrypt({ orgId, id, file: 0 }, first)).toString()).toBe(secret);
    await expect(decrypt({ orgId, id, file: 0 }, second)).rejects.toThrow();
    await expect(decrypt({ orgId, id }, first)).rejects.toThrow();
    const [link] = await linksOf(token);
    const file = await messages.downloadFile(link!);
    expect(file).toMatchObject({ filename: "safe.txt", type: "text/plain", size: secret.length });
    expect(Buffer.from(file!.bytes).toString()).toBe(secret);
    expect(await messages.findSecureMessage(from.caller, id)).toMatchObject({
      attachmentCount: 2,
      viewCount: 1,
    });
    await from.provider.stop();
  });

  test("are copied for each recipient of a batch, up to 100 MB", async () => {
    const from = await mailTest.createSender("postmark");
    const recipients = mailTest.uniqueRecipients(2);
    const { results } = await mailTest.sendBatch(from, recipients, { ...fields, attachments });
    const [one, two] = results.map(({ id }) => id!) as [number, number];
    await messages.revoke(from.caller, one);
    expect(await filesOf(from, one)).toEqual([undefined, undefined]);
    expect((await filesOf(from, two)).every(Boolean)).toBe(true);
    const large = [{ filename: "a.bin", content: Buffer.alloc(1_000_000).toString("base64") }];
    await expect(
      mailTest.sendBatch(from, mailTest.uniqueRecipients(101), { ...fields, attachments: large }),
    ).rejects.toMatchObject({ code: "limit_exceeded" });
    await from.provider.stop();
  });

  test("may exceed what the provider takes as attachments", async () => {
    const from = await mailTest.createSender("postmark");
    const { orgId } = from.caller;
    const files = Array.from({ length: 2 }, (_, i) => ({
      filename: `${i}.bin`,
      content: Buffer.alloc(3_900_000, i).toString("base64"),
    }));
    const { id } = await sent(from, { attachments: files });
    expect((await filesOf(from, id)).map((blob) => blob!.length > 3_900_000)).toEqual([true, true]);
    expect(await blobs.get(fileBlobKeyOf(orgId, id, 2))).toBeUndefined();
    await from.provider.stop();
  });

  test("have links for an hour after each view", async () => {
    const from = await mailTest.createSender("postmark");
    const { token } = await sent(from, { attachments });
    const [link] = await linksOf(token);
    clock.advanceClock(3599);
    expect(await messages.downloadFile(link!)).toBeTruthy();
    clock.advanceClock(2);
    await expect(messages.downloadFile(link!)).rejects.toMatchObject({ kind: "missing" });
    const [renewed] = await linksOf(token);
    expect(await messages.downloadFile(renewed!)).toBeTruthy();
    await expect(messages.downloadFile(token)).rejects.toMatchObject({ kind: "missing" });
    expect(await messages.getCover(token)).toBeDefined();
    await expect(messages.getCover(renewed!)).rejects.toMatchObject({ kind: "missing" });
    await from.provider.stop();
  });

  test("are gone when the message is revoked, expires or its recipient is erased", async () => {
    const from = await mailTest.createSender("postmark");
    const { caller, siteId } = from;
    const revoked = await sent(from, { attachments });
    const [ofRevoked] = await linksOf(revoked.token);
    await messages.revoke(caller, revoked.id);
    expect(await messages.downloadFile(ofRevoked!)).toBeNull();
    expect(await filesOf(from, revoked.id)).toEqual([undefined, undefined]);

    const [{ to } = { to: "" }] = mailTest.uniqueRecipients(1);
    const contact = await contacts.create(caller, NewContact.parse({ siteId, email: to }));
    const erased = await sent(from, { attachments, to });
    await erase(caller, contact.id);
    expect(await filesOf(from, erased.id)).toEqual([undefined, undefined]);

    const expired = await sent(from, { attachments, secureExpiresInDays: 1 });
    clock.advanceClock(25 * 3600);
    await sweep();
    expect(await filesOf(from, expired.id)).toEqual([undefined, undefined]);
    await from.provider.stop();
  });
});
