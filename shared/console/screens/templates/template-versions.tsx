import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Template } from "pennymail";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { useRight } from "../../data/session.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { VersionsTable } from "../../parts/versions-table.tsx";

interface TemplateVersionsProps {
  template: Template;
  isChanged: boolean;
  onRestored(template: Template): void;
}

export function TemplateVersions({ template, isChanged, onRestored }: TemplateVersionsProps) {
  const mayWrite = useRight("content:write");
  const { data, error } = useQuery(queries.templateVersions(template.id));
  if (!data) return error ? <ErrorNote error={error} /> : <Skeleton h={160} />;
  const { versions } = data;
  return (
    <VersionsTable
      name={template.name}
      versions={versions}
      current={versions.find(({ current }) => current)?.version ?? template.version}
      noteOf={(version) => versions.find((one) => one.version === version)?.subject}
      mayWrite={mayWrite}
      isChanged={isChanged}
      restore={(version) => api.templates.restore(template.id, { version })}
      refreshes={["templates"]}
      onRestored={onRestored}
    />
  );
}
