import { Modal, Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { InboundEmail } from "pennymail";
import { useState } from "react";
import { usePagedRows } from "../../data/paged-rows.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useRights, useSite } from "../../data/session.ts";
import { formatAgo } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { type Column, RowTable } from "../../parts/row-table.tsx";
import { LogTabs } from "./log-tabs.tsx";

const kindTexts: Record<InboundEmail["kind"], string> = {
  reply: t("Reply"),
  auto_reply: t("Answer of a machine"),
  report: t("Report about a domain"),
  unsubscribe: t("Unsubscribed by email"),
  bounce: t("Bounce report"),
  complaint: t("Complaint report"),
  other: t("Other email"),
};

/** Email that people and mail servers sent to the site, newest first. */
export function InboundEmails() {
  const { site } = useSite();
  const { timezone } = useMe().organization;
  const mayRead = useRights()("sending:content");
  const [opened, setOpened] = useState<InboundEmail>();
  const list = usePagedRows(
    queries.inboundEmails(site ? { siteId: site.id } : {}),
    ({ inboundEmails }) => inboundEmails,
  );
  return (
    <div className="page list-page">
      <PageHead title={t("Log")} note={t("Replies and other email that your sites received")} />
      <LogTabs />
      <RowTable
        label={t("Received emails")}
        columns={columnsIn(timezone)}
        list={list}
        onOpen={(mail) => mayRead && setOpened(mail)}
        empty={
          <EmptyState title={t("No email received yet")}>
            <p>
              <Link to="/settings/{-$section}" params={{ section: "inbound" }}>
                {t("Set up how your sites receive email")}
              </Link>
            </p>
          </EmptyState>
        }
      />
      {opened && <ReceivedEmail mail={opened} onClose={() => setOpened(undefined)} />}
    </div>
  );
}

const columnsIn = (timezone: string): Column<InboundEmail>[] => [
  {
    label: t("Sender"),
    className: "c-main",
    render: ({ fromEmail, fromName, subject }) => (
      <span className="who">
        <b>{fromName ?? fromEmail}</b>
        <span>{subject}</span>
      </span>
    ),
  },
  { label: t("Kind"), className: "c-status", render: ({ kind }) => kindTexts[kind] },
  { label: t("Provider"), className: "c-tags quiet", render: ({ provider }) => provider },
  {
    label: t("When"),
    className: "c-when quiet",
    render: ({ receivedAt }) => formatAgo(receivedAt, timezone),
  },
];

/** The text alone: the HTML of strangers is not shown. */
function ReceivedEmail({ mail, onClose }: { mail: InboundEmail; onClose(): void }) {
  const { data, error } = useQuery(queries.inboundEmail(mail.id));
  return (
    <Modal opened onClose={onClose} title={mail.subject || t("(no subject)")} size="lg">
      <p>
        {mail.contactId ? (
          <Link to="/contacts" search={{ contact: mail.contactId }}>
            {mail.fromEmail}
          </Link>
        ) : (
          mail.fromEmail
        )}
      </p>
      <ErrorNote error={error} />
      {!data && !error && <Skeleton h={160} />}
      {data && (
        <>
          <pre style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
            {data.text ?? t("This email has no plain text")}
          </pre>
          <ul>
            {data.attachments.map(({ filename, url }) => (
              <li key={url}>
                <a href={url}>{filename}</a>
              </li>
            ))}
          </ul>
        </>
      )}
    </Modal>
  );
}
