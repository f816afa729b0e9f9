import { Button } from "@mantine/core";
import { IconLock } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import type { SecureMessage } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { usePagedRows } from "../../data/paged-rows.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useRight, useSite } from "../../data/session.ts";
import { formatAgo, formatTime } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { RowMenu } from "../../parts/row-menu.tsx";
import { type Column, RowTable } from "../../parts/row-table.tsx";
import { useShortcuts } from "../../parts/shortcuts.ts";
import { StatusMark } from "../../parts/status-mark.tsx";
import { LogTabs } from "./log-tabs.tsx";
import { recipientColumn } from "./recipient-column.tsx";
import { SendSecureMessage } from "./send-secure-message.tsx";

/** Messages that only a page shows, and what became of them. */
export function SecureMessages() {
  const { site } = useSite();
  const { timezone } = useMe().organization;
  const navigate = useNavigate();
  const mayWrite = useRight("sending:write");
  const [isWriting, setWriting] = useState(false);
  const [revoked, setRevoked] = useState<SecureMessage>();
  const list = usePagedRows(
    queries.secureMessages(site ? { siteId: site.id } : {}),
    ({ secureMessages }) => secureMessages,
  );
  const write = () => setWriting(mayWrite && site !== undefined);
  useShortcuts([{ keys: ["c"], label: t("Write a secure message"), run: write }]);
  const newMessage = mayWrite && site && (
    <Button leftSection={<IconLock size={16} />} onClick={write}>
      {t("Secure message")}
    </Button>
  );
  const columns = columnsIn(timezone);
  return (
    <div className="page list-page">
      <PageHead
        title={t("Log")}
        note={t("Encrypted messages, which a page shows until they expire")}
      >
        {newMessage}
      </PageHead>
      <LogTabs />
      <RowTable
        label={t("Secure messages")}
        columns={mayWrite ? [...columns, actionsColumn(setRevoked)] : columns}
        list={list}
        onOpen={({ sendId }) => navigate({ to: "/log", search: { send: sendId } })}
        empty={
          <EmptyState title={t("No secure message yet")}>
            <p>
              {t(
                "Its recipient gets a link to a page that shows it. You see here if it was opened.",
              )}
            </p>
          </EmptyState>
        }
      />
      {site && (
        <SendSecureMessage siteId={site.id} opened={isWriting} onClose={() => setWriting(false)} />
      )}
      <RevokeDialog message={revoked} onClose={() => setRevoked(undefined)} />
    </div>
  );
}

/** Whether somebody has read it, while it can be read. */
const stateOf = ({ status, viewCount }: SecureMessage): string => {
  if (status !== "active") return status;
  return viewCount > 0 ? "opened" : "not_opened";
};

const columnsIn = (timezone: string): Column<SecureMessage>[] => [
  recipientColumn,
  {
    label: t("Status"),
    className: "c-status",
    render: (message) => <StatusMark status={stateOf(message)} />,
  },
  {
    label: t("Last opened"),
    className: "c-when quiet",
    render: ({ lastViewedAt }) => (lastViewedAt ? formatAgo(lastViewedAt, timezone) : t("Never")),
  },
  {
    label: t("Readable until"),
    className: "c-tags quiet",
    render: ({ status, expiresAt }) =>
      status === "active" ? formatTime(expiresAt, timezone) : "–",
  },
];

const actionsColumn = (onRevoke: (message: SecureMessage) => void): Column<SecureMessage> => ({
  label: t("Actions"),
  className: "c-menu num",
  isAction: true,
  render: (message) => (
    <RowMenu
      name={message.toEmail}
      actions={
        message.status === "active"
          ? [{ label: t("Revoke"), isDangerous: true, run: () => onRevoke(message) }]
          : []
      }
    />
  ),
});

interface RevokeDialogProps {
  message: SecureMessage | undefined;
  onClose(): void;
}

function RevokeDialog({ message, onClose }: RevokeDialogProps) {
  const revoking = useChange({
    run: ({ id }: SecureMessage) => api.secureMessages.revoke(id),
    refreshes: ["secure-messages"],
    onDone: onClose,
  });
  return (
    <ConfirmDialog
      title={t("Revoke the message to {toEmail}", { toEmail: message?.toEmail ?? "" })}
      action={t("Revoke message")}
      isDangerous
      target={message}
      change={revoking}
      onClose={() => {
        revoking.reset();
        onClose();
      }}
    >
      {t("Its content is deleted, and its link shows nothing any more. This cannot be undone.")}
    </ConfirmDialog>
  );
}
