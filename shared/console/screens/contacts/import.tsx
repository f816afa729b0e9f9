import { Button, FileInput, MultiSelect, Select, Skeleton } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import type { Import } from "pennymail";
import { type DragEvent, useEffect, useState } from "react";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { useSite } from "../../data/session.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { CountList } from "../../parts/field-list.tsx";
import { recordOptions } from "../../parts/filters.tsx";
import { Form } from "../../parts/form.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { type PlainColumn, PlainTable } from "../../parts/plain-table.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";

/** The import is part of the address, so it is found again after the page was left. */
export function ImportContacts() {
  const { id } = useSearch({ from: "/shell/contacts/import" });
  return (
    <div className="page">
      <PageHead
        title="Import contacts"
        note={
          <>
            <Link to="/contacts">Contacts</Link> · CSV with a header row
          </>
        }
      />
      {id === undefined ? <ImportForm /> : <Progress id={id} />}
    </div>
  );
}

type Mode = Import["mode"];

const modes: { value: Mode; label: string }[] = [
  { value: "upsert", label: "Add new contacts and update known ones" },
  { value: "create", label: "Only add new contacts" },
  { value: "update", label: "Only update known contacts" },
];

function ImportForm() {
  const { site } = useSite();
  const navigate = useNavigate({ from: "/contacts/import" });
  const [file, setFile] = useState<File | null>(null);
  const [mode, setMode] = useState<Mode>("upsert");
  const [listIds, setListIds] = useState<string[]>([]);
  const lists = useQuery({ ...queries.lists(site?.id ?? 0), enabled: Boolean(site) }).data?.lists;
  const starting = useMutation({
    mutationFn: async () => {
      // The button is disabled before.
      if (!file || !site) return;
      const { id } = await api.imports.create(new Blob([file], { type: "text/csv" }), {
        siteId: site.id,
        mode,
        filename: file.name,
        ...(listIds.length > 0 && { lists: listIds.join(",") }),
      });
      await navigate({ search: { id } });
    },
  });
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setFile(event.dataTransfer.files[0] ?? null);
  };
  return (
    <section
      className="card narrow drop-zone"
      aria-label="Import"
      onDragOver={(event) => event.preventDefault()}
      onDrop={drop}
    >
      <Form action="Import contacts" submission={starting} isDisabled={!file || !site}>
        <FileInput
          label="File"
          description="Choose a file, or drop it here. One column must be named email."
          placeholder="Choose a file"
          accept=".csv,.tsv,.txt,text/csv"
          required
          clearable
          value={file}
          onChange={setFile}
        />
        <Select
          label="What to do"
          data={modes}
          allowDeselect={false}
          value={mode}
          onChange={(value) => setMode(value as Mode)}
        />
        <MultiSelect
          label="Add everybody to lists (optional)"
          searchable
          data={recordOptions(lists)}
          value={listIds}
          onChange={setListIds}
        />
        <p className="quiet">
          Contacts who unsubscribed stay unsubscribed. Import only people who agreed to get your
          email.
        </p>
      </Form>
    </section>
  );
}

function Progress({ id }: { id: number }) {
  const { data, error } = useQuery(queries.import(id));
  const queryClient = useQueryClient();
  const isDone = data?.status === "completed" || data?.status === "failed";
  useEffect(() => {
    if (isDone) void queryClient.invalidateQueries({ queryKey: ["contacts"] });
  }, [isDone, queryClient]);
  if (!data) return error ? <ErrorNote error={error} /> : <Skeleton h={200} />;
  return (
    <section className="card stack" aria-label="Import">
      <p role="status">
        <StatusMark status={data.status} tone={toneOf(data.status)} /> {data.filename}
      </p>
      {!isDone && (
        <progress
          className="wide-progress"
          max={100}
          value={data.progress}
          aria-label="Imported rows in per cent"
        />
      )}
      {data.error && <p className="tone-bad">{data.error}</p>}
      <Counts counts={data} />
      {data.failed > 0 && <RowErrors data={data} />}
      {isDone ? (
        <div className="buttons">
          <Button component={Link} to="/contacts">
            Show contacts
          </Button>
          <Button component={Link} to="/contacts/import" variant="default">
            Import another file
          </Button>
        </div>
      ) : (
        <p className="quiet">You can leave this page: the import goes on.</p>
      )}
    </section>
  );
}

function toneOf(status: Import["status"]) {
  if (status === "completed") return "good";
  return status === "failed" ? "bad" : "info";
}

function Counts({ counts: { created, updated, skipped, failed } }: { counts: Import }) {
  const rows: [string, number][] = [
    ["Created", created],
    ["Updated", updated],
    ["Skipped", skipped],
    ["Not valid", failed],
  ];
  return <CountList counts={rows} className="narrow" />;
}

const errorColumns: PlainColumn<Import["errors"][number]>[] = [
  { label: "Row", render: ({ row }) => row },
  { label: "Email", render: ({ email }) => email },
  { label: "Reason", render: ({ message }) => message },
];

function RowErrors({ data: { id, errors } }: { data: Import }) {
  return (
    <>
      <h2>Rows that are not valid</h2>
      <PlainTable
        label="Rows that are not valid"
        columns={errorColumns}
        rows={errors}
        keyOf={({ row }) => row}
      />
      <p>
        <a href={`/api/v1/imports/${id}/errors`} download>
          Download all of them
        </a>
      </p>
    </>
  );
}
