import { useQuery } from "@tanstack/react-query";
import { Link, type LinkProps } from "@tanstack/react-router";
import type { AttentionProblem } from "pennymail";
import { queries } from "../../data/queries.ts";
import { useMe, useRight } from "../../data/session.ts";
import { formatAgo } from "../../format.ts";
import { ofService, t } from "../../language/translate.ts";
import { Card } from "../../parts/card.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";

/** Problems that somebody should look at. Nothing if all is well. */
export function NeedsAttention() {
  const mayRead = useRight("organization:read");
  const { timezone } = useMe().organization;
  const { data } = useQuery({ ...queries.attention(), enabled: mayRead });
  if (!data || data.problems.length === 0) return null;
  return (
    <Card title={t("Needs attention")}>
      <ul className="checks">
        {data.problems.map((problem) => (
          <li key={`${problem.code} ${problem.record.type} ${problem.record.id}`}>
            <StatusMark
              status={problem.severity}
              tone={problem.severity === "error" ? "bad" : "warn"}
            />
            <span>
              {ofService(problem.message)}{" "}
              {problem.since && <small>{formatAgo(problem.since, timezone)}</small>}
            </span>
            <RecordLink problem={problem} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

type RecordType = AttentionProblem["record"]["type"];

/** Where each kind of problem is looked at. */
const places: Record<RecordType, (id: number) => LinkProps | undefined> = {
  user: () => undefined,
  organization: () => undefined,
  sending_config: () => ({ to: "/settings/{-$section}", params: { section: "senders" } }),
  domain: () => ({ to: "/settings/{-$section}", params: { section: "domains" } }),
  webhook: (id) => ({ to: "/webhooks", search: { webhook: id } }),
  import: (id) => ({ to: "/contacts/import", search: { id } }),
  campaign: (id) => ({ to: "/campaigns/$id", params: { id } }),
  sequence: (id) => ({ to: "/sequences/$id/{-$part}", params: { id } }),
};

/** Problems of the organization, by code. */
const placesByCode: Record<string, LinkProps> = {
  plan_used_up: { to: "/settings/{-$section}", params: { section: "billing" } },
  plan_nearly_used_up: { to: "/settings/{-$section}", params: { section: "billing" } },
  mails_uncertain: { to: "/log", search: { status: "uncertain" } },
};

function RecordLink({ problem: { code, record } }: { problem: AttentionProblem }) {
  const place = placesByCode[code] ?? places[record.type](record.id);
  return place ? <Link {...place}>{t("Show")}</Link> : null;
}
