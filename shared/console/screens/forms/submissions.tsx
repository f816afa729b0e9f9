import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import type { FormSubmission } from "pennymail";
import { usePagedRows } from "../../data/paged-rows.ts";
import { queries } from "../../data/queries.ts";
import { useMe } from "../../data/session.ts";
import { formatAgo, formatTime } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { FieldList } from "../../parts/field-list.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { type Column, RowTable } from "../../parts/row-table.tsx";
import { SidePanel } from "../../parts/side-panel.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { StoredPreview } from "./form-preview.tsx";

/** The people who filled in a form, and the evidence that they agreed. */
export function Submissions() {
  const { id } = useParams({ from: "/shell/forms/$id/submissions" });
  const { submission: openId } = useSearch({ from: "/shell/forms/$id/submissions" });
  const navigate = useNavigate({ from: "/forms/$id/submissions" });
  const { timezone } = useMe().organization;
  const { data: form } = useQuery(queries.form(id));
  const list = usePagedRows(queries.submissions(id), ({ submissions }) => submissions);
  const open = (submission?: { id: number }) =>
    navigate({ search: submission ? { submission: submission.id } : {} });
  const opened = list.rows.find((row) => row.id === openId);
  return (
    <div className={opened ? "split with-drawer" : "split"}>
      <div className="page list-page">
        <PageHead
          title={form ? t("Submissions of {name}", { name: form.name }) : t("Submissions")}
          note={
            <>
              <Link to="/forms">{t("Forms")}</Link> ·{" "}
              <Link to="/forms/$id" params={{ id }}>
                {t("Design")}
              </Link>
            </>
          }
        />
        <RowTable
          label={t("Submissions")}
          columns={columnsIn(timezone)}
          list={list}
          openId={openId}
          onOpen={open}
          empty={
            <EmptyState title={t("No submission yet")}>
              <p>{t("Each one appears here with the evidence of consent.")}</p>
            </EmptyState>
          }
        />
      </div>
      {opened && (
        <SidePanel label={t("Submission")} title={<h2>{opened.email}</h2>} onClose={() => open()}>
          <Evidence submission={opened} />
        </SidePanel>
      )}
    </div>
  );
}

const columnsIn = (timezone: string): Column<FormSubmission>[] => [
  { label: t("Email"), className: "c-main", render: ({ email }) => <b>{email}</b> },
  {
    label: t("Status"),
    className: "c-status",
    render: ({ status }) => <SubmissionStatus status={status} />,
  },
  {
    label: t("Submitted"),
    className: "c-when quiet",
    render: ({ createdAt }) => formatAgo(createdAt, timezone),
  },
];

function SubmissionStatus({ status }: Pick<FormSubmission, "status">) {
  return status === "accepted" ? (
    <StatusMark status="accepted" tone="good" />
  ) : (
    <StatusMark status={t("Not confirmed")} tone="warn" />
  );
}

function Evidence({ submission }: { submission: FormSubmission }) {
  const { formId, consent, fields, contactId, error, status } = submission;
  const { timezone } = useMe().organization;
  const timeOf = (time: string | null) => time && formatTime(time, timezone);
  const shown = useQuery(queries.form(formId, consent.formVersion));
  return (
    <>
      <p>
        <SubmissionStatus status={status} />{" "}
        {contactId !== null && (
          <Link to="/contacts" search={{ contact: contactId }}>
            {t("Show contact")}
          </Link>
        )}
      </p>
      {error && <p className="tone-bad">{error}</p>}
      <h3>{t("What was entered")}</h3>
      <FieldList fields={Object.entries(fields).map(([name, value]) => [name, String(value)])} />
      <h3>{t("Evidence of consent")}</h3>
      <FieldList
        fields={[
          [t("Submitted"), timeOf(consent.at)],
          [t("From IP"), consent.ip],
          [t("Browser"), consent.userAgent],
          [t("Page"), consent.page],
          [t("Confirmed"), timeOf(consent.confirmedAt)],
          [t("Confirmed from IP"), consent.confirmedIp],
          [t("Confirmed in the browser"), consent.confirmedUserAgent],
        ]}
      />
      <h3>{t("The form as it was shown")}</h3>
      <ErrorNote error={shown.error} />
      {shown.data ? (
        <StoredPreview name={shown.data.name} design={shown.data.designJson} />
      ) : (
        !shown.error && <Skeleton h={160} />
      )}
    </>
  );
}
