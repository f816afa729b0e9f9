// The designs that a new template can begin with. Each reads on a phone and in dark mode.
import { t } from "../../language/translate.ts";
import { createBlock } from "./block-changes.ts";
import {
  type ButtonBlock,
  type ColumnRatio,
  type Design,
  type DesignBlock,
  defaultTheme,
  designVersion,
  editorName,
  type FooterBlock,
  type HeadingBlock,
  type ImageBlock,
  type LeafBlock,
  type Paragraph,
  type TextBlock,
  type Theme,
  toParagraphs,
} from "./design.ts";

export interface StartingDesign {
  key: string;
  /** What the email is for. */
  name: string;
  note: string;
  subject: string;
  create(): Design;
}

interface Parts {
  previewText?: string;
  theme?: Partial<Theme>;
  blocks: DesignBlock[];
}

const designOf = ({ previewText = "", theme, blocks }: Parts): Design => ({
  editor: editorName,
  version: designVersion,
  previewText,
  theme: { ...defaultTheme, ...theme },
  blocks,
});

type More<Kind extends DesignBlock> = Partial<Omit<Kind, "id" | "type">>;

const heading = (text: string, more: More<HeadingBlock> = {}): HeadingBlock => ({
  ...createBlock("heading"),
  text: toParagraphs(text),
  ...more,
});

const text = (content: string | Paragraph[], more: More<TextBlock> = {}): TextBlock => ({
  ...createBlock("text"),
  text: typeof content === "string" ? toParagraphs(content) : content,
  ...more,
});

const button = (label: string, more: More<ButtonBlock> = {}): ButtonBlock => ({
  ...createBlock("button"),
  label,
  ...more,
});

const image = (more: More<ImageBlock> = {}): ImageBlock => ({
  ...createBlock("image"),
  ...more,
});

const columns = (
  ratio: ColumnRatio,
  content: LeafBlock[][],
  more: More<DesignBlock> = {},
): DesignBlock => ({ ...createBlock("columns"), ratio, columns: content, ...more }) as DesignBlock;

const divider = (): LeafBlock => createBlock("divider");
const footer = (more: More<FooterBlock> = {}): FooterBlock => ({
  ...createBlock("footer"),
  ...more,
});

const items = (...lines: string[]): Paragraph[] =>
  lines.map((line) => ({ spans: [{ text: line }], isItem: true }));

/** The line is bold up to the colon. */
const labelled = (line: string): Paragraph => {
  const end = line.indexOf(":") + 1;
  return { spans: [{ text: line.slice(0, end), bold: true }, { text: line.slice(end) }] };
};

const hello = t('Hello {{ firstName | default: "there" }},');
const row = (left: string, right: string): DesignBlock =>
  columns("2:1", [[text(left)], [text(right, { align: "right" })]]);

