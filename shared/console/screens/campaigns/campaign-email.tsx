import { useQuery } from "@tanstack/react-query";
import { Navigate, useParams } from "@tanstack/react-router";
import { queries } from "../../data/queries.ts";
import { t } from "../../language/translate.ts";
import { EmailOwner } from "../../parts/email-owner.ts";
import { RecordLoading } from "../../parts/record-loading.tsx";
import { TemplateEditor } from "../templates/template-editor.tsx";

/** The editor with the own email of a campaign. */
export function CampaignEmail() {
  const { id } = useParams({ from: "/shell/campaigns/$id/email" });
  const { data: campaign, error } = useQuery(queries.campaign(id));
  const ownId = campaign?.ownTemplateId ?? 0;
  const email = useQuery({ ...queries.template(ownId), enabled: ownId > 0 });
  if (campaign && !ownId) return <Navigate to="/campaigns/$id" params={{ id }} replace />;
  if (!campaign || !email.data)
    return (
      <RecordLoading
        missing={t("This campaign has no email of its own")}
        list={{ to: "/campaigns", label: t("Show all campaigns") }}
        error={error ?? email.error}
      />
    );
  return (
    <EmailOwner value={campaign}>
      <TemplateEditor key={email.data.id} template={email.data} />
    </EmailOwner>
  );
}
