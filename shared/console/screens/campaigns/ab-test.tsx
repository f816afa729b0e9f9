import { Button, NumberInput, Select, Switch } from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type {
  AbTest as AbTestPlan,
  CampaignDetail,
  CampaignVariant,
  UpdateCampaignVariantRequest,
} from "pennymail";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { useKept } from "../../data/hidden-records.ts";
import { queries } from "../../data/queries.ts";
import { t } from "../../language/translate.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { recordOptions } from "../../parts/filters.tsx";
import { SavedFieldInput } from "../../parts/saved-field-input.tsx";
import { removeWithUndo } from "../../parts/undo-toast.tsx";
import { useInsertOptions } from "../templates/use-insert-options.ts";
import type { ChoiceProps } from "./campaign-draft.tsx";
import { useDraftChange, withVariant } from "./draft-saving.ts";

const maxVariants = 10;
const suggestedPlan: AbTestPlan = {
  testPercent: 20,
  metric: "open_rate",
  durationMinutes: 4 * 60,
};

/** Variants with another subject or template, and how the best of them is found. */
export function AbTest({ campaign, onChange }: ChoiceProps) {
  const { id } = campaign;
  const group = `campaigns/${id}/variants`;
  const variants = useKept(group, campaign.variants);
  const adding = useDraftChange(id, async () =>
    withVariant(await api.campaigns.createVariant(id, {})),
  );
  const remove = ({ id: variantId, name }: CampaignVariant) =>
    removeWithUndo({
      group,
      id: variantId,
      name: t("Variant {name}", { name }),
      consequence: t("It is no longer part of “{name}”.", { name: campaign.name }),
      remove: (client) => client.campaigns.deleteVariant(id, variantId),
      refreshes: ["campaigns"],
    });
  const starting = useChange({
    run: async () => {
      await api.campaigns.createVariant(id, {});
      await api.campaigns.createVariant(id, {});
      await api.campaigns.update(id, { abTest: suggestedPlan });
    },
    refreshes: ["campaigns"],
  });
  if (variants.length === 0)
    return (
      <>
        <p className="quiet">
          {t(
            "Part of the audience gets variants of the email. Later, the others " +
              "get the best one.",
          )}
        </p>
        <ErrorNote error={starting.error} />
        <div className="buttons">
          <Button variant="default" loading={starting.isPending} onClick={() => starting.mutate()}>
            {t("Test variants")}
          </Button>
        </div>
      </>
    );
  return (
    <>
      {variants.map((variant) => (
        <Variant
          key={variant.id}
          campaign={campaign}
          variant={variant}
          onRemove={() => remove(variant)}
        />
      ))}
      <ErrorNote error={adding.error} />
      {variants.length < maxVariants && (
        <div className="buttons">
          <Button
            variant="default"
            size="xs"
            leftSection={<IconPlus size={14} />}
            loading={adding.isPending}
            onClick={() => adding.mutate(undefined)}
          >
            {t("Add a variant")}
          </Button>
        </div>
      )}
      {variants.length < 2 ? (
        <p className="quiet">{t("A test needs two variants.")}</p>
      ) : (
        <TestPlan campaign={campaign} onChange={onChange} />
      )}
    </>
  );
}

interface VariantProps {
  campaign: CampaignDetail;
  variant: CampaignVariant;
  onRemove(): void;
}

