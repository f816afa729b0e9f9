import { Button, FileButton, Textarea } from "@mantine/core";
import { IconFileUpload } from "@tabler/icons-react";
import { type DragEvent, useState } from "react";
import { createImportFile, type ImportFile } from "../../data/imports.ts";
import { t } from "../../language/translate.ts";
import { tNodes } from "../../language/translate-nodes.ts";
import { Card } from "../../parts/card.tsx";
import { useTextField } from "../../parts/text-field.ts";

const example = `data:text/csv;charset=utf-8,${encodeURIComponent(
  t("Email,First name,Last name,Tags,Plan\nada@example.com,Ada,Lovelace,customer,Gold\n"),
)}`;

/** First bytes of .xlsx files, which are zip files, and of .xls files. */
const spreadsheetStarts = ["504b0304", "d0cf11e0"];

async function findFileProblem(file: File): Promise<string | undefined> {
  if (file.size === 0) return t("The file is empty.");
  const start = new Uint8Array(await file.slice(0, 4).arrayBuffer());
  const digits = [...start].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  if (!spreadsheetStarts.includes(digits)) return undefined;
  return t("This is an Excel file. Save it as CSV, or copy its cells and paste them here.");
}

/** A file is chosen, dropped or pasted. */
export function ChooseFile({ onChoose }: { onChoose(file: ImportFile): void }) {
  const pasted = useTextField();
  const [isOver, setOver] = useState(false);
  const [problem, setProblem] = useState("");
  const choose = async (file: File | null | undefined) => {
    if (!file) return;
    const found = await findFileProblem(file);
    setProblem(found ?? "");
    if (!found) onChoose(createImportFile(file.name, file));
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    choose(event.dataTransfer.files[0]);
  };
  return (
    <Card title={t("New import")}>
      <div className="columns even import-sources">
        <section
          className={isOver ? "drop-zone over" : "drop-zone"}
          aria-label={t("File")}
          onDragOver={(event) => {
            event.preventDefault();
            setOver(true);
          }}
          onDragLeave={() => setOver(false)}
          onDrop={drop}
        >
          <IconFileUpload size={32} stroke={1.4} aria-hidden />
          <p>{t("Drop a CSV file here")}</p>
          <FileButton accept=".csv,.tsv,.txt,text/csv,text/plain" onChange={choose}>
            {(props) => <Button {...props}>{t("Choose a file")}</Button>}
          </FileButton>
          {problem && (
            <p className="tone-bad" role="alert">
              {problem}
            </p>
          )}
          <p className="quiet">
            {tNodes(
              "The first row names the columns, and one column has the email " +
                "addresses. <a>Example file</a>",
              {
                a: (text) => (
                  <a href={example} download="example.csv">
                    {text}
                  </a>
                ),
              },
            )}
          </p>
        </section>
        <form
          className="stack"
          onSubmit={(event) => {
            event.preventDefault();
            onChoose(createImportFile(t("Pasted rows"), new Blob([pasted.value])));
          }}
        >
          <Textarea
            label={t("Or paste rows")}
            description={t("Copy them in your spreadsheet, with the row that names the columns.")}
            rows={6}
            className="code"
            {...pasted.input}
          />
          <Button type="submit" variant="default" disabled={!pasted.value.trim()}>
            {t("Use these rows")}
          </Button>
        </form>
      </div>
    </Card>
  );
}
