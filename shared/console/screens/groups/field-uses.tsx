import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { FieldUse } from "pennymail";
import { fieldQueries } from "../../data/field-queries.ts";
import { t } from "../../language/translate.ts";
import { ErrorNote } from "../../parts/error-note.tsx";

interface FieldUsesProps {
  siteId: number;
  name: string;
}

const screens = {
  segment: "/segments/$id",
  sequence: "/sequences/$id/{-$part}",
  template: "/templates/$id",
  campaign: "/campaigns/$id",
  form: "/forms/$id",
} as const;

const kindNames: Record<FieldUse["kind"], string> = {
  segment: t("Segment"),
  sequence: t("Sequence"),
  template: t("Template"),
  campaign: t("Campaign"),
  form: t("Form"),
  import: t("Import"),
};

/** The records that use a field, each with its screen. */
export function FieldUses({ siteId, name }: FieldUsesProps) {
  const { data, error } = useQuery(fieldQueries.uses(siteId, name));
  if (!data) return error ? <ErrorNote error={error} /> : <Skeleton h={24} />;
  const { uses, complete } = data;
  if (uses.length === 0)
    return (
      <p className="quiet">
        {t("No segment, sequence, template, form or campaign that is still to be sent uses it.")}
      </p>
    );
  return (
    <div>
      <p>{t("It is used here:")}</p>
      <ul className="bullets field-uses">
        {uses.map((use) => (
          <li key={`${use.kind} ${use.id}`}>
            {kindNames[use.kind]} <UseLink use={use} /> <span className="quiet">{use.message}</span>
          </li>
        ))}
      </ul>
      {!complete && <p className="quiet">{t("There are more.")}</p>}
    </div>
  );
}

function UseLink({ use: { kind, id, name } }: { use: FieldUse }) {
  if (kind === "import") return <Link to="/contacts/import">{name || t("without a name")}</Link>;
  return (
    <Link to={screens[kind]} params={{ id }}>
      {name}
    </Link>
  );
}
