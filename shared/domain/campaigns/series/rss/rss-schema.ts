// What a template reads of an RSS or Atom feed, as `feed`.
import * as z from "zod";
import { Timestamp } from "../../../../kernel/record-fields.ts";

export const RssItem = z
  .object({
    id: z.string().describe("Id of the item in its feed, else its link or a hash of its text."),
    title: z.string().describe("Title as plain text. Can be empty."),
    link: z.string().nullable().describe("Web address of the item, or `null`."),
    publishedAt: Timestamp.nullable().describe(
      "When it was published, else updated. `null` without a date.",
    ),
    author: z.string().nullable().describe("Name of the author, or `null`."),
    summary: z.string().describe("Description as plain text, at most 1,000 characters."),
    content: z
      .string()
      .describe("HTML of the whole item, else its description. Write it with the filter `raw`."),
    image: z.string().nullable().describe("Web address of its picture, or `null`."),
    categories: z.array(z.string()).describe("Up to 20 categories."),
  })
  .meta({ id: "RssItem" });
export type RssItem = z.output<typeof RssItem>;

export const RssFeed = z
  .object({
    title: z.string().describe("Title of the feed. Can be empty."),
    link: z.string().nullable().describe("Website of the feed, or `null`."),
    description: z.string().describe("Description of the feed as plain text. Can be empty."),
    language: z.string().nullable().describe("Language of the feed, such as `en-us`, or `null`."),
    items: z.array(RssItem).describe("Items, newest first."),
  })
  .meta({ id: "RssFeed" });
export type RssFeed = z.output<typeof RssFeed>;
