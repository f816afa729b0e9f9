import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { TemplateUse } from "pennymail";
import { queries } from "../../data/queries.ts";
import { t } from "../../language/translate.ts";

const paths = {
  sequence: "/sequences/$id/{-$part}",
  campaign: "/campaigns/$id",
  recurring_campaign: "/recurring/$id",
  holiday: "/sequences/holidays",
} as const;

const notLive = ["draft", "paused", "archived", "failed"];

/** What uses the template, and whether mail is sent with what is saved of it. */
export function useTemplateUses(id: number) {
  const { data } = useQuery({ ...queries.templateUses(id), refetchOnMount: "always" });
  return {
    uses: data?.uses ?? [],
    isLive: data?.uses.some(({ status }) => !notLive.includes(status)),
  };
}

/** Names the sequences and campaigns that a change of the template affects. */
export function TemplateUses({ id }: { id: number }) {
  const { uses, isLive } = useTemplateUses(id);
  if (uses.length === 0) return null;
  return (
    <p className="quiet">
      {t("Used by:")}{" "}
      {uses.map((use, i) => (
        <span key={`${use.kind} ${use.id}`}>
          {i > 0 && ", "}
          <UseLink use={use} />
        </span>
      ))}
      . {isLive && t("Emails are sent with what you save.")}
    </p>
  );
}

const UseLink = ({ use: { kind, id, name } }: { use: TemplateUse }) =>
  kind === "holiday" ? (
    <Link to={paths.holiday}>{name}</Link>
  ) : (
    <Link to={paths[kind]} params={{ id }}>
      {name}
    </Link>
  );