export const startingDesigns: readonly StartingDesign[] = [
  {
    key: "welcome",
    name: t("Welcome"),
    note: t("The first email after somebody signs up"),
    subject: t("Welcome aboard"),
    create: () =>
      designOf({
        previewText: t("Three things to begin with"),
        theme: { accent: "#0f6b57", background: "#eef3f0", text: "#1d2a26" },
        blocks: [
          heading(t("Welcome, we are glad you are here"), { level: 1, fill: "accent" }),
          text(t("It takes two minutes to get going."), { size: "large", fill: "accent" }),
          text(t("{hello}\nthank you for joining us. Here is what people do first:", { hello })),
          text(
            items(
              t("Tell us what you are interested in"),
              t("Have a look at what is new this week"),
              t("Reply to this email if you have a question: a person reads it"),
            ),
          ),
          button(t("Get started")),
          text(t("See you soon,\nyour team")),
          footer(),
        ],
      }),
  },
  {
    key: "newsletter",
    name: t("Newsletter"),
    note: t("A main story and two short ones"),
    subject: t("What is new this month"),
    create: () =>
      designOf({
        previewText: t("The story of the month, and two short reads"),
        theme: { accent: "#a23b1e", background: "#f6f2ec", text: "#2a2420", font: "georgia" },
        blocks: [
          text(t("The monthly letter"), { size: "small", align: "center" }),
          heading(t("A headline worth opening"), { level: 1, align: "center" }),
          image(),
          text(
            t(
              "{hello}\nbegin with the one thing that readers should remember. Two " +
                "or three sentences are enough: the rest is behind the link.",
              { hello },
            ),
          ),
          button(t("Read the story")),
          divider(),
          columns("1:1", [
            [
              heading(t("A second story"), { level: 3 }),
              text(t("One or two sentences about it."), { size: "small" }),
              button(t("Read on")),
            ],
            [
              heading(t("And a third"), { level: 3 }),
              text(t("One or two sentences about it."), { size: "small" }),
              button(t("Read on")),
            ],
          ]),
          footer(),
        ],
      }),
  },
  {
    key: "announcement",
    name: t("Announcement"),
    note: t("One message and one button"),
    subject: t("Something new is here"),
    create: () =>
      designOf({
        previewText: t("We have worked on it all year"),
        theme: { accent: "#4034a8", background: "#efeef8", corners: "round" },
        blocks: [
          text(t("Announcement"), { size: "small", align: "center", fill: "accent" }),
          heading(t("Say it in one line"), { level: 1, align: "center", fill: "accent" }),
          text(t("Then tell in one sentence why it matters to the reader."), {
            size: "large",
            align: "center",
            fill: "accent",
          }),
          button(t("Have a look"), { align: "center", fill: "accent" }),
          text(
            t("{hello}\nhere is room for the details: what changes, from when, and for whom.", {
              hello,
            }),
          ),
          footer(),
        ],
      }),
  },
  {
    key: "product-update",
    name: t("Product update"),
    note: t("What is new, improved and fixed"),
    subject: t("What we have built for you"),
    create: () =>
      designOf({
        previewText: t("Three improvements that save you time"),
        theme: { accent: "#1657b8", background: "#f1f4f8" },
        blocks: [
          heading(t("What is new"), { level: 1 }),
          text(t("{hello}\nthis is what we have built since the last update.", { hello })),
          image(),
          heading(t("The big one")),
          text(t("Say what people can do now that they could not do before.")),
          button(t("Try it")),
          columns(
            "1:1",
            [
              [
                heading(t("Faster"), { level: 3 }),
                text(t("What takes less time than before."), { size: "small" }),
              ],
              [
                heading(t("Simpler"), { level: 3 }),
                text(t("What needs fewer steps than before."), { size: "small" }),
              ],
            ],
            { fill: "soft" },
          ),
          heading(t("Also"), { level: 3 }),
          text(items(t("A smaller improvement"), t("A problem that is solved"))),
          footer(),
        ],
      }),
  },
  {
    key: "receipt",
    name: t("Receipt"),
    note: t("An order with its items and total"),
    subject: t("Your order {{ orderNumber }}"),
    create: () =>
      designOf({
        previewText: t("Thank you for your order"),
        theme: { accent: "#22262e", background: "#f4f4f2", width: 520 },
        blocks: [
          heading(t("Thank you for your order"), { level: 1 }),
          text(
            t("{hello}\nwe have got your order '{{' orderNumber '}}'. This is your receipt.", {
              hello,
            }),
          ),
          divider(),
          row('{{ itemName | default: "Item" }}', '{{ itemPrice | default: "0.00" }}'),
          row(t("Shipping"), '{{ shippingPrice | default: "0.00" }}'),
          divider(),
          columns("2:1", [
            [heading(t("Total"), { level: 3 })],
            [heading('{{ total | default: "0.00" }}', { level: 3, align: "right" })],
          ]),
          button(t("See your order"), { isWide: true }),
          text(t("Something is not right? Reply to this email."), { size: "small" }),
        ],
      }),
  },
  {
    key: "invitation",
    name: t("Event invitation"),
    note: t("What, when and where, with a button to sign up"),
    subject: t("You are invited"),
    create: () =>
      designOf({
        previewText: t("Save the date"),
        theme: { accent: "#8a1c5b", background: "#f8eff4", font: "trebuchet", corners: "round" },
        blocks: [
          text(t("You are invited"), { size: "small", align: "center" }),
          heading(t("The name of your event"), { level: 1, align: "center" }),
          text(t("{hello}\nwe would love to see you there.", { hello }), { align: "center" }),
          text(
            [
              labelled(t("When: Thursday, 12 March, 18:00")),
              labelled(t("Where: 1 Main Street")),
              labelled(t("What: talks, food and good company")),
            ],
            { fill: "soft", align: "center" },
          ),
          button(t("Save my seat"), { align: "center", fill: "soft" }),
          text(t("You cannot come? We send you the recording."), {
            size: "small",
            align: "center",
          }),
          footer(),
        ],
      }),
  },
  {
    key: "empty",
    name: t("Empty"),
    note: t("A heading, a text and a footer"),
    subject: t("News"),
    create: () =>
      designOf({
        blocks: [heading(t("A heading"), { level: 1 }), text(`${hello}\n`), footer()],
      }),
  },
];
