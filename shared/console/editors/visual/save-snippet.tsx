import { Modal, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { t } from "../../language/translate.ts";
import { Form } from "../../parts/form.tsx";
import { createBlock } from "./block-changes.ts";
import { compileSnippet } from "./compile-design.ts";
import type { DesignBlock } from "./design.ts";
import { useDesignEditor } from "./design-editor.ts";

interface SaveSnippetProps {
  block: DesignBlock;
  onClose(): void;
}

/** Makes a snippet of the block, which the email refers to from then on. */
export function SaveSnippet({ block, onClose }: SaveSnippetProps) {
  const { design, siteId, replace } = useDesignEditor();
  const [typed, setName] = useState("");
  const name = typed.trim();
  const { data } = useQuery(queries.siteSnippets(siteId));
  const existing = data?.snippets.find((one) => one.name === name);
  // The condition stays with the email.
  const { showIf, ...shared } = block;
  const saving = useChange({
    run: async () => {
      const content = {
        ...design,
        previewText: "",
        blocks: [{ ...shared, fill: "none" as const }],
      };
      const html = await compileSnippet(content);
      if (existing) return api.snippets.update(existing.id, { html, designJson: content });
      return api.snippets.create({ siteId, name, html, designJson: content });
    },
    refreshes: ["snippets"],
    onDone: (snippet) => {
      const linked = { ...createBlock("snippet"), fill: block.fill, name: snippet.name };
      replace(block.id, showIf ? { ...linked, showIf } : linked);
      onClose();
    },
  });
  return (
    <Modal opened onClose={onClose} title={t("Save as a snippet")} lockScroll={false}>
      <Form action={t("Save snippet")} submission={saving} isDisabled={!name}>
        <p>
          {t(
            "Other emails of the site can have it too. A change of the snippet " +
              "appears in all of them.",
          )}
        </p>
        <TextInput
          label={t("Name")}
          description={t("Letters, digits, spaces and _ . -")}
          maxLength={60}
          value={typed}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
          data-autofocus
        />
        {existing && (
          <p className="tone-warn">
            {t("There is a snippet with this name. It is replaced in all emails that have it.")}
          </p>
        )}
      </Form>
    </Modal>
  );
}
