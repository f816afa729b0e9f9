// Schemas of the confirmation of a contact (double opt-in), in the API.
import * as z from "zod";
import { RecordId, Timestamp } from "../../../kernel/record-fields.ts";

/** A field of a new contact and of a row. */
export const SendConfirmation = z
  .boolean()
  .describe(
    "Whether to ask the contact by email to confirm (double opt-in), once. Needs the status " +
      "`pending`. The contact is subscribed when it presses the button behind the link. By POST " +
      "/contacts/bulk, a subscribed contact stays subscribed and is not asked, and one that " +
      "unsubscribed is asked only with `resubscribe`.",
  );

/** For schemas with `sendConfirmation`. */
export const isConfirmable = (input: {
  status?: string | undefined;
  sendConfirmation?: boolean | undefined;
}): boolean => !input.sendConfirmation || input.status === "pending";
export const unconfirmable = { error: "needs the status pending", path: ["sendConfirmation"] };

export const confirmationSources = ["api", "console", "import", "form"] as const;

export const mailLocale = z
  .string()
  .nullable()
  .describe(
    "Language in which the confirmation email was sent (BCP 47). `null`: none was sent, or its " +
      "template names no language.",
  );

export const Confirmation = z
  .object({
    status: z
      .enum(["queued", "sent", "not_sent", "confirmed"])
      .describe(
        "`queued`: the email is about to be sent. `sent`: waits for the contact. `not_sent`: see " +
          "`error`. `confirmed`: the contact pressed the button of the page behind the link.",
      ),
    source: z.enum(confirmationSources).describe("What asked for the confirmation."),
    requestedAt: Timestamp.describe("When the confirmation was asked for."),
    sendId: RecordId.nullable().describe("Send of the confirmation email, or `null`."),
    reminderSendId: RecordId.nullable().describe("Send of the reminder, or `null`."),
    templateId: RecordId.nullable().describe(
      "Template of the email. `null`: none was sent, or it had the text of the service.",
    ),
    templateVersion: z.int().nullable().describe("Version of the template, or `null`."),
    locale: mailLocale,
    error: z.string().nullable().describe("Why no email was sent, or `null`."),
    confirmedAt: Timestamp.nullable().describe("When the contact confirmed, or `null`."),
    confirmedIp: z.string().nullable().describe("IP address that confirmed, or `null`."),
    confirmedUserAgent: z.string().nullable().describe("Browser that confirmed, or `null`."),
  })
  .meta({ id: "Confirmation" });
/** In the consent log. */
export const ConfirmedRequest = Confirmation.pick({
  source: true,
  requestedAt: true,
  templateId: true,
  templateVersion: true,
  locale: true,
})
  .extend({ userAgent: z.string().nullable().describe("Browser that confirmed, or `null`.") })
  .meta({ id: "ConfirmedRequest" });
export type ConfirmedRequest = z.output<typeof ConfirmedRequest>;

export type Confirmation = z.output<typeof Confirmation>;
