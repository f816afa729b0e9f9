import { Button, FileInput, Modal, Textarea } from "@mantine/core";
import type { ImportSuppressionsResult } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { t } from "../../language/translate.ts";
import { CountList } from "../../parts/field-list.tsx";
import { Form } from "../../parts/form.tsx";
import { type PlainColumn, PlainTable } from "../../parts/plain-table.tsx";
import { useTextField } from "../../parts/text-field.ts";

interface ImportSuppressionsProps {
  opened: boolean;
  onClose(): void;
}

/** Takes a file, or addresses that are pasted. */
export function ImportSuppressions({ opened, onClose }: ImportSuppressionsProps) {
  const [file, setFile] = useState<File | null>(null);
  const addresses = useTextField();
  const importing = useChange({
    run: () => {
      const csv = file ?? `email\n${addresses.value}`;
      return api.suppressions.import(new Blob([csv], { type: "text/csv" }));
    },
    refreshes: ["suppressions", "contacts"],
  });
  const close = () => {
    setFile(null);
    addresses.set("");
    importing.reset();
    onClose();
  };
  return (
    <Modal opened={opened} onClose={close} title={t("Import suppressions")} lockScroll={false}>
      {importing.data ? (
        <Result result={importing.data} onClose={close} />
      ) : (
        <Form
          action={t("Suppress addresses")}
          submission={importing}
          isDisabled={!file && !addresses.value.trim()}
        >
          <FileInput
            label={t("CSV file")}
            description={t(
              "One column must be named email. Columns reason and detail are read, too.",
            )}
            placeholder={t("Choose a file")}
            accept=".csv,.txt,text/csv"
            clearable
            value={file}
            onChange={setFile}
          />
          <Textarea
            label={t("Or paste addresses, one per line")}
            autosize
            minRows={4}
            maxRows={10}
            disabled={file !== null}
            {...addresses.input}
          />
          <p className="quiet">
            {t(
              "Up to 10,000 at once. No email goes to these addresses any more, from " +
                "any site.",
            )}
          </p>
        </Form>
      )}
    </Modal>
  );
}

const errorColumns: PlainColumn<ImportSuppressionsResult["errors"][number]>[] = [
  { label: t("Line"), render: ({ row }) => row },
  { label: t("Reason"), render: ({ message }) => message },
];

interface ResultProps {
  result: ImportSuppressionsResult;
  onClose(): void;
}

function Result({ result: { imported, skipped, failed, errors }, onClose }: ResultProps) {
  return (
    <div className="stack" role="status">
      <CountList
        counts={[
          [t("Added"), imported],
          [t("Known already or repeated"), skipped],
          [t("Not valid"), failed],
        ]}
      />
      {errors.length > 0 && (
        <PlainTable
          label={t("Lines that are not valid")}
          columns={errorColumns}
          rows={errors}
          keyOf={({ row }) => row}
        />
      )}
      <Button onClick={onClose}>{t("Done")}</Button>
    </div>
  );
}
