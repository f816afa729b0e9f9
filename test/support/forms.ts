// A form and people who fill it in, straight from the domain.
import type { Contact } from "../../shared/domain/contacts/contact.ts";
import * as contacts from "../../shared/domain/contacts.ts";
import { designOf } from "../../shared/domain/forms/design.ts";
import { type Form, NewForm } from "../../shared/domain/forms/form.ts";
import type * as submissions from "../../shared/domain/forms/submissions.ts";
import { submit } from "../../shared/domain/forms/submitting.ts";
import { takeUp } from "../../shared/domain/forms/taking-up.ts";
import { entered } from "../../shared/domain/forms/values.ts";
import * as forms from "../../shared/domain/forms.ts";
import * as sendingConfigs from "../../shared/domain/sending-configs.ts";
import { get, queryAll } from "../../shared/doors/table.ts";
import { keys, ranges } from "../../shared/keys.ts";
import { type Audience, audience } from "./audience.ts";

/** A site whose organization can send. */
export async function shop(): Promise<Audience> {
  const made = await audience();
  const config = { provider: "postmark", credentials: { apiKey: "token" }, fromEmail: "shop@example.com", fromName: "Shop" };
  const { id } = await sendingConfigs.create(made.caller, sendingConfigs.NewSendingConfig.parse(config));
  await sendingConfigs.noteVerified(made.caller, await sendingConfigs.find(made.caller, id), true);
  return made;
}

export const newForm = ({ caller, siteId }: Audience, more: object = {}): Promise<Form> =>
  forms.create(caller, NewForm.parse({ siteId, name: "News", ...more }));

/** What the public route does, once it has read the body. */
export async function fill(formId: number, given: Record<string, unknown>): Promise<void> {
  const { form, design } = await forms.open(formId);
  const { wrong, entry } = entered(design ?? designOf("", null), given);
  if (wrong.length) throw new Error(`Wrong: ${JSON.stringify(wrong)}`);
  await submit(form, entry, { ip: "192.0.2.7", userAgent: "Firefox", page: "https://shop.example/", language: "de" });
}

export const stored = ({ orgId }: Audience, formId: number) =>
  queryAll<submissions.SubmissionItem>(ranges.submissions(orgId, formId), { consistent: true });

/** What the due index and the queue would do, until nothing is left. */
export async function worked(at: Audience, formId: number, work = (one: () => Promise<unknown>): Promise<unknown> => one()): Promise<void> {
  for (const { sk } of await stored(at, formId)) await work(() => takeUp(at.orgId, formId, sk));
}

export async function person({ caller, orgId, siteId }: Audience, email: string): Promise<Contact | undefined> {
  const found = await get<{ id: number }>(keys.contact(orgId, siteId, email));
  return found && contacts.find(caller, found.id);
}
