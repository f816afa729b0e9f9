import { Button, Skeleton, Switch } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Confirmation, ConsentEntry, Contact } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { useMe } from "../../data/session.ts";
import { formatTime } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { FieldList } from "../../parts/field-list.tsx";
import { leaveReasonWords } from "../reports/leaving-report.tsx";

interface ContactConsentProps {
  contact: Contact;
  mayWrite: boolean;
}

/** Whether the contact wants email, on which topics, and how that came about. */
export function ContactConsent({ contact, mayWrite }: ContactConsentProps) {
  const { id, status } = contact;
  const { timezone } = useMe().organization;
  const { data, error } = useQuery(queries.contactTopics(id));
  const choosing = useChange({
    run: (choice: { id: number; subscribed: boolean }) =>
      api.contacts.updateTopics(id, { topics: [choice] }),
    refreshes: ["contacts"],
  });
  if (!data) return error ? <ErrorNote error={error} /> : <Skeleton h={160} mt={14} />;
  return (
    <div className="stack pad">
      {mayWrite && status !== "suppressed" && <StatusChange contact={contact} />}
      <ConfirmationState contact={contact} confirmation={data.confirmation} mayWrite={mayWrite} />
      {data.topics.length > 0 && <h3>{t("Topics")}</h3>}
      {data.topics.map((topic) => (
        <Switch
          key={topic.id}
          label={topic.name}
          description={topic.description}
          disabled={!mayWrite}
          checked={
            choosing.isPending && choosing.variables.id === topic.id
              ? choosing.variables.subscribed
              : topic.subscribed
          }
          onChange={(event) =>
            choosing.mutate({ id: topic.id, subscribed: event.currentTarget.checked })
          }
        />
      ))}
      <ErrorNote error={choosing.error} />
      <h3>{t("History")}</h3>
      {data.log.length === 0 && (
        <p className="quiet">
          {t("Added {addedAt}. No choice is recorded since then.", {
            addedAt: [
              formatTime(contact.createdAt, timezone),
              contact.source && `(${contact.source.replaceAll("_", " ")})`,
            ]
              .filter(Boolean)
              .join(" "),
          })}
        </p>
      )}
      <ul className="plain-list">
        {data.log.map((entry) => (
          <li key={`${entry.createdAt} ${describeEntry(entry)}`}>
            <p>{describeEntry(entry)}</p>
            <small>
              {[formatTime(entry.createdAt, timezone), sources[entry.source], entry.ipAddress]
                .filter(Boolean)
                .join(" · ")}
            </small>
          </li>
        ))}
      </ul>
    </div>
  );
}

const sources: Record<ConsentEntry["source"], string> = {
  api: t("by your organization"),
  preference_page: t("on the preference page"),
  one_click: t("in the mail program"),
  form: t("by confirming a form"),
  import: t("by an import"),
  sequence: t("by a sequence"),
  provider: t("reported by the provider"),
  merge: t("taken over from a merged contact"),
  confirmation: t("by the link of a confirmation email"),
};

const describeEntry = ({ status, topics, leaving, ...entry }: ConsentEntry): string =>
  [
    ...(leaving ? [describeLeaving(leaving)] : []),
    ...(entry.snoozedUntil ? [describePause(entry.snoozedUntil, entry.createdAt)] : []),
    ...(status ? [status === "subscribed" ? t("Subscribed") : t("Unsubscribed")] : []),
    ...topics.map(({ name, subscribed }) =>
      subscribed ? t("Joined {topic}", { topic: name }) : t("Left {topic}", { topic: name }),
    ),
  ].join(", ");

const describeLeaving = ({ reason, comment }: NonNullable<ConsentEntry["leaving"]>): string =>
  comment
    ? t("Reason: {reason}, “{comment}”", { reason: leaveReasonWords[reason], comment })
    : t("Reason: {reason}", { reason: leaveReasonWords[reason] });

