import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { fieldQueries } from "../../data/field-queries.ts";
import { ErrorNote } from "../../parts/error-note.tsx";

interface FieldUsesProps {
  siteId: number;
  name: string;
}

/** The segments that ask for a field. */
export function FieldUses({ siteId, name }: FieldUsesProps) {
  const { data: segments, error } = useQuery(fieldQueries.segmentsWith(siteId, name));
  if (!segments) return error ? <ErrorNote error={error} /> : <Skeleton h={24} />;
  if (segments.length === 0) return <p className="quiet">No segment asks for it.</p>;
  return (
    <div>
      <p>These segments ask for it:</p>
      <ul className="bullets">
        {segments.map((segment) => (
          <li key={segment.id}>
            <Link to="/segments/$id" params={{ id: segment.id }}>
              {segment.name}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}
