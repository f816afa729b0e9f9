import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { FieldUse } from "pennymail";
import { fieldQueries } from "../../data/field-queries.ts";
import { capitalize } from "../../format.ts";
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

/** The records that use a field, each with its screen. */
export function FieldUses({ siteId, name }: FieldUsesProps) {
  const { data, error } = useQuery(fieldQueries.uses(siteId, name));
  if (!data) return error ? <ErrorNote error={error} /> : <Skeleton h={24} />;
  const { uses, complete } = data;
  if (uses.length === 0)
    return (
      <p className="quiet">
        No segment, sequence, template, form or campaign that is still to be sent uses it.
      </p>
    );
  return (
    <div>
      <p>It is used here:</p>
      <ul className="bullets field-uses">
        {uses.map((use) => (
          <li key={`${use.kind} ${use.id}`}>
            {capitalize(use.kind)} <UseLink use={use} />{" "}
            <span className="quiet">{use.message}</span>
          </li>
        ))}
      </ul>
      {!complete && <p className="quiet">There are more.</p>}
    </div>
  );
}

function UseLink({ use: { kind, id, name } }: { use: FieldUse }) {
  if (kind === "import") return <Link to="/contacts/import">{name || "without a name"}</Link>;
  return (
    <Link to={screens[kind]} params={{ id }}>
      {name}
    </Link>
  );
}
