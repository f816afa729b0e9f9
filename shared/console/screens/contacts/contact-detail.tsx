import { Button, Skeleton, Tabs } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Contact } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { useMe, useRight } from "../../data/session.ts";
import { formatAgo, formatNumber, formatTime } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { CopyAction } from "../../parts/copy-action.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { SidePanel } from "../../parts/side-panel.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { ContactActions } from "./contact-actions.tsx";
import { ContactConsent } from "./contact-consent.tsx";
import { ContactFields } from "./contact-fields.tsx";
import { ContactMenu } from "./contact-menu.tsx";
import { ContactTimeline } from "./contact-timeline.tsx";

/** Whether the contact gets email, before anyone has to ask. */
const answers: Record<Contact["status"], string> = {
  subscribed: t("Gets campaigns and sequences."),
  pending: t("Gets nothing until the address is confirmed."),
  unsubscribed: t("Gets transactional email only: unsubscribed from marketing."),
  suppressed: t("Gets nothing: the address is on the suppression list."),
};

interface ContactDetailProps {
  id: number;
  onClose(): void;
  /** Opens another contact. */
  onOpen(contactId: number): unknown;
}

export function ContactDetail({ id, onClose, onOpen }: ContactDetailProps) {
  const { data: contact, error } = useQuery(queries.contact(id));
  return (
    <SidePanel
      label={t("Contact")}
      title={contact ? <Title contact={contact} /> : <Skeleton h={40} w={200} />}
      onClose={onClose}
    >
      <ErrorNote error={error} />
      {contact && <Detail contact={contact} onClose={onClose} onOpen={onOpen} />}
    </SidePanel>
  );
}

function Title({ contact: { firstName, lastName, email } }: { contact: Contact }) {
  const name = [firstName, lastName].filter(Boolean).join(" ");
  return (
    <>
      <h2>{name || email}</h2>
      <p>
        {email}
        <CopyAction value={email} label={t("Copy the address")} />
      </p>
    </>
  );
}

interface DetailProps extends Omit<ContactDetailProps, "id"> {
  contact: Contact;
}

function Detail({ contact, onClose, onOpen }: DetailProps) {
  const { status, sendCount, openCount, score, snoozedUntil } = contact;
  const { timezone } = useMe().organization;
  const mayWrite = useRight("audience:write");
  const [tab, setTab] = useState("details");
  // The arrow keys lead to another contact, of which nothing is edited yet.
  const [editedId, setEditedId] = useState<number>();
  const setEditing = (isEditing: boolean) => setEditedId(isEditing ? contact.id : undefined);
  const { data: suppression } = useQuery({
    ...queries.suppressionOf(contact.email),
    enabled: status === "suppressed",
  });
  const answer = suppression?.liftsAt
    ? t(
        "Its mailbox takes no email for now: gets transactional email only until {liftsAt}, or " +
          "until an email is delivered.",
        { liftsAt: formatTime(suppression.liftsAt, timezone) },
      )
    : answers[status];
  return (
    <>
      <p className="answer">
        <StatusMark status={status} />
        <span>
          {status === "subscribed" && snoozedUntil
            ? t("Paused marketing email until {snoozedUntil}.", {
                snoozedUntil: formatTime(snoozedUntil, timezone),
              })
            : answer}
        </span>
      </p>
      {mayWrite && snoozedUntil && <EndPause contact={contact} />}
      {mayWrite && (
        <ContactMenu
          contact={contact}
          onEdit={() => {
            setTab("details");
            setEditing(true);
          }}
        />
      )}
      <dl className="stats">
        <Statistic label={t("Sent")} value={sendCount} />
        <Statistic label={t("Opened")} value={openCount} />
        <Statistic label={t("Score")} value={score} />
      </dl>
      <Tabs value={tab} onChange={(next) => setTab(next ?? "details")} keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="details">{t("Details")}</Tabs.Tab>
          <Tabs.Tab value="timeline">{t("Timeline")}</Tabs.Tab>
          <Tabs.Tab value="emails">{t("Emails")}</Tabs.Tab>
          <Tabs.Tab value="consent">{t("Consent")}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="timeline">
          <ContactTimeline contactId={contact.id} />
        </Tabs.Panel>
        <Tabs.Panel value="emails">
          <Emails contact={contact} />
        </Tabs.Panel>
        <Tabs.Panel value="details">
          <ContactFields
            contact={contact}
            mayWrite={mayWrite}
            isEditing={editedId === contact.id}
            onEdit={setEditing}
          />
        </Tabs.Panel>
        <Tabs.Panel value="consent">
          <ContactConsent contact={contact} mayWrite={mayWrite} />
        </Tabs.Panel>
      </Tabs>
      <ContactActions contact={contact} mayWrite={mayWrite} onGone={onClose} onMerged={onOpen} />
    </>
  );
}

/** Ends the pause that the contact chose on the preference page. */
function EndPause({ contact: { id, email } }: { contact: Contact }) {
  const [ended, setEnded] = useState<number>();
  const ending = useChange({
    run: (contactId: number) => api.contacts.update(contactId, { snoozedUntil: null }),
    refreshes: ["contacts"],
    onDone: () => setEnded(undefined),
  });
  return (
    <>
      <Button className="start" variant="default" size="xs" onClick={() => setEnded(id)}>
        {t("End the pause")}
      </Button>
      <ConfirmDialog
        title={email}
        action={t("End the pause")}
        target={ended}
        change={ending}
        onClose={() => setEnded(undefined)}
      >
        {t(
          "The contact gets marketing email again from now on. It chose the pause itself, so " +
            "only end it if it asked for that. The log of its consent says that you did.",
        )}
      </ConfirmDialog>
    </>
  );
}

function Statistic({ label, value }: { label: string; value: number }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{formatNumber(value)}</dd>
    </div>
  );
}

function Emails({ contact: { id: contactId, email } }: { contact: Contact }) {
  const { data, error } = useQuery(queries.sendsOfContact(contactId));
  const { timezone } = useMe().organization;
  if (!data) return error ? <ErrorNote error={error} /> : <Skeleton h={120} mt={14} />;
  return (
    <>
      {data.sends.length === 0 && <p className="quiet pad">{t("No email was sent yet.")}</p>}
      <ol className="emails">
        {data.sends.map(({ id, subject, status, createdAt }) => (
          <li key={id}>
            <p>
              <Link to="/log" search={{ email, send: id }}>
                {subject}
              </Link>
            </p>
            <StatusMark status={status} />
            <time dateTime={createdAt} title={formatTime(createdAt, timezone)}>
              {formatAgo(createdAt, timezone)}
            </time>
          </li>
        ))}
      </ol>
      <p className="pad">
        <Link to="/log" search={{ email }}>
          {t("Show them in the log")}
        </Link>
      </p>
    </>
  );
}
