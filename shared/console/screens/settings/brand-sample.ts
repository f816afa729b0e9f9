// The email of the preview of a brand. It has outputs in the place of the values of the brand.

import { createBlock } from "../../editors/visual/block-changes.ts";
import { compileDesign } from "../../editors/visual/compile-design.ts";
import {
  type BlockOf,
  type DesignBlock,
  defaultTheme,
  designVersion,
  editorName,
  toParagraphs,
} from "../../editors/visual/design.ts";
import { t } from "../../language/translate.ts";

const heading = (text: string, more: Partial<BlockOf<"heading">> = {}): DesignBlock => ({
  ...createBlock("heading"),
  ...more,
  text: toParagraphs(text),
});
const text = (content: string, more: Partial<BlockOf<"text">> = {}): DesignBlock => ({
  ...createBlock("text"),
  ...more,
  text: toParagraphs(content),
});

export const compileSample = (): Promise<string> =>
  compileDesign(
    {
      ...{ editor: editorName, version: designVersion, previewText: "" },
      theme: { ...defaultTheme, usesBrand: true },
      blocks: [
        heading(t("What is new"), { level: 1, fill: "accent" }),
        text(t("The first letter in your colours."), { size: "large", fill: "accent" }),
        text(t("Hello Ada,\nthis is what your readers see.")),
        {
          ...createBlock("button"),
          ...{ label: t("Read the story"), href: "https://shop.example" },
        },
        text(t("A tint of the accent sets a note apart."), { fill: "soft" }),
        createBlock("social"),
        { ...createBlock("footer"), text: toParagraphs("1 High Street, London") },
      ],
    },
    t("Preview"),
  );
