import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { queries } from "../../data/queries.ts";
import { useMe } from "../../data/session.ts";
import { withLocalTimes } from "../../format.ts";
import { ofService, t } from "../../language/translate.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";

const barrierWords = {
  suppressed: t("suppressed address"),
  unsubscribed: t("unsubscribed"),
  unconfirmed: t("not confirmed"),
  not_in_topic: t("some topics are not subscribed to"),
  snoozed: t("paused by the contact"),
  capped: t("frequency cap of the site"),
} as const;

interface WhyQuestion {
  siteId: number;
  email: string;
  /** Asks about this campaign only. */
  campaignId?: number;
}

/** The answer about an address, before anybody reads rows. */
export function WhyAnswer(question: WhyQuestion) {
  const { email } = question;
  const { timezone } = useMe().organization;
  const { data, error } = useQuery(queries.why(question));
  if (error) return <ErrorNote error={error} />;
  if (!data) return <Skeleton h={72} />;
  return (
    <section
      className="answer"
      aria-label={t("Answer about {email}", { email })}
      aria-live="polite"
    >
      <StatusMark status={data.reason} />
      <p>{withLocalTimes(ofService(data.answer), timezone)}</p>
      <p className="quiet">{withLocalTimes(ofService(data.nextStep), timezone)}</p>
      {data.alsoApplies.length > 0 && (
        <p className="quiet">
          {t("Also keeps marketing email back now: {reasons}.", {
            reasons: data.alsoApplies.map((barrier) => barrierWords[barrier]).join(", "),
          })}
        </p>
      )}
    </section>
  );
}
