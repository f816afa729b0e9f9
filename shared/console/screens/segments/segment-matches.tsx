import { Skeleton } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { SegmentRules } from "pennymail";
import { queries } from "../../data/queries.ts";
import { formatNumber } from "../../format.ts";
import { t } from "../../language/translate.ts";
import { Card } from "../../parts/card.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";

interface SegmentMatchesProps {
  siteId: number;
  /** Undefined while a condition is not complete. */
  rules: SegmentRules | undefined;
  /** The segment, if it has been saved as it is shown. */
  savedId: number | undefined;
}

const noRules: SegmentRules = { match: "all", conditions: [] };

/** How many contacts match while the rules are edited, and who they are once they are saved. */
export function SegmentMatches({ siteId, rules, savedId }: SegmentMatchesProps) {
  // Objects would differ at each render.
  const [settled] = useDebouncedValue(rules && JSON.stringify(rules), 400);
  const count = useQuery({
    ...queries.countBy(siteId, settled ? JSON.parse(settled) : noRules),
    enabled: settled !== undefined,
  });
  const isCounting = count.isFetching || settled !== (rules && JSON.stringify(rules));
  return (
    <Card title={t("Contacts that match")} state={rules && isCounting ? t("Counting") : ""}>
      {rules ? (
        <p className={isCounting ? "match-count stale" : "match-count"}>
          {count.data ? (
            <strong>{formatNumber(count.data.contactCount)}</strong>
          ) : (
            <Skeleton h={38} w={80} />
          )}
          {rules.conditions.length === 0 && (
            <span>{t("Without conditions, everybody matches.")}</span>
          )}
        </p>
      ) : (
        <p className="quiet">{t("Complete the conditions to see how many match.")}</p>
      )}
      <ErrorNote error={count.error} />
      {savedId === undefined ? (
        <p className="quiet">{t("Save the segment to see who they are.")}</p>
      ) : (
        <FirstContacts segmentId={savedId} />
      )}
    </Card>
  );
}

function FirstContacts({ segmentId }: { segmentId: number }) {
  const { data, error } = useQuery(queries.firstOfSegment(segmentId));
  if (!data) return error ? <ErrorNote error={error} /> : <Skeleton h={120} />;
  return (
    <>
      <ul className="matches">
        {data.contacts.map(({ id, email, firstName, lastName }) => (
          <li key={id}>
            <Link to="/contacts" search={{ segment: segmentId, contact: id }}>
              {[firstName, lastName].filter(Boolean).join(" ") || email}
            </Link>
            {(firstName || lastName) && <small>{email}</small>}
          </li>
        ))}
      </ul>
      {data.contacts.length > 0 && (
        <p>
          <Link to="/contacts" search={{ segment: segmentId }}>
            {t("Show all of them")}
          </Link>
        </p>
      )}
    </>
  );
}
