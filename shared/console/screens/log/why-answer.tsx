import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { queries } from "../../data/queries.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";

const barrierWords = {
  suppressed: "suppressed address",
  unsubscribed: "unsubscribed",
  unconfirmed: "not confirmed",
  not_in_topic: "some topics are not subscribed to",
  capped: "frequency cap of the site",
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
  const { data, error } = useQuery(queries.why(question));
  if (error) return <ErrorNote error={error} />;
  if (!data) return <Skeleton h={72} />;
  return (
    <section className="answer" aria-label={`Answer about ${email}`} aria-live="polite">
      <StatusMark status={data.reason} />
      <p>{data.answer}</p>
      <p className="quiet">{data.nextStep}</p>
      {data.alsoApplies.length > 0 && (
        <p className="quiet">
          Also keeps marketing email back now:{" "}
          {data.alsoApplies.map((barrier) => barrierWords[barrier]).join(", ")}.
        </p>
      )}
    </section>
  );
}
