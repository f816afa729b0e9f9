import { useQuery } from "@tanstack/react-query";
import type { CampaignLinks } from "pennymail";
import { useCallback } from "react";
import { queries } from "../../data/queries.ts";
import { t } from "../../language/translate.ts";
import { Card } from "../../parts/card.tsx";
import { EmailPreview } from "../../parts/email-preview.tsx";

/** The email as one recipient got it, with the clicks beside each link. */
export function LinkMap({ campaignId }: { campaignId: number }) {
  const links = useQuery(queries.campaignLinks(campaignId)).data;
  const first = useQuery(queries.firstSendOfCampaign(campaignId)).data?.sends[0];
  const content = useQuery({
    ...queries.sentContent(first?.id ?? 0),
    enabled: first !== undefined,
  }).data;
  const noteOf = useCallback((href: string) => noteOfLink(links, href), [links]);
  if (!content?.html) return null;
  return (
    <Card title={t("The email and its clicks")} className="preview-card">
      <p>
        <b>{content.subject}</b>{" "}
        <span className="quiet">{t("to {email}", { email: first?.toEmail })}</span>
      </p>
      <EmailPreview
        html={content.html}
        text={content.text ?? undefined}
        title={t("The email and its clicks")}
        noteOf={noteOf}
      />
    </Card>
  );
}

/** The API counts links without the parameters of website analytics. */
function withoutTracking(href: string): string {
  if (!URL.canParse(href)) return href;
  const url = new URL(href);
  for (const name of [...url.searchParams.keys()])
    if (name.startsWith("utm_")) url.searchParams.delete(name);
  return url.href;
}

function noteOfLink(data: CampaignLinks | undefined, href: string): string | undefined {
  const plain = withoutTracking(href);
  const link = data?.links.find(({ url }) => url !== null && withoutTracking(url) === plain);
  return (
    link &&
    t("{count, plural, one {# recipient} other {# recipients}}", { count: link.uniqueClicks })
  );
}
