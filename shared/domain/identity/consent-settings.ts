// Settings of a site about consent: how contacts are asked to confirm.
import * as z from "zod";

const maxReminderHours = 720;

export const standardPreferenceFields = ["firstName", "lastName", "phone", "company"] as const;
const maxPreferenceFields = 10;

const PreferencePage = z
  .object({
    fields: z
      .array(
        z
          .string()
          .max(113)
          .regex(
            new RegExp(`^(${standardPreferenceFields.join("|")}|customFields\\..+)$`, "s"),
            `must be ${standardPreferenceFields.join(", ")} or customFields.<name>`,
          ),
      )
      .max(maxPreferenceFields)
      .refine(
        (fields) => new Set(fields.map((name) => name.toLowerCase())).size === fields.length,
        "must name each field once",
      )
      .describe(
        "Up to 10 fields that contacts see and change on the page, in this order: `firstName`, " +
          "`lastName`, `phone`, `company`, or `customFields.<name>` of a declared field (not of " +
          "the type `datetime`). Everybody who has the link of an email can see them.",
      ),
    snooze: z
      .boolean()
      .describe("Whether contacts can pause marketing email for 30, 60 or 90 days."),
    leaveReason: z
      .boolean()
      .describe(
        "Whether contacts who unsubscribed are asked for the reason. GET " +
          "/analytics/leave-reasons has the answers.",
      ),
  })
  .meta({ id: "PreferencePage" });
type PreferencePage = z.output<typeof PreferencePage>;

export const consentFields = {
  confirmationTemplateId: z
    .int()
    .positive()
    .nullable()
    .describe(
      "Template of the site for the email that asks to confirm (double opt-in), of forms and of " +
        "contacts. Its `html`, and its `text` if it has one, must show " +
        "`{{ confirmUrl }}`; it can also read `siteName` and the fields of the contact. `null`: " +
        "the text of the service. It also stands in if the template was deleted, or lost the link.",
    ),
  confirmationReminderHours: z
    .int()
    .min(1)
    .max(maxReminderHours)
    .nullable()
    .describe(
      "Hours after which a contact that has not confirmed gets one reminder: the same email " +
        "again. `null`: none.",
    ),
  preferencePage: PreferencePage.describe(
    "What contacts can do on the preference page besides choosing topics.",
  ),
};

export const defaultPreferencePage: PreferencePage = {
  fields: [],
  snooze: true,
  leaveReason: true,
};
export const consentDefaults = {
  confirmationTemplateId: null,
  confirmationReminderHours: null,
  preferencePage: defaultPreferencePage,
};

/** Absent in sites of earlier versions of the service. */
export interface StoredConsentSettings {
  confirmationTemplateId?: number | null | undefined;
  confirmationReminderHours?: number | null | undefined;
}
