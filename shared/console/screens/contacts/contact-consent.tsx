import { Button, Skeleton, Switch } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ConsentEntry, Contact } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { useMe } from "../../data/session.ts";
import { formatTime } from "../../format.ts";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";

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
      {data.topics.length > 0 && <h3>Topics</h3>}
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
      <h3>History</h3>
      {data.log.length === 0 && (
        <p className="quiet">No choice was made since the contact was added.</p>
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
  api: "by your organization",
  preference_page: "on the preference page",
  one_click: "in the mail program",
  form: "by confirming a form",
  import: "by an import",
  provider: "reported by the provider",
};

const describeEntry = ({ status, topics }: ConsentEntry): string =>
  [
    ...(status ? [status === "subscribed" ? "Subscribed" : "Unsubscribed"] : []),
    ...topics.map(({ name, subscribed }) => `${subscribed ? "Joined" : "Left"} ${name}`),
  ].join(", ");

function StatusChange({ contact: { id, email, status } }: { contact: Contact }) {
  const [next, setNext] = useState<"subscribed" | "unsubscribed">();
  const changing = useChange({
    run: (wanted: "subscribed" | "unsubscribed") => api.contacts.update(id, { status: wanted }),
    refreshes: ["contacts"],
    onDone: () => setNext(undefined),
  });
  const isSubscribed = status === "subscribed";
  const action = next === "unsubscribed" ? "Unsubscribe" : "Subscribe";
  return (
    <div className="buttons">
      <Button
        variant="default"
        size="xs"
        onClick={() => setNext(isSubscribed ? "unsubscribed" : "subscribed")}
      >
        {isSubscribed ? "Unsubscribe" : "Subscribe"}
      </Button>
      <ConfirmDialog
        title={`${action} ${email}`}
        action={action}
        target={next}
        change={changing}
        onClose={() => setNext(undefined)}
      >
        {next === "unsubscribed"
          ? "No campaign and no sequence goes to the contact any more. Transactional email does."
          : "Campaigns and sequences go to the contact from now on. Do this only if the person " +
            "asked for it."}
      </ConfirmDialog>
    </div>
  );
}
