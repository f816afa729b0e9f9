// Schemas of A/B tests: how the winner is found, and how it was.
import * as z from "zod";
import { Count, RecordId, Timestamp } from "../../kernel/record-fields.ts";

export const AbTest = z
  .object({
    testPercent: z
      .int()
      .min(1)
      .max(100)
      .describe(
        "Percentage of the audience that gets the variants, by their weights. The rest waits " +
          "for the winner. Each contact is assigned at random, so the shares of a small " +
          "audience can be uneven.",
      ),
    metric: z
      .enum(["open_rate", "click_rate", "conversion_rate"])
      .describe(
        "Rate that decides: opens or clicks by people, or contacts with the `conversion` event " +
          "of the campaign, divided by delivered emails.",
      ),
    durationMinutes: z
      .int()
      .min(1)
      .max(7 * 24 * 60)
      .describe(
        "Minutes from the hand-over of the test emails until the winner is picked. At most 7 days.",
      ),
    stopEarly: z
      .boolean()
      .optional()
      .describe(
        "`true`: the figures are looked at after each tenth of the time, and the winner is " +
          "picked as soon as it is certain. Without it, it is picked at the end.",
      ),
  })
  .meta({ id: "AbTest" });
export type AbTest = z.output<typeof AbTest>;

export const AbTestWinner = z
  .object({
    variantId: RecordId.describe("Variant that won."),
    reason: z
      .enum(["best", "tie", "no_data"])
      .describe(
        "`best`: it had the best rate. `tie`: several variants had the best rate. `no_data`: " +
          "there was nothing to count. In the last two cases, the variant with the highest " +
          "weight wins, then the oldest.",
      ),
    decidedAt: Timestamp.describe("When the winner was picked."),
    decidedEarly: z.boolean().describe("Whether it was picked before the time was over."),
    certainty: z
      .number()
      .nullable()
      .describe(
        "How certain it is that it is better than the second best, from 0 to 1: from 0.95 on, " +
          "such a difference is no matter of chance. Two-proportion test with continuity " +
          "correction, corrected for the number of variants and of looks. `null` for tests " +
          "before this was computed.",
      ),
    results: z
      .array(
        z.object({
          variantId: RecordId.describe("Variant of the figures."),
          delivered: Count.describe("Test emails delivered."),
          opened: Count.describe("Recipients who opened."),
          clicked: Count.describe("Recipients who clicked."),
          conversions: Count.describe("Contacts with the `conversion` event of the campaign."),
          rate: z.number().describe("Value of the metric, from 0 to 1."),
        }),
      )
      .describe(
        "Metrics used to pick the winner, as they were then. The stats of the variants also " +
          "count contacts who got the winner later.",
      ),
  })
  .meta({ id: "AbTestWinner" });
export type AbTestWinner = z.output<typeof AbTestWinner>;

/** As stored. Tests of earlier versions lack what came later. */
export type StoredWinner = Omit<AbTestWinner, "decidedEarly" | "certainty" | "results"> &
  Partial<Pick<AbTestWinner, "decidedEarly" | "certainty">> & {
    results: (Omit<AbTestWinner["results"][number], "conversions"> & { conversions?: number })[];
  };

export const toApiWinner = ({ results, ...winner }: StoredWinner): AbTestWinner => ({
  decidedEarly: false,
  certainty: null,
  ...winner,
  results: results.map((result) => ({ conversions: 0, ...result })),
});
