import { Button, Skeleton } from "@mantine/core";
import {
  IconClick,
  IconClock,
  IconMail,
  IconMailCheck,
  IconMailOpened,
  IconMailX,
  IconUserMinus,
} from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { EmailEvent, SendDetail, SentContent } from "pennymail";
import { type ReactNode, useState } from "react";
import { useProviderNames } from "../../data/provider-names.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useRight } from "../../data/session.ts";
import { formatAgo, formatTime } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { CopyAction } from "../../parts/copy-action.tsx";
import { EmailPreview } from "../../parts/email-preview.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { FieldList } from "../../parts/field-list.tsx";
import { SidePanel } from "../../parts/side-panel.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { CancelSend } from "./cancel-send.tsx";
import { OriginLink, useOriginNames } from "./origin.tsx";
import { ResolveSend } from "./resolve-send.tsx";

interface SendPanelProps {
  id: number;
  onClose(): void;
}

export function SendPanel({ id, onClose }: SendPanelProps) {
  const { data: send, error } = useQuery(queries.send(id));
  const title = send ? (
    <>
      <h2>{send.subject}</h2>
      <p>
        {send.toEmail}
        <CopyAction value={send.toEmail} label={t("Copy the address")} />
      </p>
    </>
  ) : (
    <Skeleton h={40} w={200} />
  );
  return (
    <SidePanel label={t("Email")} title={title} onClose={onClose}>
      <ErrorNote error={error} />
      {send && <Detail send={send} />}
    </SidePanel>
  );
}

/** The email as it was sent, read when somebody asks for it. */
function Content({ sendId }: { sendId: number }) {
  const [isShown, setShown] = useState(false);
  const { data, error } = useQuery({ ...queries.sentContent(sendId), enabled: isShown });
  if (!isShown)
    return (
      <Button variant="default" size="compact-sm" onClick={() => setShown(true)}>
        {t("Show the email")}
      </Button>
    );
  if (error) return <ErrorNote error={error} />;
  if (!data) return <Skeleton h={200} />;
  return (
    <>
      {data.html ? (
        <EmailPreview html={data.html} title={t("The email as it was sent")} />
      ) : (
        <pre className="plain-email">{data.text}</pre>
      )}
      <h3>{t("Headers")}</h3>
      <FieldList fields={headersOf(data)} />
    </>
  );
}

const headersOf = (content: SentContent): [string, string][] => {
  const { from, to, cc, bcc, replyTo, headers } = content;
  const lists: [string, string][] = [
    [t("From"), formatAddressee(from)],
    [t("To"), to.map(formatAddressee).join(", ")],
    [t("Cc"), cc.map(formatAddressee).join(", ")],
    [t("Bcc"), bcc.map(formatAddressee).join(", ")],
    ["Reply-To", replyTo.join(", ")],
    ...Object.entries(headers),
  ];
  return lists.filter(([, value]) => value);
};

const formatAddressee = ({ name, email }: SentContent["from"]): string =>
  name ? `${name} <${email}>` : email;

function Detail({ send }: { send: SendDetail }) {
  const { timezone } = useMe().organization;
  const mayRead = useRight("sending:content");
  const providerName = useProviderNames();
  const provider = send.provider && providerName(send.provider);
  const findName = useOriginNames([send]);
  const fields: [string, ReactNode][] = [
    [t("From"), send.fromName ? `${send.fromName} <${send.fromEmail}>` : send.fromEmail],
    [t("Provider"), provider],
    [t("Message id"), send.providerMessageId],
    [t("Belongs to"), <OriginLink key="origin" send={send} findName={findName} />],
    [t("Tags"), send.tags.join(", ")],
    [t("Accepted"), formatTime(send.createdAt, timezone)],
    ...(send.scheduledAt
      ? [[t("Scheduled for"), formatTime(send.scheduledAt, timezone)] satisfies [string, string]]
      : []),
    [t("Id"), String(send.id)],
  ];
  return (
    <>
      <p className="answer">
        <StatusMark status={send.status} />
        {send.error && <span>{send.error}</span>}
      </p>
      {send.status === "uncertain" && <ResolveSend send={send} />}
      <CancelSend send={send} />
      <Timeline send={{ ...send, provider }} timezone={timezone} />
      {mayRead && <Content sendId={send.id} />}
      <FieldList fields={fields} />
    </>
  );
}

interface Entry {
  at: string;
  text: string;
  detail?: string | undefined;
  icon: typeof IconMail;
  isBad?: boolean;
}

const events: Record<EmailEvent["type"], Pick<Entry, "text" | "icon" | "isBad">> = {
  delivered: { text: t("Delivered"), icon: IconMailCheck },
  open: { text: t("Opened"), icon: IconMailOpened },
  click: { text: t("Clicked"), icon: IconClick },
  bounce: { text: t("Bounced"), icon: IconMailX, isBad: true },
  spam_report: { text: t("Reported as spam"), icon: IconMailX, isBad: true },
  unsubscribe: { text: t("Unsubscribed"), icon: IconUserMinus },
  dropped: { text: t("Dropped by the provider"), icon: IconMailX, isBad: true },
  deferred: { text: t("Delayed by the recipient's server"), icon: IconClock },
};

const eventByCause: Record<NonNullable<EmailEvent["data"]["cause"]>, Partial<Entry>> = {
  message: { text: t("Refused because of its content, size or an attachment") },
  sender: { text: t("Refused because of its sender") },
  suppressed: { text: t("Not sent: on the suppression list of the provider") },
  auto_reply: { text: t("Answered by an automatic reply"), icon: IconMail },
};

function entriesOf({ createdAt, sentAt, provider, events: reported }: SendDetail): Entry[] {
  const accepted = { at: createdAt, text: t("Accepted"), icon: IconMail };
  const handedOver = sentAt && {
    at: sentAt,
    text: t("Handed to {provider}", { provider }),
    icon: IconMail,
  };
  const rest = reported.map(({ timestamp: at, type, data }) => ({
    at,
    ...events[type],
    ...(data.cause && eventByCause[data.cause]),
    detail: data.reason ?? data.url,
  }));
  return [accepted, ...(handedOver ? [handedOver] : []), ...rest].reverse();
}

function Timeline({ send, timezone }: { send: SendDetail; timezone: string }) {
  return (
    <ol className="timeline">
      {entriesOf(send).map(({ at, text, detail, icon: Icon, isBad }, i) => (
        <li key={`${at} ${i}`} className={isBad ? "bad" : ""}>
          <Icon size={16} stroke={1.7} aria-hidden />
          <div>
            <p>{text}</p>
            {detail && <small>{detail}</small>}
          </div>
          <time dateTime={at} title={formatTime(at, timezone)}>
            {formatAgo(at, timezone)}
          </time>
        </li>
      ))}
    </ol>
  );
}
