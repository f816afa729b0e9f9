// Headers, attachments and variables of a campaign: each recipient, each proof and each copy of the
// campaign has them.
import { beforeAll, expect, test } from "vitest";
import * as objects from "../../shared/adapters/s3/objects.ts";
import * as state from "../../shared/domain/campaigns/campaign-actions.ts";
import { preview } from "../../shared/domain/campaigns/campaign-preview.ts";
import { CampaignChanges, NewCampaign } from "../../shared/domain/campaigns/campaign-schema.ts";
import { listWarnings } from "../../shared/domain/campaigns/campaign-warnings.ts";
import * as campaigns from "../../shared/domain/campaigns/campaigns.ts";
import { sendProofs } from "../../shared/domain/campaigns/proofs.ts";
import * as resends from "../../shared/domain/campaigns/resends.ts";
import * as templates from "../../shared/domain/content/templates.ts";
import { findSentContent } from "../../shared/domain/sending/sent-content.ts";
import { createUpload } from "../../shared/kernel/uploads.ts";
import * as campaignTest from "../support/campaigns.ts";

beforeAll(campaignTest.useVirtualQueues);

const anHour = { forSeconds: 3600 };
const base64 = (text: string): string => Buffer.from(text).toString("base64");
const terms = { filename: "terms.txt", content: base64("Terms") };
const variables = { season: "Spring", offer: { percent: 20 } };
const html = "<p>{{ season }}: {{ offer.percent }} % for {{ firstName }}</p>";
const change = (from: campaignTest.CampaignSender, id: number, changes: object) =>
  campaigns.updateCampaign(from.caller, id, CampaignChanges.parse(changes));
const setHtml = ({ caller, templateId }: campaignTest.CampaignSender, source: string) =>
  templates.change(caller, templateId, { html: source });

test.each(["postmark", "sparkpost", "resend"] as const)(
  "each recipient gets headers, attachments and variables of a campaign through %s",
  async (provider) => {
    const from = await campaignTest.createCampaignSender(provider);
    await campaignTest.insertListMembers(from, 3);
    await setHtml(from, html);
    const { uploadId } = await createUpload(from.caller, {
      filename: "price.csv",
      type: "text/csv",
      size: 5,
    });
    await objects.put(`uploads/${from.caller.orgId}/${uploadId}`, Buffer.from("a;b;c"));
    const draft = await campaignTest.createDraft(from, {
      headers: { "X-Issue": "42" },
      attachments: [terms, { filename: "price.csv", uploadId }],
      variables,
    });
    expect(draft).toMatchObject({
      headers: { "X-Issue": "42" },
      variables,
      attachments: [
        { filename: "terms.txt", type: "text/plain", size: 5, contentId: null },
        { filename: "price.csv", type: "text/csv", size: 5, contentId: null },
      ],
    });
    const { id } = draft;
    await sendProofs(from.caller, id, { emails: ["boss@example.com"] });
    await state.sendNow(from.caller, id);
    await campaignTest.runWorkers(anHour);
    const mails = campaignTest.expectNoDuplicates(from);
    expect(mails).toHaveLength(4);
    for (const mail of mails) {
      expect(mail.html).toMatch(/Spring: 20 % for (P\d|Ada)/);
      const files = mail.attachments.map(({ filename, content }) => [filename, content]);
      expect(files).toEqual([
        ["terms.txt", terms.content],
        ["price.csv", base64("a;b;c")],
      ]);
      expect(mail.headers).toMatchObject({ "X-Issue": "42" });
    }
    const { attachments } = await findSentContent(from.caller, mails.at(-1)!.sendId);
    expect(attachments.map(({ filename }) => filename)).toEqual(["terms.txt", "price.csv"]);
    const again = await resends.resend(from.caller, id, { to: "unopened", draft: true });
    const { headers, variables: copied, attachments: files } = again;
    expect([headers, copied]).toEqual([{ "X-Issue": "42" }, variables]);
    expect(files.map(({ filename }) => filename)).toEqual(["terms.txt", "price.csv"]);
    expect(files[0]!.id).not.toBe(draft.attachments[0]!.id);
    await from.provider.stop();
  },
);

const blobOf = async (from: campaignTest.CampaignSender, id: number) =>
  (await campaigns.findStored(from.caller, id)).attachments!.map(({ blob }) => blob);