function Variant({ campaign, variant, onRemove }: VariantProps) {
  const { id, name, subject, templateId, hasHtml } = variant;
  const templates = useQuery(queries.templates(campaign.siteId)).data?.templates;
  const insertOptions = useInsertOptions(campaign.siteId);
  const saving = useDraftChange(campaign.id, async (changes: UpdateCampaignVariantRequest) =>
    withVariant(await api.campaigns.updateVariant(campaign.id, id, changes)),
  );
  return (
    <fieldset className="variant">
      <legend>{t("Variant {name}", { name })}</legend>
      <SavedFieldInput
        label={t("Subject of {name}", { name })}
        insertOptions={insertOptions}
        placeholder={campaign.subject ?? t("The subject of the campaign or template")}
        maxLength={998}
        value={subject}
        onSave={(text) => saving.mutate({ subject: text })}
      />
      {hasHtml ? (
        <p className="quiet">{t("It has HTML of its own, written by a program.")}</p>
      ) : (
        <Select
          label={t("Template of {name}", { name })}
          placeholder={t("The template of the campaign")}
          searchable
          clearable
          clearButtonProps={{ "aria-label": t("The template of the campaign") }}
          data={recordOptions(templates)}
          value={templateId === null ? null : String(templateId)}
          onChange={(value) => saving.mutate({ templateId: value ? Number(value) : null })}
        />
      )}
      <ErrorNote error={saving.error} />
      <Button
        variant="subtle"
        color="gray"
        size="xs"
        leftSection={<IconTrash size={14} />}
        onClick={onRemove}
      >
        {t("Remove variant {name}", { name })}
      </Button>
    </fieldset>
  );
}

const metrics: { value: AbTestPlan["metric"]; label: string }[] = [
  { value: "open_rate", label: t("The most opens") },
  { value: "click_rate", label: t("The most clicks") },
  { value: "conversion_rate", label: t("The most conversions") },
];

/** The measure as a choice of messages. */
export const measureOf = ({ metric }: AbTestPlan): string => metric.replace("_rate", "");

const durations = [
  [60, t("1 hour")],
  [120, t("2 hours")],
  [240, t("4 hours")],
  [480, t("8 hours")],
  [1440, t("1 day")],
  [2880, t("2 days")],
  [10_080, t("7 days")],
] as const;

export function describeDuration(minutes: number): string {
  const [, known] = durations.find(([length]) => length === minutes) ?? [];
  return known ?? t("{minutes} minutes", { minutes });
}

function TestPlan({ campaign: { abTest, conversion }, onChange }: ChoiceProps) {
  const change = (changes: Partial<AbTestPlan>) =>
    onChange({ abTest: { ...(abTest ?? suggestedPlan), ...changes } });
  const lengths = new Set([...durations.map(([length]) => length), abTest?.durationMinutes ?? 60]);
  return (
    <>
      <Select
        label={t("Who gets the variants")}
        allowDeselect={false}
        data={[
          { value: "test", label: t("A part of the audience. The others get the best variant.") },
          { value: "all", label: t("The whole audience, in equal parts. There is no winner.") },
        ]}
        value={abTest ? "test" : "all"}
        onChange={(value) => onChange({ abTest: value === "test" ? suggestedPlan : null })}
      />
      {abTest && (
        <div className="field-grid">
          <NumberInput
            key={abTest.testPercent}
            label={t("Part of the audience")}
            suffix=" %"
            min={1}
            max={100}
            allowDecimal={false}
            defaultValue={abTest.testPercent}
            onBlur={({ currentTarget }) => {
              const testPercent = Number.parseInt(currentTarget.value, 10);
              if (testPercent && testPercent !== abTest.testPercent) change({ testPercent });
            }}
          />
          <Select
            label={t("The winner has")}
            allowDeselect={false}
            data={metrics}
            value={abTest.metric}
            onChange={(metric) => change({ metric: metric as AbTestPlan["metric"] })}
          />
          {abTest.metric === "conversion_rate" && !conversion && (
            <p className="tone-warn">{t("Turn on “Count conversions” below.")}</p>
          )}
          <Select
            label={t("It is picked after")}
            allowDeselect={false}
            data={[...lengths]
              .sort((a, b) => a - b)
              .map((minutes) => ({ value: String(minutes), label: describeDuration(minutes) }))}
            value={String(abTest.durationMinutes)}
            onChange={(minutes) => change({ durationMinutes: Number(minutes) })}
          />
          <Switch
            label={t("Earlier, if the winner is certain")}
            checked={abTest.stopEarly ?? false}
            onChange={({ currentTarget }) => change({ stopEarly: currentTarget.checked })}
          />
        </div>
      )}
    </>
  );
}
