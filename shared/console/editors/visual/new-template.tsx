import { Modal } from "@mantine/core";
import { IconCode } from "@tabler/icons-react";
import { useMemo } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { DesignPicture } from "./block-view.tsx";
import { compileDesign } from "./compile-design.ts";
import { type StartingDesign, startingDesigns } from "./starting-designs.ts";

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

interface NewTemplateProps {
  siteId: number;
  folderId: number | null;
  onClose(): void;
  onCreated(id: number): unknown;
}

/** Asks how a new template begins: with a design, or with code. */
export function NewTemplate({ siteId, folderId, onClose, onCreated }: NewTemplateProps) {
  const creating = useChange({
    run: async (start: StartingDesign | "code") => {
      const content = start === "code" ? codeContent : await visualContent(start);
      return api.templates.create({ siteId, folderId, ...content });
    },
    refreshes: ["templates"],
    onDone: ({ id }) => onCreated(id),
  });
  const choose = (start: StartingDesign | "code") => {
    if (!creating.isPending) creating.mutate(start);
  };
  const starts = useMemo(
    () => startingDesigns.map((start) => ({ start, design: start.create() })),
    [],
  );
  return (
    <Modal opened onClose={onClose} title="New template" size={920} lockScroll={false}>
      <div className="stack">
        <p>
          Begin with a design and change it as it looks, or write the HTML yourself. A design can be
          turned into code later, but not the other way round.
        </p>
        <ErrorNote error={creating.error} />
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
              <b>Code</b>
              <small>HTML that you write or paste</small>
            </button>
          </li>
        </ul>
      </div>
    </Modal>
  );
}

const codeContent = { name: "New template", subject: "News", html: starter };

async function visualContent({ name, subject, create }: StartingDesign) {
  const design = create();
  return { name, subject, html: await compileDesign(design, subject), designJson: design };
}
