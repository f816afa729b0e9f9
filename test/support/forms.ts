// Forms and submissions without HTTP.

import { get, queryAll } from "../../shared/adapters/dynamodb/table.ts";
import type { Contact } from "../../shared/domain/audience/contacts/contact-schema.ts";
import * as contacts from "../../shared/domain/audience/contacts/contacts.ts";
import { normalizeDesign } from "../../shared/domain/forms/form-design.ts";
import { readEntry } from "../../shared/domain/forms/form-entry.ts";
import { type Form, NewForm } from "../../shared/domain/forms/form-schema.ts";
import * as forms from "../../shared/domain/forms/forms.ts";
import {
  resumeSubmission,
  submitForm as storeAndProcess,
} from "../../shared/domain/forms/submission-processing.ts";
import type * as submissions from "../../shared/domain/forms/submissions.ts";
import { NewSendingConfig } from "../../shared/domain/senders/sending-config-schema.ts";
import * as sendingConfigs from "../../shared/domain/senders/sending-configs.ts";
import { keys, ranges } from "../../shared/keys.ts";
import { createTestSite, type TestSite } from "./contacts.ts";

/** Creates a site whose organization can send. */
export async function createSiteWithSender(): Promise<TestSite> {
  const site = await createTestSite();
  const config = {
    provider: "postmark",
    credentials: { apiKey: "token" },
    fromEmail: "shop@example.com",
    fromName: "Shop",
  };
  const { id } = await sendingConfigs.create(site.caller, NewSendingConfig.parse(config));
  await sendingConfigs.setVerified(site.caller, await sendingConfigs.find(site.caller, id), true);
  return site;
}

export const createForm = ({ caller, siteId }: TestSite, more: object = {}): Promise<Form> =>
  forms.create(caller, NewForm.parse({ siteId, name: "News", ...more }));

/** Submits a form like the public route. */
export async function submitForm(formId: number, given: Record<string, unknown>): Promise<void> {
  const { form, design } = await forms.findPublicForm(formId);
  const { errors, entry } = readEntry(design ?? normalizeDesign("", null), given);
  if (errors.length) throw new Error(`The entry is not valid: ${JSON.stringify(errors)}`);
  await storeAndProcess(form, entry, {
    ip: "192.0.2.7",
    userAgent: "Firefox",
    page: "https://shop.example/",
    language: "de",
  });
}

export const listSubmissions = ({ orgId }: TestSite, formId: number) =>
  queryAll<submissions.SubmissionItem>(ranges.submissions(orgId, formId), { consistent: true });

/** Processes submissions like the due index and the queue, until none is left. */
export async function processSubmissions(
  site: TestSite,
  formId: number,
  work = (one: () => Promise<unknown>): Promise<unknown> => one(),
): Promise<void> {
  for (const { sk } of await listSubmissions(site, formId))
    await work(() => resumeSubmission(site.orgId, formId, sk));
}

export async function findContactByEmail(
  { caller, orgId, siteId }: TestSite,
  email: string,
): Promise<Contact | undefined> {
  const found = await get<{ id: number }>(keys.contact(orgId, siteId, email));
  return found && contacts.find(caller, found.id);
}
