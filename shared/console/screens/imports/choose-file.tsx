import { Button, FileButton, Textarea } from "@mantine/core";
import { IconFileUpload } from "@tabler/icons-react";
import { type DragEvent, useState } from "react";
import { createImportFile, type ImportFile } from "../../data/imports.ts";
import { Card } from "../../parts/card.tsx";
import { useTextField } from "../../parts/text-field.ts";

const example = `data:text/csv;charset=utf-8,${encodeURIComponent(
  "Email,First name,Last name,Tags,Plan\nada@example.com,Ada,Lovelace,customer,Gold\n",
)}`;

/** A file is chosen, dropped or pasted. */
export function ChooseFile({ onChoose }: { onChoose(file: ImportFile): void }) {
  const pasted = useTextField();
  const [isOver, setOver] = useState(false);
  const choose = (file: File | null | undefined) => {
    if (file) onChoose(createImportFile(file.name, file));
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    choose(event.dataTransfer.files[0]);
  };
  return (
    <Card title="New import">
      <div className="columns even import-sources">
        <section
          className={isOver ? "drop-zone over" : "drop-zone"}
          aria-label="File"
          onDragOver={(event) => {
            event.preventDefault();
            setOver(true);
          }}
          onDragLeave={() => setOver(false)}
          onDrop={drop}
        >
          <IconFileUpload size={32} stroke={1.4} aria-hidden />
          <p>Drop a CSV file here</p>
          <FileButton accept=".csv,.tsv,.txt,text/csv,text/plain" onChange={choose}>
            {(props) => <Button {...props}>Choose a file</Button>}
          </FileButton>
          <p className="quiet">
            The first row names the columns, and one column has the email addresses.{" "}
            <a href={example} download="example.csv">
              Example file
            </a>
          </p>
        </section>
        <form
          className="stack"
          onSubmit={(event) => {
            event.preventDefault();
            onChoose(createImportFile("Pasted rows", new Blob([pasted.value])));
          }}
        >
          <Textarea
            label="Or paste rows"
            description="Copy them in your spreadsheet, with the row that names the columns."
            rows={6}
            className="code"
            {...pasted.input}
          />
          <Button type="submit" variant="default" disabled={!pasted.value.trim()}>
            Use these rows
          </Button>
        </form>
      </div>
    </Card>
  );
}
