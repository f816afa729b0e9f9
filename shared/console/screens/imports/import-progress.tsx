import { Button, Skeleton } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import type { Import } from "pennymail";
import { useEffect } from "react";
import { fieldQueries } from "../../data/field-queries.ts";
import { isRunning } from "../../data/imports.ts";
import { useShownJob } from "../../data/jobs.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useRight } from "../../data/session.ts";
import { formatNumber, formatTime } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { Card } from "../../parts/card.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { rowErrorText } from "../../parts/error-texts.ts";
import { CountList, FieldList } from "../../parts/field-list.tsx";
import { type PlainColumn, PlainTable } from "../../parts/plain-table.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { ignored } from "./column-draft.ts";
import { labelOfField } from "./import-fields.ts";
import { counts, toneOf } from "./import-status.ts";

/** How far the import is, and its result. The service works on it, so the page can be left. */
export function ImportProgress({ id }: { id: number }) {
  const { data, error } = useQuery(queries.import(id));
  useShownJob("import", id);
  const queryClient = useQueryClient();
  const isOver = data !== undefined && !isRunning(data);
  useEffect(() => {
    if (isOver)
      for (const group of ["imports", "contacts", "tags", "lists", "contactFields"])
        void queryClient.invalidateQueries({ queryKey: [group] });
  }, [isOver, queryClient]);
  if (!data) return error ? <ErrorNote error={error} /> : <Skeleton h={240} />;
  return (
    <div className="stack">
      <Card title={data.filename ?? t("Import")}>
        <div className="stack">
          <p role="status">
            <StatusMark status={data.status} tone={toneOf(data)} /> {summaryOf(data)}
          </p>
          {!isOver && (
            <>
              <progress
                className="wide-progress"
                max={100}
                value={data.progress}
                aria-label={t("Imported rows in per cent")}
              />
              <p className="quiet">{t("You can leave this page: the import goes on.")}</p>
            </>
          )}
          {data.error && <p className="tone-bad">{data.error}</p>}
          <CountList counts={counts.map(({ label, of }) => [label, of(data)])} className="narrow" />
          {isOver && (
            <div className="buttons">
              <ShowContacts data={data} />
              <Button component={Link} to="/contacts/import" variant="default">
                {t("Import another file")}
              </Button>
            </div>
          )}
        </div>
      </Card>
      {data.failed > 0 && <RefusedRows data={data} />}
      <Choices data={data} />
    </div>
  );
}

function summaryOf({ status, processed, total }: Import): string {
  if (status === "completed")
    return t("{count, plural, one {# row} other {# rows}} read", { count: processed });
  if (total === null) return status === "failed" ? "" : t("Reading the file");
  return t("{processed} of {total, plural, one {# row} other {# rows}}", {
    processed: formatNumber(processed),
    total,
  });
}

/** Leads to the contacts of the import if a tag or a list tells them apart. */
function ShowContacts({ data: { siteId, tags, lists } }: { data: Import }) {
  const [tagName] = tags;
  const known = useQuery({
    ...queries.names("tags", siteId),
    enabled: tagName !== undefined,
  }).data;
  const tag = known?.find(({ name }) => name.toLowerCase() === tagName?.toLowerCase())?.id;
  const [list] = lists;
  const isFiltered = tag !== undefined || list !== undefined;
  const navigate = useNavigate();
  return (
    <Button
      onClick={() => navigate({ to: "/contacts", search: tag === undefined ? { list } : { tag } })}
    >
      {isFiltered ? t("Show them") : t("Show all contacts")}
    </Button>
  );
}

const shownErrors = 20;
/** The API returns so many rows at a time. */
const downloadedErrors = 10_000;

const errorColumns: PlainColumn<Import["errors"][number]>[] = [
  { label: t("Row"), render: ({ row }) => row },
  { label: t("Email"), breaks: true, render: ({ email }) => email || "–" },
  { label: t("Reason"), render: ({ message }) => rowErrorText(message) },
];

function RefusedRows({ data: { id, failed, errors } }: { data: Import }) {
  const isMore = failed > downloadedErrors;
  const mayExport = useRight("audience:export");
  return (
    <Card title={t("Refused rows")} state={formatNumber(failed)}>
      <div className="stack">
        <PlainTable
          label={t("Refused rows")}
          columns={errorColumns}
          rows={errors.slice(0, shownErrors)}
          keyOf={({ row }) => row}
        />
        {mayExport && (
          <div className="buttons">
            <Button
              component="a"
              variant="default"
              href={`/api/v1/imports/${id}/errors`}
              download={`import-${id}-errors.csv`}
            >
              {isMore
                ? t("Download the first {downloadedErrors}", {
                    downloadedErrors: formatNumber(downloadedErrors),
                  })
                : t("Download all of them")}
            </Button>
          </div>
        )}
      </div>
    </Card>
  );
}

const modeWords: Record<Import["mode"], string> = {
  upsert: t("New contacts were added, known ones changed"),
  create: t("Only new contacts were added"),
  update: t("Only known contacts were changed"),
};

/** What was chosen for the import. */
function Choices({ data }: { data: Import }) {
  const { timezone } = useMe().organization;
  const lists = useQuery({
    ...queries.names("lists", data.siteId),
    enabled: data.lists.length > 0,
  }).data;
  const listNames = data.lists.map((id) => lists?.find((list) => list.id === id)?.name ?? id);
  const fields = useQuery(fieldQueries.list(data.siteId)).data?.fields ?? [];
  const columns = Object.entries(data.mapping ?? {});
  const taken = columns.filter(([, field]) => field !== ignored);
  const leftOut = columns.filter(([, field]) => field === ignored);
  return (
    <Card title={t("What was chosen")}>
      <FieldList
        fields={[
          [t("Started"), formatTime(data.createdAt, timezone)],
          [t("Contacts"), modeWords[data.mode]],
          [t("Tags"), data.tags.join(", ")],
          [t("Lists"), listNames.join(", ")],
          [
            t("Columns"),
            taken.map(([header, field]) => `${header} → ${labelOfField(field, fields)}`).join(", "),
          ],
          [t("Left out"), leftOut.map(([header]) => header).join(", ")],
        ]}
      />
    </Card>
  );
}
