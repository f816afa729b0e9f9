import { TextInput } from "@mantine/core";
import { useState } from "react";
import { useChange } from "../../../data/changes.ts";
import { api } from "../../../data/client.ts";
import { createBlock } from "../../../editors/visual/block-changes.ts";
import { Choice } from "../../../editors/visual/choice.tsx";
import { compileSnippet } from "../../../editors/visual/compile-design.ts";
import {
  type Design,
  defaultTheme,
  designVersion,
  editorName,
  toParagraphs,
} from "../../../editors/visual/design.ts";
import { useBrand } from "../../../editors/visual/use-brand.ts";
import { t } from "../../../language/translate.ts";
import { FormDialog } from "../../../parts/form.tsx";
import { useTextField } from "../../../parts/text-field.ts";

interface NewSnippetProps {
  siteId: number;
  onClose(): void;
  onCreated(id: number): unknown;
}

type Start = "blocks" | "code" | "layout";

const startNotes: Record<Start, string> = {
  blocks: t("As it looks, with the same blocks as an email."),
  code: t("HTML that you write or paste."),
  layout: t("HTML that stands around an email. The email takes the place of a field in it."),
};

const sources: Record<Exclude<Start, "blocks">, string> = {
  code: '<p>Hello {{ firstName | default: "there" }}</p>\n',
  layout: `<!doctype html>
<html lang="en">
<head>
<meta name="viewport" content="width=device-width, initial-scale=1">
</head>
<body style="margin: 0; padding: 24px; font: 16px/1.6 sans-serif">
{{ content }}
</body>
</html>
`,
};

/** Asks for the name of a new snippet, and how it is edited. */
export function NewSnippet({ siteId, onClose, onCreated }: NewSnippetProps) {
  const { brand, hasBrand } = useBrand(siteId);
  const name = useTextField();
  const [start, setStart] = useState<Start>("blocks");
  const createDesign = (): Design => ({
    editor: editorName,
    version: designVersion,
    ...(brand.language && { language: brand.language }),
    previewText: "",
    theme: { ...defaultTheme, ...(hasBrand && { usesBrand: true as const }) },
    blocks: [{ ...createBlock("text"), text: toParagraphs(t("Write the text of the snippet.")) }],
  });
  const creating = useChange({
    run: async () => {
      const fields = { siteId, name: name.value.trim() };
      if (start !== "blocks") return api.snippets.create({ ...fields, html: sources[start] });
      const designJson = createDesign();
      const html = await compileSnippet(designJson);
      return api.snippets.create({ ...fields, html, designJson });
    },
    refreshes: ["snippets"],
    onDone: ({ id }) => onCreated(id),
  });
  return (
    <FormDialog
      title={t("New snippet")}
      action={t("Create snippet")}
      submission={creating}
      isDisabled={!name.value.trim()}
      opened
      onClose={onClose}
    >
      <TextInput
        label={t("Name")}
        description={t("Letters, digits, spaces and _ . -")}
        required
        maxLength={60}
        data-autofocus
        {...name.input}
      />
      <Choice<Start>
        label={t("How it is edited")}
        value={start}
        choices={[
          ["blocks", t("Blocks")],
          ["code", t("Code")],
          ["layout", t("Layout")],
        ]}
        onChange={setStart}
      />
      <p className="quiet">{startNotes[start]}</p>
    </FormDialog>
  );
}
