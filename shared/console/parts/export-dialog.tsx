import { Button, Checkbox, Modal, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { CreateExportRequest, Export } from "pennymail";
import { useState } from "react";
import { useChange } from "../data/changes.ts";
import { api } from "../data/client.ts";
import { useShownJob } from "../data/jobs.ts";
import { queries } from "../data/queries.ts";
import { t } from "../language/translate.ts";
import { ErrorNote } from "./error-note.tsx";
import { Form } from "./form.tsx";

type Format = Export["format"];

const formats: { value: Format; label: string }[] = [
  { value: "csv", label: t("CSV, for spreadsheets") },
  { value: "json", label: t("JSON, for programs") },
];

interface ExportDialogProps {
  title: string;
  /** What goes into the file, without its format. */
  request: CreateExportRequest;
  opened: boolean;
  onClose(): void;
  /** What the file will contain, as a sentence. */
  children: string;
}

/** Writes rows to a file. The service does it as a job, however many there are. */
export function ExportDialog({ title, request, opened, onClose, children }: ExportDialogProps) {
  const [format, setFormat] = useState<Format>("csv");
  const [isForExcel, setForExcel] = useState(false);
  const starting = useChange({
    run: () => api.exports.create({ ...request, format, bom: format === "csv" && isForExcel }),
    refreshes: ["exports", "jobs"],
  });
  const close = () => {
    starting.reset();
    onClose();
  };
  return (
    <Modal opened={opened} onClose={close} title={title} lockScroll={false}>
      {starting.data ? (
        <ExportProgress id={starting.data.id} />
      ) : (
        <Form action={t("Export")} submission={starting}>
          <p>{children}</p>
          <Select
            label={t("Format")}
            data={formats}
            allowDeselect={false}
            value={format}
            onChange={(value) => setFormat(value as Format)}
          />
          {format === "csv" && (
            <Checkbox
              label={t("For Excel")}
              description={t("Excel then shows letters such as é and ß correctly.")}
              checked={isForExcel}
              onChange={(event) => setForExcel(event.currentTarget.checked)}
            />
          )}
        </Form>
      )}
    </Modal>
  );
}

function ExportProgress({ id }: { id: number }) {
  const { data, error } = useQuery(queries.export(id));
  useShownJob("export", id);
  if (!data) return <ErrorNote error={error} />;
  const { status, progress, rows, downloadUrl } = data;
  return (
    <div className="stack" role="status">
      {status === "failed" && <p className="tone-bad">{data.error}</p>}
      {downloadUrl && (
        <>
          <p>
            {t("The file has {count, plural, one {# row} other {# rows}}. It is kept for 7 days.", {
              count: rows ?? 0,
            })}
          </p>
          <Button component="a" href={downloadUrl} download>
            {t("Download file")}
          </Button>
        </>
      )}
      {status !== "failed" && !downloadUrl && (
        <>
          <p>{t("The file is being written.")}</p>
          <progress
            className="wide-progress"
            max={100}
            value={progress}
            aria-label={t("Progress")}
          />
        </>
      )}
    </div>
  );
}
