import { Switch } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { CampaignDetail } from "pennymail";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { queries } from "../../data/queries.ts";
import { useRight } from "../../data/session.ts";
import { t } from "../../language/translate.ts";
import { tNodes } from "../../language/translate-nodes.ts";
import { Card } from "../../parts/card.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";

interface ArchiveChoiceProps {
  campaign: Pick<CampaignDetail, "siteId" | "archive">;
  isDisabled?: boolean;
  onChange(archive: boolean): void;
}

/** Whether the public archive of the site shows the email. */
export function ArchiveChoice({ campaign, isDisabled = false, onChange }: ArchiveChoiceProps) {
  const sites = useQuery(queries.sites()).data?.sites;
  const site = sites?.find(({ id }) => id === campaign.siteId);
  return (
    <>
      <Switch
        label={t("Show in the public archive")}
        description={t("A page without fields of a contact and without personal links.")}
        checked={campaign.archive}
        disabled={isDisabled}
        onChange={({ currentTarget: { checked } }) => onChange(checked)}
      />
      {campaign.archive && site && !site.archive && (
        <p className="quiet">
          {tNodes(
            "The archive of {name} is off. <link>Turn it on in the settings of the " +
              "site.</link>",
            {
              name: site.name,
              link: (text) => (
                <Link to="/settings/{-$section}" params={{ section: "sites" }}>
                  {text}
                </Link>
              ),
            },
          )}
        </p>
      )}
    </>
  );
}

/** For a campaign that was started: its page in the archive. */
export function ArchiveCard({ campaign }: { campaign: CampaignDetail }) {
  const mayWrite = useRight("marketing:write");
  const { id, archiveUrl, archiveError } = campaign;
  const changing = useChange({
    run: (archive: boolean) => api.campaigns.updateArchive(id, { archive }),
    refreshes: ["campaigns"],
  });
  return (
    <Card title={t("Archive")}>
      <ArchiveChoice
        campaign={campaign}
        isDisabled={!mayWrite || changing.isPending}
        onChange={changing.mutate}
      />
      {archiveUrl && (
        <a href={archiveUrl} target="_blank" rel="noreferrer">
          {t("Open its page")}
        </a>
      )}
      {archiveError && <p className="tone-bad">{archiveError}</p>}
      <ErrorNote error={changing.error} />
    </Card>
  );
}
