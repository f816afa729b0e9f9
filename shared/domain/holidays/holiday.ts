// What a holiday mail is: to callers, and as it is stored.
import * as z from "zod";
import { oneLine } from "../../email.ts";
import type { Broadcast } from "../broadcasts/broadcast.ts";
import { Numbers, Stats } from "../campaigns/stats.ts";

const id = z.int().positive();
const fields = {
  name: oneLine(200).trim().min(1),
  date: z.iso.date().describe("It goes out on this day from 9:00 on, in the organization's timezone"),
  templateId: id,
  sendingConfigId: id.nullable().describe("null: the organization's oldest verified one, as of that day"),
};

const holidayStatuses = ["scheduled", "sending", "sent", "cancelled"] as const;

export const Holiday = z
  .object({
    id: z.int(),
    siteId: z.int(),
    ...fields,
    status: z.enum(holidayStatuses),
    statusReason: z.string().nullable().describe("Why it was cancelled, where nobody asked for it"),
    startedAt: z.string().nullable(),
    finishedAt: z.string().nullable(),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .meta({ id: "Holiday" });
export type Holiday = z.output<typeof Holiday>;

export const HolidayDetail = Holiday.extend({ stats: Stats, accounting: Numbers }).meta({ id: "HolidayDetail" });
export type HolidayDetail = z.output<typeof HolidayDetail>;

export const NewHoliday = z
  .object({ siteId: id.optional(), ...fields, sendingConfigId: fields.sendingConfigId.default(null) })
  .meta({ examples: [{ name: "Happy new year", date: "2027-01-01", templateId: 1 }] });
export type NewHoliday = z.output<typeof NewHoliday>;

export const HolidayChanges = z
  .object({
    ...fields,
    status: z.literal("cancelled").describe("Stops it within seconds, for good; what was handed over stays sent"),
  })
  .partial()
  .meta({ examples: [{ status: "cancelled" }] });
export type HolidayChanges = z.output<typeof HolidayChanges>;

/** As it is stored. */
export interface StoredHoliday extends Broadcast {
  date: string;
  templateId: number;
  sendingConfigId: number | null;
  status: Holiday["status"];
}

export const told = (item: StoredHoliday): Holiday => ({
  ...item,
  statusReason: item.statusReason ?? null,
  startedAt: item.startedAt ?? null,
  finishedAt: item.finishedAt ?? null,
});