test("files that a campaign no longer has are deleted, others stay", async () => {
  const from = await campaignTest.createCampaignSender();
  const draft = await campaignTest.createDraft(from, {
    attachments: [terms, { filename: "logo.png", content: base64("image"), contentId: "logo" }],
  });
  const { id } = draft;
  const [first, second] = await blobOf(from, id);
  const kept = { id: draft.attachments[1]!.id };
  const changed = await change(from, id, {
    attachments: [kept, { filename: "more.pdf", content: base64("more") }],
  });
  expect(changed.attachments).toMatchObject([
    { id: kept.id, filename: "logo.png", contentId: "logo" },
    { filename: "more.pdf", type: "application/pdf" },
  ]);
  expect(await objects.get(first!)).toBeUndefined();
  expect(Buffer.from((await objects.get(second!))!).toString()).toBe("image");
  expect((await change(from, id, { name: "Other" })).attachments).toEqual(changed.attachments);
  const unknown = change(from, id, { attachments: [{ id: draft.attachments[0]!.id }] });
  await expect(unknown).rejects.toMatchObject({
    kind: "invalid",
    details: [{ path: "attachments.0.id" }],
  });
  await campaigns.remove(from.caller, id);
  expect(await objects.get(second!)).toBeUndefined();
  await from.provider.stop();
});

const twoMegabytes = 2 * 1024 * 1024;
const tooLarge = { kind: "invalid", details: [{ path: "attachments" }] };

test("attachments of a campaign have at most 2 MB in total, also with those it has", async () => {
  const from = await campaignTest.createCampaignSender();
  const half = { filename: "half.bin", content: base64("x".repeat(twoMegabytes / 2)) };
  const draft = await campaignTest.createDraft(from, { attachments: [half, half] });
  const kept = draft.attachments.map(({ id }) => ({ id }));
  const tooMany = change(from, draft.id, { attachments: [...kept, terms] });
  await expect(tooMany).rejects.toMatchObject(tooLarge);
  const created = campaignTest.createDraft(from, { attachments: [half, half, terms] });
  await expect(created).rejects.toMatchObject(tooLarge);
  await from.provider.stop();
});

test.each([
  "List-Unsubscribe",
  "list-unsubscribe-post",
  "Feedback-ID",
  "precedence",
  "X-Auto-Response-Suppress",
  "Subject",
  "X-SMTPAPI",
  "Received",
])("a campaign cannot have the header %s", (name) => {
  const { error } = NewCampaign.safeParse({ name: "News", headers: { [name]: "value" } });
  expect(error?.issues[0]?.path).toEqual(["headers", name]);
});

test("a campaign that its provider would refuse is not sent", async () => {
  const from = await campaignTest.createCampaignSender("sparkpost");
  await campaignTest.insertListMembers(from, 1);
  const attachments = [{ filename: `${"ü".repeat(150)}.txt`, content: base64("text") }];
  const { id } = await campaignTest.createDraft(from, { attachments });
  await expect(state.sendNow(from.caller, id)).rejects.toMatchObject({
    kind: "invalid",
    details: [{ path: "attachments.0.filename" }],
  });
  await from.provider.stop();
});

test("variables of a campaign are known, and fields of contacts override them", async () => {
  const from = await campaignTest.createCampaignSender();
  await campaignTest.insertListMembers(from, 1);
  await setHtml(from, "<p>{{ season }} {{ firstName }} {{ nothing }}</p>");
  const { id } = await campaignTest.createDraft(from, {
    variables: { season: "Spring", firstName: "Friend" },
    strict: true,
  });
  const unknown = { code: "variables_missing", details: [{ path: "nothing" }] };
  await expect(state.sendNow(from.caller, id)).rejects.toMatchObject(unknown);
  expect((await listWarnings(from.caller, id)).join()).toMatch(/fields? for .*: nothing/);
  await change(from, id, { variables: { season: "Spring", firstName: "x", nothing: 1 } });
  const { samples, warnings } = await preview(from.caller, id);
  expect(samples[0]!.html).toContain("<p>Spring P0 1</p>");
  expect(samples[0]!.missingVariables).toEqual([]);
  expect(warnings.join()).not.toContain("nothing");
  await state.sendNow(from.caller, id);
  await campaignTest.runWorkers(anHour);
  expect(from.provider.mails[0]!.html).toContain("<p>Spring P0 1</p>");
  await from.provider.stop();
});
