import { Button, Skeleton } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import type { ContactField, ImportPreview, NamedRecord } from "pennymail";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { fieldQueries } from "../../data/field-queries.ts";
import { type ImportFile, toForm } from "../../data/imports.ts";
import { queries } from "../../data/queries.ts";
import { t } from "../../language/translate.ts";
import { Card } from "../../parts/card.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { Form } from "../../parts/form.tsx";
import {
  type ColumnDraft,
  findFault,
  isConsentField,
  newFieldsIn,
  toDrafts,
  toMapping,
  typesIn,
} from "./column-draft.ts";
import { ColumnMapping } from "./column-mapping.tsx";
import { ImportOptions, type OptionsDraft, startOptions, toRequest } from "./import-options.tsx";
import { RowPreview } from "./row-preview.tsx";
import { type FormatDraft, ValueFormat } from "./value-format.tsx";

interface ImportWizardProps {
  siteId: number;
  file: ImportFile;
  onStarted(importId: number): unknown;
  onCancel(): void;
}

/** Reads the file and what is known of the site. */
export function ImportWizard(props: ImportWizardProps) {
  const { siteId, file, onCancel } = props;
  const preview = useQuery(queries.importPreview(siteId, file, { mapping: {} }));
  // What was read before may miss the last import and the fields that it made.
  const fields = useQuery({ ...fieldQueries.list(siteId), staleTime: 0 });
  const topics = useQuery({ ...queries.names("topics", siteId), staleTime: 0 });
  const past = useQuery({ ...queries.latestImports(siteId), staleTime: 0 });
  const isFresh = [fields, topics, past].every(({ isFetchedAfterMount }) => isFetchedAfterMount);
  const error = preview.error ?? fields.error ?? topics.error ?? past.error;
  if (error)
    return (
      <Card title={file.name}>
        <div className="stack">
          <ErrorNote error={error} />
          <div className="buttons">
            <Button variant="default" onClick={onCancel}>
              {t("Choose another file")}
            </Button>
          </div>
        </div>
      </Card>
    );
  if (!isFresh || !preview.data || !fields.data || !topics.data || !past.data)
    return <Skeleton h={400} />;
  const headers = preview.data.columns.map(({ header }) => header);
  const earlier = past.data.find(({ mapping }) => hasColumns(mapping, headers));
  const first = preview.data.columns.map((column) => ({
    ...column,
    ...fieldOfEarlierImport(column, earlier?.mapping ?? null),
  }));
  return (
    <Steps
      {...props}
      first={preview.data}
      suggested={toDrafts(first, fields.data.fields)}
      fields={fields.data.fields}
      topics={topics.data}
    />
  );
}

/** Columns about consent are recognized or asked about again, so no mistake is repeated. */
function fieldOfEarlierImport(
  { header, field, question }: ImportPreview["columns"][number],
  mapping: Record<string, string> | null,
): { field: string } {
  const isAboutConsent = question !== null || isConsentField(field);
  return { field: (isAboutConsent ? undefined : mapping?.[header]) ?? field };
}

/** Whether an earlier file had the same columns. */
const hasColumns = (mapping: Record<string, string> | null, headers: string[]): boolean =>
  mapping !== null &&
  Object.keys(mapping).length === headers.length &&
  headers.every((header) => Object.hasOwn(mapping, header));

interface StepsProps extends ImportWizardProps {
  first: ImportPreview;
  suggested: ColumnDraft[];
  fields: ContactField[];
  topics: NamedRecord[];
}

const typingPause = 400;

/** First the columns, then what to do with the contacts. */
function Steps(props: StepsProps) {
  const { siteId, file, first, suggested, fields, topics, onStarted, onCancel } = props;
  const [step, setStep] = useState<keyof typeof stepNames>("columns");
  const [columns, setColumns] = useState(suggested);
  const [options, setOptions] = useState<OptionsDraft>(startOptions);
  const [format, setFormat] = useState<FormatDraft>({});
  const fault = findFault(columns);
  const [mapping] = useDebouncedValue(toMapping(columns), typingPause);
  const { data: preview = first, error } = useQuery({
    ...queries.importPreview(siteId, file, { mapping, ...format }),
    enabled: fault === undefined,
  });
  const starting = useChange({
    run: async () => {
      for (const { name, type } of newFieldsIn(columns))
        await api.contactFields.update(name, { siteId, label: name, type });
      const request = { siteId, mapping: toMapping(columns), ...format, ...toRequest(options) };
      return api.imports.create(toForm(file, request));
    },
    refreshes: ["imports", "contactFields", "tags", "jobs"],
    onDone: ({ id }) => onStarted(id),
  });
  const wrong = fault ?? preview.error ?? undefined;
  if (step === "contacts")
    return (
      <Step key={step} current={step}>
        <Card title={t("What to do with the contacts")} state={stateOf(file, preview)}>
          <Form
            className="stack import-options"
            action={
              preview.total === null
                ? t("Import contacts")
                : t("Import {count, plural, one {# row} other {# rows}}", {
                    count: preview.total,
                  })
            }
            submission={starting}
            buttons={
              <Button variant="default" onClick={() => setStep("columns")}>
                {t("Back to the columns")}
              </Button>
            }
          >
            <ImportOptions siteId={siteId} options={options} onChange={setOptions} />
          </Form>
        </Card>
      </Step>
    );
  return (
    <Step key={step} current={step}>
      <Card title={t("Columns")} state={stateOf(file, preview)}>
        <ColumnMapping columns={columns} fields={fields} topics={topics} onChange={setColumns} />
      </Card>
      <Card title={t("Preview")}>
        <ValueFormat
          preview={preview}
          types={typesIn(columns, fields)}
          format={format}
          onChange={setFormat}
        />
        {wrong === undefined ? (
          <RowPreview preview={preview} columns={columns} fields={fields} />
        ) : (
          <p className="tone-bad" role="alert">
            {wrong}
          </p>
        )}
        <ErrorNote error={error} />
      </Card>
      <div className="buttons">
        <Button variant="default" onClick={onCancel}>
          {t("Choose another file")}
        </Button>
        <Button disabled={wrong !== undefined} onClick={() => setStep("contacts")}>
          {t("Continue")}
        </Button>
      </div>
    </Step>
  );
}

const stepNames = { columns: t("Columns"), contacts: t("Contacts") };

interface StepProps {
  current: keyof typeof stepNames;
  children: ReactNode;
}

/** The focus goes to the beginning of a step, because the button that led to it is gone. */
function Step({ current, children }: StepProps) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    box.current?.focus({ preventScroll: true });
    box.current?.scrollIntoView();
  }, []);
  return (
    <div ref={box} className="import-step" tabIndex={-1}>
      <ol className="steps" aria-label={t("Steps")}>
        <li>{t("File")}</li>
        {Object.entries(stepNames).map(([step, name]) => (
          <li key={step} aria-current={step === current ? "step" : undefined}>
            {name}
          </li>
        ))}
      </ol>
      {children}
    </div>
  );
}

const stateOf = ({ name }: ImportFile, { total }: ImportPreview): string =>
  total === null
    ? name
    : `${name}, ${t("{count, plural, one {# row} other {# rows}}", { count: total })}`;
