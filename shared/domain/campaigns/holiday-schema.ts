// Schemas of holiday mailings, in the API and as stored.
import * as z from "zod";
import { singleLineText } from "../../kernel/email-fields.ts";
import {
  CreatedAt,
  Missing,
  NewSiteId,
  RecordId,
  RecordSiteId,
  Timestamp,
  UpdatedAt,
} from "../../kernel/record-fields.ts";
import { TopicId } from "../audience/topics/topic-schema.ts";
import { replyToField } from "../senders/mail-sender.ts";
import { MailingAccounting, MailingStats } from "../sending/mailing-stats.ts";
import type { Broadcast } from "./engine/broadcast.ts";

const id = z.int().positive();
const fields = {
  name: singleLineText(200).trim().min(1).describe("Name of the holiday email."),
  date: z.iso
    .date()
    .describe(
      "Day on which it is sent, such as `2027-01-01`. Sending starts at 9:00 in the " +
        "organization's time zone.",
    ),
  templateId: id.describe("Template of the email."),
  sendingConfigId: id
    .nullable()
    .describe(
      "Sending config to send with. `null`: the organization's oldest verified one on that day.",
    ),
  replyTo: replyToField,
  topicId: TopicId,
};

const holidayStatuses = ["scheduled", "sending", "sent", "cancelled"] as const;

export const Holiday = z
  .object({
    id: RecordId.describe("Id of the holiday email, for GET /holidays/:id."),
    siteId: RecordSiteId,
    ...fields,
    status: z
      .enum(holidayStatuses)
      .describe(
        "`scheduled`: waits for its day. `sending`: being sent. `sent`: no email is queued " +
          "or sending any more. `cancelled`: stopped.",
      ),
    statusReason: z
      .string()
      .nullable()
      .describe("Why the service cancelled it. `null` if it did not."),
    startedAt: Timestamp.nullable().describe("When sending started, or `null`."),
    finishedAt: Timestamp.nullable().describe(
      "When the service noted that it was sent or cancelled, or `null`.",
    ),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  })
  .meta({ id: "Holiday" });
export type Holiday = z.output<typeof Holiday>;

export const HolidayDetail = Holiday.extend({
  stats: MailingStats,
  accounting: MailingAccounting,
  missing: Missing,
}).meta({ id: "HolidayDetail" });
export type HolidayDetail = z.output<typeof HolidayDetail>;

export const NewHoliday = z
  .object({
    siteId: NewSiteId,
    ...fields,
    sendingConfigId: fields.sendingConfigId.default(null),
    replyTo: fields.replyTo.default(null),
    topicId: fields.topicId.default(null),
  })
  .meta({ examples: [{ name: "Happy new year", date: "2027-01-01", templateId: 1 }] });
export type NewHoliday = z.output<typeof NewHoliday>;

export const HolidayChanges = z
  .object({
    ...fields,
    status: z
      .literal("cancelled")
      .describe(
        "`cancelled` stops it for good, within seconds. Email that was handed to a provider " +
          "stays sent.",
      ),
  })
  .partial()
  .meta({ examples: [{ status: "cancelled" }] });
export type HolidayChanges = z.output<typeof HolidayChanges>;

export interface StoredHoliday extends Broadcast {
  date: string;
  templateId: number;
  sendingConfigId: number | null;
  /** Absent in records of earlier versions of the service. */
  replyTo?: string | null;
  topicId: number | null;
  status: Holiday["status"];
}

export const toApi = (item: StoredHoliday): Holiday => ({
  ...item,
  replyTo: item.replyTo ?? null,
  statusReason: item.statusReason ?? null,
  startedAt: item.startedAt ?? null,
  finishedAt: item.finishedAt ?? null,
});
