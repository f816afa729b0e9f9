import { Button, Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { queries } from "../../data/queries.ts";
import { useMe } from "../../data/session.ts";
import { formatTime } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { tNodes } from "../../language/translate-nodes.ts";
import { Card } from "../../parts/card.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { ReasonMark, wordsOf } from "./reasons.tsx";

interface AddressAnswerProps {
  email: string;
  /** Absent if the user may not remove it. */
  onRemove?(): void;
}

/** Whether an address is suppressed, since when, and what that means. */
export function AddressAnswer({ email, onRemove }: AddressAnswerProps) {
  const { timezone } = useMe().organization;
  const { data, error } = useQuery(queries.suppressionOf(email));
  if (!data) return error ? <ErrorNote error={error} /> : <Skeleton h={80} />;
  const { reason, bounceType, createdAt, liftsAt } = data;
  if (!reason || !createdAt)
    return (
      <Card title={email}>
        <p role="status">{t("The address is not suppressed. Email can go to it.")}</p>
      </Card>
    );
  return (
    <Card title={email}>
      <p role="status">
        {tNodes("{reasonmark} since {createdAt}. {meaning}", {
          reasonmark: <ReasonMark entry={{ reason, bounceType }} />,
          createdAt: formatTime(createdAt, timezone),
          meaning: wordsOf({ reason, bounceType }).meaning,
        })}
      </p>
      {liftsAt && (
        <p>
          {t("This ends on {liftsAt}, or as soon as an email is delivered.", {
            liftsAt: formatTime(liftsAt, timezone),
          })}
        </p>
      )}
      {data.detail && <p className="quiet">{data.detail}</p>}
      {onRemove && (
        <div className="buttons">
          <Button variant="default" size="xs" onClick={onRemove}>
            {t("Remove")}
          </Button>
        </div>
      )}
    </Card>
  );
}
