import { Select, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Topic } from "pennymail";
import { useState } from "react";
import { useChange } from "../../data/changes.ts";
import { api } from "../../data/client.ts";
import { useKeptRows } from "../../data/hidden-records.ts";
import { wholeList } from "../../data/paged-rows.ts";
import { queries } from "../../data/queries.ts";
import { t } from "../../language/translate.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { FormDialog } from "../../parts/form.tsx";
import type { ListProps } from "../../parts/list-page.tsx";
import { deleteQuery } from "../../parts/record-uses.tsx";
import { menuColumn } from "../../parts/row-menu.tsx";
import { type Column, RowTable } from "../../parts/row-table.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { useTextField } from "../../parts/text-field.ts";
import { removeWithUndo } from "../../parts/undo-toast.tsx";
import { nameColumn } from "./group-columns.tsx";

type Visibility = Topic["visibility"];
type Subscription = Topic["defaultSubscription"];

const visibilities: { value: Visibility; label: string }[] = [
  { value: "public", label: t("Everybody sees it on the preference page") },
  { value: "private", label: t("Only people who get an email about it see it") },
];
const subscriptions: { value: Subscription; label: string }[] = [
  { value: "subscribed", label: t("They get it until they leave") },
  { value: "unsubscribed", label: t("They get it only after they join") },
];
const refreshes = ["topics"];

export function Topics({ siteId, mayWrite, isCreating, onDialogClose }: ListProps) {
  const topics = useQuery(queries.topics(siteId));
  const [edited, setEdited] = useState<Topic>();
  const list = useKeptRows("topics", wholeList(topics));
  const moving = useChange({
    run: ({ id, position }: { id: number; position: number }) =>
      api.topics.update(id, { position }),
    refreshes,
  });
  const actionsOf = (topic: Topic) => [
    { label: t("Edit"), run: () => setEdited(topic) },
    ...movesOf(topic, topics.data?.length ?? 0).map(({ label, position }) => ({
      label,
      run: () => moving.mutate({ id: topic.id, position }),
    })),
    { label: t("Delete"), isDangerous: true, run: () => remove(topic) },
  ];
  const columns = [...descriptionColumns];
  if (mayWrite) columns.push(menuColumn(actionsOf));
  return (
    <>
      <ErrorNote error={moving.error} />
      <RowTable
        label={t("Topics")}
        columns={columns}
        list={list}
        onOpen={(topic) => mayWrite && setEdited(topic)}
        empty={
          <EmptyState title={t("No topic yet")}>
            <p>
              {t(
                "With topics, a contact who is tired of one kind of email leaves only " +
                  "that one. Without them, the link in the footer unsubscribes from " +
                  "everything.",
              )}
            </p>
          </EmptyState>
        }
      />
      <TopicDialog
        key={edited?.id ?? "new"}
        siteId={siteId}
        topic={edited}
        opened={isCreating || edited !== undefined}
        onClose={() => {
          setEdited(undefined);
          onDialogClose();
        }}
      />
    </>
  );
}

const remove = ({ id, name }: Topic) =>
  removeWithUndo({
    group: "topics",
    id,
    name: t("Topic “{name}”", { name }),
    consequence: t(
      "The choices of contacts about it are lost. Email that is on its way " +
        "still leaves out those who left it.",
    ),
    remove: (client, anyway) => client.topics.delete(id, deleteQuery(anyway)),
    refreshes,
  });

const movesOf = ({ position }: Topic, count: number) =>
  [
    { label: t("Move up"), position: position - 1 },
    { label: t("Move down"), position: position + 1 },
  ].filter((move) => move.position >= 1 && move.position <= count);

const descriptionColumns: Column<Topic>[] = [
  nameColumn(t("Topic")),
  {
    label: t("Without a choice"),
    className: "c-status",
    render: ({ defaultSubscription }) => <StatusMark status={defaultSubscription} />,
  },
  {
    label: t("Preference page"),
    className: "c-tags quiet",
    render: ({ visibility }) =>
      visibility === "public" ? t("For everybody") : t("Behind its emails"),
  },
];

interface TopicDialogProps {
  siteId: number;
  /** The topic to change; undefined for a new one. */
  topic: Topic | undefined;
  opened: boolean;
  onClose(): void;
}

function TopicDialog({ siteId, topic, opened, onClose }: TopicDialogProps) {
  const name = useTextField(topic?.name);
  const description = useTextField(topic?.description ?? "");
  const [visibility, setVisibility] = useState<Visibility>(topic?.visibility ?? "public");
  const [subscription, setSubscription] = useState<Subscription>("subscribed");
  const saving = useChange({
    run: () => {
      const fields = { name: name.value, description: description.value || null, visibility };
      return topic
        ? api.topics.update(topic.id, fields)
        : api.topics.create({ siteId, ...fields, defaultSubscription: subscription });
    },
    refreshes,
    onDone: () => close(),
  });
  const close = () => {
    name.set("");
    description.set("");
    saving.reset();
    onClose();
  };
  return (
    <FormDialog
      title={topic ? t("Edit topic") : t("New topic")}
      action={topic ? t("Save topic") : t("Create topic")}
      submission={saving}
      opened={opened}
      onClose={close}
    >
      <TextInput
        label={t("Name")}
        description={t("Contacts see it on the preference page.")}
        required
        maxLength={100}
        data-autofocus
        data-field="name"
        {...name.input}
      />
      <Textarea
        label={t("Description (optional)")}
        description={t("Shown below the name: what it is about, and how often it comes.")}
        maxLength={300}
        autosize
        minRows={2}
        data-field="description"
        {...description.input}
      />
      <Select
        label={t("Preference page")}
        data={visibilities}
        allowDeselect={false}
        value={visibility}
        onChange={(value) => setVisibility(value as Visibility)}
      />
      {topic ? (
        <p className="quiet">
          {topic.defaultSubscription === "subscribed"
            ? t("Contacts who have not chosen get it. This can never change.")
            : t("Contacts who have not chosen do not get it. This can never change.")}
        </p>
      ) : (
        <Select
          label={t("Contacts who have not chosen")}
          description={t("This can never change, because a change would subscribe people unasked.")}
          data={subscriptions}
          allowDeselect={false}
          value={subscription}
          onChange={(value) => setSubscription(value as Subscription)}
        />
      )}
    </FormDialog>
  );
}
