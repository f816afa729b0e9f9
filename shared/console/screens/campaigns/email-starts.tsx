import { Button, Modal } from "@mantine/core";
import { IconHistory, IconPalette, IconTemplate } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { Campaign, CampaignDetail } from "pennymail";
import { lazy, Suspense, useState } from "react";
import { useChange } from "../../data/changes.ts";
import { t } from "../../language/translate.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { RecordSelect } from "../../parts/record-select.tsx";
import { storeChange } from "./draft-saving.ts";
import { startWithCampaign, startWithContent, startWithTemplate } from "./start-email.ts";

const NewEmail = lazy(async () => ({
  default: (await import("../../editors/visual/new-template.tsx")).NewEmail,
}));

type StartKind = "design" | "template" | "campaign";

const kinds = [
  {
    kind: "design",
    Icon: IconPalette,
    label: t("A design"),
    note: t("A starting design, an empty one, or code"),
  },
  {
    kind: "template",
    Icon: IconTemplate,
    label: t("A template"),
    note: t("A copy that changes nothing else"),
  },
  {
    kind: "campaign",
    Icon: IconHistory,
    label: t("An earlier campaign"),
    note: t("With its subject and its texts"),
  },
] as const;

interface EmailStartsProps {
  campaign: CampaignDetail;
}

/** Asks how the email of a campaign begins, and opens the editor with it. */
export function EmailStarts({ campaign }: EmailStartsProps) {
  const { id, siteId } = campaign;
  const [kind, setKind] = useState<StartKind>();
  const open = useStartedEmail(id);
  return (
    <>
      <ul className="email-starts">
        {kinds.map(({ kind: one, Icon, label, note }) => (
          <li key={one}>
            <button type="button" onClick={() => setKind(one)}>
              <Icon size={22} stroke={1.5} aria-hidden="true" />
              <b>{label}</b>
              <small>{note}</small>
            </button>
          </li>
        ))}
      </ul>
      {kind === "design" && (
        <Suspense>
          <NewEmail
            siteId={siteId}
            title={t("Design the email")}
            onClose={() => setKind(undefined)}
            create={async (content) => open(await startWithContent(id, content))}
          />
        </Suspense>
      )}
      {kind && kind !== "design" && (
        <StartFromRecord
          campaign={campaign}
          kind={kind}
          open={open}
          onClose={() => setKind(undefined)}
        />
      )}
    </>
  );
}

/** Stores a campaign that has an email now, and opens the editor. */
function useStartedEmail(id: number): (started: Campaign) => Promise<void> {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  return async (started) => {
    await storeChange(queryClient, id, (draft) => ({ ...draft, ...started }));
    await navigate({ to: "/campaigns/$id/email", params: { id } });
  };
}

interface StartFromRecordProps extends EmailStartsProps {
  kind: "template" | "campaign";
  open(started: Campaign): Promise<void>;
  onClose(): void;
}

function StartFromRecord({ campaign, kind, open, onClose }: StartFromRecordProps) {
  const { id, siteId } = campaign;
  const [chosen, setChosen] = useState<number | null>(null);
  const starting = useChange({
    run: (from: number) =>
      kind === "template" ? startWithTemplate(id, from) : startWithCampaign(id, from),
    refreshes: ["templates"],
    onDone: open,
  });
  const isTemplate = kind === "template";
  return (
    <Modal
      opened
      onClose={onClose}
      title={isTemplate ? t("Begin with a template") : t("Begin with an earlier campaign")}
      lockScroll={false}
    >
      <div className="stack">
        <RecordSelect
          group={isTemplate ? "templates" : "campaigns"}
          siteId={siteId}
          label={isTemplate ? t("Template") : t("Campaign")}
          nothingFoundMessage={isTemplate ? t("There is no template.") : t("There is no campaign.")}
          {...(!isTemplate && { without: id })}
          value={chosen}
          onChange={setChosen}
        />
        <p className="quiet">
          {t("The campaign gets a copy. What you change there changes nothing else.")}
        </p>
        <ErrorNote error={starting.error} />
        <div className="buttons">
          <Button
            disabled={chosen === null}
            loading={starting.isPending}
            onClick={() => chosen !== null && starting.mutate(chosen)}
          >
            {t("Copy and edit")}
          </Button>
        </div>
      </div>
    </Modal>
  );
}

/** Gives the campaign a copy of the template that it uses. */
export function CopyForCampaign({ campaign }: EmailStartsProps) {
  const { id, templateId } = campaign;
  const open = useStartedEmail(id);
  const copying = useChange({
    run: (from: number) => {
      const { subject, previewText } = campaign;
      return startWithTemplate(id, from, {
        ...(subject !== null && { subject }),
        ...(previewText !== null && { previewText }),
      });
    },
    refreshes: ["templates"],
    onDone: open,
  });
  return (
    <>
      <ErrorNote error={copying.error} />
      <Button
        variant="default"
        loading={copying.isPending}
        onClick={() => templateId !== null && copying.mutate(templateId)}
      >
        {t("Edit for this campaign only")}
      </Button>
    </>
  );
}