const describePause = (until: string, at: string): string =>
  until > at
    ? t("Paused marketing email until {until}", { until: until.slice(0, 10) })
    : t("Ended the pause");

interface ConfirmationProps extends ContactConsentProps {
  confirmation: Confirmation | null;
}

/** How far the double opt-in is, with its evidence. */
function ConfirmationState({ contact, confirmation, mayWrite }: ConfirmationProps) {
  const { timezone } = useMe().organization;
  const asking = useChange({
    run: () => api.contacts.requestConfirmation(contact.id),
    refreshes: ["contacts"],
  });
  const mayAsk = mayWrite && contact.status === "pending";
  if (!confirmation && !mayAsk) return null;
  const timeOf = (time: string | null) => time && formatTime(time, timezone);
  return (
    <>
      <h3>{t("Confirmation by email")}</h3>
      {confirmation && (
        <FieldList
          fields={[
            [t("State"), confirmationStates[confirmation.status]],
            [t("Why"), confirmation.error],
            [t("Asked"), timeOf(confirmation.requestedAt)],
            [t("Asked by"), confirmationSources[confirmation.source]],
            [t("Reminder"), confirmation.reminderSendId ? t("was sent") : null],
            [t("Confirmed"), timeOf(confirmation.confirmedAt)],
            [t("From IP"), confirmation.confirmedIp],
            [t("Browser"), confirmation.confirmedUserAgent],
          ]}
        />
      )}
      {mayAsk && (
        <div className="buttons">
          <Button
            variant="default"
            size="xs"
            loading={asking.isPending}
            onClick={() => asking.mutate()}
          >
            {confirmation ? t("Send the email again") : t("Ask by email to confirm")}
          </Button>
        </div>
      )}
      <ErrorNote error={asking.error} />
    </>
  );
}

const confirmationStates: Record<Confirmation["status"], string> = {
  queued: t("The email is being sent"),
  sent: t("Waits for the contact"),
  not_sent: t("No email was sent"),
  confirmed: t("Confirmed"),
};
const confirmationSources: Record<Confirmation["source"], string> = {
  api: t("a request of your organization"),
  console: t("a member of your organization"),
  import: t("an import"),
  form: t("a form"),
};

type StatusChoice = "subscribed" | "unsubscribed";

function StatusChange({ contact }: { contact: Contact }) {
  const [next, setNext] = useState<StatusChoice>();
  const isSubscribed = contact.status === "subscribed";
  return (
    <div className="buttons">
      <Button
        variant="default"
        size="xs"
        onClick={() => setNext(isSubscribed ? "unsubscribed" : "subscribed")}
      >
        {isSubscribed ? t("Unsubscribe") : t("Subscribe")}
      </Button>
      <StatusDialog contact={contact} next={next} onClose={() => setNext(undefined)} />
    </div>
  );
}

interface StatusDialogProps {
  contact: Contact;
  /** Undefined while it is closed. */
  next: StatusChoice | undefined;
  onClose(): void;
}

export function StatusDialog({ contact: { id, email }, next, onClose }: StatusDialogProps) {
  const changing = useChange({
    run: (wanted: StatusChoice) => api.contacts.update(id, { status: wanted }),
    refreshes: ["contacts"],
    onDone: onClose,
  });
  return (
    <ConfirmDialog
      title={
        next === "unsubscribed"
          ? t("Unsubscribe {email}", { email })
          : t("Subscribe {email}", { email })
      }
      action={next === "unsubscribed" ? t("Unsubscribe") : t("Subscribe")}
      target={next}
      change={changing}
      onClose={onClose}
    >
      {next === "unsubscribed"
        ? t(
            "No campaign and no sequence goes to the contact any more. " +
              "Transactional email does.",
          )
        : t(
            "Campaigns and sequences go to the contact from now on. Do this only " +
              "if the person asked for it.",
          )}
    </ConfirmDialog>
  );
}
