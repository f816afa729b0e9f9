import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Navigate, useParams } from "@tanstack/react-router";
import type { Template } from "pennymail";
import { useMemo, useState } from "react";
import { queries } from "../../data/queries.ts";
import { parseDesign } from "../../editors/visual/parse-design.ts";
import { t } from "../../language/translate.ts";
import { RecordLoading } from "../../parts/record-loading.tsx";
import { CodeTemplate } from "./code-template.tsx";
import { VisualTemplate } from "./visual-template.tsx";

export function TemplateScreen() {
  const { id } = useParams({ from: "/shell/templates/$id" });
  const { data: template, error } = useQuery(queries.template(id));
  if (!template)
    return (
      <RecordLoading
        missing={t("This template does not exist")}
        list={{ to: "/templates", label: t("Show all templates") }}
        error={error}
      />
    );
  const { campaignId } = template;
  if (campaignId !== null)
    return <Navigate to="/campaigns/$id/email" params={{ id: campaignId }} replace />;
  return <TemplateEditor key={template.id} template={template} />;
}

/** A template with a design of this console is edited visually, every other one as code. */
export function TemplateEditor({ template }: { template: Template }) {
  const queryClient = useQueryClient();
  const [round, setRound] = useState(0);
  const design = useMemo(() => parseDesign(template.designJson), [template.designJson]);
  const reload = async () => {
    await queryClient.invalidateQueries(queries.template(template.id));
    setRound((last) => last + 1);
  };
  const props = { template, onReload: reload };
  return design ? (
    <VisualTemplate key={`visual ${round}`} design={design} {...props} />
  ) : (
    <CodeTemplate key={`code ${round}`} {...props} />
  );
}
