import { Button } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { queries } from "../../data/queries.ts";
import { sequenceQueries } from "../../data/sequence-queries.ts";
import { useMe } from "../../data/session.ts";
import { formatAgo, formatTime } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import type { DraftStep } from "./step-draft.ts";
import { useStepEditor } from "./step-editor.ts";
import type { PeopleKind } from "./step-texts.ts";

interface PeopleProps {
  step: DraftStep;
  kind: PeopleKind;
  label: string;
}

/** The contacts that a figure of a step counts. */
export function StepPeople(props: PeopleProps) {
  return props.kind === "here" ? <WaitingPeople {...props} /> : <MailedPeople {...props} />;
}

function WaitingPeople({ step, label }: PeopleProps) {
  const { sequence } = useStepEditor();
  const filter = { stepId: Number(step.key), status: "active" as const };
  const list = useInfiniteQuery(sequenceQueries.enrollments(sequence.id, filter));
  const people = list.data?.pages.flatMap(({ enrollments }) => enrollments);
  return (
    <PeopleList
      label={label}
      list={list}
      people={people?.map(({ id, contactId, contactEmail, nextRunAt }) => ({
        ...{ id, contactId },
        email: contactEmail ?? t("Deleted contact"),
        note: t("Goes on"),
        at: nextRunAt,
      }))}
    />
  );
}

function MailedPeople({ step, kind, label }: PeopleProps) {
  const { sequence } = useStepEditor();
  const list = useInfiniteQuery(
    queries.sends({
      siteId: sequence.siteId,
      stepId: Number(step.key),
      ...(kind !== "sent" && { [kind]: "true" }),
    }),
  );
  const people = list.data?.pages.flatMap(({ sends }) => sends);
  return (
    <PeopleList
      label={label}
      list={list}
      people={people?.map(({ id, contactId, toEmail, createdAt }) => ({
        ...{ id, contactId },
        email: toEmail,
        note: t("Sent"),
        at: createdAt,
      }))}
    />
  );
}

interface Person {
  id: number;
  contactId: number | null;
  email: string;
  note: string;
  at: string | null;
}

interface ListProps {
  label: string;
  people: Person[] | undefined;
  list: {
    error: unknown;
    hasNextPage: boolean;
    isFetchingNextPage: boolean;
    fetchNextPage(): unknown;
  };
}

function PeopleList({ label, people, list }: ListProps) {
  const { timezone } = useMe().organization;
  if (!people) return <ErrorNote error={list.error} />;
  return (
    <>
      {people.length === 0 && !list.hasNextPage && (
        <p className="quiet">{t("Nobody is in this list.")}</p>
      )}
      <ul className="step-people" aria-label={label}>
        {people.map(({ id, contactId, email, note, at }) => (
          <li key={id}>
            {contactId === null ? (
              <span>{email}</span>
            ) : (
              <Link to="/contacts" search={{ contact: contactId }}>
                {email}
              </Link>
            )}
            {at && (
              <small title={formatTime(at, timezone)}>
                {note} {formatAgo(at, timezone)}
              </small>
            )}
          </li>
        ))}
      </ul>
      {list.hasNextPage && (
        <Button
          size="xs"
          variant="default"
          loading={list.isFetchingNextPage}
          onClick={() => list.fetchNextPage()}
        >
          {t("Show more")}
        </Button>
      )}
    </>
  );
}
