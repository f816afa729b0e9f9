import { Button, Menu, TextInput } from "@mantine/core";
import { IconCopy, IconDots, IconPencil, IconTrash } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import type { Campaign, CampaignDetail } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { useRight } from "../../data/session.ts";
import { t } from "../../language/translate.ts";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { FormDialog } from "../../parts/form.tsx";
import { useTextField } from "../../parts/text-field.ts";

type Step = "pause" | "resume" | "unschedule" | "cancel" | "delete";

/** What can be done next, by status. */
const stepsByStatus: Record<Campaign["status"], Step[]> = {
  draft: [],
  scheduled: ["unschedule", "cancel"],
  held: ["unschedule", "cancel"],
  sending: ["pause", "cancel"],
  paused: ["resume", "cancel"],
  sent: [],
  cancelled: [],
  failed: [],
};

const labels: Record<Step, string> = {
  pause: t("Pause campaign"),
  resume: t("Resume campaign"),
  unschedule: t("Back to draft"),
  cancel: t("Cancel campaign"),
  delete: t("Delete campaign"),
};

const doneTexts: Record<Step, string> = {
  pause: t("Campaign paused."),
  resume: t("Campaign resumed."),
  unschedule: t("The campaign is a draft again."),
  cancel: t("Campaign cancelled."),
  delete: t("Campaign deleted."),
};

const runs: Record<Step, (id: number) => Promise<unknown>> = {
  pause: (id) => api.campaigns.pause(id),
  resume: (id) => api.campaigns.resume(id),
  unschedule: (id) => api.campaigns.unschedule(id),
  cancel: (id) => api.campaigns.cancel(id),
  delete: (id) => api.campaigns.delete(id),
};

export function CampaignActions({ campaign }: { campaign: CampaignDetail }) {
  const { id, status } = campaign;
  const mayWrite = useRight("marketing:write");
  const navigate = useNavigate();
  const [step, setStep] = useState<Step>();
  const [isRenaming, setRenaming] = useState(false);
  const running = useChange({
    run: (next: Step) => runs[next](id),
    refreshes: ["campaigns"],
    says: (_, next) => doneTexts[next],
    onDone: (_, next) => {
      setStep(undefined);
      if (next === "delete") return navigate({ to: "/campaigns" });
    },
  });
  const copying = useChange({
    run: () => copyCampaign(campaign),
    refreshes: ["campaigns"],
    says: () => t("The campaign is copied to a new draft."),
    onDone: (copy) => navigate({ to: "/campaigns/$id", params: { id: copy.id } }),
  });
  if (!mayWrite) return null;
  const isRunning = status === "sending" || status === "paused";
  return (
    <>
      <ErrorNote error={step ? copying.error : (running.error ?? copying.error)} />
      {stepsByStatus[status].map((next) => (
        <Button
          key={next}
          variant="default"
          loading={running.isPending && running.variables === next}
          // Pausing and resuming can be undone, so they ask nothing.
          onClick={() => (next === "cancel" ? setStep(next) : running.mutate(next))}
        >
          {labels[next]}
        </Button>
      ))}
      <Menu position="bottom-end">
        <Menu.Target>
          <Button
            variant="default"
            leftSection={<IconDots size={16} />}
            loading={copying.isPending}
          >
            {t("More")}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {status === "draft" && (
            <Menu.Item leftSection={<IconPencil size={16} />} onClick={() => setRenaming(true)}>
              {t("Rename")}
            </Menu.Item>
          )}
          {!campaign.resendOf && (
            <Menu.Item leftSection={<IconCopy size={16} />} onClick={() => copying.mutate()}>
              {t("Copy to a new draft")}
            </Menu.Item>
          )}
          {!isRunning && (
            <Menu.Item
              color="red"
              leftSection={<IconTrash size={16} />}
              onClick={() => setStep("delete")}
            >
              {t("Delete campaign")}
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      <Rename campaign={campaign} opened={isRenaming} onClose={() => setRenaming(false)} />
      <ConfirmDialog
        title={campaign.name}
        action={step ? labels[step] : ""}
        isDangerous
        target={step}
        change={running}
        typed={campaign.name}
        onClose={() => setStep(undefined)}
      >
        {step && describe(step, campaign)}
      </ConfirmDialog>
    </>
  );
}

function describe(step: Step, { status, accounting, stats }: CampaignDetail): string {
  if (step === "cancel") {
    const { queued } = accounting;
    if (status !== "sending" && status !== "paused") return t("It will not be sent.");
    return t(
      "{queued, plural, one {# email that still waits is} other {# emails that still wait are}} " +
        "not sent. Emails that left cannot be taken back. A cancelled campaign cannot be resumed.",
      { queued },
    );
  }
  if (status === "draft") return t("The draft is gone for good.");
  return t(
    "Its {sent, plural, one {# email stays} other {# emails stay}} in the log, but the figures " +
      "and links of the campaign are gone.",
    { sent: stats.sent },
  );
}

interface RenameProps {
  campaign: CampaignDetail;
  opened: boolean;
  onClose(): void;
}

function Rename({ campaign, opened, onClose }: RenameProps) {
  const name = useTextField(campaign.name);
  const renaming = useChange({
    run: () => api.campaigns.update(campaign.id, { name: name.value }),
    refreshes: ["campaigns"],
    onDone: onClose,
  });
  return (
    <FormDialog
      title={t("Rename campaign")}
      action={t("Save name")}
      submission={renaming}
      opened={opened}
      onClose={onClose}
    >
      <TextInput
        label={t("Name")}
        required
        data-autofocus
        maxLength={200}
        data-field="name"
        {...name.input}
      />
    </FormDialog>
  );
}

/** A draft with the same audience, content, sender and variants. */
async function copyCampaign(campaign: CampaignDetail): Promise<Campaign> {
  const { siteId, subject, templateId, ownTemplateId } = campaign;
  const { listId, tagId, segmentId, audience } = campaign;
  const { sendingConfigId, fromEmail, fromName, replyTo, topicId } = campaign;
  const { previewText, utm, strict, abTest, variants } = campaign;
  const name = t("Copy of {name}", { name: campaign.name }).slice(0, 200);
  const isOwn = templateId !== null && templateId === ownTemplateId;
  const email = isOwn ? { content: { copyOf: templateId } } : { templateId };
  const content = { subject, ...email, previewText, utm, strict };
  const target = { listId, tagId, segmentId, audience, topicId };
  const sender = { sendingConfigId, fromEmail, fromName, replyTo };
  const copy = await api.campaigns.create({ siteId, name, ...content, ...target, ...sender });
  const copiedId = (id: number | null) => (id === ownTemplateId ? copy.ownTemplateId : id);
  // One after the other, so that they keep their order.
  for (const { id } of variants) {
    const variant = await api.campaigns.getVariant(campaign.id, id);
    await api.campaigns.createVariant(copy.id, {
      name: variant.name,
      subject: variant.subject,
      templateId: copiedId(variant.templateId),
      html: variant.html ?? null,
      previewText: variant.previewText,
      weight: variant.weight,
    });
  }
  return abTest ? api.campaigns.update(copy.id, { abTest }) : copy;
}
