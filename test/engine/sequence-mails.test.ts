import { beforeAll, expect, test } from "vitest";
import * as enrollments from "../../shared/domain/automation/enrollments.ts";
import * as sequences from "../../shared/domain/automation/sequences.ts";
import { AddStepsRequest } from "../../shared/domain/automation/step-schema.ts";
import * as steps from "../../shared/domain/automation/steps.ts";
import { NewTemplate } from "../../shared/domain/content/template-schema.ts";
import * as templates from "../../shared/domain/content/templates.ts";
import * as sites from "../../shared/domain/identity/sites.ts";
import {
  createContacts,
  createSequence,
  createSequenceSender,
  minutes,
  runFor,
  useVirtualQueues,
} from "../support/sequences.ts";

beforeAll(useVirtualQueues);

test("mail gets a blind copy to the address of the sequence, else of the site", async () => {
  const one = await createSequenceSender();
  await sites.change(one.caller, one.siteId, { autoBcc: "site@shop.example" });
  const [own, inherited] = [
    await createSequence(one, ["Own"], { autoBcc: "sequence@shop.example" }),
    await createSequence(one, ["Inherited"], { autoBcc: null }),
  ];
  const contactIds = await createContacts(one, 2);
  for (const { id } of [own, inherited]) await enrollments.enroll(one.caller, id, { contactIds });
  await runFor(minutes(2));
  const copies = one.provider.mails.map(({ subject, bcc }) => `${subject}: ${bcc}`);
  expect(copies.toSorted()).toEqual([
    "Inherited: site@shop.example",
    "Inherited: site@shop.example",
    "Own: sequence@shop.example",
    "Own: sequence@shop.example",
  ]);
  await one.provider.stop();
});

test("UTM parameters of a sequence and the preview text of a step are in its mails", async () => {
  const one = await createSequenceSender();
  const html = '<p>Hi</p><a href="https://shop.example/">Shop</a>';
  const { id: templateId } = await templates.create(
    one.caller,
    NewTemplate.parse({ siteId: one.siteId, name: "First steps", subject: "Hi", html }),
  );
  const email = { type: "email", templateId };
  const { id, steps: stored } = await createSequence(
    one,
    [{ ...email, previewText: "For {{ email }} <only>" }, email],
    { name: "Welcome", utm: { source: "onboarding" } },
  );
  expect(stored.map(({ previewText }) => previewText)).toEqual(["For {{ email }} <only>", null]);
  const contactIds = await createContacts(one, 1);
  await enrollments.enroll(one.caller, id, { contactIds });
  await runFor(minutes(4));
  const query =
    "utm_source=onboarding&amp;utm_medium=email&amp;utm_campaign=Welcome&amp;" +
    "utm_content=First%20steps";
  const bodies = one.provider.mails.map(({ html: body = "" }) => body);
  expect(bodies).toHaveLength(2);
  for (const body of bodies) expect(body).toContain(`href="https://shop.example/?${query}"`);
  const [to = ""] = one.provider.mails.map((mail) => mail.to);
  const withPreview = bodies.filter((body) => body.includes("pm-preview"));
  expect(withPreview).toEqual([expect.stringContaining(`>For ${to} &lt;only&gt;&#847;`)]);
  await one.provider.stop();
});

test("UTM parameters can be removed, and a preview text is valid Liquid", async () => {
  const one = await createSequenceSender();
  const { id } = await createSequence(one, ["Plain"], { utm: {} });
  await sequences.change(one.caller, id, { utm: null });
  expect(await sequences.find(one.caller, id)).toMatchObject({ utm: null });
  const broken = { type: "email", previewText: "{{ firstName" };
  const request = AddStepsRequest.parse({ steps: [broken] });
  await expect(steps.add(one.caller, id, request)).rejects.toMatchObject({
    kind: "invalid",
    details: [{ path: "steps.0.previewText" }],
  });
  await one.provider.stop();
});
