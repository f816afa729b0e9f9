import { Button, Skeleton, TextInput } from "@mantine/core";
import { IconSend } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import type { Segment, SegmentDetails } from "pennymail";
import { type FormEvent, useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { useCampaignToSegment } from "../../data/new-campaign.ts";
import { queries } from "../../data/queries.ts";
import { useRight, useSite } from "../../data/session.ts";
import { t } from "../../language/translate.ts";
import { Card } from "../../parts/card.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { MissingNote } from "../../parts/missing-note.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { RecordLoading } from "../../parts/record-loading.tsx";
import {
  createCondition,
  type GroupDraft,
  toDraft,
  toRules,
} from "../../parts/rules/rule-draft.ts";
import { RuleGroup } from "../../parts/rules/rule-group.tsx";
import { useTextField } from "../../parts/text-field.ts";
import { useUnsavedDraft } from "../../parts/unsaved-changes.ts";
import { removeSegment } from "./remove-segment.ts";
import { SegmentMatches } from "./segment-matches.tsx";
import { SegmentWhy } from "./segment-why.tsx";

export function NewSegment() {
  const { site } = useSite();
  if (!site)
    return (
      <div className="page">
        <Skeleton h={240} />
      </div>
    );
  return <Editor siteId={site.id} />;
}

export function SegmentScreen() {
  const { id } = useParams({ from: "/shell/segments/$id" });
  const { data: segment, error } = useQuery(queries.segment(id));
  if (!segment)
    return (
      <RecordLoading
        missing={t("This segment does not exist")}
        list={{ to: "/segments", label: t("Show all segments") }}
        error={error}
      />
    );
  return <Editor key={segment.id} siteId={segment.siteId} segment={segment} />;
}

interface EditorProps {
  siteId: number;
  /** Undefined for a new one. */
  segment?: SegmentDetails;
}

const createDraft = (segment?: Segment): GroupDraft =>
  segment
    ? toDraft(segment.rules)
    : { ...toDraft({ match: "all", conditions: [] }), conditions: [createCondition("tag")] };

function Editor({ siteId, segment }: EditorProps) {
  const mayWrite = useRight("audience:write");
  const maySend = useRight("marketing:write");
  const sending = useCampaignToSegment();
  const navigate = useNavigate();
  const name = useTextField(segment?.name);
  const description = useTextField(segment?.description ?? "");
  const [draft, setDraft] = useState(() => createDraft(segment));
  const rules = toRules(draft);
  const isSaved =
    segment !== undefined &&
    name.value === segment.name &&
    description.value === (segment.description ?? "") &&
    JSON.stringify(rules) === JSON.stringify(toRules(toDraft(segment.rules)));
  const saving = useChange({
    run: () => {
      const fields = {
        name: name.value,
        description: description.value || null,
        // The button is disabled before.
        rules: rules!,
      };
      return segment
        ? api.segments.update(segment.id, fields)
        : api.segments.create({ siteId, ...fields });
    },
    refreshes: ["segments", "contacts"],
    onDone: ({ id }) =>
      segment ??
      navigate({ to: "/segments/$id", params: { id }, replace: true, ignoreBlocker: true }),
  });
  useUnsavedDraft({ name: name.value, description: description.value, rules }, saving);
  const remove = async () => {
    await navigate({ to: "/segments", ignoreBlocker: true });
    removeSegment(segment!);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    saving.mutate();
  };
  return (
    <form className="page" onSubmit={submit}>
      <PageHead
        title={segment?.name ?? t("New segment")}
        note={
          <>
            <Link to="/segments">{t("Segments")}</Link>{" "}
            <span role="status">{isSaved && saving.isSuccess && `· ${t("Saved")}`}</span>
          </>
        }
      >
        {segment && maySend && (
          <Button
            variant="default"
            leftSection={<IconSend size={16} />}
            disabled={!isSaved}
            loading={sending.isPending}
            onClick={() => sending.mutate(segment)}
          >
            {t("Send a campaign")}
          </Button>
        )}
        {segment && mayWrite && (
          <Button variant="default" onClick={remove}>
            {t("Delete")}
          </Button>
        )}
        {mayWrite && (
          <Button type="submit" disabled={!rules || isSaved} loading={saving.isPending}>
            {segment ? t("Save segment") : t("Create segment")}
          </Button>
        )}
      </PageHead>
      <MissingNote missing={segment?.missing} />
      <ErrorNote error={saving.error ?? sending.error} />
      <div className="columns">
        <fieldset className="stack plain-fieldset" disabled={!mayWrite}>
          <Card title={t("Segment")}>
            <TextInput
              label={t("Name")}
              required
              maxLength={200}
              data-field="name"
              {...name.input}
            />
            <TextInput
              label={t("Note for yourself (optional)")}
              maxLength={500}
              data-field="description"
              {...description.input}
            />
          </Card>
          <Card title={t("Contacts for whom")}>
            <RuleGroup siteId={siteId} group={draft} onChange={setDraft} />
          </Card>
        </fieldset>
        <div className="stack">
          <SegmentMatches
            siteId={siteId}
            rules={rules}
            savedId={isSaved ? segment.id : undefined}
          />
          {rules && <SegmentWhy siteId={siteId} rules={rules} />}
        </div>
      </div>
    </form>
  );
}
