import { Button, FileButton, Modal } from "@mantine/core";
import { IconCode, IconFileImport } from "@tabler/icons-react";
import { useMemo, useState } from "react";
import type { Brand } from "../../../email/brand/brand.ts";
import { useChange } from "../../data/changes.ts";
import { t } from "../../language/translate.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { DesignPicture } from "./block-view.tsx";
import { compileDesign } from "./compile-design.ts";
import { applyBrand, type Design } from "./design.ts";
import type { ImportedDesign } from "./from-mjml.ts";
import { type StartingDesign, startingDesigns } from "./starting-designs.ts";
import { useBrand } from "./use-brand.ts";

/** The start of a template: it reads on a phone and in the dark, and greets by name. */
const starter = `<!doctype html>
<html lang="en">
<head>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<style>
body { margin: 0; padding: 24px; font: 16px/1.6 system-ui, sans-serif }
main { max-width: 560px; margin: 0 auto }
</style>
</head>
<body>
<main>
<h1>Hello {{ firstName | default: "there" }}</h1>
<p>Write what is new.</p>
<p><a href="https://shop.example">Read more</a></p>
</main>
</body>
</html>
`;

/** Without a design, it is edited as code. */
export interface StartContent {
  name: string;
  subject: string;
  html: string;
  designJson?: Design;
}

interface NewEmailProps {
  siteId: number;
  title: string;
  onClose(): void;
  create(content: StartContent): Promise<unknown>;
}

/** Asks how a new email begins: with a design, with code, or with an MJML file. */
export function NewEmail({ siteId, title, onClose, create }: NewEmailProps) {
  const { brand, hasBrand } = useBrand(siteId);
  const creating = useChange({
    run: async (start: Start) =>
      create(start === "code" ? codeContent : await visualContent(start)),
    refreshes: ["templates"],
  });
  const choose = (start: Start) => {
    if (!creating.isPending) creating.mutate(start);
  };
  const [imported, setImported] = useState<MjmlStart>();
  const reading = useChange({
    run: readMjml,
    refreshes: [],
    onDone: (start) => (start.notes.length ? setImported(start) : choose(start)),
  });
  const starts = useMemo(
    () =>
      startingDesigns.map((start) => {
        const create = () => (hasBrand ? withBrand(start.create(), brand) : start.create());
        return { start: { ...start, create }, design: applyBrand(create(), brand) };
      }),
    [brand, hasBrand],
  );
  return (
    <Modal opened onClose={onClose} title={title} size={920} lockScroll={false}>
      <div className="stack">
        <p>
          {t(
            "Begin with a design and change it as it looks, or write the HTML " +
              "yourself. A design can be turned into code later, but not the other " +
              "way round.",
          )}
        </p>
        <ErrorNote error={creating.error ?? reading.error} />
        {imported && (
          <div className="note" role="status">
            <p>
              {t("{name} can be edited here, but not all of it can be shown as it was:", {
                name: imported.name,
              })}
            </p>
            <ul>
              {imported.notes.map((note) => (
                <li key={note}>{note}</li>
              ))}
            </ul>
            <Button size="xs" loading={creating.isPending} onClick={() => choose(imported)}>
              {t("Create it")}
            </Button>
          </div>
        )}
        <ul className="starts" aria-busy={creating.isPending}>
          {starts.map(({ start, design }, index) => (
            <li key={start.key}>
              <button
                type="button"
                onClick={() => choose(start)}
                data-autofocus={index === 0 || undefined}
              >
                <DesignPicture design={design} />
                <b>{start.name}</b>
                <small>{start.note}</small>
              </button>
            </li>
          ))}
          <li>
            <button type="button" onClick={() => choose("code")}>
              <span className="code-picture">
                <IconCode size={40} stroke={1.4} />
              </span>
              <b>{t("Code")}</b>
              <small>{t("HTML that you write or paste")}</small>
            </button>
          </li>
          <li>
            <FileButton
              accept=".mjml,.xml,text/plain"
              onChange={(file) => file && reading.mutate(file)}
            >
              {(props) => (
                <button type="button" {...props}>
                  <span className="code-picture">
                    <IconFileImport size={40} stroke={1.4} />
                  </span>
                  <b>{t("MJML file")}</b>
                  <small>{t("An email of another editor")}</small>
                </button>
              )}
            </FileButton>
          </li>
        </ul>
      </div>
    </Modal>
  );
}

const codeContent = { name: t("New template"), subject: t("News"), html: starter };

type VisualStart = Pick<StartingDesign, "name" | "subject" | "create">;
type MjmlStart = VisualStart & Pick<ImportedDesign, "notes">;
type Start = VisualStart | "code";

/** Throws an error that people can read. */
async function readMjml(file: File): Promise<MjmlStart> {
  const { fromMjml, maxMjmlLength } = await import("./from-mjml.ts");
  // A character has at most four bytes.
  const { design, subject, notes } = fromMjml(await file.slice(0, 4 * maxMjmlLength + 4).text());
  const name = file.name.replace(/\.\w+$/, "").slice(0, 200) || t("New template");
  return { name, subject: subject || name, notes, create: () => design };
}

/** The design follows the brand from now on, and is in its language. */
const withBrand = ({ theme, ...design }: Design, { language }: Brand): Design => ({
  ...design,
  ...(language && { language }),
  theme: { ...theme, usesBrand: true },
});

async function visualContent({ name, subject, create }: VisualStart): Promise<StartContent> {
  const design = create();
  return { name, subject, html: await compileDesign(design, subject), designJson: design };
}
